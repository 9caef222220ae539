"""Two raters' labels cross-tabulated, and how often each contradicts the other.

T&C 2008, Table 3, prints such a table and two *disagreement rates*: of the items that a rater calls an error, the
share that the other calls OK (26 of 86, 37 of 97).  Here a rate has Wilson's interval, and is given for each rater.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
import numpy.typing as npt

from grater.errors import UnknownName, UsageError
from grater.measure.agreement.coded import Coded
from grater.measure.agreement.counts import MOST_CELLS
from grater.model import Interval
from grater.registry import unknown
from grater.result import FLAT, HIDDEN, Data, in_json, key
from grater.uncertainty.bca import Groups, grouped
from grater.uncertainty.intervals import Ints
from grater.uncertainty.proportions import cluster_wilson, wilson

NOBODY = -1
"""In a label matrix: this rater did not judge this item."""


@dataclass(frozen=True, slots=True, eq=False)
class Confusion(Data):
    """`cells[k, l]` items were given label k by the first rater and label l by the second.

    `groups` are the essays that these items stand in, where they are known; their patterns are cells, row by row.
    """

    cells: Ints = field(metadata=key("confusion"))
    labels: tuple[str, ...]
    raters: tuple[str, str]
    groups: Groups | None = field(default=None, metadata=HIDDEN)

    @property
    @in_json()
    def n(self) -> int:
        """The items that both judged."""
        return int(self.cells.sum())

    @property
    def observed(self) -> Interval:
        """The share of items on which the two agree."""
        return self.share(np.eye(len(self.labels), dtype=bool), np.ones_like(self.cells, dtype=bool))

    def share(self, part: npt.NDArray[np.bool_], whole: npt.NDArray[np.bool_]) -> Interval:
        """The items in some cells among those in others; essays are drawn where they are known."""
        if self.groups is None:
            return wilson(int(self.cells[part].sum()), int(self.cells[whole].sum()))
        cells = np.column_stack([part.ravel(), whole.ravel()]).astype(np.float64)
        sums = self.groups.sums(cells)
        return cluster_wilson(sums[:, 0], sums[:, 1])

    def merged(self, *groups: Sequence[str], names: Sequence[str]) -> Confusion:
        """The table of coarser labels, each group under its new name."""
        places = [[self.labels.index(label) for label in group] for group in groups]
        cells = [[int(self.cells[np.ix_(rows, columns)].sum()) for columns in places] for rows in places]
        return Confusion(np.array(cells, np.int64), tuple(names), self.raters)


def confusion(cells: npt.ArrayLike, labels: Sequence[str], raters: tuple[str, str] = ("R1", "R2")) -> Confusion:
    """A table as a paper prints it: rows are the first rater's labels."""
    table = np.asarray(cells, np.int64)
    if table.shape != (len(labels), len(labels)):
        raise UsageError(f"expected a table of {len(labels)} x {len(labels)} labels, found {table.shape}")
    return Confusion(table, tuple(labels), raters)


def label_matrix(coded: Coded) -> npt.NDArray[np.int32]:
    """Items by raters, with `NOBODY` where a judgment is missing."""
    n_items, n_raters = len(coded.items), len(coded.raters)
    if n_items * n_raters > MOST_CELLS:
        raise UsageError(f"{coded.name}: {n_raters} raters of {n_items} items are too many to compare in pairs")
    matrix = np.full((n_items, n_raters), NOBODY, np.int32)
    matrix[coded.item, coded.rater] = coded.label
    return matrix


def confusions(coded: Coded) -> Iterator[Confusion]:
    """The table of every pair of raters, also of pairs that share no item."""
    matrix = label_matrix(coded)
    for first, second in combinations(range(len(coded.raters)), 2):
        raters = coded.raters[first], coded.raters[second]
        yield between(matrix[:, first], matrix[:, second], coded.labels, raters, unit_of=coded.unit)


def between(
    first: npt.NDArray[np.int32],
    second: npt.NDArray[np.int32],
    labels: tuple[str, ...],
    raters: tuple[str, str],
    *,
    unit_of: Ints | None = None,
) -> Confusion:
    """The table of two aligned columns of labels; `unit_of` has the essay of each row."""
    both = (first != NOBODY) & (second != NOBODY)
    cell = first[both].astype(np.int64) * len(labels) + second[both]
    cells = np.bincount(cell, minlength=len(labels) ** 2).reshape(len(labels), len(labels))
    return Confusion(cells, labels, raters, None if unit_of is None else grouped(cell, unit_of[both]))


@dataclass(frozen=True, slots=True)
class Disagreement(Data):
    """Of the `n` items that a rater calls an error, `n_ok` are OK to the other."""

    rater: str
    other: str
    n_ok: int
    n: int
    rate: Interval = field(metadata=FLAT)


def disagreements(table: Confusion, *, ok: str) -> tuple[Disagreement, Disagreement]:
    """T&C 2008, 5.2: for each rater, the share of their errors that are OK to the other."""
    if ok not in table.labels:
        raise UnknownName(unknown("label", ok, list(table.labels)))
    place = table.labels.index(ok)
    first, second = table.raters
    is_error = np.arange(len(table.labels)) != place
    by_first = np.repeat(is_error[:, None], len(table.labels), axis=1)
    both = is_error[:, None] & is_error
    return (
        _disagreement(table, by_first & ~both, by_first, first, second),
        _disagreement(table, by_first.T & ~both, by_first.T, second, first),
    )


def _disagreement(
    table: Confusion, part: npt.NDArray[np.bool_], whole: npt.NDArray[np.bool_], rater: str, other: str
) -> Disagreement:
    n_ok, n = int(table.cells[part].sum()), int(table.cells[whole].sum())
    return Disagreement(rater=rater, other=other, n_ok=n_ok, n=n, rate=table.share(part, whole))


def ok_label(labels: Sequence[str]) -> str | None:
    """The label that says "no error", where one is called ok."""
    return next((label for label in labels if label.casefold() == "ok"), None)
