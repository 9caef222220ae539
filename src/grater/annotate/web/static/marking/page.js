// The parts of the page that several modules speak through.

import { STATES } from "./states.js";

export const byId = (id) => document.getElementById(id);

/** Tells the annotator where the work stands. */
export function showState(name, words = "") {
  const node = byId("save-state");
  node.dataset.state = name;
  node.textContent = words ? `${STATES[name]}: ${words}` : STATES[name];
}

export function countWords(number) {
  return number === 1 ? "1 mark" : `${number} marks`;
}
