"""Judgments as integers: what every statistic of agreement and of the crowd starts from.

Categorical columns are taken as they are: their physical codes, closed up where a category does not occur.  Text is
made categorical first.  Raters and labels are in the order of their names (A1, A2, A10), numbers by size, so that a
result does not depend on the order of rows; items are in the order in which they first appear.

Judgments that say `unknown` (too hard to judge, or both bad) say something of the item, not of the error: by default
they are left out of shares and counted (`with_unknown`).

Which essay each item is in, so that intervals resample essays rather than items.

The essay comes from a column of the items table or of the judgments themselves.  Without a column named, `document`
is taken where every item has one and there are several, else `essay`: an essay of an M2 file is a sentence, and its
document is what one learner wrote.  `item` as the column takes items as independent, as does a table that names no
essay; the result says so (`grater.uncertainty.intervals`).  Any other column will do: `learner`, `topic`, `class`.

An item without a value in the column is a cluster of its own; a warning counts such items.  One item in two essays is
an error.

How often each item was given each label, with items of equal counts grouped.

Agreement looks at an item only through its row of counts, so fifty thousand items with twenty judgments between two
labels are at most twenty-one *patterns*, and a resample of items is a draw of pattern weights (statistics.md).

Missing data is defined here, once for every coefficient: an item takes part with the judgments that it has, and items
with fewer than two have no pair to compare; they take no part, and are counted in `n_left_out`.  (irrCAC and Gwet
2014 let items with one judgment speak for the shares of labels; krippendorff does as we do.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import isfinite, nan
from typing import Literal, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
import polars as pl

from grater.errors import BadInput, Problem, UnknownName, UsageError
from grater.model import Interval
from grater.registry import unknown
from grater.sheet import counted, natural
from grater.tables import Judgments, Table
from grater.uncertainty.bootstrap import Groups, grouped
from grater.uncertainty.intervals import AS_ASKED, ESSAYS_UNKNOWN, LEVEL, Ints, Scope, cluster_wilson, wilson

Unknown: TypeAlias = Literal["drop", "ok", "apart"]

Codes: TypeAlias = npt.NDArray[np.signedinteger]
"""As a rule of 32 bits."""
Physical: TypeAlias = npt.NDArray[np.integer]
Rows: TypeAlias = npt.NDArray[np.uint32]

UNKNOWN = "unknown"
LEFT_OUT = "label unknown"
ROWS_AT_FIRST = 4096
FEW_NAMES = 50
MOST_DIGITS = 18


@dataclass(frozen=True, slots=True, eq=False)
class Coded:
    """Judgments as three aligned integer arrays; names by code.

    `unit` has the essay of each item, by the item's code, where essays are known.
    """

    item: Codes
    rater: Codes
    label: Codes
    items: pl.Series
    raters: tuple[str, ...]
    labels: tuple[str, ...]
    name: str
    anonymous_raters: bool = field(default=False, kw_only=True)
    unit: npt.NDArray[np.int64] | None = field(default=None, kw_only=True)

    def __len__(self) -> int:
        return len(self.item)


def coded(judgments: Judgments) -> Coded:
    """The judgments by code; the frame may hold text or categories."""
    names = categories(judgments, "item")
    item, items = codes_of_items(names)
    rater, raters = by_name(categories(judgments, "rater"))
    label, labels = by_name(categories(judgments, "label"))
    return Coded(
        item=item,
        rater=rater,
        label=label,
        items=items.cast(pl.String),
        raters=raters,
        labels=labels,
        name=judgments.name,
        anonymous_raters=judgments.anonymous_raters,
    )


def codes_of_items(names: pl.Series) -> tuple[Codes, pl.Series]:
    """A code for each category, from 0 in the order of first appearance, and the categories by code."""
    physical = names.to_physical().to_numpy()
    rows = _first_rows(physical) if physical.dtype == np.uint32 else None
    if rows is not None:
        return physical.view(np.int32), names[rows]
    occurring, first = _occurring(physical)
    order = np.argsort(first)
    return _code_table(physical, occurring[order])[physical], names.gather(first[order])


def _first_rows(physical: Physical) -> Rows | None:
    """The row in which each code first occurs, where they do so in order without a gap, as in a file just read."""
    highest = np.maximum.accumulate(physical)
    is_new = np.diff(highest, prepend=highest[:1]) > 0
    is_new[:1] = True
    rows = np.flatnonzero(is_new)
    is_gapless = not physical.size or (physical[0] == 0 and int(highest[-1]) + 1 == rows.size)
    return rows.astype(np.uint32) if is_gapless else None


def by_name(names: pl.Series) -> tuple[Codes, tuple[str, ...]]:
    """A code for each category, from 0 in the order of the names, and the names by code."""
    physical = names.to_physical().to_numpy()
    # Labels are few, and the first rows nearly always show them all; to look at every row costs four times as much.
    code_of, known = codes_by_name(names, physical, n_rows=ROWS_AT_FIRST)
    codes = code_of[physical]
    if codes.min(initial=0) < 0:
        code_of, known = codes_by_name(names, physical, n_rows=len(names))
        codes = code_of[physical]
    return codes, known


def codes_by_name(names: pl.Series, physical: Physical, *, n_rows: int) -> tuple[Codes, tuple[str, ...]]:
    """The code of each physical code, -1 for one that the first rows do not show, and the names by code."""
    occurring, first = _occurring(physical[:n_rows])
    shown = texts(names, first)
    order = in_order(shown)
    code_of = _code_table(physical, occurring[order])
    return code_of, tuple(shown[row] for row in order)


def texts(names: pl.Series, rows: npt.NDArray[np.int64]) -> list[str]:
    """The names in some rows; few are looked up one by one, for a query costs as much as fifty of them."""
    if rows.size <= FEW_NAMES:
        return [str(names[int(row)]) for row in rows]
    return names.gather(rows).cast(pl.String).to_list()


def _occurring(physical: Physical) -> tuple[Physical, npt.NDArray[np.int64]]:
    """The codes that occur, in order, and the row in which each first does."""
    first = np.full(int(physical.max()) + 1 if physical.size else 0, -1)
    # Written from the last row to the first: of several, numpy keeps what comes last.  Much faster than a sort.
    first[physical[::-1]] = np.arange(physical.size - 1, -1, -1)
    occurring = np.flatnonzero(first >= 0)
    return occurring, first[occurring]


def _code_table(physical: Physical, order: Physical) -> Codes:
    """0 for the first physical code of `order`, 1 for the next and so on; -1 for one that is not among them."""
    code_of = np.full(int(physical.max()) + 1 if physical.size else 0, -1, np.int32)
    code_of[order] = np.arange(order.size, dtype=np.int32)
    return code_of


def in_order(names: Sequence[str]) -> list[int]:
    """The indices of names sorted by size where all of them are numbers, else as people do: A1, A2, A10."""
    serial = _serial_numbers(names)
    if serial is not None:
        return [int(place) for place in serial.argsort()]
    numbers = as_numbers(names)
    keys = [(number, natural(name)) for number, name in zip(numbers or [0.0] * len(names), names, strict=True)]
    return sorted(range(len(names)), key=keys.__getitem__)


def _serial_numbers(names: Sequence[str]) -> npt.NDArray[np.int64] | None:
    """The numbers of names such as r1, r2, r10, where nothing else tells them apart: sorted ten times as fast."""
    shared = names[0].rstrip("0123456789") if names else ""
    ends = [name.removeprefix(shared) for name in names if name.startswith(shared)]
    if len(ends) < len(names) or not all(end.isdigit() and end.isascii() and len(end) <= MOST_DIGITS for end in ends):
        return None
    numbers = np.array([int(end) for end in ends], np.int64)
    return numbers if len(np.unique(numbers)) == len(numbers) else None


def as_numbers(names: Sequence[str]) -> list[float] | None:
    """The names as numbers; None where one of them is not a number."""
    try:
        numbers = [float(name) for name in names]
    except ValueError:
        return None
    return numbers if all(map(isfinite, numbers)) else None


def categories(judgments: Judgments, name: str) -> pl.Series:
    """A column as categories; a judgment must have an item, a rater and a label."""
    column = judgments.frame[name]
    if column.null_count():
        problem = f"expected a value in column {name!r}, found {column.null_count()} empty cells; see read_judgments"
        raise BadInput(Problem(judgments.name, problem))
    if isinstance(column.dtype, pl.Categorical | pl.Enum):
        return column
    return column.cast(pl.String).cast(pl.Categorical)


def physicals(*columns: pl.Series) -> Iterator[Physical]:
    """The physical codes of columns, all by one query: each costs as much as counting ten thousand judgments."""
    frame = pl.DataFrame(columns).select(pl.all().to_physical())
    return (column.to_numpy() for column in frame)


def reordered(coded: Coded, order: Sequence[str]) -> Coded:
    """The same judgments with labels in the given order, which may name labels that nobody used."""
    missing = [label for label in coded.labels if label not in order]
    if missing or len(set(order)) < len(order):
        fault = f"found no place for {', '.join(missing)}" if missing else "found one twice"
        raise UsageError(f"expected an order that names every label once, {fault}")
    codes = np.array([order.index(label) for label in coded.labels], np.int32)
    return replace(coded, label=codes.take(coded.label), labels=tuple(order))


def with_unknown(judgments: Judgments, how: Unknown = "drop") -> Judgments:
    """The judgments with `unknown` left out and counted, taken as `ok`, or as a label of its own."""
    label = pl.col("label").cast(pl.String)
    if how == "apart":
        return judgments
    if how == "ok":
        return replace(judgments, frame=judgments.frame.with_columns(label=label.replace({UNKNOWN: "ok"})))
    is_coded = isinstance(judgments.frame["label"].dtype, pl.Categorical)
    is_known = judgments.frame.select((pl.col("label") if is_coded else label) != UNKNOWN).to_series()
    if is_known.all():
        return judgments
    kept = judgments.frame.filter(is_known)
    n_dropped = len(judgments) - len(kept)
    dropped = {LEFT_OUT: n_dropped} if n_dropped else {}
    return replace(judgments, frame=kept, dropped={**judgments.dropped, **dropped})


# Essays


ITEM = "item"
COLUMNS = ("document", "essay")
"""Columns that name essays without being asked, the first that does."""


@dataclass(frozen=True, slots=True, eq=False)
class Essays:
    """The essay of each item: a frame of `item` and `unit`; none where items are taken as independent."""

    unit: str = ITEM
    of_items: pl.DataFrame | None = None
    independent_because: str = ESSAYS_UNKNOWN

    def codes(self, items: pl.Series) -> Ints | None:
        """The number of each item's essay; an item that is in none stands by itself."""
        if self.of_items is None:
            return None
        names = self._names(items)
        codes = names.cast(pl.Categorical).to_physical().cast(pl.Int64).fill_null(-1).to_numpy()
        return np.where(codes < 0, codes.max(initial=0) + 1 + np.arange(len(codes)), codes)

    def n_alone(self, items: pl.Series) -> int:
        """The items whose essay is not known although others' are."""
        return 0 if self.of_items is None else self._names(items).null_count()

    def covers(self, judgments: Judgments) -> bool:
        """Whether the essay of some item of a table is known, or none is to be."""
        items = judgments.frame[ITEM].cast(pl.String).unique()
        return self.of_items is None or self._names(items).null_count() < len(items)

    def share(self, is_hit: npt.NDArray[np.bool_], items: pl.Series) -> Interval:
        """The share of hits among cases, one item each, whole essays drawn where they are known."""
        codes = self.codes(items)
        if codes is None:
            return wilson(int(is_hit.sum()), len(is_hit))
        unit = np.unique(codes, return_inverse=True)[1]
        hits, n = (np.bincount(unit, weights=of).astype(np.float64) for of in (is_hit, np.ones(len(is_hit))))
        return cluster_wilson(hits, n)

    def scope_of(self, items: pl.Series, *, effect: float = nan) -> Scope:
        """What intervals speak of that rest on these items."""
        distinct = items.unique()
        codes = self.codes(distinct)
        return self.scope(len(distinct), 0 if codes is None else len(np.unique(codes)), effect=effect)

    def _names(self, items: pl.Series) -> pl.Series:
        assert self.of_items is not None
        frame = pl.DataFrame({ITEM: items.cast(pl.String)})
        return frame.join(self.of_items, on=ITEM, how="left", maintain_order="left")["unit"]

    def scope(self, n_items: int, n_units: int, *, effect: float, n_raters: int = 0, level: float = LEVEL) -> Scope:
        """What intervals speak of that drew these units."""
        return Scope(
            unit=self.unit,
            n_units=n_items if self.of_items is None else n_units,
            design_effect=effect,
            n_raters=n_raters,
            independent_because=self.independent_because,
            level=level,
        )


