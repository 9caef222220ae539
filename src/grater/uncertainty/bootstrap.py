"""The bootstrap on sums: draw units again, add up their counts, score the sums.

Efron & Tibshirani 1993, chapters 6 and 13.  Scores do not add up but counts do, so a resample is a row of weights
times the matrix of counts, one row per unit; no unit is looked at again.  Units are what is drawn independently:
documents, not their sentences.  Three shapes of data:

`resample` takes one row of counts per unit.  `UnitCounts` takes equal units together: items enter a score only
through their pattern (who flagged them, how true they are), so a million items are a few hundred patterns and a
resample is a draw of pattern weights.  `Design` draws sentences, or documents with all their sentences; where a
sentence has several rows, one for each reference that may be drawn (GLEU), a row is drawn for every copy of the
sentence.  All systems share the weights: differences are paired, and a system's interval does not depend on which
others stand beside it.

`swap_units` and `swapped_sums` are the swaps of a randomisation test (Noreen 1989; Yeh 2000, "More accurate tests for
the statistical significance of result differences", COLING).

The bias-corrected and accelerated (BCa) bootstrap for any function of sums over items.

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
(`grater.uncertainty.bootstrap`) on the scale of log(1 - x): 1 - x is the ratio of two disagreements, and its
logarithm is nearly symmetric where x itself is squeezed against 1.  With 20 essays of 25 items and two raters it held
.932 to .956, where BCa over essays held .914 to .950 (docs/agreement.md).  Essays of very unequal lengths count as
what they are worth (`effective_units`): 26 of log-normal lengths, as if they were 26, held .88.

Paired tests between systems that did the same work: could the difference of two scores be chance?

`bootstrap` resamples units (Efron & Tibshirani 1993, chapter 16).  The difference has the interval of its resamples,
and p is twice the share of resamples on the far side of 0, for few units on the scale of Student's t, as the interval
is: p < .05 where the interval leaves 0 out.
`randomisation` (Noreen 1989; Yeh 2000) swaps the two systems' counts of a unit with probability one half; p is the
share of swaps that give a difference at least as large.  Both count the observed data as one more draw, so p is never
0: Phipson & Smyth 2010.  A draw that gives exactly 0 counts half to each side.

Where no resample differs from another (one system is always right and the other never, or the two never part), the
resamples show no spread.  The interval then squares and adds what each system may yet do (Newcombe 1998, Statistics
in Medicine 17, 873-890): Wilson's upper limit for what none of its cases shows.  p is never below that of the sign
test.

McNemar's test is for two systems item by item: of the items that one got right and the other wrong, are the sides
even?  McNemar 1947, Psychometrika 12, 153-157, without a correction for continuity; exact (binomial) and mid-p
(Lancaster 1961; Fagerland, Lydersen & Laake 2013 recommend it).  Items on which raters are tied have no right answer
and take no part.  With no discordant item every p is 1.

Between many systems p is Holm's: the step-down correction of Holm 1979 (Scandinavian Journal of Statistics 6, 65-70),
by which all tests together err in one case of twenty at most.

`rank_groups` shows what the tests cannot tell apart, as a compact letter display (Piepho 2004, "An algorithm for a
letter-based representation of all-pairwise comparisons", J. Comp. Graph. Stat. 13, 456-466): two systems share a
letter if and only if they were not told apart.  Each letter is a maximal set of systems of which no two were told
apart; `A` holds the best system.  "Not told apart" is not transitive: A and B may be alike, B and C too, and A and C
not; then B bears both letters.  A test that is undefined tells nothing apart.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import erfc, exp, hypot, inf, isnan, nan, sqrt
from statistics import NormalDist
from string import ascii_lowercase, ascii_uppercase
from typing import Any, Literal, Protocol, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from grater.errors import UsageError
from grater.model import Interval
from grater.result import HIDDEN, Data, in_json
from grater.uncertainty.intervals import (
    LEVEL,
    NO_DRAWS,
    ONE_UNIT,
    RESAMPLES,
    Ints,
    Numbers,
    Population,
    are_alike,
    cluster_interval,
    contracted_tail,
    effective_units,
    percentile_interval,
    student_interval,
    student_quantile,
    student_spread,
    unseen_share,
    variance_ratio,
)

Cluster: TypeAlias = Literal[
    "auto", "item", "essay", "document", "rater", "item+rater", "essay+rater", "document+rater"
]
"""What is drawn: `auto` is the essay (the document of sentences) where it is known, else the item."""
T = TypeVar("T", bound=np.generic)

MOST_WEIGHTS = 1 << 20
"""Weights drawn at one time: a million take eight megabytes, whatever the number of units."""


@dataclass(frozen=True, slots=True)
class Chance:
    """What is drawn, how often, from which seed, and for which population."""

    cluster: Cluster = "auto"
    n_resamples: int = RESAMPLES
    seed: int = 0
    level: float = LEVEL
    population: Population = "wider"

    @property
    def unit(self) -> str:
        """What is drawn beside raters: item, essay or document; nothing where only raters are."""
        return "item" if self.is_by_item else self.cluster.removesuffix("rater").removesuffix("+")

    @property
    def is_by_item(self) -> bool:
        """Whether items are drawn one by one; so they are where nobody looked for their essays."""
        return self.cluster in ("item", "auto")

    @property
    def with_raters(self) -> bool:
        return self.cluster.endswith("rater")


def portions(n_resamples: int, width: int) -> Iterator[int]:
    """The number of resamples to draw at one time, so that memory stays flat however wide one resample is."""
    at_once = max(1, MOST_WEIGHTS // max(1, width))
    for start in range(0, n_resamples, at_once):
        yield min(at_once, n_resamples - start)


def defined_draws(draws: Numbers, value: float) -> Numbers:
    """The draws that are defined; none where the value itself is undefined."""
    return draws[:0] if isnan(value) else draws[~np.isnan(draws)]


# One row of counts per unit


@dataclass(frozen=True, slots=True)
class Resampled:
    """The sums of each column over all units, and in every resample (a row each)."""

    n_units: int
    sums: Numbers
    draws: Numbers

    def ratio(
        self, part: Sequence[int], whole: Sequence[int], *, level: float = LEVEL, most: float = inf
    ) -> Interval:
        """Sum of some columns over sum of others, from 0 to `most`; nan with a reason where that is nothing."""
        total = float(self.sums[list(whole)].sum())
        if total == 0:
            return Interval(nan, nan, nan, "nothing to divide by: the denominator is 0")
        value = float(self.sums[list(part)].sum()) / total
        totals = self.draws[:, list(whole)].sum(axis=1)
        # A resample may miss every unit that counts in the denominator; it says nothing of the ratio.
        draws = self.draws[totals > 0][:, list(part)].sum(axis=1) / totals[totals > 0]
        return cluster_interval(value, draws, n_units=self.n_units, level=level, ends=(0.0, most))


def resample(rows: Numbers, *, n_resamples: int, rng: np.random.Generator) -> Resampled:
    """Sums over n units drawn n at a time with replacement; `rows` has one row per unit, one column per count."""
    n_units, n_columns = rows.shape
    shares = np.full(n_units, 1 / max(1, n_units))
    blocks = [
        rng.multinomial(n_units, shares, size=n_now) @ rows
        for n_now in portions(n_resamples if n_units else 0, n_units)
    ]
    return Resampled(n_units, rows.sum(axis=0), np.concatenate([np.zeros((0, n_columns)), *blocks]))


# Equal units taken together


@dataclass(frozen=True, slots=True, eq=False)
class UnitCounts:
    """What is drawn: distinct rows of counts, and the number of units that have each."""

    rows: Numbers
    times: Ints

    @property
    def n(self) -> int:
        return int(self.times.sum())

    @property
    def sums(self) -> Numbers:
        sums: Numbers = self.times @ self.rows
        return sums


def distinct(columns: Sequence[npt.NDArray[np.number]]) -> tuple[Ints, Ints]:
    """A row that shows each distinct combination, in the order of values, and the combination of every row."""
    pattern = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        # Values are few as a rule: to look each up among them takes less time and room than numpy's own numbering.
        values = np.unique(column)
        pattern *= len(values)
        pattern += np.searchsorted(values, column)
        # Closed up after every column: the code never outgrows 64 bits.
        pattern = np.searchsorted(np.unique(pattern), pattern)
    first = np.zeros(int(pattern.max(initial=-1)) + 1, np.int64)
    first[pattern] = np.arange(len(pattern))
    return first, pattern


ROWS_AT_ONCE = 1 << 20


def patterns(
    columns: Sequence[npt.NDArray[np.number]], places: npt.NDArray[np.signedinteger] | None = None
) -> tuple[Numbers, Ints]:
    """The distinct combinations of values, in order, and how many rows have each; some rows are read at a time.

    `places` are the rows that count, where these are not all.
    """
    rows, times = [np.zeros((0, len(columns)))], [np.zeros(0, np.int64)]
    n_rows = len(columns[0]) if places is None else len(places)
    for start in range(0, n_rows, ROWS_AT_ONCE):
        chosen = slice(start, start + ROWS_AT_ONCE)
        some = [column[chosen if places is None else places[chosen]] for column in columns]
        first, pattern = distinct(some)
        rows.append(np.stack([column[first].astype(np.float64) for column in some], axis=1))
        times.append(np.bincount(pattern, minlength=len(first)))
    known = np.concatenate(rows)
    first, which = distinct(list(known.T))
    totals = np.zeros(len(first), np.int64)
    np.add.at(totals, which, np.concatenate(times))
    return known[first], totals


def resample_units(units: UnitCounts, *, n_resamples: int, rng: np.random.Generator) -> Numbers:
    """Sums over units drawn with replacement, one row per resample."""
    n_draws = n_resamples if units.n else 0
    shares = units.times / max(1, units.n)
    blocks = [rng.multinomial(units.n, shares, size=n) @ units.rows for n in portions(n_draws, len(units.rows))]
    return np.concatenate([np.zeros((0, units.rows.shape[1])), *blocks])


def swap_units(units: UnitCounts, *, n_resamples: int, rng: np.random.Generator) -> Numbers:
    """Sums over the units that change sides, each with probability one half."""
    blocks = [
        rng.binomial(units.times, 0.5, size=(n, len(units.rows))) @ units.rows
        for n in portions(n_resamples, len(units.rows))
    ]
    return np.concatenate([np.zeros((0, units.rows.shape[1])), *blocks])


# Sentences, or documents with all their sentences


@dataclass(frozen=True, slots=True, eq=False)
class Design:
    """`unit_of` has each sentence's unit, from 0 on; `shares` the chance of each of its rows, if it has several."""

    unit_of: Ints
    n_units: int
    shares: Numbers | None = None

    @property
    def is_clustered(self) -> bool:
        return self.n_units != len(self.unit_of)

    @property
    def width(self) -> int:
        """Numbers that one resample takes."""
        return len(self.unit_of) * (1 if self.shares is None else self.shares.shape[1])


