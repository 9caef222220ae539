"""Resamples of cases: by item, by essay or document, by rater, or by both at once.

Items enter a score only through their *pattern* (who flagged them, how true they are), so a million items are a few
hundred patterns, and a resample is a draw of pattern weights (statistics.md, "Agreement").  Patterns are in the
order of their values, never of rows: neither the order of a file nor the names of items change a limit.  Clusters
are drawn whole, with the sums of their items.  Raters are drawn with all their votes, the items held fast: limits
then say how far other raters of the same kind would move the number; raters stand in the order of what they said.
With `item+rater` (or `essay+rater`, `document+rater`) items and raters are drawn again together, each by itself: the
pigeonhole bootstrap (Owen 2007, Annals of Applied Statistics 1, 386-411), which is a little too wide by design.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array

from grater.errors import UsageError
from grater.evaluate.cases import Cases
from grater.evaluate.counts import cells
from grater.evaluate.resampling import Ints, Numbers
from grater.evaluate.truth import Truth, sides
from grater.evaluate.votes import Votes, share_of
from grater.intervals.bootstrap import MOST_WEIGHTS
from grater.rng import generator
from grater.tables import require_raters

Cluster: TypeAlias = Literal["item", "essay", "document", "rater", "item+rater", "essay+rater", "document+rater"]
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

    @property
    def unit(self) -> str:
        """What is drawn beside raters: item, essay or document; nothing where only raters are."""
        return self.cluster.removesuffix("rater").removesuffix("+")

    @property
    def with_raters(self) -> bool:
        return self.cluster.endswith("rater")


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


def units_of(cases: Cases, truth: Truth, places: Ints, *, unit: str) -> Units:
    """The counts of all systems, side by side, of what is drawn."""
    flagged, values = cases.flagged[places], truth.values[places]
    first, pattern = distinct([*flagged.T, values])
    rows = cells(flagged[first], values[first]).reshape(len(first), 4 * len(cases.systems))
    if unit in ("item", ""):
        return Units(rows, np.bincount(pattern, minlength=len(first)))
    group, names = cases.clusters(unit)
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


@dataclass(frozen=True, slots=True, eq=False)
class Resamples:
    """The sums of all systems' counts, a row for each resample, and how many units they were drawn from."""

    sums: Numbers
    n_units: int


def drawn_sums(cases: Cases, truth: Truth, places: Ints, units: Units, *, chance: Chance) -> Resamples:
    """The counts of all systems in every resample, whatever is drawn; `units` are those of `chance.unit`."""
    if chance.with_raters:
        sums = resampled_raters(cases, truth, places, chance=chance)
        # The scarcer kind decides how far limits are expanded: there are hundreds of items and a handful of raters.
        n_units = min(len(cases.raters), units.n) if chance.unit else len(cases.raters)
        return Resamples(sums, n_units)
    rng = generator(chance.seed, "evaluate", chance.cluster)
    return Resamples(resampled(units, n_resamples=chance.n_resamples, rng=rng), units.n)


def resampled_raters(cases: Cases, truth: Truth, places: Ints, *, chance: Chance) -> Numbers:
    """The counts of all systems, the raters drawn with replacement; an item without a vote then counts nowhere."""
    require_drawable(cases, truth)
    # Items by name, not by row: what is drawn for an item does not depend on the order of a file.
    places = places[np.argsort(cases.items.gather(places).to_numpy().astype(str), kind="stable")]
    flagged, weigh = cases.flagged[places], _unit_weights(cases, places, chance)
    blocks = [
        _sums_of(flagged, shares[places], weigh(shares.shape[1]))
        for shares in rater_shares(cases, truth, n_resamples=chance.n_resamples, seed=chance.seed)
    ]
    return np.concatenate([np.zeros((0, flagged.shape[1] * 4)), *blocks])


def require_drawable(votes: Votes, truth: Truth) -> None:
    """Raters can be drawn where the truth is made of their votes and they have names."""
    if not truth.is_of_votes:
        raise UsageError(f"raters can be drawn for the share or the majority, not for the truth {truth.name}")
    require_raters(votes.judgments, "limits by rater")


def rater_shares(votes: Votes, truth: Truth, *, n_resamples: int, seed: int) -> Iterator[Numbers]:
    """How true each item is to raters drawn with replacement, in blocks of items x resamples; nan without a vote."""
    n_votes, n_error = _by_rater(votes.equal if truth.is_graded else votes)
    n_raters, rng = len(votes.raters), generator(seed, "evaluate", "raters")
    for n in _portions(n_resamples if n_raters else 0, len(votes)):
        weights = rng.multinomial(n_raters, np.full(n_raters, 1 / n_raters), size=n).T
        share = share_of(n_error @ weights, n_votes @ weights)
        yield share if truth.is_graded else sides(share)


def _unit_weights(cases: Cases, places: Ints, chance: Chance) -> Callable[[int], Numbers | None]:
    """How often each item is drawn, for as many resamples as asked: items x resamples."""
    if not chance.unit or not places.size:
        return lambda n: None  # noqa: ARG005 (the items held fast, or none at all)
    rng = generator(chance.seed, "evaluate", "units", chance.cluster)
    group = np.arange(len(places)) if chance.unit == "item" else cases.clusters(chance.unit)[0][places]
    held, unit = np.unique(group, return_inverse=True)
    shares = np.full(len(held), 1 / max(1, len(held)))
    return lambda n: rng.multinomial(len(held), shares, size=n).T[unit].astype(np.float64)


def _sums_of(flagged: npt.NDArray[np.int8], share: Numbers, weights: Numbers | None) -> Numbers:
    """Resamples x (systems x 4) from items x resamples; an item whose truth is nan counts nowhere."""
    counted = ~np.isnan(share) * (1.0 if weights is None else weights)
    errors = np.where(counted > 0, share, 0.0) * counted
    is_flagged, is_passed = ((flagged == mark).astype(np.float64).T for mark in (1, 0))
    hit, miss = is_flagged @ errors, is_passed @ errors
    cells_of = [hit, is_flagged @ counted - hit, miss, is_passed @ counted - miss]
    return np.stack(cells_of, axis=-1).transpose(1, 0, 2).reshape(share.shape[1], -1)


def _by_rater(votes: Votes) -> tuple[coo_array, coo_array]:
    """Items x raters: who voted, and who voted for error; raters by what they said, not by their names."""
    rank = np.argsort(np.argsort(votes.items.to_numpy().astype(str))).astype(np.uint64)
    mixed = ((rank[votes.item] * np.uint64(2) + votes.is_error + np.uint64(1)) * ODD) >> np.uint64(12)
    content = np.zeros(len(votes.raters), np.uint64)
    np.add.at(content, votes.rater, mixed * mixed)
    place = np.argsort(np.argsort(content, kind="stable"))[votes.rater]
    shape = (len(votes), len(votes.raters))
    n_votes = coo_array((np.ones(len(place)), (votes.item, place)), shape=shape).tocsr()
    n_error = coo_array((votes.is_error.astype(np.float64), (votes.item, place)), shape=shape).tocsr()
    return n_votes, n_error


def _portions(n_resamples: int, width: int) -> Iterator[int]:
    at_once = max(1, MOST_WEIGHTS // max(1, width))
    for start in range(0, n_resamples, at_once):
        yield min(at_once, n_resamples - start)


def defined(drawn: Numbers, value: float) -> Numbers:
    """The draws that say something; none where the value itself is undefined."""
    return drawn[:0] if isnan(value) else drawn[~np.isnan(drawn)]
