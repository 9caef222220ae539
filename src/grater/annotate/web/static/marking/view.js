// Draws the essay, chunk by chunk; a chunk that looks as before is left alone.  Only textContent, never markup.
//
// The DOM of the text holds the text and nothing else: codes and carets are printed by CSS from attributes, so a
// selection, a search in the page and a copy give the essay's own letters.

import { cut } from "./pieces.js";
import { inOrder, isPoint } from "./marks.js";
import { lanesOf } from "./lanes.js";
import { edgeOf } from "./places.js";
import { element } from "./element.js";

export class EssayView {
  constructor(root, text, hues) {
    this.root = root;
    this.text = text;
    this.hues = hues; // tag code -> number of its colour
    this.looks = text.chunks.map(() => null);
    this.chunks = [];
    this.marks = null;
    this.paragraphs = text.paragraphs.map(() => element("p", "paragraph"));
    text.chunks.forEach((chunk, n) => {
      const span = element("span", "chunk");
      span.dataset.chunk = n;
      this.chunks.push(span);
      this.paragraphs[chunk.paragraph].append(span);
    });
    for (const paragraph of this.paragraphs) paragraph.dir = "auto";
    root.replaceChildren(...this.paragraphs);
  }

  /** `chosen` is the id of the mark that is open, `cursor` what the keyboard stands on. */
  draw({ marks, cursor = null, chosen = 0 }) {
    if (marks !== this.marks) this.#layOut(marks);
    this.text.chunks.forEach((chunk, n) => {
      const cursorHere = cursor && this.#isAt(chunk, n, cursor) ? cursor : null;
      this.#drawChunk(n, chunk, { cursor: cursorHere, chosen });
    });
  }

