// The places of an adjudicated essay by keys: a letter takes an annotator's marks and goes on to the next open place.
//
// Shift and a letter take everything of one annotator.  Where a page has so many annotators that a letter is taken, theirs wins.

import { listenToKeys } from "../listen.js";

const places = () => [...document.querySelectorAll(".place")];
const isDecided = (place) => place.querySelector("input[type=radio]:checked") !== null;
const here = () => document.activeElement?.closest(".place") ?? null;

function goTo(place) {
  const input = place?.querySelector("input[type=radio]:checked") ?? place?.querySelector("input[type=radio]");
  input?.focus({ preventScroll: true });
  place?.scrollIntoView({ block: "nearest" });
}

function choose(input) {
  input.checked = true;
  input.dispatchEvent(new Event("change", { bubbles: true }));
}

/** After a choice: what it asks for, else the next place without one, else the button that stores all. */
function goOn(place, input) {
  if (input.value === "own") {
    place.querySelector(".own select")?.focus();
    return;
  }
  const all = places();
  const next = [...all.slice(all.indexOf(place) + 1), ...all].find((each) => !isDecided(each));
  if (next) goTo(next);
  else document.querySelector("#decision button.primary").focus();
}

function takeAll(rater) {
  for (const place of places()) {
    const input = [...place.querySelectorAll("input[type=radio]")].find(({ value }) => value === rater);
    if (input) choose(input);
  }
  document.querySelector("#decision button.primary").focus();
}

function step(direction) {
  const all = places();
  const at = all.indexOf(here());
  goTo(all[at < 0 ? 0 : Math.min(Math.max(at + direction, 0), all.length - 1)]);
}

/** What a key asks for, or null where it is not ours. */
function requestOf({ key, shiftKey, ctrlKey, metaKey }) {
  if (key === "Enter" && (ctrlKey || metaKey)) return () => document.getElementById("decision").requestSubmit();
  if (ctrlKey || metaKey) return null;
  const taker = shiftKey && [...document.querySelectorAll("[data-take]")].find(({ dataset }) => dataset.take === key.toUpperCase());
  if (taker) return () => takeAll(taker.dataset.take);
  const place = here() ?? places().find((each) => !isDecided(each)) ?? places()[0];
  const input = place && [...place.querySelectorAll("input[data-key]")].find(({ dataset }) => dataset.key === key.toLowerCase());
  if (input) return () => { choose(input); goOn(place, input); };
  if (key === "m" && place) return () => place.querySelector(".remark-open").click();
  const direction = { j: 1, k: -1 }[key];
  return direction ? () => step(direction) : null;
}

export function wireKeys() {
  const row = document.getElementById("take-all");
  if (places().length) row.hidden = false;
  row.addEventListener("click", ({ target }) => {
    const button = target.closest("[data-take]");
    if (button) takeAll(button.dataset.take);
  });
  listenToKeys((event) => {
    if (event.altKey || event.isComposing || event.target.matches("input[type=text], textarea, select, #essay, [role=dialog] *")) {
      if (!(event.key === "Enter" && (event.ctrlKey || event.metaKey))) return;
    }
    const request = requestOf(event);
    if (!request) return;
    event.preventDefault();
    request();
  });
}
