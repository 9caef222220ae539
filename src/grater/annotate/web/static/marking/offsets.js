// Code points of the raw text (what files, database and wire speak) and UTF-16 units (what JavaScript speaks).
//
// An emoji is one code point and two units, so the two counts part company at the first one.  Everything in these
// modules is in code points; only this file and places.js know about units.

const ASTRAL = /[\u{10000}-\u{10FFFF}]/u;

export class Offsets {
  constructor(text) {
    this.text = text;
    this.starts = ASTRAL.test(text) ? unitStarts(text) : null; // null: the two counts are the same
    this.length = this.starts ? this.starts.length - 1 : text.length;
  }

  /** The UTF-16 unit at which a code point begins. */
  unit(point) {
    return this.starts ? this.starts[point] : point;
  }

  /** The code point that a UTF-16 unit belongs to; the second half of a pair belongs to the pair. */
  point(unit) {
    if (!this.starts) return unit;
    let low = 0;
    let high = this.starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.starts[middle] <= unit) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  slice(start, end) {
    return this.text.slice(this.unit(start), this.unit(end));
  }
}

function unitStarts(text) {
  const starts = [];
  let unit = 0;
  for (const point of text) {
    starts.push(unit);
    unit += point.length;
  }
  starts.push(unit);
  return Uint32Array.from(starts);
}

/** How many code points a string has. */
export function countPoints(text) {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}
