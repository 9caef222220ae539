// Mouse, pen and touch on the essay.  Dragging selects and opens the slip; a click moves the cursor, or opens a mark.
//
// A finger taps a word and stretches the selection with the buttons, or selects in the phone's own way.

import { offsetAt, selectedSpan } from "./places.js";

export class Pointer {
  /** `selected(span)`, `pressed(offset, marks, { isGap })` hear what was done. */
  constructor(root, { selected, pressed }) {
    Object.assign(this, { root, selected, pressed });
    this.kind = "mouse";
    this.isDown = false;
    root.addEventListener("pointerdown", (event) => {
      this.kind = event.pointerType;
      this.isDown = event.button === 0;
    });
    document.addEventListener("pointerup", (event) => this.#up(event));
    root.addEventListener("click", (event) => this.#click(event));
  }

  #up(event) {
    if (!this.isDown || event.pointerType === "touch") return;
    this.isDown = false;
    const span = selectedSpan(this.root);
    if (!span) return;
    document.getSelection().removeAllRanges();
    this.hasSelected = true; // the click that follows is the end of the same movement
    setTimeout(() => { this.hasSelected = false; });
    this.selected(span);
  }

  #click(event) {
    if (this.hasSelected || selectedSpan(this.root)) return;
    const offset = offsetAt(this.root, event.clientX, event.clientY);
    const piece = event.target.closest?.(".marked");
    const marks = piece ? piece.dataset.marks.split(" ").map(Number) : [];
    if (offset !== null || marks.length) {
      this.pressed(offset ?? Number(piece.dataset.start), marks, { isGap: event.altKey });
    }
  }
}

/** A selection without the blanks at its rim, which are slips of the hand; blanks alone stay. */
export function trimmed(text, { start, end }) {
  const words = text.slice(start, end);
  if (!/\S/u.test(words)) return { start, end };
  const before = words.length - words.trimStart().length; // blanks are one unit each, so units are code points here
  const after = words.length - words.trimEnd().length;
  return { start: start + before, end: end - after };
}
