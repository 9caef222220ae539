// The list of long work keeps itself up to date while something is going on.

const PAUSE = 2000; // ms

async function lookAgain() {
  const list = document.getElementById("runs");
  if (list.dataset.running === undefined) return;
  if (!document.hidden) {
    const reply = await fetch(window.location.href).catch(() => null); // no network: the next time, then
    if (reply?.ok && !reply.redirected) {
      const page = new DOMParser().parseFromString(await reply.text(), "text/html");
      list.replaceWith(document.adoptNode(page.getElementById("runs")));
    }
  }
  setTimeout(lookAgain, PAUSE);
}

setTimeout(lookAgain, PAUSE);
