// The marking desk: the essay, the cursor, the slip and the list, and what every request of the annotator does.

import * as cursors from "./cursor.js";
import { changedMark, inOrder, inWords, isSame, marksAt, newMark } from "./marks.js";
import { History } from "./history.js";
import { EssayView } from "./view.js";
import { MarkList, isUnfinished } from "./list.js";
import { Picker } from "./picker.js";
import { Handles } from "./handles.js";
import { Pointer, trimmed } from "./pointer.js";
import { historyRequestOf, requestOf } from "./keys.js";
import { columnOf, lettersOf, offsetAt, offsetOnNextLine, selectedSpan } from "./places.js";

const NARROW = window.matchMedia("(max-width: 48rem)");

export class Desk {
  /** `changed(state)` hears of every change of the work, `say(words)` is told what to announce. */
  constructor({ text, tags, state, parts, say, changed }) {
    Object.assign(this, { text, tags, parts, say, changed });
    this.owes = new Map(tags.map((tag) => [tag.code, tag.owes]));
    this.history = new History(state);
    this.cursor = cursors.onWord(text, 0);
    this.chosen = 0;
    this.column = null;
    this.isTapped = false; // whether a finger chose the words at the cursor
    this.view = new EssayView(parts.essay, text, hueByTag(tags));
    this.list = new MarkList(parts.list, parts.count, {
      text,
      tags,
      opened: (id) => this.openMark(this.markOf(id)),
      removed: (id) => this.#drop(this.markOf(id)),
    });
    this.picker = new Picker(parts.picker, {
      tags,
      say,
      saved: (values) => this.#keepMark(values),
      removed: () => this.#drop(this.markOf(this.chosen)),
      closed: () => this.#backToText(),
    });
    this.pointer = new Pointer(parts.essay, {
      selected: (span) => this.#selected(span),
      pressed: (offset, marks, how) => this.#pressed(offset, marks, how),
    });
    this.handles = new Handles(parts.essay.parentElement, {
      text,
      edges: (span) => this.view.edgesOf(span),
      offsetAt: (x, y) => offsetAt(parts.essay, x, y),
      moved: (span) => this.#stretched(span),
      left: () => (this.picker.isOpen ? this.picker.field : parts.essay).focus(),
    });
    parts.essay.addEventListener("keydown", (event) => this.#key(event));
    document.addEventListener("keydown", (event) => this.#historyKey(event));
    this.draw();
  }

  get state() {
    return this.history.state;
  }

  markOf(id) {
    return this.state.marks.find((mark) => mark.id === id) ?? null;
  }

  /** The marks whose tag owes a correction that they have not. */
  unfinished() {
    return inOrder(this.state.marks).filter((mark) => isUnfinished(mark, this.owes));
  }

  draw() {
    this.#drawText();
    this.list.draw(this.state.marks, this.chosen);
    this.parts.undo.disabled = this.history.done.length === 0;
    this.parts.redo.disabled = this.history.undone.length === 0;
    if (this.parts.aside) this.parts.aside.checked = this.state.setAside;
  }

  #drawText() {
    this.view.draw({ marks: this.#shownMarks(), cursor: this.cursor, chosen: this.chosen });
    this.#drawHandles();
  }

  #drawHandles() {
    this.handles.show(this.picker.isOpen ? this.opened : this.isTapped ? this.cursor : null);
  }

  /** The marks, the open one with its ends as they were moved. */
  #shownMarks() {
    const mark = this.picker.isOpen ? this.markOf(this.chosen) : null;
    if (!mark || isSameSpan(mark, this.opened)) return this.state.marks;
    const moved = changedMark(mark, spanOf(this.opened));
    return this.state.marks.map((each) => (each === mark ? moved : each));
  }

  // Requests: what keys and buttons ask for.

  move(step, { isStretched, isFine }) {
    const next = isFine ? cursors.byLetter : cursors.byWord;
    this.#moveTo(next(this.text, this.cursor, step, isStretched));
  }

  edge(step, { isStretched, isFine }) {
    this.#moveTo(cursors.toEdge(this.text, this.cursor, step, isStretched, isFine));
  }

  line(step, { isStretched }) {
    const from = this.view.elementAt(this.cursor.unit);
    const column = this.column ?? columnOf(from);
    const offset = offsetOnNextLine(this.parts.essay, from, step, column);
    if (offset !== null) this.#moveTo(cursors.toOffset(this.text, this.cursor, offset, isStretched));
    this.column = column; // the way up is the way down, whatever the lengths of the words
  }

  /** To the next (1) or previous (-1) mark. */
  step(direction) {
    const marks = inOrder(this.state.marks);
    const isBeyond = (mark) => (direction > 0 ? mark.start > this.cursor.start : mark.start < this.cursor.start);
    const mark = direction > 0 ? marks.find(isBeyond) : marks.findLast(isBeyond);
    if (mark) this.#moveTo(cursors.onSpan(mark));
    else this.say(direction > 0 ? "No mark further on." : "No mark before.");
  }

  /** A gap before (-1) or behind (1) the cursor: a place for missing words. */
  gap(side) {
    const offset = side < 0 ? this.cursor.start : this.cursor.end;
    this.#moveTo(new cursors.Cursor(cursors.point(offset)));
  }

  insert(side) {
    this.gap(side);
    this.#open({ span: this.cursor });
  }

  collapse() {
    this.#moveTo(cursors.onWord(this.text, this.cursor.unit.start));
  }

  help() {
    this.parts.keys.open = !this.parts.keys.open;
  }

  /** Opens the slip for what is selected: the mark that is exactly there, or a new one. */
  mark({ isNew = false, typed = "" } = {}) {
    const native = selectedSpan(this.parts.essay);
    if (native) {
      this.cursor = cursors.onSpan(trimmed(this.text, native));
      document.getSelection().removeAllRanges();
    }
    const there = this.state.marks.findLast(({ start, end }) => start === this.cursor.start && end === this.cursor.end);
    if (there && !isNew) this.openMark(there);
    else this.#open({ span: this.cursor, typed });
  }

  remove() {
    const [mark] = marksAt(this.state.marks, this.cursor);
    if (mark) this.#drop(mark);
    else this.say("No mark here.");
  }

  undo() {
    this.#travel(this.history.undo(), "Undone", "Nothing to undo.");
  }

  redo() {
    this.#travel(this.history.redo(), "Done again", "Nothing to do again.");
  }

  setAside(isAside) {
    this.apply({ ...this.state, setAside: isAside }, isAside ? "set the essay aside" : "took the essay back");
  }

  openMark(mark) {
    if (!mark) return;
    if (this.picker.isOpen) this.#putAway();
    this.chosen = mark.id;
    this.cursor = cursors.onSpan(mark);
    this.#open({ span: mark, mark });
    this.list.draw(this.state.marks, this.chosen);
    this.list.show(mark.id);
  }

  jump(span) {
    this.#moveTo(cursors.onSpan(span));
    this.parts.essay.focus();
  }

  /** Makes a new state the present one; `what` is for the announcement and for undo. */
  apply(state, what) {
    this.history.apply(state, what);
    this.draw();
    this.say(capital(`${what}.`));
    this.changed(this.state);
  }

  // What they come to.

  #open({ span, mark = null, typed = "" }) {
    if (!mark) this.chosen = 0;
    this.#drawText();
    const piece = this.view.elementAt(span);
    piece.scrollIntoView({ block: "nearest" });
    this.opened = span;
    this.picker.open({
      quote: this.text.slice(span.start, span.end),
      mark,
      typed,
      isTouch: this.pointer.kind === "touch" && !typed,
      rect: lettersOf(piece).getBoundingClientRect(),
    });
    if (NARROW.matches) piece.scrollIntoView({ block: "start" }); // there the slip covers most of the page
    this.#drawHandles();
  }

