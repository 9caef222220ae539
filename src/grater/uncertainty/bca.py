"""The bias-corrected and accelerated (BCa) bootstrap for any function of sums over items.

Efron 1987, J. Am. Stat. Assoc. 82, 171-185; a statistic that is skewed by rare labels needs it.  The tails are
expanded for few items (Hesterberg 2015, `grater.uncertainty.intervals`).  Items are resampled by drawing weights for
their distinct patterns, not rows.

A statistic says what each pattern adds to the sums (`rows`) and how sums become a number (`score`).  `score` works on
many sums at once (the last axis holds the sums), and on complex numbers: that is how the delta method takes its
derivatives, exact to the last digit (`gradient`).

Departure: resamples are drawn from the items and *one made-up item* more, whose parts fall on the patterns that
`PatternUnits.made_up` names.  Where a label is so rare that the sample happens to show no item on which raters
agree, or disagree, about it, a plain bootstrap cannot imagine one, and its intervals are far too sure; with the
made-up item they err on the safe side, and at several hundred items nothing changes (docs/agreement.md has both).
The value itself knows nothing of it, and intervals always include the value.

Where items stand in essays, whole essays are drawn (`Groups`), and the interval is Student's t
(`grater.uncertainty.student_t`) on the scale of log(1 - x): 1 - x is the ratio of two disagreements, and its
logarithm is nearly symmetric where x itself is squeezed against 1.  With 20 essays of 25 items and two raters it held
.932 to .956, where BCa over essays held .914 to .950 (docs/agreement.md).  Essays of very unequal lengths count as
what they are worth (`effective_units`): 26 of log-normal lengths, as if they were 26, held .88.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import exp, nan, sqrt
from statistics import NormalDist
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from grater.model import Interval
from grater.uncertainty.bootstrap import portions
from grater.uncertainty.intervals import LEVEL, NO_DRAWS, ONE_UNIT, Ints, Numbers, student_quantile
from grater.uncertainty.population import effective_units, variance_ratio

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
class Groups:
    """Items drawn together: `times` items of essay `unit` have pattern `pattern`, one entry per combination."""

    unit: Ints
    pattern: Ints
    times: Ints
    n: int

    def sums(self, rows: Numbers) -> Numbers:
        """The sum of the patterns' rows in every unit."""
        parts = [np.bincount(self.unit, self.times * column[self.pattern], self.n) for column in rows.T]
        return np.column_stack(parts)

    @property
    def lengths(self) -> Numbers:
        """The items of every unit."""
        return np.bincount(self.unit, self.times, self.n).astype(np.float64)

    @property
    def n_effective(self) -> float:
        """How many units of one length these are worth, where their lengths are very unequal."""
        return effective_units(self.lengths)


@dataclass(frozen=True, slots=True, eq=False)
class PatternUnits:
    """What is resampled: distinct patterns, the items that have each, and what of the made-up item falls on it.

    Items are drawn one by one, or with all others of their essay where `groups` says which they are.
    """

    patterns: Ints
    n_items: Ints
    made_up: Numbers
    groups: Groups | None = None

    @property
    def n(self) -> int:
        return int(self.n_items.sum())

    @property
    def n_units(self) -> int:
        """How many are drawn independently."""
        return self.groups.n if self.groups else self.n

    @property
    def weights(self) -> Numbers:
        return self.n_items + self.made_up


