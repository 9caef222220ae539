"""Features by templates: each a 32-bit key made from some fields of a row of numbers.

Each field of a row is mixed into 64 random-looking bits, the fields of a template are combined with odd multipliers
of their own, and the upper half is kept.  Two features of a model with a million share a key once in four thousand,
and a feature that the model does not have is taken for one that it has as rarely.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Rows: TypeAlias = npt.NDArray[np.int32]
Keys: TypeAlias = npt.NDArray[np.uint32]
Mixed: TypeAlias = npt.NDArray[np.uint64]

BLOCK = 1 << 16
"""Rows hashed at once."""


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
        places = np.arange(columns.size, dtype=np.uint64).reshape(columns.shape)
        object.__setattr__(self, "_columns", columns)
        object.__setattr__(self, "_factors", splitmix(places) | np.uint64(1))
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
    """The columns of each template; those with fewer fields than most take the column of zeros behind the others."""
    most = max(len(each.fields) for each in templates)
    empty = len(fields)
    rows = [[*map(fields.index, each.fields)] + [empty] * (most - len(each.fields)) for each in templates]
    return np.array(rows, np.intp)
