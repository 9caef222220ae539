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
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf, isnan, nan
from typing import Literal, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from grater.errors import UsageError
from grater.model import Interval
from grater.uncertainty.intervals import LEVEL, RESAMPLES, Ints, Numbers
from grater.uncertainty.population import Population, cluster_interval

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
