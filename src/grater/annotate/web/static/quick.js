// Answer and go on: a rater's own choice, kept in this browser.
//
// With it, the answer to the last question sends the form, and the next unit comes back with the same request: the page
// stays, its content is put in place.  Nothing is taken ahead of an answer: a unit that is held before the last one is
// answered would be a second lease, and what it is could depend on hidden gold.  Whatever is not simply the next unit
// (feedback, the end, the login, an error) is left to the browser; an answer sent twice counts once.

const NAME = "grater:quick";

function storage() {
  try {
    return window.localStorage;
  } catch {
    return null; // a setting forbids it
  }
}

export function isQuick() {
  return document.getElementById("quick") !== null && storage()?.getItem(NAME) === "yes";
}

/** Whether every question that is asked has an answer; what may stay empty may. */
export function isComplete(form) {
  const groups = [...form.querySelectorAll("fieldset:not([hidden])")].filter((group) => group.querySelector("input[type=radio]"));
  const words = [...form.querySelectorAll(".field:not([hidden]) input[type=text]")];
  return groups.every((group) => group.querySelector("input:checked")) && words.every((input) => input.value.trim());
}

/** The box that switches it on; on pages without it, everything stays as it is. */
export function wireSwitch() {
  const box = document.getElementById("quick");
  if (!box || !storage()) return;
  document.getElementById("quick-choice").hidden = false;
  box.checked = isQuick();
  box.addEventListener("change", () => storage().setItem(NAME, box.checked ? "yes" : "no"));
}

export function wireQuick(form, { arrived }) {
  form.addEventListener("submit", async (event) => {
    if (event.defaultPrevented || !isQuick()) return;
    event.preventDefault();
    const page = await nextPage(form);
    if (!page) {
      form.submit(); // as without this module: the same answer under the same id
      return;
    }
    document.dispatchEvent(new CustomEvent("grater:stored", { detail: form }));
    show(page);
    document.dispatchEvent(new Event("grater:arrived"));
    arrived();
  });
}

/** The page of the next unit, or null where the server answers with anything else. */
async function nextPage(form) {
  try {
    const reply = await fetch(form.action, { method: "POST", body: new URLSearchParams(new FormData(form)), headers: { "X-Next": "here" } });
    const address = reply.headers.get("Content-Location");
    if (!reply.ok || !address) return null;
    return { address, page: new DOMParser().parseFromString(await reply.text(), "text/html") };
  } catch {
    return null;
  }
}

function show({ address, page }) {
  const main = document.getElementById("main");
  main.replaceChildren(...document.importNode(page.getElementById("main"), true).childNodes);
  document.title = page.title;
  window.history.replaceState(null, "", address);
  window.scrollTo(0, 0);
  (main.querySelector("[autofocus]") ?? main).focus({ preventScroll: true });
}
