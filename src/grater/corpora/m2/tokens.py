"""How many tokens a sentence of an M2 file has: those of Python's `str.split()`, as ERRANT and m2scorer count them.

Counted for all sentences at once: a token begins where a byte above the space follows one that is not.  The few
sentences with white space beyond ASCII, or with a control character that is no white space, are split one by one.
"""

from __future__ import annotations

import numpy as np

from grater.corpora.m2.columns import Flags, Ints
from grater.corpora.m2.words import Codes

NEWLINE, SPACE = 10, 32
NOWHERE: Ints = np.zeros(0, np.int64)
LAST_WIDE = 0x3000
IS_WIDE_SPACE: Flags = np.array([point > 127 and chr(point).isspace() for point in range(LAST_WIDE + 2)])
IS_SOLID_CONTROL: Flags = np.array([point < SPACE and not chr(point).isspace() for point in range(256)])


def count_tokens(data: bytes, start: Ints, end: Ints) -> Ints:
    """The number of tokens in each of the stretches of `data`; the byte before a stretch must be white space."""
    codes = np.frombuffer(data, np.uint8)
    n_tokens = _token_starts(codes, start, end)
    for index in _with_odd_characters(data, codes, start, end):
        n_tokens[index] = len(data[start[index] : end[index]].decode("utf-8", "surrogatepass").split())
    return n_tokens


def _token_starts(codes: Codes, start: Ints, end: Ints) -> Ints:
    if not len(start):
        return NOWHERE
    is_solid = codes > SPACE
    begins = is_solid[1:] > is_solid[:-1]
    pairs = np.stack((start, end), axis=1).ravel() - 1
    sums = np.add.reduceat(begins.view(np.uint8), pairs, dtype=np.uint32)[::2]
    return np.where(start < end, sums, 0).astype(np.int64)  # of an empty stretch, reduceat gives an element, not 0


def _with_odd_characters(data: bytes, codes: Codes, start: Ints, end: Ints) -> list[int]:
    odd = np.concatenate((_solid_controls(codes), _wide_spaces(data, codes)))
    if not len(odd) or not len(start):
        return []
    index = np.searchsorted(start, odd, side="right") - 1
    inside = (index >= 0) & (odd < end[index])
    return [int(place) for place in np.unique(index[inside])]


def _solid_controls(codes: Codes) -> Ints:
    is_low = codes < SPACE
    if np.count_nonzero(is_low) == np.count_nonzero(codes == NEWLINE):  # nearly always, and counting is quick
        return NOWHERE
    low: Ints = is_low.nonzero()[0]
    return low[IS_SOLID_CONTROL[codes[low]]]


def _wide_spaces(data: bytes, codes: Codes) -> Ints:
    """Where white space beyond ASCII begins: U+0085 and U+00A0 take two bytes, the others (to U+3000) three."""
    if data.isascii():
        return NOWHERE
    lead: Ints = ((codes >= 0xC2) & (codes <= 0xE3)).nonzero()[0]
    first, second, third = (codes.take(lead + k, mode="clip").astype(np.int64) for k in range(3))
    of_two = (first & 0x1F) << 6 | second & 0x3F
    of_three = (first & 0x0F) << 12 | (second & 0x3F) << 6 | third & 0x3F
    return lead[IS_WIDE_SPACE[np.minimum(np.where(first < 0xE0, of_two, of_three), LAST_WIDE + 1)]]
