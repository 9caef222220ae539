// The handles at the two ends of what is selected or open: dragged by finger, pen or mouse, or moved with the arrow keys.
//
// An end goes letter by letter, and no letter is cut in two.  A finger that pulls outwards takes whole words, as phones
// do it, and only back goes by letters.  An end pulled over the other one turns the span round.  A gap has one handle.

import { element } from "./element.js";
import { trimmed } from "./pointer.js";

const SIDES = { start: "First letter of the words", end: "Last letter of the words" };

export class Handles {
  /** `edges(span)` says where in the window the ends are and `offsetAt(x, y)` what lies there; `moved(span)` hears of
   * every step and `left()` of a key that leads back. */
  constructor(root, { text, edges, offsetAt, moved, left }) {
    Object.assign(this, { root, text, edges, offsetAt, moved, left });
    this.span = null;
    this.drag = null;
    this.nodes = Object.fromEntries(Object.keys(SIDES).map((side) => [side, this.#node(side)]));
    root.append(...Object.values(this.nodes));
    window.addEventListener("resize", () => this.show(this.span));
  }

  /** At the ends of a span; null hides them. */
  show(span) {
    this.span = span;
    const edges = span ? this.edges(span) : {};
    const around = span && this.root.getBoundingClientRect(); // measuring costs a layout: only where there is something
    for (const [side, node] of Object.entries(this.nodes)) {
      const edge = edges[side];
      node.hidden = !edge || (side === "end" && span.start === span.end);
      if (!node.hidden) this.#place(node, edge, around);
    }
  }

  #place(node, { x, bottom, isLeft }, around) {
    node.classList.toggle("to-the-left", isLeft); // words may run from right to left
    node.style.setProperty("--left", `${Math.round(x - around.left)}px`);
    node.style.setProperty("--top", `${Math.round(bottom - around.top)}px`);
  }

  #node(side) {
    const node = element("button", `handle handle-${side}`);
    node.type = "button";
    node.hidden = true;
    node.setAttribute("aria-label", `${SIDES[side]}: drag it, or move it with the arrow keys`);
    node.addEventListener("pointerdown", (event) => this.#grip(event, side));
    node.addEventListener("pointermove", (event) => this.#pull(event));
    node.addEventListener("lostpointercapture", () => this.#let());
    node.addEventListener("mousedown", (event) => event.preventDefault()); // the slip keeps the focus
    node.addEventListener("keydown", (event) => this.#key(event, side));
    return node;
  }

  /** The finger holds the handle, which hangs below the line: the place meant is on the line. */
  #grip(event, side) {
    if (event.button !== 0 || !event.isPrimary) return;
    const { x, middle } = this.edges(this.span)[side];
    this.drag = { side, from: this.span, right: x - event.clientX, down: middle - event.clientY };
    event.target.setPointerCapture(event.pointerId);
    this.root.classList.add("dragging");
  }

  #pull(event) {
    if (!this.drag) return;
    const { side, from, right, down } = this.drag;
    const offset = this.offsetAt(event.clientX + right, event.clientY + down);
    if (offset === null) return;
    this.#move(pulled(this.text, from, side, offset, { isCoarse: event.pointerType === "touch" }));
  }

  #let() {
    this.drag = null;
    this.root.classList.remove("dragging");
  }

  #key(event, side) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const isBack = event.key === "Escape" || event.key === "Enter";
    if (!step && !isBack) return;
    event.preventDefault();
    if (isBack) this.left();
    else this.#move(stepped(this.text, this.span, side, step, { isFine: event.altKey }));
  }

  #move(span) {
    if (span.start !== this.span.start || span.end !== this.span.end) this.moved(span);
  }
}

/** The span after one of its ends was pulled to an offset; never empty, unless it was a gap, which moves. */
export function pulled(text, span, side, offset, { isCoarse = false } = {}) {
  const place = text.letterAt(offset);
  if (span.start === span.end) return { start: place, end: place };
  const pivot = side === "end" ? span.start : span.end;
  const to = isCoarse && (place < span.start || place > span.end) ? wholeWord(text, place, place > span.end) : place;
  if (to === pivot) return span;
  return trimmed(text, { start: Math.min(pivot, to), end: Math.max(pivot, to) });
}

/** The span after an end went one word on (1) or back (-1), or with `isFine` one letter. */
export function stepped(text, span, side, step, { isFine = false } = {}) {
  const at = span[side];
  const to = isFine ? text.letterEdge(at, step) : wordEdge(text, at, side, step);
  return to === null ? span : pulled(text, span, side, to);
}

/** Out of the middle of a word to its rim. */
function wholeWord(text, offset, isOn) {
  const word = text.words[text.wordAt(offset)];
  if (!word || offset <= word.start || offset >= word.end) return offset;
  return isOn ? word.end : word.start;
}

/** The next start (or end) of a word on or back from an offset, or null. */
function wordEdge(text, offset, side, step) {
  const edges = text.words.map((word) => word[side]);
  return (step > 0 ? edges.find((edge) => edge > offset) : edges.findLast((edge) => edge < offset)) ?? null;
}
