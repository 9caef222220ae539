// The parts of the page that the desk works with, and the buttons above the essay.

import { byId } from "./page.js";

/** `aside` is not on every page. */
export function partsOfPage() {
  const names = ["essay", "list", "count", "picker", "undo", "redo", "keys", "aside"];
  return Object.fromEntries(names.map((name) => [name, byId(name)]));
}

/** What the page says and shows as long as no script runs. */
export function hideTheRest() {
  byId("without-script").hidden = true;
}

export function wireButtons(desk) {
  const asks = {
    mark: () => desk.mark(),
    "insert-before": () => desk.insert(-1),
    "insert-after": () => desk.insert(1),
    "stretch-back": () => desk.walk.move(-1, { isStretched: true }),
    "stretch-on": () => desk.walk.move(1, { isStretched: true }),
    undo: () => desk.undo(),
    redo: () => desk.redo(),
  };
  for (const [id, ask] of Object.entries(asks)) {
    byId(id).addEventListener("mousedown", (event) => event.preventDefault()); // the selection stays
    byId(id).addEventListener("click", ask);
  }
  byId("aside")?.addEventListener("change", (event) => desk.setAside(event.target.checked));
}
