"""Tests that are used only on request.

Approximate randomisation (Noreen 1989; Yeh 2000) swaps the
two systems' rows of a unit with probability one half; p counts the observed data as one more draw (Phipson & Smyth
2010).  McNemar 1947 without a correction for continuity, exact, and mid-p (Fagerland, Lydersen & Laake 2013): on
independent items only.  `dispersion` tests whether events fall on units by chance alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import erfc, nan, sqrt

import numpy as np

from grater.errors import UsageError
from grater.result import HIDDEN, Data, in_json
from grater.uncertainty import ALIKE, Numbers, Score, Units, generator, portions


def randomisation(first: Units, second: Units, score: Score, *, n_swaps: int, seed: int) -> float:
    """p of the difference of two systems on the same units; nan with fewer than two units."""
    counts = first.counts.astype(np.int64)
    if counts.sum() < 2:
        return nan
    rng, apart = generator(seed, "randomisation"), second.rows - first.rows
    observed = abs(float(score(first.sums) - score(second.sums)))
    n_as_large = 0
    for n_now in portions(n_swaps, len(counts)):
        moved = rng.binomial(counts, 0.5, size=(n_now, len(counts))) @ apart
        differences = score(first.sums + moved) - score(second.sums - moved)
        # Sums that are equal may differ in the last bit of their scores.
        n_as_large += int((np.abs(differences) >= observed - ALIKE).sum())
    return (1 + n_as_large) / (1 + n_swaps)


@dataclass(frozen=True, slots=True)
class McNemar(Data):
    """`first` items only the first system got right, `second` only the second."""

    first: int = field(metadata=HIDDEN)
    second: int = field(metadata=HIDDEN)
    chi2: float
    p: float
    exact: float
    mid_p: float

    @property
    @in_json()
    def discordant(self) -> tuple[int, int]:
        return self.first, self.second


def mcnemar(first: int, second: int) -> McNemar:
    """The three forms of the test for two counts of discordant items; all are 1 without any."""
    if first < 0 or second < 0:
        raise UsageError(f"expected counts of items, found {first} and {second}")
    n, fewer = first + second, min(first, second)
    if n == 0:
        return McNemar(first=0, second=0, chi2=0.0, p=1.0, exact=1.0, mid_p=1.0)
    chi2 = (first - second) ** 2 / n
    from scipy.special import bdtr  # takes a fifth of a second to import

    at_most, below = float(bdtr(fewer, n, 0.5)), float(bdtr(fewer - 1, n, 0.5)) if fewer else 0.0
    # mid-p has half of the chance of the observed counts on each side.
    exact, mid_p = min(1.0, 2 * at_most), min(1.0, at_most + below)
    return McNemar(first=first, second=second, chi2=chi2, p=erfc(sqrt(chi2 / 2)), exact=exact, mid_p=mid_p)


@dataclass(frozen=True, slots=True)
class Dispersion(Data):
    """`index` is 1 by chance; both numbers are nan where fewer than two units have any exposure, or no event."""

    index: float
    p: float
    n_units: int


def dispersion(events: Numbers, exposure: Numbers) -> Dispersion:
    """The variance test of counts with unequal exposure (Cochran 1954, section 3.1): X² / (m - 1), one-sided p."""
    from scipy.special import chdtrc

    is_exposed = exposure > 0
    events, exposure = events[is_exposed], exposure[is_exposed]
    n_units = len(events)
    if n_units < 2 or not events.sum():
        return Dispersion(index=nan, p=nan, n_units=n_units)
    expected = exposure * (events.sum() / exposure.sum())
    freedom = n_units - 1
    index = float(np.sum((events - expected) ** 2 / expected)) / freedom
    return Dispersion(index=index, p=float(chdtrc(freedom, index * freedom)), n_units=n_units)
