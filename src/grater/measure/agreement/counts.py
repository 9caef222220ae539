"""How often each item was given each label, with items of equal counts grouped.

Agreement looks at an item only through its row of counts, so fifty thousand items with twenty judgments between two
labels are at most twenty-one *patterns*, and a resample of items is a draw of pattern weights (statistics.md).

Missing data is defined here, once for every coefficient: an item takes part with the judgments that it has, and items
with fewer than two have no pair to compare; they take no part, and are counted in `n_left_out`.  (irrCAC and Gwet
2014 let items with one judgment speak for the shares of labels; krippendorff does as we do.)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
import polars as pl

from grater.errors import UsageError
from grater.measure.agreement.coded import (
    ROWS_AT_FIRST,
    Coded,
    Codes,
    Physical,
    categories,
    codes_by_name,
    codes_of_items,
    physicals,
)
from grater.tables import Judgments
from grater.uncertainty.bca import Groups, grouped
from grater.uncertainty.intervals import Ints

T = TypeVar("T")
TableMaker: TypeAlias = Callable[[Physical, Codes, int], T | None]
"""From physical labels, their codes and the number of these: the items x labels table, if every label has a code."""
Table: TypeAlias = npt.NDArray[np.signedinteger]
Patterns: TypeAlias = tuple[Ints, Ints]
"""Different rows of that table, in order, and how often each occurs."""

MOST_CELLS = 1 << 27
"""Cells of the items x labels table: a gigabyte."""

MOST_KEYS = 1 << 62

FEW_LABELS = 8
LONG_RUN = 4
"""Up to how many labels, and from how many judgments on in a row of one item, on average, runs are counted whole."""


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """Distinct rows of the items x labels table (`patterns`, at least two judgments each) and the number of items
    that have each.

    `n_judgments` counts the judgments of these items; `n_left_out` the items that have fewer than two.  `groups` are
    the essays that these items stand in, where they are known.
    """

    patterns: Ints
    n_items: Ints
    labels: tuple[str, ...]
    n_left_out: int = 0
    groups: Groups | None = None

    @property
    def n_compared(self) -> int:
        return int(self.n_items.sum())

    @property
    def n_judgments(self) -> int:
        return int(self.n_items @ self.patterns.sum(axis=1))


def tally(judgments: Judgments | Coded) -> Counts:
    """The counts of a table; a frame is not coded by rater, which counts do not know."""
    if isinstance(judgments, Coded):
        return _tally_of_codes(judgments)
    names, label_names = categories(judgments, "item"), categories(judgments, "label")
    item, label = physicals(names, label_names)
    starts = runs(item)
    if starts is not None:
        rows, _, labels = label_table(label_names, label, partial(table_of_runs, starts))
    else:
        codes = item if _are_close(item) else codes_of_items(names)[0]
        rows, _, labels = label_table(label_names, label, partial(table_of_items, codes))
    return from_rows(rows, labels)


def _tally_of_codes(judgments: Coded) -> Counts:
    """Only where essays are known does a count need to know its item."""
    starts = runs(judgments.item) if judgments.unit is None else None
    same = np.arange(len(judgments.labels), dtype=np.int32)
    if starts is not None:
        rows = table_of_runs(starts, judgments.label, same, same.size)
    else:
        rows = table_of_items(judgments.item, judgments.label, same, same.size)
    return from_rows(_all_coded(rows, same.size), judgments.labels, unit_of=judgments.unit)


def label_table(names: pl.Series, physical: Physical, table: TableMaker[T]) -> tuple[T, Codes, tuple[str, ...]]:
    """What is made of the labels by their codes, the code of each physical label, and the labels by code."""
    for n_rows in (ROWS_AT_FIRST, len(names)):
        code_of, labels = codes_by_name(names, physical, n_rows=n_rows)
        rows = table(physical, code_of, len(labels))
        if rows is not None:
            return rows, code_of, labels
    raise UsageError("expected a code for every label, found none for some")


def from_rows(rows: Table, labels: tuple[str, ...], *, unit_of: Ints | None = None) -> Counts:
    """The counts of an items x labels table, as textbooks print it; `unit_of` has the essay of each row."""
    patterns, n_items = distinct(rows)
    n_labels = patterns.sum(axis=1)
    n_left_out = int(n_items[n_labels == 1].sum())
    counts = Counts(patterns[n_labels > 1], n_items[n_labels > 1], labels, n_left_out)
    if unit_of is None:
        return counts
    is_compared = rows.sum(axis=1) > 1
    return replace(counts, groups=grouped(places(rows[is_compared], counts.patterns), unit_of[is_compared]))


def places(rows: Table, patterns: Ints) -> Ints:
    """The place of every row among the distinct patterns, which are in order."""
    base = int(patterns.max(initial=0)) + 1
    if base ** patterns.shape[1] > MOST_KEYS:
        place_of = {tuple(pattern): place for place, pattern in enumerate(patterns.tolist())}
        return np.array([place_of[tuple(row)] for row in rows.tolist()], np.int64)
    radix = base ** np.arange(patterns.shape[1] - 1, -1, -1, dtype=np.int64)
    return np.asarray(np.searchsorted(patterns @ radix, rows @ radix), np.int64)


def distinct(rows: Table) -> Patterns:
    """The different rows of a table of counts, in order, and how often each occurs."""
    if rows.shape[0] == 0:
        return rows.astype(np.int64), np.zeros(0, np.int64)
    base = int(rows.max(initial=0)) + 1
    if base ** rows.shape[1] > MOST_KEYS:
        patterns, times = np.unique(rows.astype(np.int64, copy=False), axis=0, return_counts=True)
        return patterns, times
    radix = base ** np.arange(rows.shape[1] - 1, -1, -1, dtype=np.int64)
    keys, times = _distinct_keys(rows @ radix, base ** rows.shape[1])
    return keys[:, None] // radix % base, times


def _distinct_keys(keys: Ints, n_possible: int) -> tuple[Ints, Ints]:
    if n_possible > 4 * keys.size + 1000:
        distinct_keys, times = np.unique(keys, return_counts=True)
        return distinct_keys, times
    times = np.bincount(keys, minlength=n_possible)
    occurring = np.flatnonzero(times)
    return occurring, times[occurring]


def table_of(item: Physical, label: Physical, n_labels: int) -> Ints:
    """The items x labels table: the number of times that each item was given each label."""
    rows = table_of_items(item, label, np.arange(n_labels, dtype=np.int32), n_labels)
    return _all_coded(rows, n_labels).astype(np.int64, copy=False)


def _all_coded(made: T | None, n_labels: int) -> T:
    if made is None:
        raise UsageError(f"expected label codes from 0 to {n_labels - 1}, found another")
    return made


def table_of_items(item: Physical, label: Physical, code_of: Codes, n_labels: int) -> Table | None:
    """The table of labels by their codes; None where one of them has no code."""
    n_items = int(item.max()) + 1 if item.size else 0
    if n_items * n_labels > MOST_CELLS:
        raise UsageError(
            f"expected at most {MOST_CELLS // max(n_items, 1)} different labels for {n_items} items, "
            f"found {n_labels}; merge some"
        )
    codes = code_of[label]
    if codes.min(initial=0) < 0:
        return None
    cells = item.astype(np.int64) * n_labels + codes
    return np.bincount(cells, minlength=n_items * n_labels).reshape(n_items, n_labels)


def runs(item: Physical) -> Codes | None:
    """Where the judgments of each item start, if those of every item stand together, as they mostly do."""
    first = np.flatnonzero(np.append(np.ones(min(1, item.size), bool), item[1:] != item[:-1])).astype(np.int32)
    return first if _are_different(item[first]) else None


def _are_different(codes: Physical) -> bool:
    if _are_close(codes):
        occurs = np.zeros(int(codes.max(initial=0)) + 1, bool)
        occurs[codes] = True
        return int(np.count_nonzero(occurs)) == codes.size
    ordered = np.sort(codes)
    return bool((ordered[1:] != ordered[:-1]).all())


def _are_close(codes: Physical) -> bool:
    """Whether an array with a place for every possible code is no larger than need be."""
    return bool(codes.max(initial=0) <= 2 * codes.size + 1000)


def table_of_runs(starts: Codes, label: Physical, code_of: Codes, n_labels: int) -> Table | None:
    """The table of items whose judgments stand together, in their order; None where a label has no code."""
    n_each = np.diff(starts, append=starts.dtype.type(label.size))
    if n_labels > FEW_LABELS or not 0 < LONG_RUN * starts.size <= label.size:
        return table_of_items(np.repeat(np.arange(starts.size), n_each), label, code_of, n_labels)
    *labels, last = _physical(code_of)
    rows = np.empty((starts.size, n_labels), np.int64)
    rows[:, -1] = n_each
    width = _shared_width(n_each)
    for column, each in enumerate(labels):
        times = _times_of_runs(label == each, starts, width)
        rows[:, column] = times
        rows[:, -1] -= times
    return rows if rows[:, -1].sum() == np.count_nonzero(label == last) else None


def _shared_width(n_each: Codes) -> int:
    """The number of judgments that every item has, 0 where it differs, or where eight bits do not hold it."""
    width = int(n_each[0])
    return width if width <= np.iinfo(np.uint8).max and bool((n_each == width).all()) else 0


def _times_of_runs(is_given: npt.NDArray[np.bool_], starts: Codes, width: int) -> Table:
    """How often a label was given in each run; runs of one width are summed two to four times as fast."""
    if width:
        return np.asarray(np.einsum("ij->i", is_given.view(np.uint8).reshape(-1, width)))
    return np.asarray(np.add.reduceat(is_given, starts, dtype=np.int32))


def _physical(code_of: Codes) -> list[int]:
    """The physical codes that have a code, in its order."""
    occurring = np.flatnonzero(code_of >= 0)
    return [int(physical) for physical in occurring[np.argsort(code_of[occurring])]]
