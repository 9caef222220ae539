"""How often each item was given each label, with items of equal counts taken together.

Agreement looks at an item only through its row of counts, so fifty thousand items with twenty judgments between two
labels are at most twenty-one *patterns*, and a resample of items is a draw of pattern weights (statistics.md).

Missing data is defined here, once for every coefficient: an item takes part with the judgments that it has, and items
with fewer than two have no pair to compare; they take no part, and are counted in `n_left_out`.  (irrCAC and Gwet
2014 let items with one judgment speak for the shares of labels; krippendorff does as we do.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

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

MOST_CELLS = 1 << 27
"""Cells of the items x labels table: a gigabyte."""

MOST_KEYS = 1 << 62

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
    item, names = _item_codes(judgments), categories(judgments, "label")
    physical = names.to_physical().to_numpy()
    code_of, labels = codes_by_name(names, physical, n_rows=ROWS_AT_FIRST)
    rows = _table(item, physical, code_of, len(labels))
    if rows is None:
        code_of, labels = codes_by_name(names, physical, n_rows=len(names))
        rows = table_of(item, code_of.take(physical), len(labels))
    return from_rows(rows, labels)


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


def _item_codes(judgments: Judgments) -> Physical:
    """Any codes of items, gaps allowed where they are not too many."""
    items = categories(judgments, "item")
    physical: Physical = items.to_physical().to_numpy()
    return physical if physical.max(initial=0) <= 2 * physical.size + 1000 else by_appearance(items)[0]


def table_of(item: Physical, label: Physical, n_labels: int) -> Ints:
    """The items x labels table: the number of times that each item was given each label."""
    rows = _table(item, label, np.arange(n_labels, dtype=np.int32), n_labels)
    if rows is None:
        raise UsageError(f"expected label codes from 0 to {n_labels - 1}, found another")
    return rows


def _table(item: Physical, label: Physical, code_of: Codes, n_labels: int) -> Ints | None:
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


def _count(item: Physical, label: Codes, n_labels: int, rows: Ints) -> None:
    """Adds some judgments to the rows; only the stretch of items that they touch is looked at."""
    first = int(item.min())
    cell = item.astype(np.int32)  # wide enough for MOST_CELLS, and faster than 64 bits
    cell -= first
    cell *= n_labels
    cell += label
    times = np.bincount(cell)
    rows[first * n_labels : first * n_labels + times.size] += times
