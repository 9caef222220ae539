"""Are two kappas different?

`independent_test`: on different items, by the two-sample z of their standard errors (`fce`, or `simple` as in Lee et
al. 2009, note 5).  The stages of that paper judge the same nouns, so its z, kept here under its own name, treats
dependent kappas as independent.  `dependent_test`: on the same items, by resampling these items for both at once; the
interval of the difference is BCa, the two-sided p is twice the smaller share of differences on either side of 0, each
count raised by one (Davison & Hinkley 1997, 4.3), so it is never 0.

`compare_pairs` and `compare_tables` do this for real tables: two pairs of raters on their common items, or two
tables, by paired bootstrap over the items that both have, and by z where they have no item in common.  Where each
table has two raters the coefficient is Cohen's kappa, otherwise alpha.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import hypot, isnan, nan, sqrt
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from grater.agreement.coded import Coded, coded, reordered
from grater.agreement.coefficients import Coefficient, alpha
from grater.agreement.cohen import Error, cohen, kappa, standard_error
from grater.agreement.confusion import NOBODY, Confusion, confusions, label_matrix
from grater.agreement.counts import table_of, tally
from grater.agreement.weights import Matrix, weight_matrix
from grater.errors import UnknownName, UsageError
from grater.model import Interval, Json
from grater.registry import unknown
from grater.result import encode
from grater.statistics.bca import PatternUnits, Sums, bca_interval, delta_error, point_estimate, resampled_scores
from grater.statistics.intervals import LEVEL, RESAMPLES, Ints, Numbers, normal_interval, two_sided_p
from grater.tables import Judgments

Pair: TypeAlias = tuple[str, str]

UNDEFINED = "one of the two is undefined"


@dataclass(frozen=True, slots=True)
class KappaTest:
    """First minus second, with its interval and a two-sided p; `z` only where the test has one."""

    difference: Interval
    p: float
    method: str
    z: float = nan

    def to_dict(self) -> dict[str, Json]:
        return {
            "method": self.method,
            "difference": self.difference.as_json(),
            "z": encode(self.z),
            "p": encode(self.p),
        }


def independent_test(
    first: Confusion, second: Confusion, *, error: Error = "fce", weights: Matrix | None = None, level: float = LEVEL
) -> KappaTest:
    """Two pairs of raters on different items."""
    values = [kappa(table, weights=weights) for table in (first, second)]
    errors = [standard_error(table, error=error, weights=weights) for table in (first, second)]
    return z_test(values[0] - values[1], sqrt(errors[0] ** 2 + errors[1] ** 2), method=error, level=level)


def z_test(difference: float, error: float, *, method: str, level: float = LEVEL) -> KappaTest:
    """The z test of a difference with a known standard error."""
    if isnan(difference) or isnan(error):
        return KappaTest(Interval(nan, nan, nan, UNDEFINED), nan, method)
    if error == 0:
        return KappaTest(Interval(difference, nan, nan, "neither has a standard error above 0"), nan, method)
    z = difference / error
    return KappaTest(normal_interval(difference, error, level=level), two_sided_p(z), method, z)


def dependent_test(
    first: Coefficient,
    second: Coefficient,
    rows: tuple[Ints, Ints],
    *,
    rng: np.random.Generator,
    n_resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> KappaTest:
    """Two coefficients on the same items: each has a row for every item, as its `rows` wants them."""
    if len(rows[0]) != len(rows[1]):
        raise UsageError(f"expected the same items twice, found {len(rows[0])} and {len(rows[1])}")
    difference = _difference(first, second, rows[0].shape[1], first.rows(rows[0][:1]).shape[1])
    patterns, n_items = np.unique(np.hstack(rows), axis=0, return_counts=True)
    units = PatternUnits(patterns, n_items, made_up=np.full(len(patterns), 1 / max(1, len(patterns))))
    value = point_estimate(difference, patterns, n_items) if len(patterns) else nan
    if isnan(value) or len(rows[0]) < 2:
        return KappaTest(Interval(value, nan, nan, UNDEFINED), nan, "bootstrap")
    [draws] = resampled_scores([difference], units, rng=rng, n_resamples=n_resamples)
    interval = bca_interval(difference, value, units, draws, level=level)
    return KappaTest(interval, _two_sided(draws[~np.isnan(draws)]), "bootstrap")


def _difference(first: Coefficient, second: Coefficient, width: int, n_sums: int) -> Coefficient:
    """The difference as a coefficient of its own, on the two patterns of an item side by side."""

    def rows(patterns: Ints) -> Numbers:
        return np.hstack([first.rows(patterns[:, :width]), second.rows(patterns[:, width:])])

    def score(sums: Sums) -> Sums:
        return np.asarray(first.score(sums[..., :n_sums]) - second.score(sums[..., n_sums:]))

    return Coefficient("difference", rows, score, UNDEFINED)


def _two_sided(draws: Sums) -> float:
    if not draws.size:
        return nan
    below, above = int((draws <= 0).sum()), int((draws >= 0).sum())
    return min(1.0, 2 * (min(below, above) + 1) / (draws.size + 1))


@dataclass(frozen=True, slots=True)
class Comparison:
    """The coefficient that was compared, the number of items, and the test."""

    coefficient: str
    n_items: int
    test: KappaTest

    def to_dict(self) -> dict[str, Json]:
        return {"coefficient": self.coefficient, "items": self.n_items, **self.test.to_dict()}


def compare_pairs(
    judgments: Coded, first: Pair, second: Pair, *, rng: np.random.Generator, weights: Matrix | None = None
) -> Comparison:
    """Cohen's kappa of two pairs of raters, on the items that all of them judged."""
    columns = label_matrix(judgments)[:, [_column(judgments, rater) for rater in (*first, *second)]]
    columns = columns[(columns != NOBODY).all(axis=1)]
    kappa = cohen(weight_matrix("identity", len(judgments.labels)) if weights is None else weights)
    cells = [_cells(columns[:, pair], len(judgments.labels)) for pair in ([0, 1], [2, 3])]
    return Comparison("kappa", len(columns), dependent_test(kappa, kappa, (cells[0], cells[1]), rng=rng))


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
    test = dependent_test(first_side.coefficient, second_side.coefficient, rows, rng=rng)
    return Comparison(name, int(kept.sum()), test)


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """One table's part in a comparison: a row for each common item."""

    coefficient: Coefficient
    rows: Ints
    is_compared: npt.NDArray[np.bool_]


