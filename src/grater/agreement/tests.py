"""Are two kappas different?

`independent`: on different items, by the two-sample z of their standard errors (`fce`, or `simple` as in Lee et al.
2009, note 5).  The stages of that paper judge the same nouns, so its z, kept here under its own name, treats
dependent kappas as independent.  `dependent`: on the same items, by resampling these items for both at once; the
limits of the difference are BCa, the two-sided p is twice the smaller share of differences on either side of 0, each
count raised by one (Davison & Hinkley 1997, 4.3), so it is never 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan, nan, sqrt
from statistics import NormalDist

import numpy as np

from grater.agreement.coefficient import Coefficient, Numbers, Sums
from grater.agreement.cohen import Error, kappa, standard_error
from grater.agreement.confusion import Confusion
from grater.agreement.counts import Whole
from grater.agreement.limits import RESAMPLES, Units, interval, scores, value
from grater.agreement.weights import Matrix
from grater.errors import UsageError
from grater.model import Interval

NORMAL = NormalDist()


@dataclass(frozen=True, slots=True)
class KappaTest:
    """First minus second, with its limits and a two-sided p; `z` only where the test has one."""

    difference: Interval
    p: float
    method: str
    z: float = nan


def independent(
    first: Confusion, second: Confusion, *, error: Error = "fce", weights: Matrix | None = None, level: float = 0.95
) -> KappaTest:
    """Two pairs of raters on different items."""
    values = [kappa(table, weights=weights) for table in (first, second)]
    errors = [standard_error(table, error=error, weights=weights) for table in (first, second)]
    return from_errors(values[0] - values[1], sqrt(errors[0] ** 2 + errors[1] ** 2), method=error, level=level)


def from_errors(difference: float, error: float, *, method: str, level: float = 0.95) -> KappaTest:
    """The z test of a difference with a known standard error."""
    if isnan(difference) or isnan(error):
        return KappaTest(Interval(nan, nan, nan, "one of the two is undefined"), nan, method)
    if error == 0:
        return KappaTest(Interval(difference, nan, nan, "neither has a standard error above 0"), nan, method)
    half = NORMAL.inv_cdf((1 + level) / 2) * error
    z = difference / error
    return KappaTest(Interval(difference, difference - half, difference + half), 2 * NORMAL.cdf(-abs(z)), method, z)


def dependent(
    first: Coefficient,
    second: Coefficient,
    rows: tuple[Whole, Whole],
    *,
    rng: np.random.Generator,
    n_resamples: int = RESAMPLES,
    level: float = 0.95,
) -> KappaTest:
    """Two coefficients on the same items: each has a row for every item, as its `rows` wants them."""
    if len(rows[0]) != len(rows[1]):
        raise UsageError(f"expected the same items twice, found {len(rows[0])} and {len(rows[1])}")
    difference = _difference(first, second, rows[0].shape[1], first.rows(rows[0][:1]).shape[1])
    patterns, n_items = np.unique(np.hstack(rows), axis=0, return_counts=True)
    units = Units(patterns, n_items, np.full(len(patterns), 1 / max(1, len(patterns))))
    number = value(difference, patterns, n_items) if len(patterns) else nan
    if isnan(number) or len(rows[0]) < 2:
        return KappaTest(Interval(number, nan, nan, "one of the two is undefined"), nan, "bootstrap")
    [draws] = scores([difference], units, rng=rng, n_resamples=n_resamples)
    limits = interval(difference, number, units, draws, level=level)
    return KappaTest(limits, _two_sided(draws[~np.isnan(draws)]), "bootstrap")


def _difference(first: Coefficient, second: Coefficient, width: int, n_sums: int) -> Coefficient:
    """The difference as a coefficient of its own, on the two patterns of an item side by side."""

    def rows(patterns: Whole) -> Numbers:
        return np.hstack([first.rows(patterns[:, :width]), second.rows(patterns[:, width:])])

    def score(sums: Sums) -> Sums:
        return np.asarray(first.score(sums[..., :n_sums]) - second.score(sums[..., n_sums:]))

    return Coefficient("difference", rows, score, "one of the two is undefined")


def _two_sided(draws: Sums) -> float:
    if not draws.size:
        return nan
    below, above = int((draws <= 0).sum()), int((draws >= 0).sum())
    return min(1.0, 2 * (min(below, above) + 1) / (draws.size + 1))