def by_sentence(n_sentences: int, *, shares: Numbers | None = None) -> Design:
    """Every sentence is drawn by itself."""
    return Design(np.arange(n_sentences), n_sentences, shares)


def by_document(documents: Sequence[str], *, shares: Numbers | None = None) -> Design:
    """Sentences are drawn together with the others of their document."""
    codes = {name: code for code, name in enumerate(dict.fromkeys(documents))}
    return Design(np.array([codes[name] for name in documents], np.int64), len(codes), shares)


def resampled_sums(cells: Numbers, design: Design, *, n_resamples: int, rng: np.random.Generator) -> Numbers:
    """Sums over units drawn with replacement: (sentences, rows, columns) gives (resamples, columns)."""
    n_sentences, n_rows, n_columns = cells.shape
    if n_sentences != len(design.unit_of):
        raise UsageError(f"expected counts of {len(design.unit_of)} sentences, found {n_sentences}")
    flat = cells.reshape(n_sentences * n_rows, n_columns)
    sums = [_weights(design, n_now, rng) @ flat for n_now in portions(n_resamples, design.width)]
    return np.concatenate([np.zeros((0, n_columns)), *sums])


def swapped_sums(rows: Numbers, design: Design, *, n_resamples: int, rng: np.random.Generator) -> Numbers:
    """Sums over the half of the units that change sides: (sentences, columns) gives (resamples, columns)."""
    sums = []
    for n_now in portions(n_resamples, len(design.unit_of)):
        sides = rng.integers(0, 2, size=(n_now, design.n_units), dtype=np.uint8)
        sums.append(_of_sentences(sides, design).astype(np.float64) @ rows)
    return np.concatenate([np.zeros((0, rows.shape[1])), *sums])


