"""Are two kappas different?

`independent_test`: on different items, by the two-sample z of their standard errors (`fce`, or `simple` as in Lee et
al. 2009, note 5).  The stages of that paper judge the same nouns, so its z, kept here under its own name, treats
dependent kappas as independent.  `dependent_test`: on the same items, by resampling these items for both at once; the
interval of the difference is BCa, the two-sided p is twice the smaller share of differences on either side of 0, each
count raised by one (Davison & Hinkley 1997, 4.3), so it is never 0.

`compare_pairs` and `compare_tables` do this for real tables: two pairs of raters on their common items, or two
tables, by paired bootstrap over the items that both have, and by z where they have no item in common.  Where each
table has two raters the coefficient is Cohen's kappa, otherwise alpha.  Where essays are known, whole essays are
drawn, and errors are those over essays; with few of them intervals and p are Student's t.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import hypot, isnan, nan, sqrt
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from grater.errors import UnknownName, UsageError
from grater.measure.agreement.coded import Coded, coded, reordered
from grater.measure.agreement.coefficients import Coefficient, alpha
from grater.measure.agreement.cohen import Error, cohen, kappa, standard_error
from grater.measure.agreement.confusion import NOBODY, Confusion, confusions, label_matrix
from grater.measure.agreement.counts import table_of, tally
from grater.measure.agreement.essays import Essays, essays_of, with_essays
from grater.measure.agreement.labels import Matrix, one_spelling, weight_matrix
from grater.model import Interval
from grater.registry import unknown
from grater.result import FLAT, Data
from grater.tables import Judgments
from grater.uncertainty.bca import (
    Groups,
    PatternUnits,
    Sums,
    bca_interval,
    delta_error,
    group_error,
    grouped,
    point_estimate,
    resampled_scores,
)
from grater.uncertainty.intervals import LEVEL, RESAMPLES, Ints, Numbers, normal_interval, two_sided_p
from grater.uncertainty.population import FEW_UNITS, widening

Pair: TypeAlias = tuple[str, str]

UNDEFINED = "one of the two is undefined"


@dataclass(frozen=True, slots=True)
class KappaTest(Data):
    """First minus second, with its interval and a two-sided p; `z` only where the test has one."""

    difference: Interval
    p: float
    method: str
    z: float = nan


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
    unit_of: Ints | None = None,
    n_resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> KappaTest:
    """Two coefficients on the same items: each has a row for every item, as its `rows` wants them.

    `unit_of` has the essay of each item; essays are then drawn.
    """
    if len(rows[0]) != len(rows[1]):
        raise UsageError(f"expected the same items twice, found {len(rows[0])} and {len(rows[1])}")
    difference = _difference(first, second, rows[0].shape[1], first.rows(rows[0][:1]).shape[1])
    patterns, place, n_items = np.unique(np.hstack(rows), axis=0, return_inverse=True, return_counts=True)
    units = PatternUnits(
        patterns=patterns,
        n_items=n_items,
        made_up=np.full(len(patterns), 1 / max(1, len(patterns))),
        groups=None if unit_of is None else grouped(place.ravel(), unit_of),
    )
    value = point_estimate(difference, patterns, n_items) if len(patterns) else nan
    if isnan(value) or len(rows[0]) < 2:
        return KappaTest(Interval(value, nan, nan, UNDEFINED), nan, "bootstrap")
    [draws] = resampled_scores([difference], units, rng=rng, n_resamples=n_resamples)
    interval = bca_interval(difference, value, units, draws, level=level, is_difference=True)
    draws = draws[~np.isnan(draws)]
    if units.groups and units.groups.n_effective < FEW_UNITS:
        return KappaTest(interval, _student_p(value, draws, units.groups.n_effective), "Student's t, by essay")
    return KappaTest(interval, _two_sided(draws), "bootstrap by essay" if units.groups else "bootstrap")


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


def _student_p(value: float, draws: Sums, n_units: float) -> float:
    """Twice the tail of Student's t beyond the value, on the spread of draws of few essays."""
    from scipy.special import stdtr  # a fifth of a second that most commands need not wait for

    spread = float(np.std(draws)) * sqrt(n_units / (n_units - 1)) if draws.size and n_units > 1 else 0.0
    return float(2 * stdtr(n_units - 1, -abs(value) / spread)) if spread else nan


@dataclass(frozen=True, slots=True)
class Comparison(Data):
    """The coefficient that was compared, the number of items, and the test."""

    coefficient: str
    n_items: int
    test: KappaTest = field(metadata=FLAT)


def compare_pairs(
    judgments: Coded, first: Pair, second: Pair, *, rng: np.random.Generator, weights: Matrix | None = None
) -> Comparison:
    """Cohen's kappa of two pairs of raters, on the items that all of them judged."""
    columns = label_matrix(judgments)[:, [_column(judgments, rater) for rater in (*first, *second)]]
    is_common = (columns != NOBODY).all(axis=1)
    columns = columns[is_common]
    unit_of = None if judgments.unit is None else judgments.unit[is_common]
    kappa = cohen(weight_matrix("identity", len(judgments.labels)) if weights is None else weights)
    cells = [_cells(columns[:, pair], len(judgments.labels)) for pair in ([0, 1], [2, 3])]
    test = dependent_test(kappa, kappa, (cells[0], cells[1]), rng=rng, unit_of=unit_of)
    return Comparison("kappa", len(columns), test)


