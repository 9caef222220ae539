// One key per answer, on forms that also work without this module.
//
// A key picks the choice whose <kbd> shows it; Enter sends the form, Backspace takes the last answer back.  Where every
// row asks the same (`data-rows`), a key answers the row at hand and goes on to the next one; up and down move between
// rows.  Questions that are asked only after some answers are hidden until then.

import { listenToKeys } from "./listen.js";
import { isComplete, isQuick, wireQuick, wireSwitch } from "./quick.js";
import { sendOnce } from "./send-once.js";
import { wireSwipe } from "./swipe.js";

let form = null;
let isByArrow = false; // arrows walk over the answers of a question, and choose none for good

const rows = () => [...form.querySelectorAll("[data-rows] fieldset")];
const isAnswered = (row) => row.querySelector("input:checked") !== null;

/** The row that has the focus, else the first one without an answer. */
function currentRow() {
  return document.activeElement?.closest("[data-rows] fieldset") ?? rows().find((row) => !isAnswered(row)) ?? null;
}

function choiceOf(key) {
  const among = form.querySelector("[data-rows]") ? currentRow() : form;
  return [...(among?.querySelectorAll("input[data-key]") ?? [])].find((input) => input.dataset.key === key);
}

function isTyping(target) {
  return target.matches("input[type=text], textarea, select");
}

function pick(input) {
  input.checked = input.type === "checkbox" ? !input.checked : true;
  input.focus({ preventScroll: true });
  input.dispatchEvent(new Event("change", { bubbles: true }));
}

function goToRow(row) {
  const input = row?.querySelector("input:checked") ?? row?.querySelector("input");
  input?.focus({ preventScroll: true });
  input?.closest("fieldset").scrollIntoView({ block: "nearest" });
}

/** After an answer: to the next row without one, or to the button. */
function goDown(row) {
  const all = rows();
  const next = [...all.slice(all.indexOf(row) + 1), ...all].find((each) => !isAnswered(each));
  if (next) goToRow(next);
  else form.querySelector("button.primary")?.focus();
}

function stepRow(step) {
  const all = rows();
  const here = all.indexOf(document.activeElement?.closest("[data-rows] fieldset"));
  goToRow(all[here < 0 ? (step > 0 ? 0 : all.length - 1) : Math.min(Math.max(here + step, 0), all.length - 1)]);
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
  isByArrow = event.key.startsWith("Arrow");
  if (!form?.isConnected || event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return;
  if (isTyping(event.target)) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  const request = requestOf(event);
  if (!request) return;
  event.preventDefault();
  request();
}

/** What a key asks for, or null where it is not ours. */
function requestOf(event) {
  const undo = document.querySelector("form[data-undo]");
  if (event.key === "Backspace" && undo) return () => undo.requestSubmit();
  if (event.key === "Enter" && !event.target.matches("a, button, summary")) return () => form.requestSubmit();
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step && form.querySelector("[data-rows]")) return () => stepRow(step);
  const input = choiceOf(event.key.toLowerCase());
  return input ? () => answer(input) : null;
}

function answer(input) {
  const row = input.closest("[data-rows] fieldset");
  pick(input);
  if (row) goDown(row);
  const asked = form.querySelector("[data-asked-for]:not([hidden]) input[type=text]");
  if (input.name === "label" && asked && !asked.value) asked.focus();
}

function onChange(event) {
  showWhatIsAsked();
  const isChosen = event.target.matches("input[type=radio]") && !isByArrow;
  if (isChosen && isQuick() && isComplete(form)) form.requestSubmit();
}

function wire() {
  form = document.querySelector("form[data-keys]");
  if (!form) return;
  for (const hint of form.querySelectorAll("[data-without-script]")) hint.hidden = true;
  showWhatIsAsked();
  form.addEventListener("change", onChange);
  sendOnce(form);
  wireSwitch();
  wireSwipe(form, pick);
  wireQuick(form, { arrived: wire });
}

wire();
listenToKeys(onKey);
