"""A table of 8-bit weights: a row for each of the sorted keys, and a last row of zeros for unknown features.

Weights are whole numbers from -127 to 127 times one step, so a score is a sum of whole numbers: it does not depend on
the order of adding, on the size of the batch or on the machine.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from grater.detect.learning.hashing import Keys

Weights: TypeAlias = npt.NDArray[np.int8]
Sums: TypeAlias = npt.NDArray[np.int32]


def sums_of(keys: Keys, known: Keys, table: Weights) -> Sums:
    """The weights of each row's features, added up."""
    if not len(known):
        return np.zeros((len(keys), table.shape[1]), np.int32)
    places = np.searchsorted(known, keys)
    is_known = np.take(known, places, mode="clip") == keys
    found: Sums = table[np.where(is_known, places, len(known))].sum(axis=1, dtype=np.int32)
    return found


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
    planes, counts = arrays["keys"], arrays["counts"]
    keys = np.cumsum(np.ascontiguousarray(planes.T).view("<u4").ravel(), dtype=np.uint32)
    table = np.zeros((len(counts) + 1, n_classes), np.int8)
    table[np.repeat(np.arange(len(counts)), counts), arrays["classes"]] = arrays["weights"]
    if len(keys) != len(counts):
        raise ValueError("keys and rows differ in number")
    return keys, table