def compare_tables(
    first: Judgments,
    second: Judgments,
    *,
    rng: np.random.Generator,
    error: Error = "fce",
    essays: Essays | None = None,
) -> Comparison:
    """The agreement in two tables: paired where they have items in common, else by the two-sample z.

    `essays` are those of both tables; each table's own column says if it is not given.
    """
    codes = (with_essays(coded(one_spelling(table)), essays or essays_of(table)) for table in (first, second))
    ours, theirs = _same_labels(*codes)
    common = np.intersect1d(ours.items.cast(pl.String).to_numpy(), theirs.items.cast(pl.String).to_numpy())
    if common.size == 0:
        return _apart(ours, theirs, error)
    name = "kappa" if len(ours.raters) == len(theirs.raters) == 2 else "alpha"
    first_side, second_side = (_side(table, common, name) for table in (ours, theirs))
    kept = first_side.is_compared & second_side.is_compared
    rows = first_side.rows[kept], second_side.rows[kept]
    unit_of = None if first_side.unit_of is None else first_side.unit_of[kept]
    test = dependent_test(first_side.coefficient, second_side.coefficient, rows, rng=rng, unit_of=unit_of)
    return Comparison(name, int(kept.sum()), test)


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """One table's part in a comparison: a row for each common item."""

    coefficient: Coefficient
    rows: Ints
    is_compared: npt.NDArray[np.bool_]
    unit_of: Ints | None


def _side(judgments: Coded, common: npt.NDArray[np.object_], name: str) -> Side:
    row_of = {item: row for row, item in enumerate(judgments.items.to_list())}
    chosen = [row_of[item] for item in common]
    n_labels = len(judgments.labels)
    unit_of = None if judgments.unit is None else judgments.unit[chosen]
    if name == "kappa":
        matrix = label_matrix(judgments)[chosen]
        cells = _cells(np.maximum(matrix, 0), n_labels)
        return Side(cohen(weight_matrix("identity", n_labels)), cells, (matrix != NOBODY).all(axis=1), unit_of)
    rows = table_of(judgments.item, judgments.label, n_labels)[chosen]
    return Side(alpha("nominal", judgments.labels), rows, rows.sum(axis=1) > 1, unit_of)


def _apart(ours: Coded, theirs: Coded, error: Error) -> Comparison:
    if len(ours.raters) == len(theirs.raters) == 2:
        [first], [second] = confusions(ours), confusions(theirs)
        n_items = first.n + second.n
        if error == "fce" and first.groups and second.groups:
            return Comparison("kappa", n_items, _by_essay(*map(_of_cells, (first, second))))
        return Comparison("kappa", n_items, independent_test(first, second, error=error))
    counts = tally(ours), tally(theirs)
    coefficient = alpha("nominal", ours.labels)
    if all(part.groups for part in counts):
        sides = (Apart(coefficient, part.patterns, part.n_items, part.groups) for part in counts if part.groups)
        return Comparison("alpha", sum(part.n_compared for part in counts), _by_essay(*sides))
    values = [point_estimate(coefficient, part.patterns, part.n_items) for part in counts]
    errors = [delta_error(coefficient, part.patterns, part.n_items) for part in counts]
    test = z_test(values[0] - values[1], hypot(*errors), method="delta")
    return Comparison("alpha", sum(part.n_compared for part in counts), test)


@dataclass(frozen=True, slots=True, eq=False)
class Apart:
    """One of two tables without a common item, its items in essays."""

    coefficient: Coefficient
    patterns: Ints
    n_items: Ints
    groups: Groups


def _of_cells(table: Confusion) -> Apart:
    assert table.groups is not None
    n_labels = len(table.labels)
    cells = np.eye(n_labels * n_labels, dtype=np.int64)
    return Apart(cohen(weight_matrix("identity", n_labels)), cells, table.cells.ravel(), table.groups)


def _by_essay(first: Apart, second: Apart) -> KappaTest:
    """The two-sample test with errors over essays; Student's t where these are few, or worth few."""
    sides = (first, second)
    values = [point_estimate(side.coefficient, side.patterns, side.n_items) for side in sides]
    errors = [group_error(side.coefficient, side.patterns, side.n_items, side.groups) for side in sides]
    wider = [widening(side.groups.n, side.groups.n_effective) for side in sides]
    error = hypot(*(error * factor for error, factor in zip(errors, wider, strict=True)))
    test = z_test(values[0] - values[1], error, method="delta by essay")
    n_units = min(side.groups.n_effective for side in sides)
    if n_units >= FEW_UNITS or isnan(test.z):
        return test
    from scipy.special import stdtr, stdtrit  # a fifth of a second that most commands need not wait for

    half = float(stdtrit(n_units - 1, (1 + LEVEL) / 2)) * error
    difference = Interval(test.difference.value, test.difference.value - half, test.difference.value + half)
    return replace(test, difference=difference, p=float(2 * stdtr(n_units - 1, -abs(test.z))))


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
