// The mark that is open: the slip with what it says, and the handles at the ends of its words.
//
// No mark is changed until the slip is saved; until then only the drawing shows where its ends were moved to.

import { changedMark, isSame, newMark } from "./marks.js";
import { Handles } from "./handles.js";
import { Picker } from "./picker.js";
import { lettersOf, offsetAt } from "./places.js";

const NARROW = window.matchMedia("(max-width: 48rem)");

export class Editing {
  /** `markOf(id)` finds a mark; `stretched(span)`, `kept(mark, before)`, `dropped(mark)` and `closed()` hear what the
   * annotator did. */
  constructor({ text, tags, parts, view, say, markOf, stretched, kept, dropped, closed }) {
    Object.assign(this, { text, view, markOf, stretched, kept, closed });
    this.id = 0; // of the open mark; a new one has none yet
    this.span = null;
    this.picker = new Picker(parts.picker, {
      tags,
      say,
      saved: (values) => this.#keep(values),
      removed: () => dropped(this.mark),
      closed,
    });
    this.handles = new Handles(parts.essay.parentElement, {
      text,
      edges: (span) => view.edgesOf(span),
      offsetAt: (x, y) => offsetAt(parts.essay, x, y),
      moved: (span) => this.#stretch(span),
      left: () => (this.isOpen ? this.picker.field : parts.essay).focus(),
    });
  }

  get isOpen() {
    return this.picker.isOpen;
  }

  get mark() {
    return this.markOf(this.id);
  }

  /** Opens the slip beside words; `mark` where there is one already, `typed` what was typed ahead. */
  open({ span, mark, typed, isTouch }) {
    const piece = this.view.elementAt(span);
    piece.scrollIntoView({ block: "nearest" });
    this.span = span;
    const rect = lettersOf(piece).getBoundingClientRect();
    this.picker.open({ quote: this.#quote(), mark, typed, isTouch, rect });
    if (NARROW.matches) piece.scrollIntoView({ block: "start" }); // there the slip covers most of the page
    this.handles.show(span);
  }

  close() {
    this.picker.close();
    this.id = 0;
  }

  /** A slip left by a click elsewhere is saved if it can be: a tag that was chosen is not thrown away. */
  putAway() {
    if (!this.isOpen) return;
    if (this.picker.tagField.tag) this.picker.save();
    else this.picker.cancel();
  }

  /** The marks as they are drawn: the open one with its ends as they were moved. */
  shown(marks) {
    const mark = this.isOpen ? this.mark : null;
    if (!mark || (mark.start === this.span.start && mark.end === this.span.end)) return marks;
    const moved = changedMark(mark, this.#ends());
    return marks.map((each) => (each === mark ? moved : each));
  }

  /** Handles at the words of the slip, or else at what a finger tapped. */
  drawHandles(tapped) {
    this.handles.show(this.isOpen ? this.span : tapped);
  }

  #stretch(span) {
    if (this.isOpen) {
      this.span = span;
      this.picker.requote(this.#quote());
    }
    this.stretched(span);
  }

  #keep(values) {
    const before = this.mark;
    const whole = { ...values, ...this.#ends() };
    const mark = before ? changedMark(before, whole) : newMark(whole);
    if (!before || !isSame(before, mark)) this.kept(mark, before);
    this.closed();
  }

  #ends() {
    return { start: this.span.start, end: this.span.end };
  }

  #quote() {
    return this.text.slice(this.span.start, this.span.end);
  }
}