NO_ESSAYS = Essays()


def essays_of(judgments: Judgments, items: Table | None = None, *, cluster: str | None = None) -> Essays:
    """The essays of the items of a table, by the column named or by the first that names essays."""
    if cluster == ITEM:
        return Essays(independent_because=AS_ASKED)
    tables = [table for table in (items, judgments) if table is not None]
    if cluster is not None:
        table = next((table for table in tables if cluster in table.frame.columns), None)
        if table is None:
            names = [name for table in tables for name in table.frame.columns]
            raise UnknownName(f"{tables[0].name}: {unknown('column', cluster, names)}")
        return _essays(table, cluster, judgments)
    for table in tables:
        for column in COLUMNS:
            if column in table.frame.columns and _is_telling(table.frame[column]):
                return _essays(table, column, judgments)
    return NO_ESSAYS


def known_essays(judgments: Judgments, items: Table | None) -> Essays:
    """The essays of the judged items as far as a table knows them; where it knows none, items are independent.

    For results that are one of many in a report or a study, whose table need not be about these items.
    """
    if items is None:
        return essays_of(judgments)
    judged = judgments.frame[ITEM].cast(pl.String).unique().implode()
    known = items.frame.filter(pl.col(ITEM).cast(pl.String).is_in(judged))
    return essays_of(judgments, replace(items, frame=known) if len(known) else None)


