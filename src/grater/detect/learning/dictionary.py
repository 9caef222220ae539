"""Which features a model may use: those that enough training events have, most frequent first.

The weights of frequent features are touched at every event; side by side they stay in the processor's cache, which
makes training several times faster than any other order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from grater.detect.learning.hashing import Keys

Places: TypeAlias = npt.NDArray[np.int32]

MIN_COUNT = 3
"""Features that stand in fewer contexts are not in the dictionary."""


@dataclass(frozen=True, slots=True, eq=False)
class Dictionary:
    """`keys` and `counts` by the number of a feature; `len` itself is the number of every other feature."""

    keys: Keys
    counts: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.keys)


def numbered(keys: Keys, *, min_count: int = MIN_COUNT, templates: tuple[int, ...] = ()) -> tuple[Dictionary, Places]:
    """The dictionary of some contexts, and the numbers of their features, which take the place of the keys."""
    chosen = templates or tuple(range(keys.shape[1]))
    found = {column: _frequent(keys, column, min_count) for column in chosen}
    dictionary = _merged(list(found.values()))
    order = np.argsort(dictionary.keys, kind="stable")
    sorted_keys = dictionary.keys[order]
    for column in range(keys.shape[1]):
        if column in found:
            own = np.searchsorted(sorted_keys, found[column][0])
            numbers = np.append(order[own], len(dictionary)).astype(np.uint32)
            keys[:, column] = numbers[keys[:, column]]
        else:
            keys[:, column] = len(dictionary)
    return dictionary, keys.view(np.int32)


def looked_up(keys: Keys, dictionary: Dictionary) -> Places:
    """The numbers that the features of other contexts have in a dictionary; they take the place of the keys."""
    order = np.argsort(dictionary.keys, kind="stable")
    sorted_keys = dictionary.keys[order]
    for column in range(keys.shape[1]):
        keys[:, column] = _numbers(keys[:, column], sorted_keys, order)
    return keys.view(np.int32)


def _frequent(keys: Keys, column: int, min_count: int) -> tuple[Keys, npt.NDArray[np.int64]]:
    """The frequent keys of a column and their counts; the column now has their places, one more for the others."""
    distinct, inverse, counts = np.unique(keys[:, column], return_inverse=True, return_counts=True)
    is_frequent = counts >= min_count
    n_frequent = int(is_frequent.sum())
    places = np.where(is_frequent, np.cumsum(is_frequent) - 1, n_frequent).astype(np.uint32)
    keys[:, column] = places[inverse]
    return distinct[is_frequent], counts[is_frequent]


def _merged(found: list[tuple[Keys, npt.NDArray[np.int64]]]) -> Dictionary:
    """The features of all templates by falling count; where two share a key, they share a number."""
    keys, counts = (np.concatenate(each) for each in zip(*found, strict=True))
    distinct, first = np.unique(keys, return_index=True)
    order = np.argsort(-counts[first], kind="stable")
    return Dictionary(distinct[order], counts[first][order])


def _numbers(keys: Keys, sorted_keys: Keys, order: npt.NDArray[np.intp]) -> Keys:
    """Sorted first: looking up in order is ten times as fast as at random."""
    distinct, inverse = np.unique(keys, return_inverse=True)
    places = np.searchsorted(sorted_keys, distinct)
    is_known = (
        np.take(sorted_keys, places, mode="clip") == distinct if len(sorted_keys) else np.zeros(len(distinct), bool)
    )
    numbers = np.where(is_known, np.take(order, places, mode="clip"), len(sorted_keys)).astype(np.uint32)
    found: Keys = numbers[inverse]
    return found
