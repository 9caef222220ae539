"""The bootstrap on sums: resample units, add up their counts, take the ratio again.

Efron & Tibshirani 1993, chapters 6 and 13.  Scores do not add but counts do, so a resample is a row of weights times
the matrix of counts, one row a unit; no unit is looked at again.  Units are what is drawn independently: documents,
not their sentences.

Limits are *expanded percentiles* (Hesterberg 2015, The American Statistician 69, 371-386): a plain percentile
interval of n units is too narrow by sqrt((n - 1) / n) and by the difference of Student's t from the normal, and these
are put back.  With a few hundred units nothing changes; with five it matters much.  A single unit cannot be
resampled: its limits are nan, with the reason.

What is left is skew, which percentiles do not mend.  For densities that differ much between documents (gamma of
shape 2, 2,000 simulated corpora) 95 % limits covered .920 with 8 units, .934 with 40, .948 with 150 and .950 with
400; most misses lay too low.  Below a hundred units read them as a little too narrow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan, sqrt
from statistics import NormalDist
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from grater.model import Interval

Numbers: TypeAlias = npt.NDArray[np.float64]

MOST_WEIGHTS = 1 << 20
"""Weights drawn at one time: a million take eight megabytes, whatever the number of units."""


@dataclass(frozen=True, slots=True)
class Resampled:
    """The sums of each column over all units, and in every resample (a row each)."""

    n_units: int
    sums: Numbers
    draws: Numbers

    def ratio(self, part: Sequence[int], whole: Sequence[int], *, level: float = 0.95) -> Interval:
        """Sum of some columns over sum of others; nan with a reason where the data or the units do not give it."""
        bottom = float(self.sums[list(whole)].sum())
        if bottom == 0:
            return Interval(nan, nan, nan, "nothing to divide by: the count below the line is 0")
        value = float(self.sums[list(part)].sum()) / bottom
        if self.n_units < 2:
            return Interval(value, nan, nan, "a single unit cannot be resampled")
        below = self.draws[:, list(whole)].sum(axis=1)
        # A resample may miss every unit that has something below the line; it says nothing of the ratio.
        drawn = self.draws[below > 0][:, list(part)].sum(axis=1) / below[below > 0]
        if not drawn.size:
            return Interval(value, nan, nan, "no resample was drawn")
        tail = expanded_tail(self.n_units, level=level)
        low, high = np.quantile(drawn, [tail, 1 - tail])
        # Limits that a resample does not reach never exclude what was seen.
        return Interval(value, min(float(low), value), max(float(high), value))


def resample(rows: Numbers, *, n_resamples: int, rng: np.random.Generator) -> Resampled:
    """Sums over n units drawn n at a time with replacement; `rows` has a row for each unit, a column for each
    count."""
    n_units, n_columns = rows.shape
    n_at_once = max(1, MOST_WEIGHTS // max(1, n_units))
    draws = np.zeros((n_resamples if n_units else 0, n_columns))
    for start in range(0, len(draws), n_at_once):
        n_now = min(n_at_once, len(draws) - start)
        weights = rng.multinomial(n_units, np.full(n_units, 1 / n_units), size=n_now)
        draws[start : start + n_now] = weights @ rows
    return Resampled(n_units, rows.sum(axis=0), draws)


def expanded_tail(n_units: int, *, level: float = 0.95) -> float:
    """The share of resamples left out on each side, so that n units give the width that Student's t would."""
    t = student_quantile((1 + level) / 2, n_units - 1)
    return NormalDist().cdf(-sqrt(n_units / (n_units - 1)) * t)


def student_quantile(share: float, freedom: int) -> float:
    """Abramowitz & Stegun 26.7.5: off by 3 % at two degrees of freedom, by less than 1 % from three on."""
    # Good enough to say how far out to look, and importing scipy for it costs a fifth of a second.
    z = NormalDist().inv_cdf(share)
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + first / freedom + second / freedom**2 + third / freedom**3
