"""Intervals and tests where few units are drawn: Student's t on the spread of resamples.

A handful of raters drawn with replacement cannot spread as far as raters in the world do, and no percentile of such
resamples, however far out, gives an interval that holds (docs/evaluating.md).  Their standard deviation is sound
after a factor sqrt(n / (n - 1)), so the interval is the value ± that times t of n - 1 degrees of freedom (Efron &
Tibshirani 1993, section 12.2).  A score between 0 and 1 is taken on the scale of its logit, so that the interval
stays between 0 and 1; where a resample reaches 0 or 1, and for differences and totals, as it is.

`share_interval` is for precision, recall and F by essay.  Near 0 and 1 a cluster bootstrap of few flags is far too
narrow: with precision near .9 and 12 to 25 flags percentiles held .67 to .89 of 400 simulated worlds; Wilson's form,
for as many cases as the spread shows the clustered ones to be worth, held .93 to .98 (docs/evaluating.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import inf, isfinite, isnan, nan, sqrt

import numpy as np

from grater.model import Interval
from grater.uncertainty.intervals import LEVEL, NO_DRAWS, NO_UNIT, ONE_UNIT, Numbers, alike_interval, are_alike
from grater.uncertainty.paired import Drawn, PairTest, holm, unanimous_p

SHARE = (0.0, 1.0)
"""The ends of a score that is taken on the scale of its logit."""


def student_interval(
    value: float, drawn: Numbers, *, n_units: float, level: float = LEVEL, ends: tuple[float, float] = (-inf, inf)
) -> Interval:
    """A number with an interval from resamples of few units, never beyond its `ends`."""
    from scipy.special import expit, logit, stdtrit  # a fifth of a second that most commands need not wait for

    if n_units < 2 or isnan(value):
        return Interval(value, nan, nan, ONE_UNIT if n_units else NO_UNIT)
    if not drawn.size:
        return Interval(value, nan, nan, NO_DRAWS)
    t = float(stdtrit(n_units - 1, (1 + level) / 2))
    if are_alike(drawn) and isfinite(ends[0]) and isfinite(ends[1]):
        return alike_interval(value, n_units, quantile=t, ends=ends)
    if ends == SHARE and min(value, drawn.min()) > 0 and max(value, drawn.max()) < 1:
        middle, half = float(logit(value)), t * _spread(logit(drawn), n_units)
        return Interval(value, float(expit(middle - half)), float(expit(middle + half)))
    half = t * _spread(drawn, n_units)
    return Interval(value, max(ends[0], value - half), min(ends[1], value + half))


def share_interval(value: float, drawn: Numbers, *, n: float, n_units: float, level: float = LEVEL) -> Interval:
    """A share of n cases that come in units: Wilson's interval for as many cases as they are worth.

    The effective number of cases (Kish 1965) comes from the spread of the resamples, and Student's t stands in place
    of the normal quantile; where all resamples are alike, each unit is worth a case.
    """
    from scipy.special import stdtrit  # a fifth of a second that most commands need not wait for

    if n_units < 2 or isnan(value):
        return Interval(value, nan, nan, ONE_UNIT if n_units else NO_UNIT)
    if not drawn.size:
        return Interval(value, nan, nan, NO_DRAWS)
    t, error = float(stdtrit(n_units - 1, (1 + level) / 2)), _share_spread(value, drawn, n_units)
    is_spread = 0 < value < 1 and not are_alike(drawn)
    return alike_interval(value, value * (1 - value) / error**2 if is_spread else min(n, n_units), quantile=t)


def _share_spread(value: float, drawn: Numbers, n_units: float) -> float:
    """The spread of a share, or that of its logit where this says more: far from one half resamples are skew."""
    from scipy.special import logit  # a fifth of a second that most commands need not wait for

    plain = _spread(drawn, n_units)
    if drawn.min() <= 0 or drawn.max() >= 1 or not 0 < value < 1:
        return plain
    return max(plain, value * (1 - value) * _spread(logit(drawn), n_units))


def student_tests(tests: Sequence[PairTest], systems: Drawn) -> list[PairTest]:
    """The same pairs with intervals and p of Student's t in place of the bootstrap's percentiles."""
    column = {name: index for index, name in enumerate(systems.names)}
    differences, p = [], []
    for test in tests:
        drawn = systems.drawn[:, column[test.first]] - systems.drawn[:, column[test.second]]
        value = test.difference.value
        own = student_interval(value, drawn, n_units=systems.n_units, ends=systems.ends)
        differences.append(test.difference if are_alike(drawn) else own)
        p.append(_p(value, drawn, systems.n_units))
    return [
        replace(
            test,
            difference=difference,
            p={**test.p, "bootstrap": plain},
            holm={**test.holm, "bootstrap": adjusted},
        )
        for test, difference, plain, adjusted in zip(tests, differences, p, holm(p), strict=True)
    ]


def _p(value: float, drawn: Numbers, n_units: int) -> float:
    from scipy.special import stdtr  # a fifth of a second that most commands need not wait for

    if n_units < 2 or isnan(value) or not drawn.size:
        return nan
    if are_alike(drawn):
        return unanimous_p(value, n_units)
    return float(2 * stdtr(n_units - 1, -abs(value) / _spread(drawn, n_units)))


def _spread(drawn: Numbers, n_units: float) -> float:
    """The standard deviation of resamples, as far as raters in the world would spread."""
    return float(np.std(drawn)) * sqrt(n_units / (n_units - 1))
