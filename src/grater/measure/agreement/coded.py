"""Judgments as integers, the essay of each item, and how often each item was given each label.

Raters and labels are in the order of their names (A1, A2, A10), numbers by size, so a result does not depend on the
order of rows; items are in the order in which they first appear.  Judgments that say `unknown` are about the item,
not the error: by default they are left out of shares and counted (`with_unknown`).

*Roles.*  Adjudicated labels and programs are no raters (`people_only`): their `group` is `adjudicated` or `program`,
or the rater is called `gold` or `adjudicated`.

*Essays.*  An item's essay comes from the items table or from the judgments, wherever it is known.  `auto` takes the
column `document` where every item has one and there are several (a sentence of an M2 file is an essay, its document
is what one learner wrote), else `essay`; any other column (`learner`, `topic`) may be named.  An item without one
is a unit of its own, and a warning counts such items; one item in two essays is an error.

*Counts.*  Agreement looks at an item only through its row of counts, so items with equal rows are one *pattern*.  An
item takes part with the judgments that it has; items with fewer than two are left out and counted.  (irrCAC and Gwet
2014 let items with one judgment speak for the shares of labels; krippendorff does as we do.)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from grater.errors import BadInput, Problem, UsageError
from grater.measure.units import Essays
from grater.model import is_adjudicated
from grater.sheet import counted, natural
from grater.tables import Judgments
from grater.uncertainty import (
    FEWEST_UNITS,
    Ints,
    Numbers,
    Scope,
    Units,
    grouped_rows,
)

Unknown: TypeAlias = Literal["drop", "ok", "apart"]
Codes: TypeAlias = npt.NDArray[np.signedinteger]
"""As a rule of 32 bits."""

UNKNOWN = "unknown"
LEFT_OUT = "label unknown"
NOT_RATERS = ("program", "adjudicated")
"""Groups of judgments that are not by raters."""


@dataclass(frozen=True, slots=True, eq=False)
class Coded:
    """Judgments as three aligned integer arrays; names by code.

    `unit_of` has the unit of each item, by the item's code, where units are not items; `unit` is what they are.
    """

    item: Codes
    rater: Codes
    label: Codes
    items: pl.Series
    raters: tuple[str, ...]
    labels: tuple[str, ...]
    name: str
    anonymous_raters: bool = field(default=False, kw_only=True)
    unit_of: Ints | None = field(default=None, kw_only=True)
    unit: str = field(default="item", kw_only=True)

    def __len__(self) -> int:
        return len(self.item)


def coded(judgments: Judgments) -> Coded:
    """The judgments by code; the frame may hold text or categories."""
    item, items = codes_of_items(categories(judgments, "item"))
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
    physical, occurring, first = _occurring(names)
    order = np.argsort(first)
    return _code_table(occurring[order])[physical], names.gather(first[order])


def by_name(names: pl.Series) -> tuple[Codes, tuple[str, ...]]:
    """A code for each category, from 0 in the order of the names, and the names by code."""
    physical, occurring, first = _occurring(names)
    shown = names.gather(first).cast(pl.String).to_list()
    order = in_order(shown)
    return _code_table(occurring[order])[physical], tuple(shown[row] for row in order)


def _occurring(names: pl.Series) -> tuple[npt.NDArray[np.integer], Ints, Ints]:
    """The physical code of each row, those that occur in order, and the row in which each first does."""
    physical = names.to_physical().to_numpy()
    first = np.full(int(physical.max()) + 1 if physical.size else 0, -1)
    # Written from the last row to the first: of several, numpy keeps what comes last.  Much faster than a sort.
    first[physical[::-1]] = np.arange(physical.size - 1, -1, -1)
    occurring = np.flatnonzero(first >= 0)
    return physical, occurring, first[occurring]


def _code_table(order: Ints) -> Codes:
    """0 for the first physical code of `order`, 1 for the next and so on."""
    code_of = np.full(int(order.max(initial=-1)) + 1, -1, np.int32)
    code_of[order] = np.arange(order.size, dtype=np.int32)
    return code_of


def in_order(names: Sequence[str]) -> list[int]:
    """The indices of names sorted by size where all of them are numbers, else as people do: A1, A2, A10."""
    numbers = as_numbers(names)
    keys = [(number, natural(name)) for number, name in zip(numbers or [0.0] * len(names), names, strict=True)]
    return sorted(range(len(names)), key=keys.__getitem__)


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
    return _kept(judgments, is_known, LEFT_OUT)


def people_only(judgments: Judgments) -> Judgments:
    """The judgments of raters: programs and adjudicated labels are left out and counted."""
    frame = judgments.frame
    if "group" in frame.columns:
        group = frame["group"].cast(pl.String).str.to_lowercase()
        judgments = _kept(judgments, ~group.is_in(NOT_RATERS).fill_null(False), "by a program, or adjudicated")
    names = judgments.frame["rater"].unique().cast(pl.String)
    gold = [name for name in names.drop_nulls().to_list() if is_adjudicated(name)]
    is_rater = ~judgments.frame["rater"].cast(pl.String).is_in(gold).fill_null(False)
    return _kept(judgments, is_rater, f"{', '.join(sorted(gold))} is adjudicated, not a rater")


def _kept(judgments: Judgments, is_kept: pl.Series, reason: str) -> Judgments:
    if is_kept.all():
        return judgments
    kept = judgments.frame.filter(is_kept)
    return replace(judgments, frame=kept, dropped={**judgments.dropped, reason: len(judgments) - len(kept)})


def with_essays(codes: Coded, essays: Essays) -> Coded:
    """The judgments with the essay of each item."""
    return replace(codes, unit_of=essays.codes(codes.items), unit=essays.unit)


def essay_warnings(essays: Essays, items: pl.Series, scope: Scope) -> Iterator[str]:
    """Too few essays, and items whose essay is not known."""
    if scope.is_clustered and scope.n_units < FEWEST_UNITS:
        few = f"only {counted(scope.n_units, scope.unit)}: intervals need {FEWEST_UNITS}"
        yield f"{few}; --units item takes items as independent"
    else:
        yield from scope.warnings
    n_alone = essays.n_alone(items)
    if n_alone:
        yield f"{n_alone:,} of {counted(len(items), 'item')} have no {essays.unit}: each is its own cluster"


# Counts of labels


LabelTable: TypeAlias = npt.NDArray[np.signedinteger]

MOST_CELLS = 1 << 27
"""Cells of the items x labels table: a gigabyte."""
MOST_KEYS = 1 << 62


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """Distinct rows of the items x labels table (`patterns`, at least two judgments each) and the number of items
    that have each.

    `n_left_out` counts the items with fewer than two judgments.  Where units are not items, `place` has the pattern
    of each compared item and `unit_of` its unit.
    """

    patterns: Ints
    n_items: Ints
    labels: tuple[str, ...]
    n_left_out: int = 0
    place: Ints | None = None
    unit_of: Ints | None = None
    unit: str = "item"
    n_units: int = 0

    @property
    def n_compared(self) -> int:
        return int(self.n_items.sum())

    @property
    def n_judgments(self) -> int:
        return int(self.n_items @ self.patterns.sum(axis=1))

    def units(self, rows: Numbers) -> Units:
        """What leaves the table as a whole, from a row of numbers for each pattern."""
        if self.unit_of is None or self.place is None:
            return self.as_items(rows)
        return Units(grouped_rows(rows[self.place], self.unit_of, self.n_units), self.unit)

    def as_items(self, rows: Numbers) -> Units:
        return Units(rows, "item", self.n_items.astype(np.float64))


def tally(judgments: Judgments | Coded) -> Counts:
    """The counts of a table."""
    codes = judgments if isinstance(judgments, Coded) else coded(judgments)
    rows = table_of(codes.item, codes.label, len(codes.labels))
    return from_rows(rows, codes.labels, unit_of=codes.unit_of, unit=codes.unit)


def from_rows(
    rows: LabelTable, labels: tuple[str, ...], *, unit_of: Ints | None = None, unit: str = "item"
) -> Counts:
    """The counts of an items x labels table, as textbooks print it; `unit_of` has the essay of each row."""
    size = rows.sum(axis=1)
    compared = rows[size > 1].astype(np.int64, copy=False)
    patterns, place, n_items = _distinct(compared)
    counts = Counts(patterns, n_items, labels, int((size == 1).sum()))
    if unit_of is None:
        return counts
    n_units = int(unit_of.max(initial=-1)) + 1
    return replace(counts, place=place, unit_of=unit_of[size > 1], unit=unit, n_units=n_units)


def _distinct(rows: Ints) -> tuple[Ints, Ints, Ints]:
    """The different rows of a table in order, the place of each row among them, and how often each occurs."""
    base, width = int(rows.max(initial=0)) + 1, rows.shape[1]
    if base**width > MOST_KEYS:
        patterns, place, times = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
        return patterns, place.ravel(), times
    radix = base ** np.arange(width - 1, -1, -1, dtype=np.int64)
    keys = rows @ radix
    if base**width <= 4 * keys.size + 1000:  # no need to sort
        times = np.bincount(keys, minlength=base**width)
        occurring = np.flatnonzero(times)
        place_of = np.cumsum(times > 0) - 1
        return occurring[:, None] // radix % base, place_of[keys], times[occurring]
    occurring, place, times = np.unique(keys, return_inverse=True, return_counts=True)
    return occurring[:, None] // radix % base, place, times


def table_of(item: Codes, label: Codes, n_labels: int) -> Ints:
    """The items x labels table: the number of times that each item was given each label."""
    n_items = int(item.max()) + 1 if item.size else 0
    if n_items * n_labels > MOST_CELLS:
        raise UsageError(
            f"expected at most {MOST_CELLS // max(n_items, 1)} different labels for {n_items} items, "
            f"found {n_labels}; merge some"
        )
    cells = item.astype(np.int64) * n_labels + label
    return np.bincount(cells, minlength=n_items * n_labels).reshape(n_items, n_labels)