def _is_telling(values: pl.Series) -> bool:
    """Whether a column can say which essay: documents, where every item has one and they are several."""
    n_values = values.drop_nulls().n_unique()
    return n_values > 1 and not values.null_count() if values.name == "document" else n_values > 0


def _essays(table: Judgments | Table, column: str, judgments: Judgments) -> Essays:
    pairs = (
        table.frame.select(pl.col(ITEM).cast(pl.String), unit=pl.col(column).cast(pl.String)).drop_nulls().unique()
    )
    twice = pairs.filter(pl.col(ITEM).is_duplicated())
    if len(twice):
        item = twice.sort(ITEM, "unit")[ITEM][0]
        names = ", ".join(sorted(twice.filter(pl.col(ITEM) == item)["unit"].to_list())[:3])
        raise BadInput(Problem(table.name, f"expected one {column} for item {item!r}, found {names}"))
    known = pairs.filter(pl.col(ITEM).is_in(judgments.frame[ITEM].cast(pl.String).unique().implode()))
    if not len(known):
        raise BadInput(Problem(table.name, f"expected the {column} of items of {judgments.name}, found none of them"))
    return Essays(unit=column, of_items=pairs.sort(ITEM))


def with_essays(codes: Coded, essays: Essays) -> Coded:
    """The judgments with the essay of each item."""
    return replace(codes, unit=essays.codes(codes.items))