def _weights(design: Design, n_resamples: int, rng: np.random.Generator) -> Numbers:
    """The number of times that each row is drawn, in every resample."""
    drawn = rng.integers(0, max(1, design.n_units), size=(n_resamples, design.n_units))
    drawn += np.arange(n_resamples)[:, None] * design.n_units
    times = np.bincount(drawn.ravel(), minlength=n_resamples * design.n_units)
    of_sentences = _of_sentences(times.reshape(n_resamples, design.n_units), design)
    if design.shares is None:
        return of_sentences.astype(np.float64)
    return rng.multinomial(of_sentences, design.shares).reshape(n_resamples, -1).astype(np.float64)


def _of_sentences(of_units: npt.NDArray[T], design: Design) -> npt.NDArray[T]:
    return of_units[:, design.unit_of] if design.is_clustered else of_units


# BCa


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


# Paired tests


Test: TypeAlias = Literal["bootstrap", "randomisation"]
Score: TypeAlias = Callable[[Numbers], Numbers]
"""From sums in the last axis to one number: shape (..., k) gives (...)."""


@dataclass(frozen=True, slots=True)
class PairTest(Data):
    """The first system's score less the second's; `p` by test, and `holm` the same adjusted for all pairs."""

    first: str = field(metadata=HIDDEN)
    second: str = field(metadata=HIDDEN)
    difference: Interval
    p: dict[Test, float] = field(metadata=HIDDEN)
    holm: dict[Test, float] = field(metadata=HIDDEN)

    @property
    @in_json()
    def systems(self) -> tuple[str, str]:
        return self.first, self.second

    @property
    @in_json(flat=True)
    def tests(self) -> dict[str, dict[str, float]]:
        return {name: {"p": p, "p_holm": self.holm[name]} for name, p in self.p.items()}


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """What the tests need: scores as observed and as drawn, sums as observed, and sums of the units that are swapped.

    Shapes are (systems,) for `values`, (resamples, systems) for the scores `drawn`, (systems, k) for `sums` and
    (swaps, systems, k) for `swapped`.  `n_cases` are the cases that each score rests on, where these may be fewer
    than the units; `ends` those of a difference.  Of a `census` nothing remains unknown.
    """

    names: Sequence[str]
    n_units: int
    values: Numbers
    drawn: Numbers
    sums: Numbers
    swapped: Numbers
    n_cases: Sequence[float] = ()
    ends: tuple[float, float] = (-1.0, 1.0)
    is_census: bool = False