  /** One of the handles was moved. */
  #stretched(span) {
    this.cursor = cursors.onSpan(span);
    if (this.picker.isOpen) {
      this.opened = span;
      this.picker.requote(this.text.slice(span.start, span.end));
    }
    this.#drawText();
    this.say(this.#cursorInWords());
  }

  #keepMark(values) {
    const before = this.markOf(this.chosen);
    const whole = { ...values, ...spanOf(this.opened) };
    const mark = before ? changedMark(before, whole) : newMark(whole);
    const isNothingNew = before && isSame(before, mark);
    if (!isNothingNew) {
      const others = this.state.marks.filter(({ id }) => id !== mark.id);
      const what = `${before ? "changed" : "marked"} ${mark.tag}: ${inWords(mark, this.text)}`;
      this.chosen = 0;
      this.apply({ ...this.state, marks: [...others, mark] }, what);
    }
    this.#backToText();
  }

  #drop(mark) {
    if (!mark) return;
    this.picker.close();
    const marks = this.state.marks.filter(({ id }) => id !== mark.id);
    this.chosen = 0;
    this.apply({ ...this.state, marks }, `removed ${mark.tag}: ${inWords(mark, this.text)}`);
    this.#backToText();
  }

  #backToText() {
    this.chosen = 0;
    this.isTapped = false;
    this.draw();
    this.parts.essay.focus({ preventScroll: true });
  }

  /** A slip left by a click elsewhere is saved if it can be: a tag that was chosen is not thrown away. */
  #putAway() {
    if (this.picker.tagField.tag) this.picker.save();
    else this.picker.cancel();
  }

  #selected(span) {
    if (this.picker.isOpen) this.#putAway();
    this.cursor = cursors.onSpan(trimmed(this.text, span));
    this.#open({ span: this.cursor });
  }

  #pressed(offset, ids, { isGap }) {
    if (this.picker.isOpen) this.#putAway();
    const marks = marksAt(ids.map((id) => this.markOf(id)).filter(Boolean), { start: 0, end: this.text.length });
    this.isTapped = this.pointer.kind === "touch";
    if (isGap) this.#moveTo(new cursors.Cursor(cursors.point(offset)));
    else if (marks.length) this.openMark(marks[0]);
    else this.#moveTo(cursors.toOffset(this.text, this.cursor, offset, false));
  }

  #moveTo(cursor) {
    this.cursor = cursor;
    this.column = null;
    this.#drawText();
    this.view.elementAt(cursor.unit).scrollIntoView({ block: "nearest" });
    this.say(this.#cursorInWords());
  }

  #cursorInWords() {
    const words = this.cursor.isPoint ? "gap" : this.text.slice(this.cursor.start, this.cursor.end);
    const marks = marksAt(this.state.marks, this.cursor);
    return [words, ...marks.map((mark) => `${mark.tag}: ${inWords(mark, this.text)}`)].join("; ");
  }

  #travel(what, done, nothing) {
    if (what === null) {
      this.say(nothing);
      return;
    }
    this.chosen = 0;
    this.draw();
    this.say(`${done}: ${what}.`);
    this.changed(this.state);
  }

  #key(event) {
    if (event.target !== this.parts.essay || event.isComposing) return;
    const request = requestOf(event);
    if (!request) return;
    event.preventDefault();
    this.isTapped = false;
    const [name, ...values] = request;
    this[name](...values);
  }

  #historyKey(event) {
    const name = historyRequestOf(event);
    if (!name || this.picker.isOpen) return;
    event.preventDefault();
    this[name]();
  }
}

function spanOf({ start, end }) {
  return { start, end };
}

function isSameSpan(one, other) {
  return one.start === other.start && one.end === other.end;
}

function hueByTag(tags) {
  const groups = [...new Set(tags.map((tag) => tag.group))];
  return new Map(tags.map((tag) => [tag.code, groups.indexOf(tag.group) % 7]));
}

function capital(words) {
  return words.charAt(0).toUpperCase() + words.slice(1);
}