def _side(judgments: Coded, common: npt.NDArray[np.object_], name: str) -> Side:
    row_of = {item: row for row, item in enumerate(judgments.items.to_list())}
    chosen = [row_of[item] for item in common]
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
        return Comparison("kappa", first.n + second.n, independent_test(first, second, error=error))
    counts = tally(ours), tally(theirs)
    coefficient = alpha("nominal", ours.labels)
    values = [point_estimate(coefficient, part.patterns, part.n_items) for part in counts]
    errors = [delta_error(coefficient, part.patterns, part.n_items) for part in counts]
    test = z_test(values[0] - values[1], hypot(*errors), method="delta")
    return Comparison("alpha", sum(part.n_compared for part in counts), test)


def _same_labels(first: Coded, second: Coded) -> tuple[Coded, Coded]:
    labels = [*first.labels, *(label for label in second.labels if label not in first.labels)]
    return reordered(first, labels), reordered(second, labels)


def _cells(columns: npt.NDArray[np.int32], n_labels: int) -> Ints:
    """A row of zeros with a one in the cell of the pair's labels, for every item."""
    cells = np.zeros((len(columns), n_labels * n_labels), np.int64)
    cells[np.arange(len(columns)), columns[:, 0] * n_labels + columns[:, 1]] = 1
    return cells


def _column(judgments: Coded, rater: str) -> int:
    if rater not in judgments.raters:
        raise UnknownName(f"{judgments.name}: {unknown('rater', rater, list(judgments.raters))}")
    return judgments.raters.index(rater)
