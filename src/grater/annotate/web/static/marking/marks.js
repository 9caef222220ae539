// Marks: what an annotator says of a span.  Values, never changed in place.
//
// A mark is { id, start, end, tag, replacements, comment, suggestion }; `suggestion` is the number of the one that it was
// made of, else null.  `replacements` as on the wire: several are
// alternatives, [""] deletes the words, [] is an error found but not corrected.

let lastId = 0;

export function newMark({ start, end, tag = "", replacements = [], comment = "", suggestion = null }) {
  lastId += 1;
  return Object.freeze({ id: lastId, start, end, tag, replacements: Object.freeze([...replacements]), comment, suggestion });
}

export function changedMark(mark, changes) {
  return Object.freeze({ ...mark, ...changes });
}

/** In the order of the text; of two that begin together the longer one first. */
export function inOrder(marks) {
  return [...marks].sort((one, other) => one.start - other.start || other.end - one.end || one.id - other.id);
}

export function isPoint(mark) {
  return mark.start === mark.end;
}

/** The marks at a span, the shortest first: the one a reader means. */
export function marksAt(marks, { start, end }) {
  const touching = marks.filter((mark) =>
    isPoint(mark) || start === end ? mark.start <= end && start <= mark.end : mark.start < end && start < mark.end,
  );
  return touching.sort((one, other) => one.end - one.start - (other.end - other.start) || one.start - other.start);
}

export function isSame(one, other) {
  return (
    one.start === other.start &&
    one.end === other.end &&
    one.tag === other.tag &&
    one.comment === other.comment &&
    one.replacements.length === other.replacements.length &&
    one.replacements.every((words, n) => words === other.replacements[n])
  );
}

/** As the server wants them: with the quote that proves the offsets, without our ids. */
export function toWire(marks, text) {
  return inOrder(marks).map(({ start, end, tag, replacements, comment, suggestion }) => ({
    start,
    end,
    quote: text.slice(start, end),
    tag,
    replacements: [...replacements],
    comment,
    ...(suggestion === null ? {} : { suggestion }),
  }));
}

export function fromWire(edits) {
  return (edits ?? []).map(newMark);
}

/** Whether two drafts say the same; the server may give back its JSON in another order of keys. */
export function isSameDraft(one, other) {
  const [mine, theirs] = [fromWire(one?.edits), fromWire(other?.edits)];
  const isAlike = mine.length === theirs.length && mine.every((mark, n) => isSame(mark, theirs[n]));
  const isSameTurnedDown = String(one?.rejected ?? []) === String(other?.rejected ?? []);
  return isAlike && isSameTurnedDown && (one?.set_aside === true) === (other?.set_aside === true);
}

/** What a mark does, in a few words: `chair → chairs`. */
export function inWords(mark, text) {
  const quote = shortened(text.slice(mark.start, mark.end).replace(/\s+/gu, " "));
  if (mark.replacements.length === 0) return quote || "insertion";
  const corrections = mark.replacements.map((words) => words || "∅").join(" / ");
  return `${quote || "∅"} → ${corrections}`;
}

function shortened(words) {
  const letters = [...words];
  return letters.length > 60 ? `${letters.slice(0, 28).join("")} … ${letters.slice(-28).join("")}` : words;
}
