"""Lines, words and n-grams of a text, for counting, mining and language models.

Text comes from files or folders, one paragraph per line. Repeated lines are read once, because sources share
paragraphs. Files may be compressed (`.gz`, `.bz2`, `.xz`); in a folder, files ending in `.txt` are read, sorted by
name. Lines are assigned to a hundred folds by their hash, so a line is held out in all runs and models or in none,
whatever the order of the sources.

The normal form of a word is lower case, with curly apostrophes made straight, every digit a 0 (`1984` and `2026` are
one word) and the variant spellings of prepositions made one (`towards` is `toward`). Words are numbered by descending
frequency, with ties in code-point order, after the three words that every model has: `<unk>` for all unknown words,
`<s>` and `</s>` for the edges of a sentence.

An n-gram is one 64-bit key: its words' numbers, the first word highest, some bits each. Sorted keys are therefore
sorted n-grams; dropping the first word is a mask and dropping the last a shift.

Heafield, Pouzyrevsky, Clark & Koehn 2013 (ACL, short papers, 690-696), section 3.1. Every word of a sentence and its
end give one n-gram of the highest order, padded with `<s>` at the start of the sentence. An n-gram with `<s>` in
second position belongs to a lower order.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from grater.corpora.formats import FORMATS
from grater.corpora.source import files_of, ignore_progress, open_source
from grater.corpora.text.prepositions import VARIANTS
from grater.corpora.text.sentences import sentence_tokens
from grater.errors import UsageError
from grater.model import hash_of

UNKNOWN, START, END = 0, 1, 2
SPECIAL = ("<unk>", "<s>", "</s>")

Ids: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]

_STRAIGHT = str.maketrans({"’": "'", "‘": "'", "´": "'", "`": "'", "“": '"', "”": '"'})
_DIGIT = re.compile(r"\d")

FOLDS = 100
HELD_OUT = 2
"""Folds that no model learns from; temperature, costs and thresholds are chosen on them."""

MOST_HELD_OUT = 100_000
"""Lines that are kept of those held out."""

Keys: TypeAlias = np.ndarray[Any, np.dtype[np.uint64]]
KEY_BITS = 64

Numbers: TypeAlias = np.ndarray[Any, np.dtype[Any]]
Flags: TypeAlias = np.ndarray[Any, np.dtype[np.bool_]]


def normal(word: str) -> str:
    """The form in which a word is counted and looked up; a word spelt like `<s>` is not an edge."""
    plain = _DIGIT.sub("0", word.lower().translate(_STRAIGHT))
    return SPECIAL[UNKNOWN] if plain in SPECIAL else VARIANTS.get(plain, plain)


@dataclass(frozen=True, slots=True)
class NgramVocabulary:
    """The words of a model by number, and their numbers by word."""

    words: tuple[str, ...]
    numbers: Mapping[str, int]

    @staticmethod
    def of(words: Sequence[str]) -> NgramVocabulary:
        """All the words, the three special ones first."""
        return NgramVocabulary(tuple(words), {word: number for number, word in enumerate(words)})

    def __len__(self) -> int:
        return len(self.words)

    def ids(self, words: Iterable[str]) -> Ids:
        """The numbers of words in any spelling."""
        return np.array([self._number(word) for word in words], dtype=np.int64)

    def _number(self, word: str) -> int:
        known = self.numbers.get(word, UNKNOWN)  # most words are in normal form already
        return known if known > END else self.numbers.get(normal(word), UNKNOWN)

    def sentence(self, words: Iterable[str]) -> Ids:
        """The numbers of a sentence's words, with its edges."""
        return np.concatenate([[START], self.ids(words), [END]]).astype(np.int64)


