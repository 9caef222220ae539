"""An n-gram language model: the log-probability of a word after others, from tables in memory or a model file.

The table of an order has the sorted keys of its n-grams (`counts.Packing`), each with the logarithm of its
probability and of its back-off weight. As in any back-off model, a query uses the longest n-gram that the model has,
with the back-off weights of the longer contexts in which it was not found. Short n-grams are looked up first: the end
of every n-gram is also in the model, so if a short one is missing, no longer one exists. Logarithms are natural.
Queries are made in bulk, as rows of word numbers, the predicted word last. Rows have `order` columns; shorter rows,
as at the start of a sentence, are padded with NOTHING. The answer to a row does not depend on other rows.

In a model file (`grater.models`) an order is a trie, not keys: for every n-gram of the order below the number of
n-grams that it begins, and the last word of each of these. Arrays of two bytes and more are split into planes, all
low bytes first, which compress better. Keys are rebuilt on loading, in under half a second for six million n-grams.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from grater.detect.ngrams.counts import SPECIAL, Keys, NgramVocabulary, Packing, find
from grater.errors import BadInput, Problem
from grater.model import Json
from grater.models import read_model, write_model

NOTHING = -1

Rows: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]
Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]

KIND = "ngrams"

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of numbers, either as codes of a code book or directly."""

    values: Array
    codes: Array | None = None

    def __len__(self) -> int:
        return len(self.values if self.codes is None else self.codes)

    def at(self, indices: Array) -> Array:
        """The numbers at some indices, as 64-bit floats so that sums do not depend on how they were stored."""
        values = self.values[indices] if self.codes is None else self.values[self.codes[indices]]
        return values.astype(np.float64)


@dataclass(frozen=True, slots=True)
class NgramTable:
    """The n-grams of one order."""

    keys: Keys
    log_p: Column
    log_backoff: Column

    def __len__(self) -> int:
        return len(self.keys)


@dataclass(frozen=True, slots=True)
class LanguageModel:
    """Tables for the orders 1, 2, ... of one vocabulary; `card` says where they come from."""

    vocabulary: NgramVocabulary
    packing: Packing
    tables: tuple[NgramTable, ...]
    card: Mapping[str, Json] = field(default_factory=dict)

    @property
    def order(self) -> int:
        return self.packing.order

    def log_p(self, rows: Rows) -> Floats:
        """The log-probability of each row's last word after the words before it."""
        answers, weights = self.tables[0].log_p.at(rows[:, -1]), np.zeros(len(rows))
        matched = with_context = np.arange(len(rows))
        for length in range(2, self.order + 1):
            indices, with_context = self._matches(rows[:, :-1], with_context, length - 1)
            weights[with_context] += self.tables[length - 2].log_backoff.at(indices)
            indices, matched = self._matches(rows, matched, length)
            answers[matched], weights[matched] = self.tables[length - 1].log_p.at(indices), 0.0
        return answers + weights

    def _matches(self, rows: Rows, among: Rows, length: int) -> tuple[Rows, Rows]:
        """Which of some rows end in an n-gram of this length that the model has, and its index."""
        among = among[rows[among, -length] != NOTHING]
        if length == 1:
            return rows[among, -1], among
        keys = Packing(length, self.packing.bits).keys(rows[among, -length:])
        indices, is_there = find(self.tables[length - 1].keys, keys)
        return indices[is_there], among[is_there]

    def rows(self, ids: Rows) -> Rows:
        """The queries for a whole sentence with its edges: each word but the first, after those before it."""
        padded = np.concatenate([np.full(self.order - 1, NOTHING), ids])
        return np.lib.stride_tricks.sliding_window_view(padded, self.order)[1:]

    def sentence_log_p(self, words: Sequence[str]) -> float:
        """The log-probability of a sentence, its end included."""
        return float(self.log_p(self.rows(self.vocabulary.sentence(words))).sum())


