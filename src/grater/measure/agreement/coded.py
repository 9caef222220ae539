"""Judgments as integers: what every statistic of agreement and of the crowd starts from.

Categorical columns are taken as they are: their physical codes, closed up where a category does not occur.  Text is
made categorical first.  Raters and labels are in the order of their names (A1, A2, A10), numbers by size, so that a
result does not depend on the order of rows; items are in the order in which they first appear.

Judgments that say `unknown` (too hard to judge, or both bad) say something of the item, not of the error: by default
they are left out of shares and counted (`with_unknown`).
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
from grater.sheet import natural
from grater.tables import Judgments

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
