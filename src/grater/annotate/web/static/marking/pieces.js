// The text cut at every border of a mark into flat pieces that each know the marks covering them.

import { isPoint } from "./marks.js";

/**
 * The pieces of [start, end), in order.  A piece of text has `start < end`; a point (an insertion) stands between
 * two of them.  `marks` are in order and touch the range; `points` are the offsets at which something is drawn.
 * Together the pieces of text are the range, each code point once.
 */
export function cut(start, end, marks, cursor = null) {
  const borders = new Set([start, end]);
  for (const { start: from, end: to } of cursor ? [...marks, cursor] : marks) {
    if (from > start && from < end) borders.add(from);
    if (to > start && to < end) borders.add(to);
  }
  const places = [...borders].sort((one, other) => one - other);
  const pieces = [];
  places.forEach((place, n) => {
    const points = marks.filter((mark) => isPoint(mark) && mark.start === place);
    if (points.length) pieces.push({ start: place, end: place, marks: points, isCursor: false });
    if (n + 1 < places.length) pieces.push(pieceOfText(place, places[n + 1], marks, cursor));
  });
  return pieces;
}

function pieceOfText(start, end, marks, cursor) {
  return {
    start,
    end,
    marks: marks.filter((mark) => !isPoint(mark) && mark.start < end && start < mark.end),
    isCursor: cursor !== null && cursor.start < end && start < cursor.end,
  };
}
