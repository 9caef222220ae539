"""How often each item was given each label, with items of equal counts grouped.

Agreement looks at an item only through its row of counts, so fifty thousand items with twenty judgments between two
labels are at most twenty-one *patterns*, and a resample of items is a draw of pattern weights (statistics.md).

Missing data is defined here, once for every coefficient: an item takes part with the judgments that it has, and items
with fewer than two have no pair to compare; they take no part, and are counted in `n_left_out`.  (irrCAC and Gwet
2014 let items with one judgment speak for the shares of labels; krippendorff does as we do.)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np
import polars as pl

from grater.agreement.coded import (
    ROWS_AT_FIRST,
    Coded,
    Codes,
    Physical,
    by_appearance,
    categories,
    codes_by_name,
)
from grater.errors import UsageError
from grater.statistics.bca import Groups, grouped
from grater.statistics.intervals import Ints
from grater.tables import Judgments

TableMaker: TypeAlias = Callable[[Physical, Codes, int], Ints | None]
"""From physical labels, their codes and the number of these: the items x labels table, if every label has a code."""

MOST_CELLS = 1 << 27
"""Cells of the items x labels table: a gigabyte."""

MOST_KEYS = 1 << 62

FEW_LABELS = 8
LONG_RUN = 4
"""Up to how many labels, and from how many judgments on in a row of one item, on average, runs are counted whole."""

ROWS_AT_ONCE = 1 << 17
"""Judgments counted in one go: what fits the cache is counted twice as fast."""


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
        counted = table_of(judgments.item, judgments.label, len(judgments.labels))
        return from_rows(counted, judgments.labels, unit_of=judgments.unit)
    names = categories(judgments, "item")
    starts = runs(names.to_physical().to_numpy())
    table = partial(table_of_items, _item_codes(names)) if starts is None else partial(table_of_runs, starts)
    rows, _, labels = label_table(categories(judgments, "label"), table)
    return from_rows(rows, labels)


def label_table(names: pl.Series, table: TableMaker) -> tuple[Ints, Codes, tuple[str, ...]]:
    """The items x labels table, the code of each physical label, and the labels by code."""
    physical = names.to_physical().to_numpy()
    for n_rows in (ROWS_AT_FIRST, len(names)):
        code_of, labels = codes_by_name(names, physical, n_rows=n_rows)
        rows = table(physical, code_of, len(labels))
        if rows is not None:
            return rows, code_of, labels
    raise UsageError("expected a code for every label, found none for some")


def from_rows(rows: Ints, labels: tuple[str, ...], *, unit_of: Ints | None = None) -> Counts:
    """The counts of an items x labels table, as textbooks print it; `unit_of` has the essay of each row."""
    patterns, n_items = distinct(rows)
    n_labels = patterns.sum(axis=1)
    n_left_out = int(n_items[n_labels == 1].sum())
    patterns, n_items = patterns[n_labels > 1], n_items[n_labels > 1]
    if unit_of is None:
        return Counts(patterns, n_items, labels, n_left_out)
    is_compared = rows.sum(axis=1) > 1
    groups = grouped(places(rows[is_compared], patterns), unit_of[is_compared])
    return Counts(patterns, n_items, labels, n_left_out, groups)


def places(rows: Ints, patterns: Ints) -> Ints:
    """The place of every row among the distinct patterns, which are in order."""
    base = int(patterns.max(initial=0)) + 1
    if base ** patterns.shape[1] > MOST_KEYS:
        place_of = {tuple(pattern): place for place, pattern in enumerate(patterns.tolist())}
        return np.array([place_of[tuple(row)] for row in rows.tolist()], np.int64)
    radix = base ** np.arange(patterns.shape[1] - 1, -1, -1, dtype=np.int64)
    return np.asarray(np.searchsorted(patterns @ radix, rows @ radix), np.int64)


def distinct(rows: Ints) -> tuple[Ints, Ints]:
    """The different rows of a table of counts, in order, and how often each occurs."""
    if rows.shape[0] == 0:
        return rows, np.zeros(0, np.int64)
    base = int(rows.max(initial=0)) + 1
    if base ** rows.shape[1] > MOST_KEYS:
        patterns, times = np.unique(rows, axis=0, return_counts=True)
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


def _item_codes(items: pl.Series) -> Physical:
    """Any codes of items, gaps allowed where they are not too many."""
    physical: Physical = items.to_physical().to_numpy()
    return physical if _are_close(physical) else by_appearance(items)[0]


def table_of(item: Physical, label: Physical, n_labels: int) -> Ints:
    """The items x labels table: the number of times that each item was given each label."""
    rows = table_of_items(item, label, np.arange(n_labels, dtype=np.int32), n_labels)
    if rows is None:
        raise UsageError(f"expected label codes from 0 to {n_labels - 1}, found another")
    return rows


def table_of_items(item: Physical, label: Physical, code_of: Codes, n_labels: int) -> Ints | None:
    """The table of labels by their codes; None where one of them has no code."""
    n_items = int(item.max()) + 1 if item.size else 0
    if n_items * n_labels > MOST_CELLS:
        raise UsageError(
            f"expected at most {MOST_CELLS // max(n_items, 1)} different labels for {n_items} items, "
            f"found {n_labels}; merge some"
        )
    rows = np.zeros(n_items * n_labels, np.int64)
    n_at_once = max(ROWS_AT_ONCE, rows.size)
    for start in range(0, len(item), n_at_once):
        codes = code_of.take(label[start : start + n_at_once])
        if codes.min() < 0:
            return None
        _count(item[start : start + n_at_once], codes, n_labels, rows)
    return rows.reshape(n_items, n_labels)


def runs(item: Physical) -> Ints | None:
    """Where the judgments of each item start, if those of every item stand together, as they mostly do."""
    starts = np.flatnonzero(item[1:] != item[:-1])
    starts = np.concatenate([np.zeros(min(1, item.size), np.int64), starts + 1])
    return starts if _are_different(item[starts]) else None


def _are_different(codes: Physical) -> bool:
    if _are_close(codes):
        return bool(np.bincount(codes).max(initial=0) <= 1)
    ordered = np.sort(codes)
    return bool((ordered[1:] != ordered[:-1]).all())


def _are_close(codes: Physical) -> bool:
    """Whether an array with a place for every possible code is no larger than need be."""
    return bool(codes.max(initial=0) <= 2 * codes.size + 1000)


def table_of_runs(starts: Ints, label: Physical, code_of: Codes, n_labels: int) -> Ints | None:
    """The table of items whose judgments stand together, in their order; None where a label has no code."""
    n_each = np.diff(starts, append=label.size)
    if n_labels > FEW_LABELS or not 0 < LONG_RUN * starts.size <= label.size:
        return table_of_items(np.repeat(np.arange(starts.size), n_each), label, code_of, n_labels)
    *labels, last = _physical(code_of)
    rows = np.empty((starts.size, n_labels), np.int64)
    rows[:, -1] = n_each
    for column, each in enumerate(labels):
        times = np.add.reduceat(label == each, starts, dtype=np.int32)
        rows[:, column] = times
        rows[:, -1] -= times
    return rows if rows[:, -1].sum() == np.count_nonzero(label == last) else None


def _physical(code_of: Codes) -> list[int]:
    """The physical codes that have a code, in its order."""
    occurring = np.flatnonzero(code_of >= 0)
    return [int(physical) for physical in occurring[np.argsort(code_of[occurring])]]


def _count(item: Physical, label: Codes, n_labels: int, rows: Ints) -> None:
    """Adds some judgments to the rows; only the stretch of items that they touch is looked at."""
    first = int(item.min())
    cell = item.astype(np.int32)  # wide enough for MOST_CELLS, and faster than 64 bits
    cell -= first
    cell *= n_labels
    cell += label
    times = np.bincount(cell)
    rows[first * n_labels : first * n_labels + times.size] += times
