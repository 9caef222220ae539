"""Eight bytes at a time: a word of 64 bits at any place of a text.

Looking at the few places that matter costs a fraction of comparing every byte of a file.  Finding a byte within a
word is Warren, "Hacker's Delight", 2nd edition, section 6-1.  The first byte of the text is the lowest of the word.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from grater.corpora.m2.columns import Ints

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


def bytes_from(words: Words, place: Ints, n_bytes: int) -> Words:
    """Some bytes of each word, from a place within it."""
    return first_bytes(words >> (place.astype(np.uint64) << np.uint64(3)), n_bytes)


def find(char: str, words: Words) -> Ints:
    """Where the character first stands in each word, from 0 to 7; 8 where it does not."""
    differs = words ^ (ONES * np.uint64(ord(char)))
    equal = (differs - ONES) & ~differs & HIGHS  # the lowest bit set is right; those above it may not be
    below = (equal - ONE) & ~equal
    return (((below & HIGHS) >> np.uint64(7)) * ONES >> np.uint64(56)).astype(np.int64)
