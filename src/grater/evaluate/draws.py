"""Resamples of cases: by item, by essay or document, or by rater.

Items enter a score only through their *pattern* (who flagged them, how true they are), so a million items are a few
hundred patterns, and a resample is a draw of pattern weights (statistics.md, "Agreement").  Patterns are in the
order of their values, never of rows: neither the order of a file nor the names of items change a limit.  Clusters
are drawn whole, with the sums of their items.  Raters are drawn with all their votes, the items held fast: limits
then say how far other raters of the same kind would move the number; raters stand in the order of what they said.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isnan, nan
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array

from grater.errors import UsageError
from grater.evaluate.cases import Cases
from grater.evaluate.counts import cells
from grater.evaluate.resampling import Ints, Numbers
from grater.evaluate.truth import Truth, sides
from grater.intervals.bootstrap import MOST_WEIGHTS
from grater.rng import generator
from grater.tables import require_raters

Cluster: TypeAlias = Literal["item", "essay", "document", "rater"]
RESAMPLES = 1000
DECIMALS = 9
ODD = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, slots=True)
class Chance:
    """What is drawn, how often, and from which seed."""

    cluster: Cluster = "item"
    n_resamples: int = RESAMPLES
    seed: int = 0
    level: float = 0.95


@dataclass(frozen=True, slots=True, eq=False)
class Units:
    """What is drawn: distinct rows of counts and how many units have each."""

    rows: Numbers
    times: Ints

    @property
    def n(self) -> int:
        return int(self.times.sum())

    @property
    def sums(self) -> Numbers:
        sums: Numbers = self.times @ self.rows
        return sums


def units_of(cases: Cases, truth: Truth, places: Ints, *, cluster: Cluster) -> Units:
    """The counts of all systems, side by side, of what is drawn."""
    flagged, values = cases.flagged[places], truth.values[places]
    first, pattern = distinct([*flagged.T, values])
    rows = cells(flagged[first], values[first]).reshape(len(first), 4 * len(cases.systems))
    if cluster in ("item", "rater"):
        return Units(rows, np.bincount(pattern, minlength=len(first)))
    group, names = cases.groups(cluster)
    of_clusters = [np.bincount(group[places], weights=column[pattern], minlength=len(names)) for column in rows.T]
    held = np.bincount(group[places], minlength=len(names)) > 0
    # Sums in another order of rows differ in their last digits, and must not make two patterns of one.
    sums = np.round(np.stack(of_clusters, axis=1)[held], DECIMALS)
    found, times = np.unique(sums, axis=0, return_counts=True)
    return Units(found.astype(np.float64), times)


def distinct(columns: Sequence[npt.NDArray[np.number]]) -> tuple[Ints, Ints]:
    """A row that shows each distinct combination, in the order of values, and the combination of every row."""
    pattern = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        values, code = np.unique(column, return_inverse=True)
        # Closed up after every column: the code never outgrows 64 bits.
        pattern = np.unique(pattern * len(values) + code, return_inverse=True)[1]
    first = np.zeros(int(pattern.max(initial=-1)) + 1, np.int64)
    first[pattern] = np.arange(len(pattern))
    return first, pattern


def resampled(units: Units, *, n_resamples: int, rng: np.random.Generator) -> Numbers:
    """Sums over units drawn with replacement, a row for each resample."""
    n_draws = n_resamples if units.n else 0
    shares = units.times / max(1, units.n)
    blocks = [rng.multinomial(units.n, shares, size=n) @ units.rows for n in _portions(n_draws, len(units.rows))]
    return np.concatenate([np.zeros((0, units.rows.shape[1])), *blocks])


def swapped(units: Units, *, n_resamples: int, rng: np.random.Generator) -> Numbers:
    """Sums over the units that change sides, each with probability one half."""
    blocks = [
        rng.binomial(units.times, 0.5, size=(n, len(units.rows))) @ units.rows
        for n in _portions(n_resamples, len(units.rows))
    ]
    return np.concatenate([np.zeros((0, units.rows.shape[1])), *blocks])


def resampled_raters(cases: Cases, truth: Truth, places: Ints, *, n_resamples: int, seed: int) -> Numbers:
    """The counts of all systems, the raters drawn with replacement; an item without a vote then counts nowhere."""
    if not truth.is_of_votes:
        raise UsageError(f"raters can be drawn for the share or the majority, not for the truth {truth.name}")
    require_raters(cases.judgments, "limits by rater")
    votes, errors = _by_rater(cases)
    flagged = cases.flagged[places]
    rng = generator(seed, "evaluate", "raters")
    sums = []
    n_raters = len(cases.raters)
    for n in _portions(n_resamples if n_raters else 0, len(cases)):
        weights = rng.multinomial(n_raters, np.full(n_raters, 1 / n_raters), size=n).T
        n_votes, n_error = votes @ weights, errors @ weights
        share = np.divide(n_error, n_votes, out=np.full(n_votes.shape, nan), where=n_votes > 0)[places]
        share = share if truth.is_graded else sides(share)
        sums += [_sum_of(flagged, column) for column in share.T]
    return np.stack(sums) if sums else np.zeros((0, flagged.shape[1] * 4))


def _sum_of(flagged: npt.NDArray[np.int8], share: Numbers) -> Numbers:
    known = ~np.isnan(share)
    sums: Numbers = cells(flagged[known], share[known]).sum(axis=0).ravel()
    return sums


def _by_rater(cases: Cases) -> tuple[coo_array, coo_array]:
    """Items x raters: who voted, and who voted for error; raters by what they said, not by their names."""
    rank = np.argsort(np.argsort(cases.items.to_numpy().astype(str))).astype(np.uint64)
    mixed = ((rank[cases.item] * np.uint64(2) + cases.is_error + np.uint64(1)) * ODD) >> np.uint64(12)
    content = np.zeros(len(cases.raters), np.uint64)
    np.add.at(content, cases.rater, mixed * mixed)
    place = np.argsort(np.argsort(content, kind="stable"))[cases.rater]
    shape = (len(cases), len(cases.raters))
    votes = coo_array((np.ones(len(place)), (cases.item, place)), shape=shape).tocsr()
    errors = coo_array((cases.is_error.astype(np.float64), (cases.item, place)), shape=shape).tocsr()
    return votes, errors


def _portions(n_resamples: int, width: int) -> Iterator[int]:
    at_once = max(1, MOST_WEIGHTS // max(1, width))
    for start in range(0, n_resamples, at_once):
        yield min(at_once, n_resamples - start)


def defined(drawn: Numbers, value: float) -> Numbers:
    """The draws that say something; none where the value itself is undefined."""
    return drawn[:0] if isnan(value) else drawn[~np.isnan(drawn)]