  /** Gives every mark its lane and its chunks, and every chunk room for its lanes. */
  #layOut(marks) {
    this.marks = marks;
    const ordered = inOrder(marks);
    this.lanes = lanesOf(ordered);
    this.byChunk = this.#byChunk(ordered);
    this.chunks.forEach((node, n) => {
      const deepest = Math.max(1, ...this.byChunk[n].map((mark) => this.lanes.get(mark.id) + 1));
      const { start, end } = this.text.chunks[n];
      const className = start === end && !this.byChunk[n].length ? "chunk empty" : `chunk lanes-${deepest}`;
      if (node.className !== className) node.className = className; // on a paragraph it would style every piece anew
    });
  }

  /** The element at which a mark or a span begins. */
  elementAt({ start, end }) {
    const first = this.text.chunkAt(start);
    for (const chunk of [this.chunks[first], this.chunks[first + 1]]) {
      const found = [...(chunk?.children ?? [])].find(
        (piece) => Number(piece.dataset.end) > start || (start === end && Number(piece.dataset.start) === start),
      );
      if (found) return found;
    }
    return this.chunks[first];
  }

  /** Where in the window a span begins and ends. */
  edgesOf({ start, end }) {
    const first = this.#pieceWith(start);
    const last = start === end ? null : this.#pieceWith(end - 1);
    if (first) return { start: edgeOf(first, start), end: last && edgeOf(last, end - 1, { isEnd: true }) };
    const before = this.#pieceWith(start - 1); // a gap at the end of a paragraph
    return { start: before && edgeOf(before, start - 1, { isEnd: true }), end: null };
  }

  /** The piece with the letter at an offset; null where a line ends. */
  #pieceWith(offset) {
    const chunk = this.chunks[this.text.chunkAt(offset)];
    const isHere = ({ dataset }) => Number(dataset.start) <= offset && offset < Number(dataset.end);
    return [...(chunk?.children ?? [])].find(isHere) ?? null;
  }

  #byChunk(marks) {
    const byChunk = this.text.chunks.map(() => []);
    for (const mark of marks) {
      const last = this.text.chunkAt(isPoint(mark) ? mark.start : mark.end - 1);
      for (let n = this.text.chunkAt(mark.start); n <= last; n += 1) {
        if (this.#isAt(this.text.chunks[n], n, mark)) byChunk[n].push(mark);
      }
      // A mark on nothing but a line end has no letter to underline: it is drawn as a point there.
      if (!byChunk[last].includes(mark)) byChunk[last].push(mark);
    }
    return byChunk;
  }

  #isAt(chunk, n, { start, end }) {
    return start === end ? this.text.chunkAt(start) === n : start < chunk.end && chunk.start < end;
  }

  #drawChunk(n, chunk, { cursor, chosen }) {
    const look = this.#look(n, cursor, chosen);
    if (look === this.looks[n]) return;
    this.looks[n] = look;
    const pieces = cut(chunk.start, chunk.end, this.byChunk[n].map(clamped(chunk)), cursor && clamped(chunk)(cursor));
    const nodes = pieces.map((piece) => this.#pieceNode(piece, { chosen, chunk }));
    if (cursor && cursor.start === cursor.end) placeCaret(nodes, pieces, cursor.start);
    this.chunks[n].replaceChildren(...nodes);
  }

  /** All that a chunk's looks depend on, in a word. */
  #look(n, cursor, chosen) {
    const marks = this.byChunk[n].map(({ id, tag }) => `${id}${id === chosen ? "!" : ""} ${tag} ${this.lanes.get(id)}`);
    return `${cursor ? `${cursor.start}-${cursor.end}` : ""};${marks.join(";")}`;
  }

  #pieceNode(piece, { chosen, chunk }) {
    const node = element("span", "piece");
    node.dataset.start = piece.start;
    node.dataset.end = piece.end;
    if (piece.start === piece.end) node.classList.add("insertion");
    else node.textContent = this.text.slice(piece.start, piece.end);
    node.classList.toggle("at-cursor", piece.isCursor);
    node.classList.toggle("chosen", piece.marks.some((mark) => mark.id === chosen));
    if (piece.marks.length) {
      node.classList.add("marked");
      node.dataset.marks = piece.marks.map((mark) => mark.id).join(" ");
    }
    for (const mark of piece.marks) {
      const lane = this.lanes.get(mark.id);
      node.style.setProperty(`--line-${lane}`, mark.isGhost ? "transparent" : `var(--hue-${this.hues.get(mark.tag) ?? 0})`);
      node.classList.toggle("ghost", piece.marks.some(({ isGhost }) => isGhost));
      if (mark.start === piece.start && this.#beginsIn(mark, chunk)) node.prepend(this.#label(mark, lane));
    }
    return node;
  }

  #beginsIn(mark, chunk) {
    return mark.whole.start >= chunk.start || this.text.chunks[this.text.chunkAt(mark.whole.start)].end <= mark.whole.start;
  }

  #label(mark, lane) {
    const label = element("span", `code lane-${lane} ${mark.isGhost ? "ghost-code" : `hue-${this.hues.get(mark.tag) ?? 0}`}`);
    label.dataset.code = mark.isGhost ? `${mark.replacements.map((words) => words || "∅").join("/") || mark.tag}?` : mark.tag || "?";
    label.setAttribute("aria-hidden", "true");
    return label;
  }
}

/** A mark as far as it lies in the chunk; it still knows its whole. */
function clamped(chunk) {
  return (mark) => {
    const start = Math.min(Math.max(mark.start, chunk.start), chunk.end);
    const end = Math.max(start, Math.min(mark.end, chunk.end));
    return { ...mark, start, end, whole: mark };
  };
}

function placeCaret(nodes, pieces, offset) {
  const caret = element("span", "caret");
  caret.setAttribute("aria-hidden", "true");
  caret.dataset.start = offset;
  caret.dataset.end = offset;
  const next = pieces.findIndex((piece) => piece.start >= offset);
  nodes.splice(next < 0 ? nodes.length : next, 0, caret);
}
