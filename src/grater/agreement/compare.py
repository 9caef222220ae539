"""Two kappas of real tables compared: of two pairs of raters on their common items, or of two tables.

Tables on the same items are compared by paired bootstrap over the items that both have; tables with no item in common
by z.  Where each table has two raters the coefficient is Cohen's kappa, otherwise alpha.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import hypot

import numpy as np
import numpy.typing as npt

from grater.agreement.alpha import alpha
from grater.agreement.coded import Coded, coded, reordered
from grater.agreement.coefficient import Coefficient
from grater.agreement.cohen import Error, cohen
from grater.agreement.confusion import NOBODY, confusions, label_matrix
from grater.agreement.counts import Whole, table_of, tally
from grater.agreement.limits import delta_error, value
from grater.agreement.tests import KappaTest, dependent, from_errors, independent
from grater.agreement.weights import Matrix, weight_matrix
from grater.errors import UnknownName
from grater.registry import unknown
from grater.tables import Judgments

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Comparison:
    """What was compared, on how many items, and what came out."""

    coefficient: str
    n_items: int
    test: KappaTest


def compare_pairs(
    judgments: Coded, first: Pair, second: Pair, *, rng: np.random.Generator, weights: Matrix | None = None
) -> Comparison:
    """Cohen's kappa of two pairs of raters, on the items that all of them judged."""
    columns = label_matrix(judgments)[:, [_place(judgments, rater) for rater in (*first, *second)]]
    columns = columns[(columns != NOBODY).all(axis=1)]
    kappa = cohen(weight_matrix("identity", len(judgments.labels)) if weights is None else weights)
    cells = [_cells(columns[:, pair], len(judgments.labels)) for pair in ([0, 1], [2, 3])]
    return Comparison("kappa", len(columns), dependent(kappa, kappa, (cells[0], cells[1]), rng=rng))


def compare_tables(
    first: Judgments, second: Judgments, *, rng: np.random.Generator, error: Error = "fce"
) -> Comparison:
    """The agreement in two tables: paired where they have items in common, else by the two-sample z."""
    ours, theirs = _same_labels(coded(first), coded(second))
    common = np.intersect1d(ours.items.to_numpy(), theirs.items.to_numpy())
    if common.size == 0:
        return _apart(ours, theirs, error)
    name = "kappa" if len(ours.raters) == len(theirs.raters) == 2 else "alpha"
    first_side, second_side = (_side(table, common, name) for table in (ours, theirs))
    kept = first_side.is_compared & second_side.is_compared
    rows = first_side.rows[kept], second_side.rows[kept]
    test = dependent(first_side.coefficient, second_side.coefficient, rows, rng=rng)
    return Comparison(name, int(kept.sum()), test)


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """One table's part in a comparison: a row for each common item."""

    coefficient: Coefficient
    rows: Whole
    is_compared: npt.NDArray[np.bool_]


def _side(judgments: Coded, common: npt.NDArray[np.object_], name: str) -> Side:
    place = {item: row for row, item in enumerate(judgments.items.to_list())}
    chosen = [place[item] for item in common]
    n_labels = len(judgments.labels)
    if name == "kappa":
        matrix = label_matrix(judgments)[chosen]
        cells = _cells(np.maximum(matrix, 0), n_labels)
        return Side(cohen(weight_matrix("identity", n_labels)), cells, (matrix != NOBODY).all(axis=1))
    rows = table_of(judgments.item, judgments.label, n_labels)[chosen]
    return Side(alpha("nominal", judgments.labels), rows, rows.sum(axis=1) > 1)


def _apart(ours: Coded, theirs: Coded, error: Error) -> Comparison:
    if len(ours.raters) == len(theirs.raters) == 2:
        [first], [second] = confusions(ours), confusions(theirs)
        return Comparison("kappa", first.n + second.n, independent(first, second, error=error))
    counts = tally(ours), tally(theirs)
    coefficient = alpha("nominal", ours.labels)
    values = [value(coefficient, part.patterns, part.n_items) for part in counts]
    errors = [delta_error(coefficient, part) for part in counts]
    test = from_errors(values[0] - values[1], hypot(*errors), method="delta")
    return Comparison("alpha", sum(part.n_compared for part in counts), test)


def _same_labels(first: Coded, second: Coded) -> tuple[Coded, Coded]:
    labels = [*first.labels, *(label for label in second.labels if label not in first.labels)]
    return reordered(first, labels), reordered(second, labels)


def _cells(columns: npt.NDArray[np.int32], n_labels: int) -> Whole:
    """A row of zeros with a one in the cell of the pair's labels, for every item."""
    cells = np.zeros((len(columns), n_labels * n_labels), np.int64)
    cells[np.arange(len(columns)), columns[:, 0] * n_labels + columns[:, 1]] = 1
    return cells


def _place(judgments: Coded, rater: str) -> int:
    if rater not in judgments.raters:
        raise UnknownName(f"{judgments.name}: {unknown('rater', rater, list(judgments.raters))}")
    return judgments.raters.index(rater)
