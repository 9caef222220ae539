"""The bias-corrected and accelerated (BCa) bootstrap for any function of sums over items.

Efron 1987, J. Am. Stat. Assoc. 82, 171-185; a statistic that is skewed by rare labels needs it.  The tails are
expanded for few items (Hesterberg 2015, `grater.statistics.intervals`).  Items are resampled by drawing weights for
their distinct patterns, not rows.

A statistic says what each pattern adds to the sums (`rows`) and how sums become a number (`score`).  `score` works on
many sums at once (the last axis holds the sums), and on complex numbers: that is how the delta method takes its
derivatives, exact to the last digit (`gradient`).

Departure: resamples are drawn from the items and *one made-up item* more, whose parts fall on the patterns that
`PatternUnits.made_up` names.  Where a label is so rare that the sample happens to show no item on which raters
agree, or disagree, about it, a plain bootstrap cannot imagine one, and its intervals are far too sure; with the
made-up item they err on the safe side, and at several hundred items nothing changes (docs/agreement.md has both).
The value itself knows nothing of it, and intervals always include the value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import nan, sqrt
from statistics import NormalDist
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from grater.model import Interval
from grater.statistics.bootstrap import portions
from grater.statistics.intervals import LEVEL, Ints, Numbers, student_quantile

Sums: TypeAlias = npt.NDArray[Any]
"""Real, or complex while a derivative is taken."""

NORMAL = NormalDist()
STEP = 1e-20
CLOSE = 1e-12
CHEAP_MULTINOMIAL = 6
"""Drawing the weight of one pattern costs as much as drawing this many items one by one."""


class Statistic(Protocol):
    """A function of sums over items; `undefined` says why it is nan where it is."""

    @property
    def rows(self) -> Callable[[Ints], Numbers]:
        """What each pattern adds to the sums."""

    @property
    def score(self) -> Callable[[Sums], Sums]:
        """The number that the sums give."""

    @property
    def undefined(self) -> str: ...


@dataclass(frozen=True, slots=True, eq=False)
class PatternUnits:
    """What is resampled: distinct patterns, the items that have each, and what of the made-up item falls on it."""

    patterns: Ints
    n_items: Ints
    made_up: Numbers

    @property
    def n(self) -> int:
        return int(self.n_items.sum())

    @property
    def weights(self) -> Numbers:
        return self.n_items + self.made_up


def point_estimate(statistic: Statistic, patterns: Ints, weights: Numbers | Ints) -> float:
    """The statistic of the data as they are."""
    return float(statistic.score(weights @ statistic.rows(patterns)))


def ratio(top: Sums, bottom: Sums) -> Sums:
    """top / bottom, nan where there is nothing to divide by."""
    top, bottom = np.broadcast_arrays(top, bottom)
    out = np.full(top.shape, np.nan, np.result_type(top, bottom, np.float64))
    return np.divide(top, bottom, out=out, where=bottom != 0)


def gradient(score: Callable[[Sums], Sums], sums: Numbers) -> Numbers:
    """The derivative of the score by each sum, by a complex step (Squire & Trapp 1998)."""
    steps = sums[None, :] + 1j * STEP * np.eye(sums.size)
    derivative: Numbers = score(steps).imag / STEP
    return derivative


def delta_error(statistic: Statistic, patterns: Ints, n_items: Ints) -> float:
    """The standard error by the delta method; nan where the statistic is undefined."""
    rows = statistic.rows(patterns)
    influence = rows @ gradient(statistic.score, n_items @ rows)
    centred = influence - n_items @ influence / max(1, int(n_items.sum()))
    return float(np.sqrt(n_items @ centred**2))


def resampled_scores(
    statistics: Sequence[Statistic], units: PatternUnits, *, rng: np.random.Generator, n_resamples: int
) -> list[Sums]:
    """The score of each statistic in every resample; nan where a resample leaves it undefined."""
    rows = [statistic.rows(units.patterns) for statistic in statistics]
    blocks: list[list[Sums]] = [[] for _ in statistics]
    for weights in resampled_weights(units, rng=rng, n_resamples=n_resamples):
        for block, statistic, row in zip(blocks, statistics, rows, strict=True):
            block.append(statistic.score(weights @ row))
    return [np.concatenate(block) if block else np.zeros(0) for block in blocks]


def resampled_weights(units: PatternUnits, *, rng: np.random.Generator, n_resamples: int) -> Iterator[Numbers]:
    """Weights of the patterns, one row per resample, in blocks of about eight megabytes."""
    is_multinomial = CHEAP_MULTINOMIAL * len(units.n_items) < units.n
    for n_now in portions(n_resamples, len(units.n_items)):
        if is_multinomial:
            yield rng.multinomial(units.n, units.weights / (units.n + 1), size=n_now).astype(np.float64)
        else:
            yield _item_by_item(units, n_now, rng)


def _item_by_item(units: PatternUnits, n_resamples: int, rng: np.random.Generator) -> Numbers:
    """The same draw where nearly every item has a pattern of its own."""
    owner = np.append(np.repeat(np.arange(len(units.n_items)), units.n_items), len(units.n_items))
    weights = np.empty((n_resamples, len(units.n_items)))
    for row in weights:
        drawn = owner.take(rng.integers(0, units.n + 1, size=units.n))
        times = np.bincount(drawn, minlength=len(units.n_items) + 1)
        row[:] = times[:-1] + rng.multinomial(times[-1], units.made_up)
    return weights


def bca_interval(
    statistic: Statistic, value: float, units: PatternUnits, draws: Sums, *, level: float = LEVEL
) -> Interval:
    """The value with its BCa interval."""
    if value != value:
        return Interval(nan, nan, nan, statistic.undefined)
    draws = draws[~np.isnan(draws)]
    if not draws.size:
        return Interval(value, nan, nan, "no resample gives a value")
    low, high = np.quantile(draws, bca_tails(statistic, units, draws, level=level))
    return Interval(value, min(float(low), value), max(float(high), value))


def bca_tails(statistic: Statistic, units: PatternUnits, draws: Sums, *, level: float) -> list[float]:
    """The shares of the draws that lie below the two bounds (Efron 1987, eq. 2.3)."""
    rows = statistic.rows(units.patterns)
    sums = units.weights @ rows
    centre = float(statistic.score(sums))
    near = np.abs(draws - centre) <= CLOSE
    below = float((draws < centre - CLOSE).mean() + near.mean() / 2)
    bias = NORMAL.inv_cdf(min(max(below, 1 / (draws.size + 1)), draws.size / (draws.size + 1)))
    acceleration = _acceleration(rows @ gradient(statistic.score, sums), units.weights)
    z = sqrt(units.n / (units.n - 1)) * student_quantile((1 + level) / 2, units.n - 1)
    return [_shifted(-z, bias, acceleration), _shifted(z, bias, acceleration)]


def _acceleration(influence: Numbers, weights: Numbers) -> float:
    influence = influence - weights @ influence / weights.sum()
    variance = float(weights @ influence**2)
    return float(weights @ influence**3) / (6 * variance**1.5) if variance > 0 else 0.0


def _shifted(z: float, bias: float, acceleration: float) -> float:
    slope = 1 - acceleration * (bias + z)
    if slope <= 0:  # so skewed that the bound lies beyond every draw
        return 1.0 if bias + z > 0 else 0.0
    return NORMAL.cdf(bias + (bias + z) / slope)
