"""A language model as a model file (`grater.models`), and back.

An order is stored as a trie, not as keys: for every n-gram of the order below how many n-grams it begins, and of each
of these the last word.  Numbers of two bytes and more are split into planes, all low bytes first, which pack better.
Keys are put together again on loading: below half a second for six million n-grams.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from grater.detect.ngrams.counts import Packing
from grater.detect.ngrams.language_model import LanguageModel, Table
from grater.detect.ngrams.quantised import Column
from grater.detect.ngrams.runs import Keys
from grater.detect.ngrams.words import SPECIAL, Vocabulary
from grater.errors import BadInput, Problem
from grater.model import Json
from grater.models import read_model, write_model

KIND = "ngrams"

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]


def save(model: LanguageModel, path: Path, card: Mapping[str, Json]) -> None:
    """Write a model all or nothing."""
    arrays: dict[str, Array] = {}
    for order, table in enumerate(model.tables, 1):
        if order > 1:
            packing = Packing(order, model.packing.bits)
            places = np.searchsorted(model.tables[order - 2].keys, packing.prefixes(table.keys))
            n_each = np.bincount(places, minlength=len(model.tables[order - 2]))
            arrays |= _planes(f"children{order}", n_each) | _planes(
                f"words{order}", packing.words(table.keys, order - 1)
            )
        arrays |= _columns(f"log_p{order}", table.log_p)
        if order < model.order:
            arrays |= _columns(f"log_backoff{order}", table.log_backoff)
    write_model(path, kind=KIND, card=card, arrays=arrays, strings={"words": model.vocabulary.words})


def load(path: Path) -> LanguageModel:
    """Read a model; a file that is none, or damaged, is refused with the reason."""
    stored = read_model(path, kind=KIND)
    words, arrays = stored.strings.get("words", ()), stored.arrays
    if words[: len(SPECIAL)] != SPECIAL:
        raise BadInput(Problem(str(path), "damaged: its words do not begin as a language model's do; train it anew"))
    try:
        order = 1 + sum(name.startswith("children") and name.endswith("_0") for name in arrays)
        packing = Packing.for_words(order, len(words))
        tables = _tables(arrays, packing, len(words))
    except (KeyError, ValueError) as error:
        raise BadInput(Problem(str(path), "damaged: its tables do not fit together; train it anew")) from error
    return LanguageModel(Vocabulary.of(words), packing, tables, stored.card)


def _tables(arrays: Mapping[str, Array], packing: Packing, n_words: int) -> tuple[Table, ...]:
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
        if not len(keys) == len(log_p) == len(backoff):
            raise ValueError(f"{len(keys)} keys, {len(log_p)} probabilities, {len(backoff)} weights")
        tables.append(Table(keys, log_p, backoff))
    return tuple(tables)


def _planes(name: str, numbers: Array) -> dict[str, Array]:
    """Numbers as arrays of their bytes, lowest first, as many as the largest needs."""
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
    return Column(arrays[f"{name}_values"], arrays.get(f"{name}_codes"))