def grouped(pattern_of: Ints, unit_of: Ints) -> Groups:
    """The groups of items that have a pattern and stand in a unit each; units are numbered anew, from 0 on."""
    names, unit = np.unique(unit_of, return_inverse=True)
    n_patterns = int(pattern_of.max(initial=0)) + 1
    keys, times = np.unique(unit * n_patterns + pattern_of, return_counts=True)
    return Groups(unit=keys // n_patterns, pattern=keys % n_patterns, times=times, n=len(names))


def point_estimate(statistic: Statistic, patterns: Ints, weights: Numbers | Ints) -> float:
    """The statistic of the data as they are."""
    return float(statistic.score(weights @ statistic.rows(patterns)))


def ratio(top: Sums, bottom: Sums) -> Sums:
    """top / bottom, nan where there is nothing to divide by."""
    top, bottom = np.broadcast_arrays(top, bottom)
    out = np.full(top.shape, np.nan, np.result_type(top, bottom, np.float64))
    return np.divide(top, bottom, out=out, where=(bottom != 0) & ~np.isnan(bottom))


def gradient(score: Callable[[Sums], Sums], sums: Numbers) -> Numbers:
    """The derivative of the score by each sum, by a complex step (Squire & Trapp 1998)."""
    steps = sums[None, :] + 1j * STEP * np.eye(sums.size)
    derivative: Numbers = score(steps).imag / STEP
    return derivative


def delta_error(statistic: Statistic, patterns: Ints, n_items: Ints) -> float:
    """The standard error by the delta method; nan where the statistic is undefined."""
    return float(np.sqrt(n_items @ _centred_influence(statistic, patterns, n_items) ** 2))


def resampled_scores(
    statistics: Sequence[Statistic], units: PatternUnits, *, rng: np.random.Generator, n_resamples: int
) -> list[Sums]:
    """The score of each statistic in every resample; nan where a resample leaves it undefined."""
    if units.groups:
        return _by_group(statistics, units, units.groups, rng=rng, n_resamples=n_resamples)
    rows = [statistic.rows(units.patterns) for statistic in statistics]
    blocks: list[list[Sums]] = [[] for _ in statistics]
    for weights in resampled_weights(units, rng=rng, n_resamples=n_resamples):
        for block, statistic, row in zip(blocks, statistics, rows, strict=True):
            block.append(statistic.score(weights @ row))
    return [np.concatenate(block) if block else np.zeros(0) for block in blocks]


def _by_group(
    statistics: Sequence[Statistic],
    units: PatternUnits,
    groups: Groups,
    *,
    rng: np.random.Generator,
    n_resamples: int,
) -> list[Sums]:
    """The same with whole essays drawn; the made-up item comes into a resample as often as without essays."""
    rows = [statistic.rows(units.patterns) for statistic in statistics]
    sums = [groups.sums(row) for row in rows]
    is_made_up = units.made_up > 0
    blocks: list[list[Sums]] = [[] for _ in statistics]
    for n_now in portions(n_resamples, groups.n):
        times = rng.multinomial(groups.n, np.full(groups.n, 1 / groups.n), size=n_now)
        n_made_up = rng.binomial(groups.n, 1 / (groups.n + 1), size=n_now)
        made_up = rng.multinomial(n_made_up, units.made_up[is_made_up])
        for block, statistic, row, of_units in zip(blocks, statistics, rows, sums, strict=True):
            block.append(statistic.score(times @ of_units + made_up @ row[is_made_up]))
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
    statistic: Statistic,
    value: float,
    units: PatternUnits,
    draws: Sums,
    *,
    level: float = LEVEL,
    is_difference: bool = False,
) -> Interval:
    """The value with its BCa interval; Student's t where essays were drawn, for a difference without logarithms."""
    if value != value:
        return Interval(nan, nan, nan, statistic.undefined)
    draws = draws[~np.isnan(draws)]
    if not draws.size:
        return Interval(value, nan, nan, "no resample gives a value")
    if units.groups:
        n_units = units.groups.n_effective
        return group_interval(value, draws, n_units=n_units, level=level, is_difference=is_difference)
    low, high = np.quantile(draws, bca_tails(statistic, units, draws, level=level))
    return Interval(value, min(float(low), value), max(float(high), value))


def group_interval(
    value: float, draws: Sums, *, n_units: float, level: float = LEVEL, is_difference: bool = False
) -> Interval:
    """Student's t on the spread of log(1 - x), or of x itself where it reaches 1."""
    from grater.uncertainty.student_t import student_interval  # scipy: a fifth of a second that few need

    if n_units < 2:
        return Interval(value, nan, nan, ONE_UNIT)
    if not draws.size:
        return Interval(value, nan, nan, NO_DRAWS)
    if is_difference:
        return student_interval(value, draws, n_units=n_units, level=level)
    if max(value, float(draws.max())) >= 1:
        return student_interval(value, draws, n_units=n_units, level=level, ends=(-1.0, 1.0))
    apart = student_interval(float(np.log(1 - value)), np.log(1 - draws), n_units=n_units, level=level)
    return Interval(value, max(-1.0, 1 - exp(apart.high)), 1 - exp(apart.low))


def group_effect(statistic: Statistic, units: PatternUnits) -> float:
    """The design effect of drawing whole essays; nan where items were drawn one by one."""
    if units.groups is None:
        return nan
    influence = _centred_influence(statistic, units.patterns, units.n_items)
    of_units = units.groups.sums(influence[:, None])[:, 0]
    return variance_ratio(of_units, float(units.n_items @ influence**2), n_items=units.n)


def group_error(statistic: Statistic, patterns: Ints, n_items: Ints, groups: Groups) -> float:
    """The standard error by the delta method where whole essays were drawn."""
    influence = _centred_influence(statistic, patterns, n_items)
    return float(np.sqrt(np.sum(groups.sums(influence[:, None]) ** 2) * groups.n / max(1, groups.n - 1)))


def _centred_influence(statistic: Statistic, patterns: Ints, n_items: Ints) -> Numbers:
    rows = statistic.rows(patterns)
    influence = rows @ gradient(statistic.score, n_items @ rows)
    centred: Numbers = influence - n_items @ influence / max(1, int(n_items.sum()))
    return centred


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
