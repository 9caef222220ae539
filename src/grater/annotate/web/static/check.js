// Check my writing, with a script: files can be dropped, answers show in the text at once, and keys do it all.
//
// The page works without this module: accepted changes are then made by the button.  A text that was typed is kept in
// this tab until the server has answered it: a visitor who got an error page, or no page at all, finds it here again.

import { listenToKeys } from "./listen.js";

const form = document.querySelector("[data-check]");
const spots = form ? [...form.querySelectorAll(".spot")] : [];

let here = -1; // the mark that keys are about

const noteOf = (spot) => document.getElementById(spot.hash.slice(1));

/** A mark looks like its answer, and the text reads as it would. */
function show(spot) {
  const answer = noteOf(spot).querySelector("input:checked")?.value ?? "";
  spot.classList.toggle("is-accepted", answer === "accept");
  spot.classList.toggle("is-rejected", answer === "reject");
  spot.lastElementChild.textContent = answer === "accept" ? spot.dataset.better : spot.dataset.words;
}

function go(number) {
  if (!spots.length) return;
  spots[here]?.classList.remove("is-here");
  here = (number + spots.length) % spots.length;
  const spot = spots[here];
  spot.classList.add("is-here");
  spot.focus({ preventScroll: true });
  spot.scrollIntoView({ block: "center" });
  noteOf(spot).scrollIntoView({ block: "nearest" });
}

function answer(value) {
  if (here < 0) return go(0);
  noteOf(spots[here]).querySelector(`input[value=${value}]`).checked = true;
  show(spots[here]);
  if (here + 1 < spots.length) go(here + 1);
}

const KEYS = { n: () => go(here + 1), p: () => go(here < 0 ? -1 : here - 1), a: () => answer("accept"), r: () => answer("reject") };

function onKey(event) {
  if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return;
  if (event.target.matches("textarea, input:not([type=radio], [type=checkbox])")) return;
  const act = KEYS[event.key.toLowerCase()];
  if (!act) return;
  event.preventDefault();
  act();
}

/** The text as it reads now, without the numbers of the notes. */
function textNow() {
  const copy = form.querySelector("[data-essay]").cloneNode(true);
  for (const number of copy.querySelectorAll("sup")) number.remove();
  return copy.textContent;
}

function wireMarks() {
  for (const spot of spots) {
    show(spot);
    spot.addEventListener("focus", () => {
      spots[here]?.classList.remove("is-here");
      here = spots.indexOf(spot);
    });
    noteOf(spot).addEventListener("change", () => show(spot));
  }
  listenToKeys(onKey);
  const keys = form.querySelector("[data-keys]");
  if (keys) keys.hidden = false;
  const copy = form.querySelector("[data-copy]");
  if (!copy || !navigator.clipboard) return;
  copy.hidden = false;
  copy.addEventListener("click", async () => {
    await navigator.clipboard.writeText(textNow());
    copy.textContent = "Copied";
  });
}

async function readInto(area, file) {
  if (!file) return;
  area.value = await file.text();
  area.focus();
}

function wireDrop(place) {
  const area = place.querySelector("textarea");
  const input = place.querySelector("input[type=file]");
  place.addEventListener("dragover", (event) => {
    event.preventDefault();
    place.classList.add("is-over");
  });
  place.addEventListener("dragleave", () => place.classList.remove("is-over"));
  place.addEventListener("drop", (event) => {
    event.preventDefault();
    place.classList.remove("is-over");
    readInto(area, event.dataTransfer.files[0]);
  });
  input.addEventListener("change", () => {
    const [file] = input.files;
    input.value = "";
    readInto(area, file);
  });
}

const KEPT = "grater:check";

/** The tab's memory; a setting may forbid it, and a long text may not fit. */
function kept(text) {
  try {
    if (text === "") sessionStorage.removeItem(KEPT);
    else if (text !== undefined) sessionStorage.setItem(KEPT, text);
    return sessionStorage.getItem(KEPT) ?? "";
  } catch {
    return "";
  }
}

function wireKept(place, area) {
  if (area.value) kept(""); // the server had it
  else if (kept()) {
    area.value = kept();
    const words = document.createElement("p");
    words.className = "note";
    words.setAttribute("role", "status");
    words.textContent = "Your text is back. It has not been checked yet.";
    place.prepend(words);
  }
  area.addEventListener("input", () => kept(area.value));
  place.addEventListener("submit", () => kept(area.value));
}

if (form) wireMarks();
const place = document.querySelector("[data-drop]");
if (place) {
  wireKept(place, place.querySelector("textarea"));
  wireDrop(place);
}
