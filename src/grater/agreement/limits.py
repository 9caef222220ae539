"""Limits for coefficients of agreement: the bootstrap over items, bias-corrected and accelerated.

Items are resampled by drawing weights for their distinct patterns (statistics.md), not rows.  Limits are BCa (Efron
1987, J. Am. Stat. Assoc. 82, 171-185), which a coefficient that is skewed by rare labels needs; their tails are
expanded for few items (Hesterberg 2015, `grater.intervals`).

Departure: resamples are drawn from the items and *one made-up item* more.  Half of it is unanimous, spread over the
labels; half of it is split between the most frequent label and each other.  Where a label is so rare that the sample
happens to show no item on which raters agree, or disagree, about it, a plain bootstrap cannot imagine one, and its
limits are far too sure; with the made-up item they err on the safe side, and at several hundred items nothing changes
(docs/agreement.md has both).  The value itself knows nothing of it, and limits always include the value.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import nan, sqrt
from statistics import NormalDist

import numpy as np

from grater.agreement.coefficient import Coefficient, Numbers, Sums, gradient
from grater.agreement.counts import Counts, Whole
from grater.intervals.bootstrap import MOST_WEIGHTS, student_quantile
from grater.model import Interval

NORMAL = NormalDist()
RESAMPLES = 1000
CHEAP_MULTINOMIAL = 6
"""Drawing a pattern's weight costs as much as drawing so many items one by one."""


@dataclass(frozen=True, slots=True, eq=False)
class Units:
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


def units(counts: Counts) -> Units:
    """The items of the counts and the made-up one, which has as many judgments as the median item."""
    n_labels = len(counts.labels)
    size = _median(counts.patterns.sum(axis=1), counts.n_items)
    modal = int((counts.n_items @ counts.patterns).argmax())
    unanimous = size * np.eye(n_labels, dtype=np.int64)
    split = unanimous // 2
    split[:, modal] += size - size // 2
    split = np.delete(split, modal, axis=0)
    shares = [np.full(n_labels, 0.5 / n_labels), np.full(n_labels - 1, 0.5 / max(1, n_labels - 1))]
    made_up = np.concatenate([np.zeros(len(counts.patterns)), *shares])
    n_items = np.concatenate([counts.n_items, np.zeros(2 * n_labels - 1, np.int64)])
    return Units(np.vstack([counts.patterns, unanimous, split]), n_items, made_up / made_up.sum())


def _median(values: Whole, times: Whole) -> int:
    """The middle value where each occurs so many times; the lower of two."""
    order = np.argsort(values)
    middle = np.searchsorted(times[order].cumsum(), times.sum() / 2)
    return int(values[order][middle])


def bootstrap(
    coefficients: Sequence[Coefficient],
    counts: Counts,
    *,
    rng: np.random.Generator,
    n_resamples: int = RESAMPLES,
    level: float = 0.95,
) -> list[Interval]:
    """Each coefficient with its limits, all from the same resamples."""
    values = [value(coefficient, counts.patterns, counts.n_items) for coefficient in coefficients]
    if counts.n_compared < 2 or len(counts.labels) < 2:
        return [without_limits(c, number, counts) for c, number in zip(coefficients, values, strict=True)]
    drawn_from = units(counts)
    drawn = scores(coefficients, drawn_from, rng=rng, n_resamples=n_resamples)
    return [
        interval(coefficient, number, drawn_from, draws, level=level)
        for coefficient, number, draws in zip(coefficients, values, drawn, strict=True)
    ]


def value(coefficient: Coefficient, patterns: Whole, weights: Numbers | Whole) -> float:
    """The coefficient of the data as it is."""
    return float(coefficient.score(weights @ coefficient.rows(patterns)))


def delta_error(coefficient: Coefficient, counts: Counts) -> float:
    """The standard error by the delta method, for a z test; nan where the coefficient is undefined."""
    rows = coefficient.rows(counts.patterns)
    influence = rows @ gradient(coefficient.score, counts.n_items @ rows)
    centred = influence - counts.n_items @ influence / max(1, counts.n_compared)
    return float(np.sqrt(counts.n_items @ centred**2))


def without_limits(coefficient: Coefficient, number: float, counts: Counts) -> Interval:
    """What can be said of too little data: perhaps a value, and why there are no limits."""
    if counts.n_compared == 0:
        return Interval(nan, nan, nan, "no item has two judgments")
    if number != number:
        return Interval(nan, nan, nan, coefficient.undefined)
    why = "all judgments are of one label" if len(counts.labels) < 2 else "a single item cannot be resampled"
    return Interval(number, nan, nan, why)


def scores(
    coefficients: Sequence[Coefficient], units: Units, *, rng: np.random.Generator, n_resamples: int
) -> list[Sums]:
    """The score of each coefficient in every resample; nan where a resample leaves it undefined."""
    rows = [coefficient.rows(units.patterns) for coefficient in coefficients]
    blocks: list[list[Sums]] = [[] for _ in coefficients]
    for weights in resamples(units, rng=rng, n_resamples=n_resamples):
        for block, coefficient, row in zip(blocks, coefficients, rows, strict=True):
            block.append(coefficient.score(weights @ row))
    return [np.concatenate(block) if block else np.zeros(0) for block in blocks]


def resamples(units: Units, *, rng: np.random.Generator, n_resamples: int) -> Iterator[Numbers]:
    """Weights of the patterns, a row for each resample, in blocks of about eight megabytes."""
    n_at_once = max(1, MOST_WEIGHTS // len(units.n_items))
    is_multinomial = CHEAP_MULTINOMIAL * len(units.n_items) < units.n
    for start in range(0, n_resamples, n_at_once):
        n_now = min(n_at_once, n_resamples - start)
        if is_multinomial:
            yield rng.multinomial(units.n, units.weights / (units.n + 1), size=n_now).astype(np.float64)
        else:
            yield _item_by_item(units, n_now, rng)


def _item_by_item(units: Units, n_resamples: int, rng: np.random.Generator) -> Numbers:
    """The same draw where nearly every item has a pattern of its own."""
    owner = np.append(np.repeat(np.arange(len(units.n_items)), units.n_items), len(units.n_items))
    weights = np.empty((n_resamples, len(units.n_items)))
    for row in weights:
        drawn = owner.take(rng.integers(0, units.n + 1, size=units.n))
        times = np.bincount(drawn, minlength=len(units.n_items) + 1)
        row[:] = times[:-1] + rng.multinomial(times[-1], units.made_up)
    return weights


def interval(coefficient: Coefficient, number: float, units: Units, draws: Sums, *, level: float) -> Interval:
    """The value with BCa limits."""
    if number != number:
        return Interval(nan, nan, nan, coefficient.undefined)
    draws = draws[~np.isnan(draws)]
    if not draws.size:
        return Interval(number, nan, nan, "no resample gives a value")
    tails = bca_tails(coefficient, units, draws, level=level)
    low, high = np.quantile(draws, tails)
    return Interval(number, min(float(low), number), max(float(high), number))


def bca_tails(coefficient: Coefficient, units: Units, draws: Sums, *, level: float) -> list[float]:
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