def essay_warnings(essays: Essays, items: pl.Series, scope: Scope) -> Iterator[str]:
    """Too few essays, and items whose essay is not known."""
    yield from scope.warnings
    n_alone = essays.n_alone(items)
    if n_alone:
        yield f"{n_alone:,} of {counted(len(items), 'item')} have no {essays.unit}: each is its own cluster"


# Counts of labels


T = TypeVar("T")
TableMaker: TypeAlias = Callable[[Physical, Codes, int], T | None]
"""From physical labels, their codes and the number of these: the items x labels table, if every label has a code."""
LabelTable: TypeAlias = npt.NDArray[np.signedinteger]
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


def from_rows(rows: LabelTable, labels: tuple[str, ...], *, unit_of: Ints | None = None) -> Counts:
    """The counts of an items x labels table, as textbooks print it; `unit_of` has the essay of each row."""
    patterns, n_items = distinct(rows)
    n_labels = patterns.sum(axis=1)
    n_left_out = int(n_items[n_labels == 1].sum())
    counts = Counts(patterns[n_labels > 1], n_items[n_labels > 1], labels, n_left_out)
    if unit_of is None:
        return counts
    is_compared = rows.sum(axis=1) > 1
    return replace(counts, groups=grouped(places(rows[is_compared], counts.patterns), unit_of[is_compared]))


def places(rows: LabelTable, patterns: Ints) -> Ints:
    """The place of every row among the distinct patterns, which are in order."""
    base = int(patterns.max(initial=0)) + 1
    if base ** patterns.shape[1] > MOST_KEYS:
        place_of = {tuple(pattern): place for place, pattern in enumerate(patterns.tolist())}
        return np.array([place_of[tuple(row)] for row in rows.tolist()], np.int64)
    radix = base ** np.arange(patterns.shape[1] - 1, -1, -1, dtype=np.int64)
    return np.asarray(np.searchsorted(patterns @ radix, rows @ radix), np.int64)


def distinct(rows: LabelTable) -> Patterns:
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


def table_of_items(item: Physical, label: Physical, code_of: Codes, n_labels: int) -> LabelTable | None:
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


def table_of_runs(starts: Codes, label: Physical, code_of: Codes, n_labels: int) -> LabelTable | None:
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


def _times_of_runs(is_given: npt.NDArray[np.bool_], starts: Codes, width: int) -> LabelTable:
    """How often a label was given in each run; runs of one width are summed two to four times as fast."""
    if width:
        return np.asarray(np.einsum("ij->i", is_given.view(np.uint8).reshape(-1, width)))
    return np.asarray(np.add.reduceat(is_given, starts, dtype=np.int32))


def _physical(code_of: Codes) -> list[int]:
    """The physical codes that have a code, in its order."""
    occurring = np.flatnonzero(code_of >= 0)
    return [int(physical) for physical in occurring[np.argsort(code_of[occurring])]]
