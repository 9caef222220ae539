// Where a place in the page is in the text, in code points, and the other way round.

import { countPoints } from "./offsets.js";

const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;

/** The offset of a DOM position inside the essay, or null. */
export function offsetOf(root, node, unit) {
  if (!root.contains(node)) return null;
  if (node.nodeType === Node.TEXT_NODE) {
    const piece = node.parentElement.closest(".piece");
    return piece ? Number(piece.dataset.start) + countPoints(node.data.slice(0, unit)) : null;
  }
  // Between elements: the start of what comes next, or the end of what came before.
  const next = node.childNodes[unit];
  const after = next && firstPiece(next);
  if (after) return Number(after.dataset.start);
  const before = lastPieceUpTo(root, node, unit);
  return before ? Number(before.dataset.end) : 0;
}

function firstPiece(node) {
  if (node.nodeType !== Node.ELEMENT_NODE) return null;
  return node.matches(".piece") ? node : node.querySelector(".piece");
}

function lastPieceUpTo(root, node, unit) {
  const range = document.createRange();
  range.setStart(root, 0);
  range.setEnd(node, unit);
  let last = null;
  for (const piece of root.querySelectorAll(".piece")) {
    if (range.comparePoint(piece, 0) > 0) break;
    last = piece;
  }
  return last;
}

/** What the reader has selected in the essay, or null. */
export function selectedSpan(root) {
  const selection = document.getSelection();
  if (!selection || selection.isCollapsed || !selection.rangeCount) return null;
  const range = selection.getRangeAt(0);
  const start = offsetOf(root, range.startContainer, range.startOffset);
  const end = offsetOf(root, range.endContainer, range.endOffset);
  if (start === null || end === null || start >= end) return null;
  return { start, end };
}

/** The offset under a point of the window, or null. */
export function offsetAt(root, x, y) {
  const position = caretAt(x, y);
  return position && root.contains(position.node) ? offsetOf(root, position.node, position.unit) : null;
}

function caretAt(x, y) {
  if (document.caretPositionFromPoint) {
    const found = document.caretPositionFromPoint(x, y);
    return found && { node: found.offsetNode, unit: found.offset };
  }
  const range = document.caretRangeFromPoint?.(x, y); // Safari before 26
  return range && { node: range.startContainer, unit: range.startOffset };
}

/** Where in the width of the window a piece begins: the column in which the cursor goes up and down. */
export function columnOf(piece) {
  const [rect] = lettersOf(piece).getClientRects();
  return rect ? rect.left + Math.min(rect.width, 12) / 2 : 0;
}

/** The offset on the line above (-1) or below (1) a piece, in a column; null at the rim of the text. */
export function offsetOnNextLine(root, from, step, column) {
  const rects = lettersOf(from).getClientRects();
  const rect = step > 0 ? rects[rects.length - 1] : rects[0];
  if (!rect) return null;
  const box = root.getBoundingClientRect();
  for (let y = (step > 0 ? rect.bottom : rect.top) + 10 * step; y > box.top && y < box.bottom; y += 10 * step) {
    const offset = offsetAt(root, column, y);
    const isBeyond = offset !== null && (step > 0 ? offset >= Number(from.dataset.end) : offset < Number(from.dataset.start));
    if (isBeyond && isOnOtherLine(column, y, rect)) return offset;
  }
  return null;
}

/** The letters of a piece, without the room for lines under them that its box has. */
export function lettersOf(piece) {
  const range = document.createRange();
  if (piece.lastChild?.nodeType === Node.TEXT_NODE) range.selectNodeContents(piece.lastChild);
  else range.selectNode(piece);
  return range;
}

/** Where in the window the place before a letter of a piece is, or with `isEnd` the place behind it; null if nowhere. */
export function edgeOf(piece, offset, { isEnd = false } = {}) {
  const node = piece.lastChild?.nodeType === Node.TEXT_NODE ? piece.lastChild : null;
  const rects = (node ? letterOf(node, offset - Number(piece.dataset.start)) : lettersOf(piece)).getClientRects();
  const rect = isEnd ? rects[rects.length - 1] : rects[0];
  if (!rect) return null;
  const isLeft = isEnd === (node !== null && RIGHT_TO_LEFT.test(node.data));
  return { x: isLeft ? rect.left : rect.right, middle: rect.top + rect.height / 2, bottom: rect.bottom, isLeft };
}

function letterOf(node, nth) {
  const before = [...node.data].slice(0, nth).join("").length;
  const range = document.createRange();
  range.setStart(node, before);
  range.setEnd(node, before + String.fromCodePoint(node.data.codePointAt(before)).length);
  return range;
}

function isOnOtherLine(x, y, rect) {
  const position = caretAt(x, y);
  if (!position) return false;
  const range = document.createRange();
  range.setStart(position.node, position.unit);
  const here = range.getBoundingClientRect();
  return here.height > 0 && (here.top >= rect.bottom - 4 || here.bottom <= rect.top + 4);
}
