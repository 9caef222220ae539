// The essay as the page sees it: paragraphs, chunks of a paragraph, words, letters.  All spans are code points.
//
// A chunk is what is drawn anew at once; a paragraph of any length stays quick because its chunks are short.

import { Offsets } from "./offsets.js";

const LINE_END = /\r\n|[\n\r\u2028\u2029]/g;
const CHUNK = 600; // code points: some hundred words

export class Text {
  constructor(raw) {
    this.offsets = new Offsets(raw);
    this.length = this.offsets.length;
    this.paragraphs = paragraphSpans(this.offsets);
    this.words = segmentSpans(this.offsets, "word").filter(({ start, end }) => /\S/u.test(this.slice(start, end)));
    this.chunks = this.paragraphs.flatMap((paragraph, index) => chunkSpans(paragraph, index, this.words));
  }

  slice(start, end) {
    return this.offsets.slice(start, end);
  }

  /** The number of the word at an offset, or else of the next one; of the last one behind the last. */
  wordAt(offset) {
    let low = 0;
    let high = this.words.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.words[middle].end > offset) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  paragraphAt(offset) {
    const later = this.paragraphs.findIndex(({ start }) => start > offset);
    return this.paragraphs[later < 0 ? this.paragraphs.length - 1 : later - 1];
  }

  /** The chunk in which a point is drawn: the last that begins at or before it. */
  chunkAt(offset) {
    let low = 0;
    let high = this.chunks.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.chunks[middle].start <= offset) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** The next (or previous) place between two letters as a reader counts letters, so that no emoji is cut in two. */
  letterEdge(offset, step) {
    const edges = this.#edgesAround(offset);
    if (step > 0) return edges.find((edge) => edge > offset) ?? this.length;
    return edges.findLast((edge) => edge < offset) ?? 0;
  }

  /** The place between two letters at an offset, or before it where it lies inside one. */
  letterAt(offset) {
    return this.#edgesAround(offset).findLast((edge) => edge <= offset) ?? 0;
  }

  /** Cut where chunks begin: in the middle of a row of flags nobody could tell the first half of one from the second. */
  #edgesAround(offset) {
    const from = this.chunks[this.chunkAt(Math.max(0, offset - 1))].start;
    const to = this.chunks[this.chunkAt(offset) + 1]?.end ?? this.length;
    const near = new Offsets(this.slice(from, to));
    return [0, ...segmentSpans(near, "grapheme").map(({ end }) => end)].map((edge) => edge + from);
  }
}

function paragraphSpans(offsets) {
  const spans = [];
  let start = 0;
  for (const match of offsets.text.matchAll(LINE_END)) {
    spans.push({ start, end: offsets.point(match.index) });
    start = offsets.point(match.index + match[0].length);
  }
  spans.push({ start, end: offsets.length });
  return spans;
}

function segmentSpans(offsets, granularity) {
  const segmenter = new Intl.Segmenter("en", { granularity });
  const spans = [];
  for (const { index, segment } of segmenter.segment(offsets.text)) {
    spans.push({ start: offsets.point(index), end: offsets.point(index + segment.length) });
  }
  return spans;
}

/** A paragraph cut before words, every CHUNK code points or a little later. */
function chunkSpans(paragraph, index, words) {
  if (paragraph.end - paragraph.start <= CHUNK) return [{ ...paragraph, paragraph: index }];
  const cuts = [paragraph.start];
  for (const { start } of words) {
    if (start >= paragraph.end) break;
    if (start - cuts[cuts.length - 1] >= CHUNK) cuts.push(start);
  }
  return cuts.map((start, n) => ({ start, end: cuts[n + 1] ?? paragraph.end, paragraph: index }));
}