def paired_tests(systems: Drawn, score: Score, *, baseline: str = "") -> list[PairTest]:
    """Every two systems, in the order given; with a baseline, every other system against that one alone."""
    pairs = list(combinations(range(len(systems.names)), 2))
    if baseline:
        base = systems.names.index(baseline)
        pairs = [(place, base) for place in range(len(systems.names)) if place != base]
    p: dict[Test, list[float]] = {
        "bootstrap": [_bootstrap_p(systems, *pair) for pair in pairs],
        "randomisation": [_randomisation_p(systems, score, *pair) for pair in pairs],
    }
    adjusted = {name: holm(values) for name, values in p.items()}
    return [
        PairTest(
            first=systems.names[first],
            second=systems.names[second],
            difference=_difference(systems, first, second),
            p={name: values[index] for name, values in p.items()},
            holm={name: values[index] for name, values in adjusted.items()},
        )
        for index, (first, second) in enumerate(pairs)
    ]


def _difference(systems: Drawn, first: int, second: int) -> Interval:
    value = float(systems.values[first] - systems.values[second])
    draws = systems.drawn[:, first] - systems.drawn[:, second]
    if systems.n_units < 2 or not draws.size or not are_alike(draws) or isnan(value) or systems.is_census:
        return percentile_interval(value, draws, n_units=systems.n_units)
    half = hypot(*(_unseen(systems, place) for place in (first, second)))
    return Interval(value, max(systems.ends[0], value - half), min(systems.ends[1], value + half))


def _unseen(systems: Drawn, place: int) -> float:
    """How far a score may move by what none of its cases shows."""
    n = min(systems.n_cases[place] if systems.n_cases else systems.n_units, systems.n_units)
    return systems.ends[1] * unseen_share(n, student_quantile((1 + LEVEL) / 2, systems.n_units - 1))


def unanimous_p(value: float, n_units: int) -> float:
    """The sign test of n units that all show the same difference."""
    return 1.0 if value == 0 else 2.0 ** (1 - n_units)


def _bootstrap_p(systems: Drawn, first: int, second: int) -> float:
    differences = systems.drawn[:, first] - systems.drawn[:, second]
    if systems.n_units < 2 or not differences.size:
        return nan
    n_zero = float((differences == 0).sum()) / 2
    n_beyond = min(float((differences < 0).sum()), float((differences > 0).sum())) + n_zero
    p = 2 * contracted_tail((1 + n_beyond) / (1 + len(differences)), systems.n_units)
    return max(p, unanimous_p(float(differences[0]), systems.n_units)) if are_alike(differences) else p


