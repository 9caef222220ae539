// Which tags a few typed letters mean, the best first.  The order never learns: the same keys always give the same tag.

/** The tags that fit, best first; without letters none, so that nothing is chosen by accident. */
export function ranked(tags, typed) {
  const letters = typed.trim().toLowerCase();
  if (!letters) return [];
  return tags
    .map((tag, order) => ({ tag, order, rank: rankOf(tag, letters) }))
    .filter(({ rank }) => rank < Infinity)
    .sort((one, other) => one.rank - other.rank || one.order - other.order)
    .map(({ tag }) => tag);
}

function rankOf(tag, letters) {
  const code = tag.code.toLowerCase();
  const name = tag.name.toLowerCase();
  if (code === letters) return 0;
  if (code.startsWith(letters)) return 1;
  if (startsWord(name, letters)) return 2;
  if (startsWord(tag.group.toLowerCase(), letters)) return 3;
  if (code.includes(letters)) return 4;
  if (startsWord(tag.description.toLowerCase(), letters)) return 5;
  if (name.includes(letters)) return 6;
  return isWithin(letters, code) ? 7 : Infinity;
}

function startsWord(words, letters) {
  return words.startsWith(letters) || words.split(/[^\p{L}\p{N}]+/u).some((word) => word.startsWith(letters));
}

/** Whether the letters stand in the code in this order: `ad` in `ArtOrDet`. */
function isWithin(letters, code) {
  let from = 0;
  for (const letter of letters) {
    from = code.indexOf(letter, from) + 1;
    if (!from) return false;
  }
  return true;
}
