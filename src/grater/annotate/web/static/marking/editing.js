// The mark that is open: the slip with what it says, and the handles at the ends of its words.
//
// No mark is changed until the slip is saved; until then only the drawing shows where its ends were moved to.  What is
// typed on it is not lost before that: `typed(slip)` hears of every change and may keep it, and a slip that was left
// without saving has it again when it is opened for the same words.

import { changedMark, isSame, newMark } from "./marks.js";
import { Handles } from "./handles.js";
import { Picker } from "./picker.js";
import { lettersOf, offsetAt } from "./places.js";

const NARROW = window.matchMedia("(max-width: 48rem)");

export class Editing {
  /** `markOf(id)` finds a mark; `stretched(span)`, `kept(mark, before)`, `dropped(mark)` and `closed()` hear what the
   * annotator did. */
  constructor({ text, tags, parts, view, say, markOf, stretched, kept, dropped, closed, typed }) {
    Object.assign(this, { text, view, say, markOf, stretched, kept, closed, typed });
    this.left = null; // the slip that was left with something on it
    this.id = 0; // of the open mark; a new one has none yet
    this.span = null;
    this.picker = new Picker(parts.picker, {
      tags,
      say,
      saved: (values) => this.#keep(values),
      removed: () => dropped(this.mark),
      closed: (left) => this.#leave(left),
      typed: () => this.typed(this.slip),
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

  get isTyped() {
    return this.picker.isTyped;
  }

  /** What is typed and not saved: its words, its mark where there is one, and what stands in the fields; or null. */
  get slip() {
    return this.isTyped ? { ...this.#ends(), mark: this.mark, values: this.picker.values } : null;
  }

  get mark() {
    return this.markOf(this.id);
  }

  /** Opens the slip beside words; `mark` where there is one already, `typed` what was typed ahead, `left` what stood
   * on it before, `offered` what a system would write there. */
  open({ span, mark, typed, isTouch, left = this.#leftAt(span, mark), offered = null }) {
    const piece = this.view.elementAt(span);
    piece.scrollIntoView({ block: "nearest" });
    this.span = span;
    const rect = lettersOf(piece).getBoundingClientRect();
    const words = left ?? offered;
    const again = words && typed ? { ...words, letters: typed } : words; // what is typed now is the kind that is meant
    this.picker.open({ quote: this.#quote(), mark, typed, isTouch, rect, left: again });
    if (left) this.say("What you typed here earlier is back; it is not saved yet.");
    this.typed(this.slip);
    if (NARROW.matches) piece.scrollIntoView({ block: "start" }); // there the slip covers most of the page
    this.handles.show(span);
  }

  close() {
    this.picker.close();
    this.id = 0;
    this.typed(null);
  }

  /** Whether the slip is out of the way: saved where a kind of error is chosen, closed where nothing was typed.  What
   * was typed without a kind is not thrown away: the slip stays, and says so. */
  putAway() {
    if (!this.isOpen) return true;
    if (this.picker.tagField.tag) return this.picker.save();
    if (this.isTyped) {
      this.picker.hold();
      return false;
    }
    this.picker.cancel();
    return true;
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

  #leave(values) {
    this.left = values && { ...this.#ends(), id: this.mark?.id ?? 0, values };
    this.typed(null);
    this.closed();
    if (values) this.say("Not saved. Mark the same words again to get back what you typed.");
  }

  #leftAt(span, mark) {
    const { left } = this;
    const isThere = left && left.start === span.start && left.end === span.end && left.id === (mark?.id ?? 0);
    return isThere ? left.values : null;
  }

  #keep(values) {
    const before = this.mark;
    this.left = null;
    this.typed(null);
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