def save(model: LanguageModel, path: Path, card: Mapping[str, Json]) -> None:
    """Write a model file, whole or not at all."""
    arrays: dict[str, Array] = {}
    for order, table in enumerate(model.tables, 1):
        if order > 1:
            packing = Packing(order, model.packing.bits)
            indices = np.searchsorted(model.tables[order - 2].keys, packing.prefixes(table.keys))
            n_each = np.bincount(indices, minlength=len(model.tables[order - 2]))
            arrays |= _planes(f"children{order}", n_each)
            arrays |= _planes(f"words{order}", packing.words(table.keys, order - 1))
        arrays |= _columns(f"log_p{order}", table.log_p)
        if order < model.order:
            arrays |= _columns(f"log_backoff{order}", table.log_backoff)
    write_model(path, kind=KIND, card=card, arrays=arrays, strings={"words": model.vocabulary.words})


def load(path: Path) -> LanguageModel:
    """Read a model; an invalid or damaged file is refused with the reason."""
    stored = read_model(path, kind=KIND)
    words, arrays = stored.strings.get("words", ()), stored.arrays
    if words[: len(SPECIAL)] != SPECIAL:
        raise BadInput(Problem(str(path), "damaged: its words do not begin as a language model's do; train it anew"))
    try:
        order = 1 + sum(name.startswith("children") and name.endswith("_0") for name in arrays)
        packing = Packing.for_words(order, len(words))
        tables = _tables(arrays, packing, len(words))
    except (KeyError, ValueError, IndexError, TypeError) as error:
        raise BadInput(Problem(str(path), "damaged: its tables do not fit together; train it anew")) from error
    return LanguageModel(vocabulary=NgramVocabulary.of(words), packing=packing, tables=tables, card=stored.card)


def _tables(arrays: Mapping[str, Array], packing: Packing, n_words: int) -> tuple[NgramTable, ...]:
    keys: Keys = np.arange(n_words, dtype=np.uint64)
    tables = []
    for order in range(1, packing.order + 1):
        if order > 1:
            keys = np.repeat(keys, _joined(arrays, f"children{order}"))
            keys <<= np.uint64(packing.bits)
            keys |= _joined(arrays, f"words{order}")
        log_p = _column(arrays, f"log_p{order}")
        is_last = order == packing.order
        backoff = (
            Column(np.zeros(1), np.zeros(len(keys), np.uint8)) if is_last else _column(arrays, f"log_backoff{order}")
        )
        if order > 1 and len(keys) and int(keys.max()) >> (packing.bits * order):
            raise ValueError(f"words that are not in the vocabulary among those of order {order}")
        if not len(keys) == len(log_p) == len(backoff):
            raise ValueError(f"{len(keys)} keys, {len(log_p)} probabilities, {len(backoff)} weights")
        tables.append(NgramTable(keys, log_p, backoff))
    return tuple(tables)


def _planes(name: str, numbers: Array) -> dict[str, Array]:
    """An array as arrays of its bytes, lowest first, as many as the largest number needs."""
    n_bytes = max(1, (int(numbers.max(initial=0)).bit_length() + 7) // 8)
    return {f"{name}_{byte}": (numbers >> (8 * byte) & 0xFF).astype(np.uint8) for byte in range(n_bytes)}


def _joined(arrays: Mapping[str, Array], name: str) -> Array:
    """The numbers of some planes, in the smallest type that holds them."""
    planes = [arrays[f"{name}_0"]]
    while (plane := arrays.get(f"{name}_{len(planes)}")) is not None:
        planes.append(plane)
    if len(planes) > 4 or len({len(plane) for plane in planes}) != 1:
        raise ValueError(f"{name}: planes of different lengths")
    n_bytes = 1 << (len(planes) - 1).bit_length()
    numbers = np.zeros((len(planes[0]), n_bytes), np.uint8)
    for byte, plane in enumerate(planes):
        numbers[:, byte] = plane
    return numbers.view(f"<u{n_bytes}")[:, 0]


def _columns(name: str, column: Column) -> dict[str, Array]:
    values = {f"{name}_values": column.values.astype(np.float32)}
    return values if column.codes is None else {**values, f"{name}_codes": column.codes}


def _column(arrays: Mapping[str, Array], name: str) -> Column:
    values, codes = arrays[f"{name}_values"], arrays.get(f"{name}_codes")
    if values.ndim != 1 or (codes is not None and (codes.ndim != 1 or codes.dtype.kind != "u")):
        raise ValueError(f"{name}: expected a column of numbers")
    if codes is not None and len(codes) and int(codes.max()) >= len(values):
        raise ValueError(f"{name}: a code that is not in its book")
    return Column(values, codes)
