"""From a standard error, or from the draws of a bootstrap, to a confidence interval.

`normal_interval` is the value plus or minus z standard errors.  `percentile_interval` takes *expanded percentiles*
(Hesterberg 2015, The American Statistician 69, 371-386): a plain percentile interval of n units is too narrow by
sqrt((n - 1) / n) and by the difference of Student's t from the normal, and both are put back.  With a few hundred
units nothing changes; with five it matters much.  A single unit cannot be resampled: the interval is nan, with the
reason.

Where no resample differs from another (every flag right, two systems that never part), percentiles would be a point,
as if n units could prove that nothing else is to be had.  `alike_interval` stands in their place: Wilson's limits for
a share of n cases, on the scale between the ends of the number.

What remains is skew, which percentiles do not correct.  For densities that differ much between documents (gamma of
shape 2, 2,000 simulated corpora) 95 % intervals covered .920 with 8 units, .934 with 40, .948 with 150 and .950 with
400; most misses lay too low.  Below a hundred units read them as a little too narrow.
"""

from __future__ import annotations

from math import inf, isfinite, isnan, nan, pi, sqrt, tan
from statistics import NormalDist
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from grater.model import Interval

Numbers: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]

LEVEL = 0.95
RESAMPLES = 1000
ONE_UNIT = "a single unit cannot be resampled"
NO_UNIT = "there is nothing to score"
NO_DRAWS = "no resample was drawn"
NO_SPREAD = "no resample differs from another, so that they show no spread"
ALIKE = 1e-12
"""Draws no further apart than this differ by rounding alone."""


def z_value(level: float = LEVEL) -> float:
    """The normal quantile that leaves (1 - level) / 2 above it: 1.96 for 95 %."""
    return NormalDist().inv_cdf((1 + level) / 2)


def two_sided_p(z: float) -> float:
    """The chance of a standard normal number at least as far from 0."""
    return 2 * NormalDist().cdf(-abs(z))


def normal_interval(
    value: float, error: float, *, level: float = LEVEL, ends: tuple[float, float] = (-inf, inf)
) -> Interval:
    """The value plus or minus z standard errors, never beyond its `ends`."""
    half = z_value(level) * error
    return Interval(value, max(ends[0], value - half), min(ends[1], value + half))


def percentile_interval(
    value: float,
    draws: Numbers,
    *,
    n_units: int,
    level: float = LEVEL,
    one_unit: str = ONE_UNIT,
    ends: tuple[float, float] = (-inf, inf),
) -> Interval:
    """The value with the expanded percentiles of its draws; `one_unit` names a unit in the reason for having none.

    With the `ends` of its scale a number whose draws are all alike still has a width.
    """
    if n_units < 2 or isnan(value):
        return Interval(value, nan, nan, one_unit if n_units else NO_UNIT)
    if not draws.size:
        return Interval(value, nan, nan, NO_DRAWS)
    if are_alike(draws) and isfinite(ends[0]) and isfinite(ends[1]):
        return alike_interval(value, n_units, quantile=z_value(level), ends=ends)
    return tail_interval(value, draws, expanded_tail(n_units, level=level))


def tail_interval(
    value: float, draws: Numbers, tail: float, *, method: Literal["linear", "inverted_cdf"] = "linear"
) -> Interval:
    """What `tail` of the draws lie below, and what as many lie above; the value itself is never excluded."""
    low, high = np.quantile(draws, [tail, 1 - tail], method=method)
    return Interval(value, min(float(low), value), max(float(high), value))


def are_alike(draws: Numbers) -> bool:
    """Whether resamples show no spread at all."""
    return bool(np.ptp(draws) <= ALIKE)


def alike_interval(value: float, n: float, *, quantile: float, ends: tuple[float, float] = (0.0, 1.0)) -> Interval:
    """A number that is the same in every resample of n cases: Wilson's limits on the scale between its ends."""
    bottom, width = ends[0], ends[1] - ends[0]
    low, high = score_limits((value - bottom) / width, n, quantile)
    return Interval(value, min(value, bottom + width * low), max(value, bottom + width * high))


def score_limits(share: float, n: float, quantile: float) -> tuple[float, float]:
    """Wilson's limits of a share of n cases: the shares p with |share - p| <= quantile sqrt(p (1 - p) / n)."""
    square = quantile * quantile
    centre = (share + square / (2 * n)) / (1 + square / n)
    half = quantile / (1 + square / n) * sqrt(share * (1 - share) / n + square / (4 * n * n))
    return max(0.0, centre - half), min(1.0, centre + half)


def unseen_share(n: float, quantile: float) -> float:
    """Wilson's upper limit for what none of n cases shows."""
    return quantile**2 / (n + quantile**2)


def holding(interval: Interval, other: Interval) -> Interval:
    """The interval, wide enough to hold another too; the other's alone where it has no limits itself."""
    if isnan(other.low):
        return interval
    lows, highs = [other.low, interval.value], [other.high, interval.value]
    if not isnan(interval.low):
        lows, highs = [*lows, interval.low], [*highs, interval.high]
    return Interval(interval.value, min(lows), max(highs))


def expanded_tail(n_units: float, *, level: float = LEVEL) -> float:
    """The share of draws left out on each side, so that n units give the width that Student's t would."""
    t = student_quantile((1 + level) / 2, n_units - 1)
    return NormalDist().cdf(-sqrt(n_units / (n_units - 1)) * t)


def contracted_tail(share: float, n_units: float) -> float:
    """The tail that `expanded_tail` turns into this share of the draws, so that a p is in step with its interval."""
    low, high = 0.0, 1.0
    for _ in range(40):
        level = (low + high) / 2
        low, high = (level, high) if expanded_tail(n_units, level=level) > share else (low, level)
    return (1 - low) / 2


def student_quantile(share: float, freedom: float) -> float:
    """Abramowitz & Stegun 26.7.5, off by less than 1 % from three degrees of freedom on; below, exact."""
    # Good enough to say how far out to look, and importing scipy for it costs a fifth of a second.
    if freedom == 1:
        return tan(pi * (share - 0.5))
    if freedom == 2:
        return (2 * share - 1) / sqrt(2 * share * (1 - share))
    if freedom < 3:
        from scipy.special import stdtrit

        return float(stdtrit(freedom, share))
    z = NormalDist().inv_cdf(share)
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + first / freedom + second / freedom**2 + third / freedom**3
