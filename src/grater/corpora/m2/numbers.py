"""Small numbers in a text, looked up by the two characters that hold them.

Token numbers have one digit or two nearly always, and one table of all pairs of bytes reads them.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from grater.corpora.m2.columns import Ints
from grater.corpora.m2.words import Words, first_bytes

MOST = 100
SHIFT = 10
Table = npt.NDArray[np.int16]


def _leading() -> Table:
    """For each pair of bytes, first byte lowest: how many digits it begins with, shifted, and their number."""
    table = np.zeros(256 * 256, np.int16)
    for number in range(10):
        table[ord("0") + number :: 256] = _entry(number)
    for number in range(10, MOST):
        table[_pair(str(number))] = _entry(number)
    return table


def _entry(number: int) -> int:
    return len(str(number)) << SHIFT | number


def _pair(text: str) -> int:
    return ord(text[0]) + 256 * ord(text[1])


LEADING = _leading()


def leading_numbers(words: Words) -> tuple[Ints, Ints]:
    """The number that each word begins with, at most three digits of it, and its width: 0 where there is none."""
    entry = LEADING.take(first_bytes(words, 2).astype(np.int64)).astype(np.int64)
    number, width = entry & (1 << SHIFT) - 1, entry >> SHIFT
    third = first_bytes(words >> np.uint64(16), 1) - np.uint64(ord("0"))  # below 0 wraps to above 9
    longer = ((width == 2) & (third <= 9)).nonzero()[0]
    number[longer] = number[longer] * 10 + third[longer].astype(np.int64)
    width[longer] = 3
    return number, width
