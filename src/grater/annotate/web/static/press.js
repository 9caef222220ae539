// One key per button or link: a key presses what names it in data-press.  The page works without this module.
//
// A key that is held down presses once, and nothing is pressed after a form was sent.

import { listenToKeys } from "./listen.js";

let isSent = false;

function onKey(event) {
  if (event.ctrlKey || event.altKey || event.metaKey || event.repeat || event.isComposing || isSent) return;
  if (event.target.matches("input:not([type=checkbox], [type=radio]), textarea, select")) return;
  const found = document.querySelector(`[data-press="${CSS.escape(event.key.toLowerCase())}"]`);
  if (!found) return;
  event.preventDefault();
  found.click();
}

document.addEventListener("submit", (event) => {
  if (isSent) event.preventDefault();
  isSent = true;
});
// The page may come back from the browser's memory.
window.addEventListener("pageshow", ({ persisted }) => {
  if (persisted) isSent = false;
});
listenToKeys(onKey);
