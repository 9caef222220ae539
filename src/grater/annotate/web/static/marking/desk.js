// The marking desk: the essay, the cursor, the open mark and the list, and what every request of the annotator does.

import { changedMark, inOrder, inWords, isSame, marksAt, newMark } from "./marks.js";
import { Ghosts } from "./ghosts.js";
import { Editing } from "./editing.js";
import { History } from "./history.js";
import { EssayView } from "./view.js";
import { MarkList, isUnfinished } from "./list.js";
import { Pointer, trimmed } from "./pointer.js";
import { historyRequestOf, requestOf } from "./keys.js";
import { TypedAhead } from "./typed-ahead.js";
import { Walk } from "./walk.js";
import { selectedSpan } from "./places.js";

export class Desk {
  /** `changed(state)` hears of every change of the work, `typed(slip)` of what stands on a slip that is not saved,
   * `say(words)` gets what to announce. */
  constructor({ text, tags, state, parts, say, changed, typed = () => {}, suggestions = [] }) {
    Object.assign(this, { text, tags, parts, say, changed });
    this.ghosts = new Ghosts(suggestions);
    this.suggestion = null; // what a new mark is made of
    this.drawn = () => {}; // hears of every drawing
    this.owes = new Map(tags.map((tag) => [tag.code, tag.owes_correction]));
    this.history = new History(state);
    this.isTapped = false; // whether a finger chose the words at the cursor
    this.view = new EssayView(parts.essay, text, hueByTag(tags));
    this.walk = new Walk({ text, view: this.view, moved: () => this.#moved() });
    this.list = new MarkList(parts.list, parts.count, {
      text,
      tags,
      opened: (id) => this.openMark(this.markOf(id)),
      removed: (id) => this.#drop(this.markOf(id)),
    });
    this.editing = new Editing({
      text,
      tags,
      parts,
      view: this.view,
      say,
      markOf: (id) => this.markOf(id),
      stretched: (span) => this.#stretched(span),
      kept: (mark, before) => this.#keep(mark, before),
      dropped: (mark) => this.#drop(mark),
      closed: () => this.#backToText(),
      typed,
    });
    this.ahead = new TypedAhead();
    this.pointer = new Pointer(parts.essay, {
      selected: (span) => this.#selected(span),
      pressed: (offset, marks, how) => this.#pressed(offset, marks, how),
      settled: () => this.ahead.strike(),
    });
    parts.essay.addEventListener("keydown", (event) => this.#key(event));
    document.addEventListener("keydown", (event) => this.#historyKey(event));
    this.draw();
  }

  get state() {
    return this.history.state;
  }

  get cursor() {
    return this.walk.cursor;
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
    this.list.draw(this.state.marks, this.editing.id);
    this.parts.undo.disabled = this.history.done.length === 0;
    this.parts.redo.disabled = this.history.undone.length === 0;
    if (this.parts.aside) this.parts.aside.checked = this.state.setAside;
  }

  #drawText() {
    const { editing, cursor } = this;
    this.view.draw({ marks: this.ghosts.among(editing.shown(this.state.marks), this.state), cursor, chosen: editing.id });
    this.drawn();
    editing.drawHandles(this.isTapped ? cursor : null);
  }

  // Requests: what keys and buttons ask for.

  /** To the next (1) or previous (-1) mark. */
  step(direction) {
    const marks = inOrder([...this.state.marks, ...this.ghosts.open(this.state)]);
    const isBeyond = (mark) => (direction > 0 ? mark.start > this.cursor.start : mark.start < this.cursor.start);
    const mark = direction > 0 ? marks.find(isBeyond) : marks.findLast(isBeyond);
    if (mark) this.walk.toSpan(mark);
    else this.say(direction > 0 ? "No more marks after this." : "No marks before this.");
  }

  /** To the next open suggestion, from the top again behind the last one. */
  stepToGhost() {
    const open = inOrder(this.ghosts.open(this.state));
    const next = open.find(({ start }) => start > this.cursor.start) ?? open[0];
    if (next) this.walk.toSpan(next);
  }

  /** Missing words before (-1) or behind (1) the cursor. */
  insert(side) {
    if (!this.putAway()) return;
    this.walk.gap(side);
    this.#open({ span: this.cursor });
  }

  help() {
    this.parts.keys.open = !this.parts.keys.open;
  }

  /** Opens the slip for what is selected: the mark that is exactly there, or a new one. */
  mark({ isNew = false, typed = "" } = {}) {
    const native = selectedSpan(this.parts.essay);
    if (!this.putAway()) return;
    if (native) {
      this.walk.standOn(trimmed(this.text, native));
      document.getSelection().removeAllRanges();
    }
    const there = this.state.marks.findLast(({ start, end }) => start === this.cursor.start && end === this.cursor.end);
    if (there && !isNew) this.openMark(there);
    else if (this.ghost && !typed && !isNew) this.accept();
    else if (this.ghost) this.change({ typed });
    else this.#open({ span: this.cursor, typed });
  }

  /** The suggestion that the cursor stands on, if it is still open. */
  get ghost() {
    return this.ghosts.at(this.cursor, this.state);
  }

  /** Takes the suggestion as it is; one that owes a correction is opened instead. */
  accept() {
    const { ghost } = this;
    if (!ghost || !this.putAway()) return;
    const mark = newMark({ ...ghost, suggestion: ghost.number });
    if (isUnfinished(mark, this.owes)) this.change();
    else this.apply({ ...this.state, marks: [...this.state.marks, mark] }, `accepted ${mark.tag}: ${inWords(mark, this.text)}`);
  }

  /** Opens the suggestion on a slip; what is saved there came of it. */
  change({ typed = "" } = {}) {
    const { ghost } = this;
    if (!ghost || !this.putAway()) return;
    const corrections = ghost.replacements.length ? [...ghost.replacements] : [this.text.slice(ghost.start, ghost.end)];
    this.#open({ span: ghost, typed, offered: { letters: ghost.tag, corrections, comment: "" }, suggestion: ghost.number });
  }

  reject() {
    const { ghost } = this;
    if (!ghost || !this.putAway()) return;
    this.apply({ ...this.state, rejected: [...this.state.rejected, ghost.number] }, `rejected ${ghost.tag}: ${inWords(ghost, this.text)}`);
  }

  remove() {
    const [mark] = marksAt(this.state.marks, this.cursor);
    if (mark) this.#drop(mark);
    else if (this.ghost) this.reject();
    else this.say("No mark here.");
  }

  undo() {
    if (!this.putAway()) return;
    this.#travel(this.history.undo(), "Undone", "Nothing to undo.");
  }

  redo() {
    if (!this.putAway()) return;
    this.#travel(this.history.redo(), "Redone", "Nothing to redo.");
  }

  setAside(isAside) {
    this.apply({ ...this.state, setAside: isAside }, isAside ? "set the essay aside" : "took the essay back");
  }

  /** Whether no slip is in the way: one that is open was saved, or closed where it was empty; else it stays. */
  putAway() {
    return this.editing.putAway();
  }

  /** Opens a slip again as it was when the page was left. */
  reopen({ start, end, mark, values }) {
    const there = mark && this.state.marks.find((each) => isSame(each, mark));
    this.walk.standOn({ start, end });
    this.#open({ span: { start, end }, mark: there ?? null, left: values });
  }

  openMark(asked) {
    if (!asked || !this.putAway()) return;
    const mark = this.markOf(asked.id); // as it is once the slip is put away
    this.walk.standOn(mark);
    this.#open({ span: mark, mark });
    this.list.draw(this.state.marks, mark.id);
    this.list.show(mark.id);
  }

  jump(span) {
    this.walk.toSpan(span);
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

  #open({ span, mark = null, typed = "", left = undefined, offered = null, suggestion = null }) {
    this.editing.id = mark?.id ?? 0;
    this.suggestion = suggestion;
    this.#drawText();
    this.editing.open({ span, mark, typed, left, offered, isTouch: this.pointer.kind === "touch" && !typed });
  }

  /** One of the handles was moved. */
  #stretched(span) {
    this.walk.standOn(span);
    this.#drawText();
    this.say(this.#cursorInWords());
  }

  #keep(kept, before) {
    const mark = before || this.suggestion === null ? kept : changedMark(kept, { suggestion: this.suggestion });
    this.suggestion = null;
    const others = this.state.marks.filter(({ id }) => id !== mark.id);
    this.editing.id = 0;
    this.apply(
      { ...this.state, marks: [...others, mark] },
      `${before ? "changed" : "marked"} ${mark.tag}: ${inWords(mark, this.text)}`,
    );
  }

  #drop(mark) {
    if (!mark || (this.editing.id !== mark.id && !this.putAway())) return;
    this.editing.close();
    const marks = this.state.marks.filter(({ id }) => id !== mark.id);
    this.apply({ ...this.state, marks }, `removed ${mark.tag}: ${inWords(mark, this.text)}`);
    this.#backToText();
  }

  #backToText() {
    this.editing.id = 0;
    this.isTapped = false;
    this.draw();
    this.parts.essay.focus({ preventScroll: true });
  }

