"""Numbers and tokens found in a text eight bytes at a time, for the column scan of `columns`.

A *word* is the 64 bits at any place of a text; the first byte of the text is the lowest of the word.  Looking at the
few places that matter costs a fraction of comparing every byte of a file.  Finding a byte within a word is Warren,
"Hacker's Delight", 2nd edition, section 6-1.  Token numbers have one digit or two nearly always, and one table of all
pairs of bytes reads them.

Tokens are those of Python's `str.split()`, as ERRANT and m2scorer count them, for all sentences at once: a token
begins where a byte above the space follows one that is not.  The few sentences with white space beyond ASCII, or with
a control character that is not white space, are split one by one.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Codes = npt.NDArray[np.uint8]
Words = npt.NDArray[np.uint64]

WIDTH = 8
ONES, HIGHS = np.uint64(0x0101010101010101), np.uint64(0x8080808080808080)
ONE = np.uint64(1)


def words_of(codes: Codes) -> Words:
    """The eight bytes from each place on, but for the last seven: a view, which costs nothing."""
    return np.ndarray((len(codes) - WIDTH + 1,), np.dtype("<u8"), codes, strides=(1,))


def words_at(words: Words, at: Ints) -> Words:
    """The words from these places on; a place past the end is moved to it, so that a bad line does no harm."""
    return words[np.minimum(at, len(words) - 1)]


def words_in_a_row(codes: Codes, at: Ints, n_words: int) -> tuple[Words, ...]:
    """The first, second, ... word from these places on; a place outside the text is moved to its rim."""
    last = len(codes) - n_words * WIDTH
    texts = np.ndarray((last + 1,), np.dtype((np.bytes_, n_words * WIDTH)), codes, strides=(1,))
    return tuple(texts[np.minimum(np.maximum(at, 0), last)].view("<u8").reshape(-1, n_words).T)


def word(text: bytes) -> np.uint64:
    """Up to eight bytes as a word."""
    return np.uint64(int.from_bytes(text, "little"))


def first_bytes(words: Words, n_bytes: int) -> Words:
    return words & np.uint64(256**n_bytes - 1)


def bytes_from(words: Words, offset: Ints, n_bytes: int) -> Words:
    """Some bytes of each word, from a place within it."""
    return first_bytes(words >> (offset.astype(np.uint64) << np.uint64(3)), n_bytes)


def find(char: str, words: Words) -> Ints:
    """Where the character first stands in each word, from 0 to 7; 8 where it does not."""
    differs = words ^ (ONES * np.uint64(ord(char)))
    equal = (differs - ONES) & ~differs & HIGHS  # the lowest bit set is right; those above it may not be
    below = (equal - ONE) & ~equal
    return (((below & HIGHS) >> np.uint64(7)) * ONES >> np.uint64(56)).astype(np.int64)


Ints = npt.NDArray[np.int64]


Flags = npt.NDArray[np.bool_]


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
    return [int(sentence) for sentence in np.unique(index[inside])]


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
