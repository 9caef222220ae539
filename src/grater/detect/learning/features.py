"""Words, tags and contexts as numbers, and features made from them by templates.

A word counts in lower case with every digit as 0 (*1990* and *2012* are one word, `0000`).  A word that training did
not see often enough falls into a class by its ending, so that a new gerund is still a gerund.  0 stands for no word
at all: the edge of a sentence, a head that is missing.

A context is a row of numbers.  A template makes a 32-bit key from some fields of it: each field is mixed into 64
random-looking bits, the fields of a template are combined with odd multipliers of their own, and the upper half is
kept.  In a model with a million features two of them share a key once in four thousand, and a feature that the model
does not have is mistaken for one that it has as rarely.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

NO_WORD = "<none>"
ENDINGS = (
    "ing",
    "ed",
    "ly",
    "tion",
    "sion",
    "ness",
    "ment",
    "ity",
    "ism",
    "ous",
    "ful",
    "able",
    "al",
    "ic",
    "er",
    "s",
)
CLASSES = (NO_WORD, "<number>", "<joined>", "<mark>", *(f"<-{ending}>" for ending in ENDINGS), "<other>")
PLACE_OF_CLASS: Mapping[str, int] = {name: place for place, name in enumerate(CLASSES)}
OTHER = PLACE_OF_CLASS["<other>"]
DIGIT = re.compile(r"\d")

TAGS = (
    *("#", "$", "''", "(", ")", ",", "-LRB-", "-RRB-", ".", ":"),
    *("CC", "CD", "DT", "EX", "FW", "IN", "JJ", "JJR", "JJS", "LS", "MD", "NN", "NNP", "NNPS", "NNS", "PDT", "POS"),
    *("PRP", "PRP$", "RB", "RBR", "RBS", "RP", "SYM", "TO", "UH", "VB", "VBD", "VBG", "VBN", "VBP", "VBZ"),
    *("WDT", "WP", "WP$", "WRB", "``", "HYPH", "NFP", "ADD", "AFX", "GW", "XX"),
)
TAG_NUMBERS = {tag: number for number, tag in enumerate(TAGS, 1)}
STRANGE_TAG = len(TAGS) + 1

Rows: TypeAlias = npt.NDArray[np.int32]
Keys: TypeAlias = npt.NDArray[np.uint32]
Mixed: TypeAlias = npt.NDArray[np.uint64]

BLOCK = 1 << 16
"""Rows hashed at once."""


class Numbering(Protocol):
    """Numbers words."""

    def numbers(self, words: Iterable[str]) -> Iterator[int]: ...


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The words in order; the number of a word is its index after the classes."""

    words: tuple[str, ...]
    _places: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        first = len(CLASSES)
        numbers = {word: number for number, word in enumerate(self.words, first)}
        object.__setattr__(self, "_places", numbers)

    def __len__(self) -> int:
        return len(CLASSES) + len(self.words)

    def __contains__(self, word: str) -> bool:
        return word in self._places or form(word) in self._places

    def numbers(self, words: Iterable[str]) -> Iterator[int]:
        """The number of each word."""
        known = self._places.get
        for word in words:
            number = known(word)
            yield self._slowly(word) if number is None else number

    def _slowly(self, word: str) -> int:
        plain = form(word)
        number = self._places.get(plain)
        return class_of(plain) if number is None else number


@dataclass(slots=True)
class GrowingVocabulary:
    """Numbers every word that it meets; for training, before frequencies are known."""

    places: dict[str, int] = field(default_factory=dict)
    _raw: dict[str, int] = field(default_factory=dict)

    def numbers(self, words: Iterable[str]) -> Iterator[int]:
        known = self._raw.get
        for word in words:
            number = known(word)
            yield self._new(word) if number is None else number

    def _new(self, word: str) -> int:
        number = self.places.setdefault(form(word), len(self.places) + 1)  # 0 is no word
        self._raw[word] = number
        return number


def form(word: str) -> str:
    """The form in which a word is looked up."""
    plain = word.lower().replace("’", "'")
    return plain if plain.isalpha() else DIGIT.sub("0", plain)


def class_of(plain: str) -> int:
    """The class of a word that is not in the vocabulary."""
    if "0" in plain:
        return PLACE_OF_CLASS["<number>"]
    if "-" in plain[1:-1]:
        return PLACE_OF_CLASS["<joined>"]
    if not any(map(str.isalpha, plain)):
        return PLACE_OF_CLASS["<mark>"]
    return next((PLACE_OF_CLASS[f"<-{ending}>"] for ending in ENDINGS if plain.endswith(ending)), OTHER)


def renumbering(words: Sequence[str], vocabulary: Vocabulary) -> list[int]:
    """For words numbered from 1 in order: their numbers in the vocabulary, with 0 for 0 in front."""
    return [0, *vocabulary.numbers(words)]


@dataclass(frozen=True, slots=True)
class Template:
    """Fields of a row that make one feature together; `group` is for measuring what a kind of feature is worth."""

    name: str
    group: str
    fields: tuple[str, ...]


def template(group: str, *fields: str) -> Template:
    return Template("+".join(fields), group, fields)


def splitmix(numbers: Mixed) -> Mixed:
    """The finaliser of SplitMix64 (Steele, Lea & Flood 2014): every bit of the input moves half of the output's."""
    mixed = numbers + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


@dataclass(frozen=True, slots=True, eq=False)
class Hashing:
    """Templates over the fields of a row, in an order that must not change: it is part of every key."""

    fields: tuple[str, ...]
    templates: tuple[Template, ...]
    _columns: npt.NDArray[np.intp] = field(init=False, repr=False)
    _factors: Mixed = field(init=False, repr=False)
    _seeds: Mixed = field(init=False, repr=False)

    def __post_init__(self) -> None:
        columns = _columns(self.fields, self.templates)
        indices = np.arange(columns.size, dtype=np.uint64).reshape(columns.shape)
        object.__setattr__(self, "_columns", columns)
        object.__setattr__(self, "_factors", splitmix(indices) | np.uint64(1))
        numbers = np.arange(len(self.templates), dtype=np.uint64)
        object.__setattr__(self, "_seeds", splitmix(numbers + np.uint64(1 << 20)))

    def keys(self, rows: Rows) -> Keys:
        """(rows, templates): the key of every feature."""
        n_fields = len(self.fields)
        mixed = np.zeros((len(rows), n_fields + 1), np.uint64)
        offsets = np.arange(n_fields, dtype=np.uint64) << np.uint64(40)
        mixed[:, :n_fields] = splitmix(rows.astype(np.uint64) + offsets)
        keys = self._seeds + mixed[:, self._columns[:, 0]] * self._factors[:, 0]
        for column in range(1, self._columns.shape[1]):
            keys += mixed[:, self._columns[:, column]] * self._factors[:, column]
        return (splitmix(keys) >> np.uint64(32)).astype(np.uint32)

    def all_keys(self, rows: Rows) -> Keys:
        """The same for many rows, in memory that grows by the result only."""
        keys = np.empty((len(rows), len(self.templates)), np.uint32)
        for start in range(0, len(rows), BLOCK):
            keys[start : start + BLOCK] = self.keys(rows[start : start + BLOCK])
        return keys


def _columns(fields: Sequence[str], templates: Sequence[Template]) -> npt.NDArray[np.intp]:
    """The columns of each template; templates with fewer fields take the column of zeros after the others."""
    most = max(len(template.fields) for template in templates)
    empty = len(fields)
    rows = [[*map(fields.index, template.fields)] + [empty] * (most - len(template.fields)) for template in templates]
    return np.array(rows, np.intp)
