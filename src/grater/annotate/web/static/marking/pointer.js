// Mouse, pen and touch on the essay.  Dragging selects and opens the slip; a click moves the cursor, or opens a mark.
//
// A finger taps a word and stretches the selection with the buttons, or selects in the phone's own way.  From the
// moment a button goes down until it is known what it selected the pointer is busy, and keys have to wait: whoever
// types a letter before the button is up means the words that are being selected.

import { offsetAt, selectedSpan } from "./places.js";

export class Pointer {
  /** `selected(span)`, `pressed(offset, marks, { isGap })` hear what was done, `settled()` that the keys may go on. */
  constructor(root, { selected, pressed, settled }) {
    Object.assign(this, { root, selected, pressed, settled });
    this.kind = "mouse";
    this.isDown = false;
    this.isBusy = false;
    this.hasSelected = false; // by the movement that is ending: its click is no press
    root.addEventListener("pointerdown", (event) => this.#down(event));
    document.addEventListener("pointerup", (event) => this.#up(event));
    document.addEventListener("pointermove", (event) => event.buttons === 0 && this.#up(event)); // up outside the window
    document.addEventListener("pointercancel", () => this.#settle());
    root.addEventListener("click", (event) => this.#click(event));
  }

  #down(event) {
    this.#settle();
    this.kind = event.pointerType;
    this.isDown = event.button === 0 && event.pointerType !== "touch";
    this.isBusy = this.isDown;
    this.hasSelected = false;
  }

  #up(event) {
    if (!this.isDown || event.pointerType === "touch") return;
    this.isDown = false;
    const span = selectedSpan(this.root);
    if (!span) {
      setTimeout(() => this.isDown || this.#settle()); // where no click follows
      return;
    }
    document.getSelection().removeAllRanges();
    this.hasSelected = true;
    this.selected(span);
    this.#settle();
  }

  #click(event) {
    if (!this.hasSelected && !selectedSpan(this.root)) this.#press(event);
    this.#settle();
  }

  #press(event) {
    const offset = offsetAt(this.root, event.clientX, event.clientY);
    const piece = event.target.closest?.(".marked");
    const marks = piece ? piece.dataset.marks.split(" ").map(Number) : [];
    if (offset !== null || marks.length) {
      this.pressed(offset ?? Number(piece.dataset.start), marks, { isGap: event.altKey });
    }
  }

  #settle() {
    this.isDown = false;
    if (!this.isBusy) return;
    this.isBusy = false;
    this.settled();
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