  #selected(span) {
    if (!this.putAway()) return;
    this.walk.standOn(trimmed(this.text, span));
    this.#open({ span: this.cursor });
  }

  #pressed(offset, ids, { isGap }) {
    if (!this.putAway()) return;
    const marks = marksAt(ids.map((id) => this.markOf(id)).filter(Boolean), { start: 0, end: this.text.length });
    this.isTapped = this.pointer.kind === "touch";
    const ghost = this.ghosts.open(this.state).find(({ id }) => ids.includes(id));
    if (isGap) this.walk.toGap(offset);
    else if (marks.length) this.openMark(marks[0]);
    else if (ghost) this.walk.toSpan(ghost);
    else this.walk.toWord(offset);
  }

  #moved() {
    this.#drawText();
    this.view.elementAt(this.cursor.unit).scrollIntoView({ block: "nearest" });
    this.list.follow(marksAt(this.state.marks, this.cursor)[0]?.id);
    this.say(this.#cursorInWords());
  }

  #cursorInWords() {
    const words = this.cursor.isPoint ? "gap" : this.text.slice(this.cursor.start, this.cursor.end);
    const marks = marksAt(this.state.marks, this.cursor);
    const offered = this.ghost ? [`suggestion ${this.ghost.tag}: ${inWords(this.ghost, this.text)}`] : [];
    return [words, ...marks.map((mark) => `${mark.tag}: ${inWords(mark, this.text)}`), ...offered].join("; ");
  }

  #travel(what, done, nothing) {
    if (what === null) {
      this.say(nothing);
      return;
    }
    this.editing.id = 0;
    this.draw();
    this.say(`${done}: ${what}.`);
    this.changed(this.state);
  }

  #key(event) {
    if (event.target !== this.parts.essay || event.isComposing) return;
    if (this.pointer.isBusy) {
      this.ahead.keep(event);
      return;
    }
    const request = requestOf(event);
    if (!request) return;
    event.preventDefault();
    this.isTapped = false;
    const [name, ...values] = request;
    const asked = name in this.walk ? this.walk : this;
    asked[name](...values);
  }

  #historyKey(event) {
    const name = historyRequestOf(event);
    if (!name || this.editing.isOpen) return;
    event.preventDefault();
    this[name]();
  }
}

function hueByTag(tags) {
  const groups = [...new Set(tags.map((tag) => tag.group))];
  return new Map(tags.map((tag) => [tag.code, groups.indexOf(tag.group) % 7]));
}

function capital(words) {
  return words.charAt(0).toUpperCase() + words.slice(1);
}