@dataclass(frozen=True, slots=True)
class Packing:
    """The layout of an n-gram's words in its key."""

    order: int
    bits: int

    @staticmethod
    def for_words(order: int, n_words: int) -> Packing:
        """The narrowest packing for numbers below `n_words`; refused if 64 bits are too few."""
        packing = Packing(order, max(2, (n_words - 1).bit_length()))
        if order * packing.bits > KEY_BITS:
            most = 1 << (KEY_BITS // order)
            raise UsageError(f"expected at most {most:,} words for order {order}, found {n_words:,}; name fewer")
        return packing

    def lower(self) -> Packing:
        """The packing of n-grams that are one word shorter."""
        return Packing(self.order - 1, self.bits)

    def keys(self, ngrams: Numbers) -> Keys:
        """The keys of n-grams given as rows of word numbers."""
        keys = np.zeros(len(ngrams), np.uint64)
        for column in range(self.order):
            keys = (keys << np.uint64(self.bits)) | ngrams[:, column].astype(np.uint64)
        return keys

    def suffixes(self, keys: Keys) -> Keys:
        """Without the first word."""
        return keys & np.uint64((1 << self.bits * (self.order - 1)) - 1)

    def prefixes(self, keys: Keys) -> Keys:
        """Without the last word."""
        return keys >> np.uint64(self.bits)

    def words(self, keys: Keys, position: int) -> Keys:
        """The words at one position, counted from 0."""
        return (keys >> np.uint64(self.bits * (self.order - 1 - position))) & np.uint64((1 << self.bits) - 1)

    def is_real(self, keys: Keys) -> Flags:
        """False for what belongs to a lower order: n-grams with a second `<s>`, and `<s>` alone."""
        is_real: Flags = self.words(keys, 1 if self.order > 1 else 0) != START
        return is_real


def ngram_keys(stream: Numbers, packing: Packing) -> Keys:
    """The keys of all n-grams in consecutive sentences, each of which begins with `<s>`."""
    index = np.arange(len(stream))
    position = index - np.maximum.accumulate(np.where(stream == START, index, 0))  # within the sentence; `<s>` is 0
    keys = np.zeros(len(stream), np.uint64)
    for back in range(packing.order - 1, -1, -1):
        words = np.where(position >= back, np.roll(stream, back), START).astype(np.uint64)
        keys = (keys << np.uint64(packing.bits)) | words
    return keys[position > 0]


def find(keys: Keys, wanted: Keys) -> tuple[Ids, Flags]:
    """The indices of wanted keys among ordered ones (0 where missing), and whether they are there."""
    if not len(keys):
        return np.zeros(len(wanted), np.int64), np.zeros(len(wanted), bool)
    order = np.argsort(wanted)  # five times as fast as in any order: neighbours share the cache
    indices = np.empty(len(wanted), np.int64)
    indices[order] = np.searchsorted(keys, wanted[order])
    indices[indices == len(keys)] = 0
    is_there = keys[indices] == wanted
    return np.where(is_there, indices, 0), is_there


def fold_of(line: str) -> int:
    """The fold of a line, from 0 to 99."""
    digest = hashlib.blake2b(line.encode("utf-8", "surrogatepass"), digest_size=8, person=b"fold").digest()
    return int.from_bytes(digest, "big") % FOLDS


def distinct_lines(lines: Iterable[str]) -> Iterator[str]:
    """Lines with words, each once."""
    seen: set[int] = set()
    for line in lines:
        plain = line.strip()
        if plain and (hashed := hash_of(plain)) not in seen:
            seen.add(hashed)
            yield plain


def text_lines(paths: Iterable[Path], *, advance: Callable[[int], None] = ignore_progress) -> Iterator[str]:
    """The lines of files and folders, without repeats."""
    files = (file for path in paths for file in files_of(path, FORMATS["text"]))
    return distinct_lines(line for file in files for line in open_source(file, advance=advance).lines())


def sentences_of_lines(lines: Iterable[str]) -> Iterator[list[str]]:
    """The normal words of each sentence; a line has at least one, unless it is blank."""
    remembered = lru_cache(maxsize=1 << 20)(normal)
    for line in lines:
        for _, words in sentence_tokens(line):
            yield [*map(remembered, words)]


def smallest(lines: Iterable[str], most: int = MOST_HELD_OUT) -> list[str]:
    """The `most` distinct lines with the smallest hashes, in that order, whatever the order of the input."""
    kept: set[str] = set()
    for line in lines:
        kept.add(line)
        if len(kept) > 2 * most:
            kept = set(_in_order(kept)[:most])
    return _in_order(kept)[:most]


def _in_order(lines: Iterable[str]) -> list[str]:
    return sorted(lines, key=lambda line: (hash_of(line), line))
