// A page that keeps itself up to date while somebody looks at it, until they say stop.

const PAUSE = 30_000; // ms
const wish = document.getElementById("keep-live");

async function lookAgain() {
  if (document.hidden || !wish.checked) return;
  const reply = await fetch(window.location.href).catch(() => null); // no network: the next time, then
  if (!reply?.ok || reply.redirected) return;
  const page = new DOMParser().parseFromString(await reply.text(), "text/html");
  document.getElementById("live").replaceWith(document.adoptNode(page.getElementById("live")));
}

wish.closest("[hidden]").hidden = false;
setInterval(lookAgain, PAUSE);
