// The cursor: a unit it stands on, and the unit it was stretched from.  A unit is a word, or a point between letters.
//
// What is selected is the smallest span over both, so stretching back over the start simply turns round.

export class Cursor {
  constructor(unit, pivot = unit) {
    this.unit = unit;
    this.pivot = pivot;
    this.start = Math.min(unit.start, pivot.start);
    this.end = Math.max(unit.end, pivot.end);
  }

  get isPoint() {
    return this.start === this.end;
  }
}

export function onWord(text, offset) {
  return text.words.length ? new Cursor(text.words[text.wordAt(offset)]) : new Cursor(point(0));
}

export function onSpan({ start, end }) {
  return new Cursor({ start, end });
}

export function point(offset) {
  return { start: offset, end: offset };
}

/** One word on (step 1) or back (-1). */
export function byWord(text, cursor, step, isStretched) {
  const unit = nextWord(text, isStretched ? cursor.unit : cursor, step);
  if (!unit) return cursor;
  return new Cursor(unit, isStretched ? cursor.pivot : unit);
}

function nextWord(text, { start, end }, step) {
  if (!text.words.length) return null;
  const here = text.wordAt(step > 0 ? end : start);
  if (step > 0) return [text.words[here], text.words[here + 1]].find((word) => word && word.start >= end) ?? null;
  return text.words[text.words[here].end <= start ? here : here - 1] ?? null;
}

/** One letter on or back: a point, or with `isStretched` the selection grown or shrunk by a letter. */
export function byLetter(text, cursor, step, isStretched) {
  if (!isStretched) {
    const from = step > 0 ? cursor.end : cursor.start;
    const to = cursor.isPoint ? text.letterEdge(from, step) : from;
    return new Cursor(point(to));
  }
  const isWord = cursor.unit.start < cursor.unit.end;
  const pivot = isWord ? point(cursor.start) : cursor.pivot;
  const from = isWord ? cursor.end : cursor.unit.start;
  return new Cursor(point(text.letterEdge(from, step)), pivot);
}

/** The first (-1) or last (1) word of the paragraph, or of the text. */
export function toEdge(text, cursor, step, isStretched, isWholeText) {
  const range = isWholeText ? { start: 0, end: text.length } : text.paragraphAt(cursor.unit.start);
  const inside = text.words.filter(({ start, end }) => start >= range.start && end <= range.end);
  const unit = step > 0 ? inside.at(-1) : inside[0];
  if (!unit) return cursor;
  return new Cursor(unit, isStretched ? cursor.pivot : unit);
}

/** To the word at an offset, for moves that only the page can tell: up, down, a click. */
export function toOffset(text, cursor, offset, isStretched) {
  const target = onWord(text, offset);
  return isStretched ? new Cursor(target.unit, cursor.pivot) : target;
}
