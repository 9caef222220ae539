"""Applying linear models: words and contexts as numbers, features by templates, 8-bit weights, scores.

Words are in lower case with every digit as 0 (*1990* and *2012* are one word, `0000`). Words that were too rare in
training are put in a class by their ending, so that a new gerund is still a gerund. 0 stands for no word: the edge of
a sentence, a missing head.

A context is a row of numbers. A template makes a 32-bit key from some fields of it: each field is mixed into 64
random-looking bits, the fields of a template are combined with odd multipliers of their own, and the upper half is
kept. In a model with a million features, one feature in four thousand shares its key with another, and an unknown
feature is mistaken for a known one equally rarely.

The table of weights has one row per sorted key, and a last row of zeros for unknown features.  Weights are whole
numbers from -127 to 127 times one step, so a score is a sum of whole numbers: it does not depend on the order of
addition, on the size of the batch or on the machine.  Scores have one row per place and one column per answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

NO_WORD = "<none>"
ENDINGS = (
    *("ing", "ed", "ly", "tion", "sion", "ness", "ment", "ity"),
    *("ism", "ous", "ful", "able", "al", "ic", "er", "s"),
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

Scores: TypeAlias = npt.NDArray[np.float64]
Weights: TypeAlias = npt.NDArray[np.int8]
Sums: TypeAlias = npt.NDArray[np.int32]

ROWS_AT_ONCE = 1 << 15
"""Rows of weights that are filled in together: the places of all weights take more than the table itself."""


class Numbering(Protocol):
    """Numbers words."""

    def numbers(self, words: Iterable[str]) -> Iterator[int]: ...


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The words in order; the number of a word is its index after the classes."""

    words: tuple[str, ...]
    _places: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_places", {word: at for at, word in enumerate(self.words, len(CLASSES))})

    def __len__(self) -> int:
        return len(CLASSES) + len(self.words)

    def __contains__(self, word: str) -> bool:
        return word in self._places or form(word) in self._places

    def numbers(self, words: Iterable[str]) -> Iterator[int]:
        for word in words:
            number = self._places.get(word)  # most words are in their form already
            if number is None:
                plain = form(word)
                number = self._places[plain] if plain in self._places else class_of(plain)
            yield number


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


@dataclass(frozen=True, slots=True)
class Template:
    """Fields of a row that form one feature; `group` allows measuring the value of a kind of feature."""

    name: str
    group: str
    fields: tuple[str, ...]


def templates(group: str, names: str) -> tuple[Template, ...]:
    """The templates of a group by their names: fields joined with `+`."""
    return tuple(Template(name, group, tuple(name.split("+"))) for name in names.split())


def finalised(mixed: Mixed) -> Mixed:
    """The finaliser of SplitMix64 (Steele, Lea & Flood 2014): every bit of the input moves half of the output's."""
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


def splitmix(numbers: Mixed) -> Mixed:
    return finalised(numbers + np.uint64(0x9E3779B97F4A7C15))


@dataclass(frozen=True, slots=True, eq=False)
class Hashing:
    """Templates over the fields of a row, in an order that must not change: it is part of every key."""

    fields: tuple[str, ...]
    templates: tuple[Template, ...]
    _columns: npt.NDArray[np.intp] = field(init=False, repr=False)
    _factors: Mixed = field(init=False, repr=False)
    _seeds: Mixed = field(init=False, repr=False)

    def __post_init__(self) -> None:
        # Templates with fewer fields than others take the column of zeros after all of them.
        most, empty = max(len(template.fields) for template in self.templates), len(self.fields)
        places = [[*map(self.fields.index, template.fields)] for template in self.templates]
        columns = np.array([own + [empty] * (most - len(own)) for own in places], np.intp)
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


def softmax(scores: Scores) -> Scores:
    """Scores as probabilities, row by row."""
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    out: Scores = shares / shares.sum(axis=1, keepdims=True)
    return out


def log_softmax(scores: Scores) -> Scores:
    """Scores as log-probabilities, row by row."""
    shifted = scores - scores.max(axis=1, keepdims=True)
    out: Scores = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    return out


def sums_of(keys: Keys, known: Keys, table: Weights) -> Sums:
    """The weights of each row's features, added up.

    Keys are looked up in order, each once: the search then stays in the cache and is four times as fast.
    """
    sums = np.zeros((len(keys), table.shape[1]), np.int32)
    if not len(known):
        return sums
    distinct, places = np.unique(keys, return_inverse=True)
    indices = np.searchsorted(known, distinct)
    is_known = np.take(known, indices, mode="clip") == distinct
    rows = np.where(is_known, indices, len(known))[places.reshape(keys.shape)]
    for of_template in rows.T:
        sums += table.take(of_template, axis=0)
    return sums


def log_probabilities(blocks: Iterable[Keys], known: Keys, table: Weights, step: float) -> Scores:
    """Log-probabilities of rows whose features come block by block, so that memory stays flat."""
    sums = [sums_of(keys, known, table) for keys in blocks]
    return log_softmax(np.concatenate([np.zeros((0, table.shape[1]), np.int32), *sums]) * step)


def packed(keys: Keys, table: Weights) -> dict[str, npt.NDArray[Any]]:
    """Keys as differences, of each row only the weights that are not zero; the last row is left out."""
    rows, classes = np.nonzero(table[:-1])
    return {
        "keys": np.diff(keys, prepend=np.uint32(0)).astype("<u4").view(np.uint8).reshape(-1, 4).T,
        "counts": np.bincount(rows, minlength=len(table) - 1).astype(np.uint8),
        "classes": classes.astype(np.uint8),
        "weights": table[rows, classes],
    }


def unpacked(arrays: Mapping[str, npt.NDArray[Any]], n_classes: int) -> tuple[Keys, Weights]:
    """Keys and table again; what does not fit together is a `KeyError`, `ValueError` or `IndexError`."""
    planes, counts, classes, weights = (arrays[name] for name in ("keys", "counts", "classes", "weights"))
    if planes.ndim != 2 or planes.dtype.itemsize != 1 or len(planes) != 4 or planes.shape[1] != len(counts):
        raise ValueError("keys and rows differ in number")
    if counts.dtype.kind != "u" or not int(counts.sum()) == len(classes) == len(weights):
        raise ValueError("classes and weights differ in number")
    keys = np.cumsum(np.ascontiguousarray(planes.T).view("<u4").ravel(), dtype=np.uint32)
    table = np.zeros((len(counts) + 1, n_classes), np.int8)
    begin = 0
    for first in range(0, len(counts), ROWS_AT_ONCE):
        n_each = counts[first : first + ROWS_AT_ONCE]
        rows = np.repeat(np.arange(first, first + len(n_each)), n_each)
        end = begin + len(rows)
        table[rows, classes[begin:end]] = weights[begin:end]
        begin = end
    return keys, table