def _randomisation_p(systems: Drawn, score: Score, first: int, second: int) -> float:
    if systems.n_units < 2 or not len(systems.swapped):
        return nan
    moved = systems.swapped[:, second] - systems.swapped[:, first]
    differences = score(systems.sums[first] + moved) - score(systems.sums[second] - moved)
    observed = abs(float(score(systems.sums[first]) - score(systems.sums[second])))
    # Sums that are equal in truth may differ in the last bit of their scores.
    n_as_large = int((np.abs(differences) >= observed - 1e-12).sum())
    return (1 + n_as_large) / (1 + len(differences))


def resamples_needed(n_systems: int, *, n_pairs: int | None = None, level: float = LEVEL) -> int:
    """Resamples below which no pair can be told apart after Holm, however far apart they are.

    All pairs of `n_systems` systems are compared, or `n_pairs` of them.
    """
    if n_pairs is None:
        n_pairs = n_systems * (n_systems - 1) // 2
    return int(np.ceil(2 * n_pairs / (1 - level)))


def _number(value: float) -> float | None:
    return None if isnan(value) else value


LETTERS = ascii_uppercase + ascii_lowercase


def holm(values: Sequence[float]) -> list[float]:
    """The p of each test, adjusted for their number; undefined ones stay undefined and do not count."""
    ordered = sorted((p, index) for index, p in enumerate(values) if not isnan(p))
    adjusted, highest = [nan] * len(values), 0.0
    for rank, (p, index) in enumerate(ordered):
        highest = max(highest, min(1.0, (len(ordered) - rank) * p))
        adjusted[index] = highest
    return adjusted


def rank_groups(ranked: Sequence[str], apart: Collection[tuple[str, str]]) -> dict[str, str]:
    """The letters of each system; `ranked` has the best first, `apart` the pairs that were told apart."""
    is_apart = {frozenset(pair) for pair in apart}
    alike = {
        name: {other for other in ranked if other != name and frozenset((name, other)) not in is_apart}
        for name in ranked
    }
    rank = {name: number for number, name in enumerate(ranked)}
    sets = sorted(sorted(rank[name] for name in members) for members in _maximal_sets(alike))
    letters = dict.fromkeys(ranked, "")
    for number, members in enumerate(sets):
        for member in members:
            letters[ranked[member]] += LETTERS[number] if number < len(LETTERS) else f"({number + 1})"
    return letters


def _maximal_sets(alike: Mapping[str, set[str]]) -> list[set[str]]:
    """All sets of systems that are pairwise alike and cannot grow: Bron & Kerbosch 1973, with a pivot."""
    cliques: list[set[str]] = []

    def grow(members: set[str], candidates: set[str], seen: set[str]) -> None:
        if not candidates and not seen:
            cliques.append(members)
            return
        pivot = max(candidates | seen, key=lambda name: (len(alike[name] & candidates), name))
        for name in sorted(candidates - alike[pivot]):
            grow(members | {name}, candidates & alike[name], seen & alike[name])
            candidates, seen = candidates - {name}, seen | {name}

    if alike:
        grow(set(), set(alike), set())
    return cliques


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
    """The three forms of the test for two counts of discordant items."""
    if first < 0 or second < 0:
        raise UsageError(f"expected counts of items, found {first} and {second}")
    n, fewer = first + second, min(first, second)
    if n == 0:
        return McNemar(first=0, second=0, chi2=0.0, p=1.0, exact=1.0, mid_p=1.0)
    chi2 = (first - second) ** 2 / n
    from scipy.special import bdtr  # a fifth of a second that most commands need not wait for

    at_most, below = float(bdtr(fewer, n, 0.5)), float(bdtr(fewer - 1, n, 0.5)) if fewer else 0.0
    return McNemar(
        first=first,
        second=second,
        chi2=chi2,
        p=erfc(sqrt(chi2 / 2)),
        exact=min(1.0, 2 * at_most),
        # Half of the chance of the observed counts: at a tie the two halves meet, and p is 1.
        mid_p=min(1.0, at_most + below),
    )


# Few units


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
            test, difference=difference, p={**test.p, "bootstrap": plain}, holm={**test.holm, "bootstrap": adjusted}
        )
        for test, difference, plain, adjusted in zip(tests, differences, p, holm(p), strict=True)
    ]


def _p(value: float, drawn: Numbers, n_units: int) -> float:
    from scipy.special import stdtr  # a fifth of a second that most commands need not wait for

    if n_units < 2 or isnan(value) or not drawn.size:
        return nan
    if are_alike(drawn):
        return unanimous_p(value, n_units)
    return float(2 * stdtr(n_units - 1, -abs(value) / student_spread(drawn, n_units)))
