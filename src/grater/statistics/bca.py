"""A coefficient of agreement as what it is: a function of sums over items.

`rows` says what each pattern of counts adds to the sums, `score` makes the number from them.  Counts add up, scores
do not; so resampling, the delta method and tests come for nothing, and a new coefficient is two short functions.
`score` works on many sums at once (the last axis holds the sums), and on complex numbers: that is how the delta
method takes its derivatives, exact to the last digit (`gradient`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import nan, sqrt
from statistics import NormalDist
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from grater.model import Interval
from grater.statistics.bootstrap import MOST_WEIGHTS, student_quantile

Numbers: TypeAlias = npt.NDArray[np.float64]
Sums: TypeAlias = npt.NDArray[Any]
"""Real, or complex while a derivative is taken."""

STEP = 1e-20


@dataclass(frozen=True, slots=True)
class Coefficient:
    """`name` as published; `undefined` says why it is nan where it is."""

    name: str
    rows: Callable[[Whole], Numbers]
    score: Callable[[Sums], Sums]
    undefined: str = "all judgments are of one label, so that chance alone agrees as well"


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


Whole: TypeAlias = npt.NDArray[np.int64]


NORMAL = NormalDist()


CHEAP_MULTINOMIAL = 6
"""Drawing a pattern's weight costs as much as drawing so many items one by one."""


@dataclass(frozen=True, slots=True, eq=False)
class PatternUnits:
    """What is resampled: distinct patterns, how many items have each, and what of the made-up item falls on it."""

    patterns: Whole
    n_items: Whole
    made_up: Numbers

    @property
    def n(self) -> int:
        return int(self.n_items.sum())

    @property
    def weights(self) -> Numbers:
        return self.n_items + self.made_up


def resampled_scores(
    coefficients: Sequence[Coefficient], units: PatternUnits, *, rng: np.random.Generator, n_resamples: int
) -> list[Sums]:
    """The score of each coefficient in every resample; nan where a resample leaves it undefined."""
    rows = [coefficient.rows(units.patterns) for coefficient in coefficients]
    blocks: list[list[Sums]] = [[] for _ in coefficients]
    for weights in resampled_weights(units, rng=rng, n_resamples=n_resamples):
        for block, coefficient, row in zip(blocks, coefficients, rows, strict=True):
            block.append(coefficient.score(weights @ row))
    return [np.concatenate(block) if block else np.zeros(0) for block in blocks]


def resampled_weights(units: PatternUnits, *, rng: np.random.Generator, n_resamples: int) -> Iterator[Numbers]:
    """Weights of the patterns, a row for each resample, in blocks of about eight megabytes."""
    n_at_once = max(1, MOST_WEIGHTS // len(units.n_items))
    is_multinomial = CHEAP_MULTINOMIAL * len(units.n_items) < units.n
    for start in range(0, n_resamples, n_at_once):
        n_now = min(n_at_once, n_resamples - start)
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
    coefficient: Coefficient, number: float, units: PatternUnits, draws: Sums, *, level: float
) -> Interval:
    """The value with BCa limits."""
    if number != number:
        return Interval(nan, nan, nan, coefficient.undefined)
    draws = draws[~np.isnan(draws)]
    if not draws.size:
        return Interval(number, nan, nan, "no resample gives a value")
    tails = bca_tails(coefficient, units, draws, level=level)
    low, high = np.quantile(draws, tails)
    return Interval(number, min(float(low), number), max(float(high), number))


def bca_tails(coefficient: Coefficient, units: PatternUnits, draws: Sums, *, level: float) -> list[float]:
    """The shares of the draws that lie below the limits (Efron 1987, eq. 2.3)."""
    rows = coefficient.rows(units.patterns)
    sums = units.weights @ rows
    centre = float(coefficient.score(sums))
    near = np.abs(draws - centre) <= 1e-12
    below = float((draws < centre - 1e-12).mean() + near.mean() / 2)
    bias = NORMAL.inv_cdf(min(max(below, 1 / (draws.size + 1)), draws.size / (draws.size + 1)))
    acceleration = _acceleration(rows @ gradient(coefficient.score, sums), units.weights)
    z = sqrt(units.n / (units.n - 1)) * student_quantile((1 + level) / 2, units.n - 1)
    return [_shifted(-z, bias, acceleration), _shifted(z, bias, acceleration)]


def _acceleration(influence: Numbers, weights: Numbers) -> float:
    influence = influence - weights @ influence / weights.sum()
    variance = float(weights @ influence**2)
    return float(weights @ influence**3) / (6 * variance**1.5) if variance > 0 else 0.0


def _shifted(z: float, bias: float, acceleration: float) -> float:
    slope = 1 - acceleration * (bias + z)
    if slope <= 0:  # so skewed that the limit lies beyond every draw
        return 1.0 if bias + z > 0 else 0.0
    return NORMAL.cdf(bias + (bias + z) / slope)
