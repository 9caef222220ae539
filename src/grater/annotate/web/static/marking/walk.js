// The cursor's walk over the essay: where it stands, and the moves that keys, buttons and clicks ask for.

import * as cursors from "./cursor.js";
import { columnOf, offsetOnNextLine } from "./places.js";

export class Walk {
  /** `moved()` hears of every move. */
  constructor({ text, view, moved }) {
    Object.assign(this, { text, view, moved });
    this.cursor = cursors.onWord(text, 0);
    this.column = null;
  }

  /** To the right (1) or to the left (-1), whichever way the paragraph runs. */
  move(side, { isStretched, isFine }) {
    const paragraph = this.view.elementAt(this.cursor.unit)?.closest("p");
    const step = paragraph && getComputedStyle(paragraph).direction === "rtl" ? -side : side;
    const next = isFine ? cursors.byLetter : cursors.byWord;
    this.#to(next(this.text, this.cursor, step, isStretched));
  }

  edge(step, { isStretched, isFine }) {
    this.#to(cursors.toEdge(this.text, this.cursor, step, isStretched, isFine));
  }

  line(step, { isStretched }) {
    const from = this.view.elementAt(this.cursor.unit);
    const column = this.column ?? columnOf(from);
    const offset = offsetOnNextLine(this.view.root, from, step, column);
    if (offset !== null) this.#to(cursors.toOffset(this.text, this.cursor, offset, isStretched));
    this.column = column; // the way up is the way down, whatever the lengths of the words
  }

  /** To the gap before (-1) or behind (1) what is selected: a place for missing words. */
  gap(side) {
    this.toGap(side < 0 ? this.cursor.start : this.cursor.end);
  }

  collapse() {
    this.toWord(this.cursor.unit.start);
  }

  toGap(offset) {
    this.#to(new cursors.Cursor(cursors.point(offset)));
  }

  toWord(offset) {
    this.#to(cursors.onWord(this.text, offset));
  }

  toSpan(span) {
    this.#to(cursors.onSpan(span));
  }

  /** Stands on a span without a move: nothing is drawn or announced yet. */
  standOn(span) {
    this.cursor = cursors.onSpan(span);
  }

  #to(cursor) {
    this.cursor = cursor;
    this.column = null;
    this.moved();
  }
}
