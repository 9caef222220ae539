// One key per answer, on forms that also work without this module.
//
// A key picks the choice whose <kbd> shows it; Enter sends the form, Backspace takes the last answer back.  Questions that are asked only after some answers
// are hidden until then.

import { sendOnce } from "./send-once.js";

const form = document.querySelector("form[data-keys]");

function choiceOf(key) {
  return [...form.querySelectorAll("input[data-key]")].find((input) => input.dataset.key === key);
}

function isTyping(target) {
  return target.matches("input[type=text], textarea, select");
}

function pick(input) {
  input.checked = input.type === "checkbox" ? !input.checked : true;
  input.focus({ preventScroll: true });
  input.dispatchEvent(new Event("change", { bubbles: true }));
}

function showWhatIsAsked() {
  const label = form.querySelector("input[name=label]:checked")?.value;
  for (const part of form.querySelectorAll("[data-asked-for]")) {
    const isAsked = part.dataset.askedFor.split(" ").includes(label);
    part.hidden = !isAsked;
    for (const input of part.querySelectorAll("input")) input.disabled = !isAsked;
  }
}

function onKey(event) {
  if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return;
  if (isTyping(event.target)) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  const undo = document.querySelector("form[data-undo]");
  if (event.key === "Backspace" && undo) {
    event.preventDefault();
    undo.requestSubmit();
    return;
  }
  if (event.key === "Enter" && !event.target.matches("a, button, summary")) {
    event.preventDefault();
    form.requestSubmit();
    return;
  }
  const input = choiceOf(event.key.toLowerCase());
  if (!input) return;
  event.preventDefault();
  pick(input);
  const asked = form.querySelector("[data-asked-for]:not([hidden]) input[type=text]");
  if (input.name === "label" && asked && !asked.value) asked.focus();
}

if (form) {
  for (const hint of form.querySelectorAll("[data-without-script]")) hint.hidden = true;
  showWhatIsAsked();
  form.addEventListener("change", showWhatIsAsked);
  sendOnce(form);
  document.addEventListener("keydown", onKey);
}
