"""What is resampled for the intervals of scores, what they are then about, and the resamples themselves.

Errors cluster in essays, so essays are drawn where they are known (`auto`): the `essay` of the items table, or its
`document` where essays are only the sentences of documents, as in M2.  Items are drawn one by one where no essay is
known, where all are of one essay, where no two are of the same, and where the population is exactly this corpus
(`these`): then only the choice of the judged items is chance.  `Scope` says so in words.

**Design effects.**  To first order a score is a sum over items of their influences (the gradient of the score at the
observed counts times the item's own counts); the design effect compares the variance of that sum over essays with
that over items (`grater.uncertainty.population`).  The gradient is numerical: one rule for precision, recall, F and
kappa.

**Resamples** are by item, by essay or document, by rater, or by both at once.  Items enter a score only through their
*pattern* (who flagged them, how true they are), so a million items are a few hundred patterns, and a resample is a
draw of pattern weights (statistics.md, "Agreement").  Patterns are in the order of their values, never of rows:
neither the order of a file nor the names of items change an interval.  Clusters are drawn whole, with the sums of
their items.  Raters are drawn with all their votes, the items held fast: intervals then say how far other raters of
the same kind would move the number; raters stand in the order of what they said. With `item+rater` (or `essay+rater`,
`document+rater`) items and raters are drawn again together, each by itself: the pigeonhole bootstrap (Owen 2007,
Annals of Applied Statistics 1, 386-411), which is a little too wide by design.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import isnan, nan, sqrt
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from grater.errors import UsageError
from grater.measure.agreement.coded import Codes
from grater.measure.evaluation.cases import Cases, Votes, share_of
from grater.measure.evaluation.counts import CELLS, SCORES, cells, scores
from grater.measure.evaluation.truth import Truth, sides
from grater.sheet import Sheet
from grater.tables import require_raters
from grater.uncertainty.bootstrap import Chance, UnitCounts, distinct, patterns, portions, resample_units
from grater.uncertainty.intervals import Numbers
from grater.uncertainty.paired import McNemar, mcnemar
from grater.uncertainty.population import AS_ASKED, ESSAYS_UNKNOWN, Scope, effective_units, variance_ratio
from grater.uncertainty.rng import generator

Unit: TypeAlias = Literal["item", "essay", "document"]

STEP = 1e-4
SHOWN = {"precision": "precision", "recall": "recall", "f0.5": "F0.5"}
"""The scores whose design effects are printed."""
DECIMALS = 9
ODD = np.uint64(0x9E3779B97F4A7C15)


def settled(chance: Chance, columns: pl.DataFrame) -> tuple[Chance, str]:
    """What `auto` means for these items, one per row, and why they are drawn one by one where they are."""
    if chance.population == "these" and chance.with_raters:
        raise UsageError("exactly these items leave no room for other raters: draw items, essays or documents")
    if chance.cluster != "auto":
        return chance, AS_ASKED if chance.cluster == "item" else ""
    if chance.population == "these":
        return replace(chance, cluster="item"), ""
    unit, because = unit_of_items(columns)
    return replace(chance, cluster=unit), because


def unit_of_items(columns: pl.DataFrame) -> tuple[Unit, str]:
    """The unit that items are drawn in, and the reason where it is the item."""
    units: dict[Unit, int] = {}
    because = ESSAYS_UNKNOWN
    names: tuple[Unit, ...] = ("essay", "document")
    for name in names:
        if name not in columns.columns:
            continue
        known = columns[name].cast(pl.String).replace("", None)
        n_missing = known.null_count()
        if n_missing and name == "essay" and n_missing < len(columns):
            because = f"the essay of {n_missing:,} is not known"
        if not n_missing and len(columns):
            units[name] = known.n_unique()
    if not units:
        return "item", because
    unit: Unit = min(units, key=lambda name: (units[name], name == "document"))
    if units[unit] == 1:
        return "item", f"all of one {unit}"
    return ("item", f"each of another {unit}") if units[unit] == len(columns) else (unit, "")


def scope_of(chance: Chance, *, n_units: int, n_raters: int, because: str, effect: float = nan) -> Scope:
    """What intervals speak of; `n_units` counts what is drawn, or all items where the population is these."""
    return Scope(
        unit=chance.unit,
        n_units=n_units if chance.unit else 0,
        population=chance.population,
        design_effect=effect,
        n_raters=n_raters if chance.with_raters else 0,
        independent_because=because or AS_ASKED,
        level=chance.level,
    )


def narrowing(n_judged: int, n_decided: int) -> float:
    """How much narrower intervals are in a finite population: 0 where every item of it was judged."""
    if n_judged >= n_decided:
        return 0.0
    return sqrt((n_decided - n_judged) / (n_decided - 1))


def design_effects(of_items: UnitCounts, of_units: UnitCounts, sums: Numbers) -> dict[str, float]:
    """The design effect of each score of one system, from its counts by item, by unit and in all."""
    gradient = _gradient(sums)
    by_item, by_unit = of_items.rows @ gradient, np.repeat(of_units.rows @ gradient, of_units.times, axis=0)
    squares = of_items.times @ by_item**2
    return {
        name: variance_ratio(by_unit[:, column], float(squares[column]), n_items=of_items.n)
        for column, name in enumerate(SCORES)
    }


def _gradient(sums: Numbers) -> Numbers:
    """Counts x scores: how fast each score moves with each count; nan where it is undefined."""
    step = STEP * max(1.0, float(sums.sum()))
    shifts = step * np.eye(len(sums))
    slopes: Numbers = (scores(sums + shifts) - scores(np.maximum(sums - shifts, 0.0))) / (
        step + np.minimum(sums, step)[:, None]
    )
    return slopes


def with_words(sheets: Iterable[Sheet], words: Sequence[str]) -> list[Sheet]:
    """The tables, each one that has an interval with the words on what intervals speak of below it."""
    return [replace(sheet, notes=(*sheet.notes, *words)) if _has_interval(sheet) else sheet for sheet in sheets]


def _has_interval(sheet: Sheet) -> bool:
    return any("[" in cell for row in sheet.rows for cell in row)


def effects_note(effects: dict[str, dict[str, float]]) -> str:
    """The design effects of every system in a line; empty where there is none."""
    parts = []
    for system, of_scores in effects.items():
        shown = [
            f"{title} {of_scores[name]:.1f}" for name, title in SHOWN.items() if not isnan(of_scores.get(name, nan))
        ]
        if shown:
            parts.append(f"{system} {', '.join(shown)}")
    return f"Design effects: {'; '.join(parts)}." if parts else ""


def units_of(cases: Cases, truth: Truth, places: Codes, *, unit: str) -> UnitCounts:
    """The counts of all systems, side by side, of what is drawn."""
    n_columns = 4 * len(cases.systems)
    if unit in ("item", ""):
        kinds, times = patterns([*cases.flagged.T, truth.values], places)
        rows = cells(kinds[:, :-1].astype(np.int8), kinds[:, -1]).reshape(len(kinds), n_columns)
        return UnitCounts(rows, times)
    flagged, values = cases.flagged[places], truth.values[places]
    first, pattern = distinct([*flagged.T, values])
    rows = cells(flagged[first], values[first]).reshape(len(first), n_columns)
    group, names = cases.clusters(unit)
    of_clusters = [np.bincount(group[places], weights=column[pattern], minlength=len(names)) for column in rows.T]
    held = np.bincount(group[places], minlength=len(names)) > 0
    # Sums in another order of rows differ in their last digits, and must not make two patterns of one.
    sums = np.round(np.stack(of_clusters, axis=1)[held], DECIMALS)
    rows, times = np.unique(sums, axis=0, return_counts=True)
    return UnitCounts(rows.astype(np.float64), times)


@dataclass(frozen=True, slots=True, eq=False)
class Resamples:
    """The sums of all systems' counts, one row per resample, and the number of units they were drawn from."""

    sums: Numbers
    n_units: int
    n_effective: float = 0.0


def effective_number(units: UnitCounts, n_systems: int) -> float:
    """How many essays of one length these are worth."""
    lengths = units.rows.reshape(len(units.rows), n_systems, len(CELLS)).sum(axis=2).max(axis=1, initial=0)
    return effective_units(lengths, units.times)


def drawn_sums(cases: Cases, truth: Truth, places: Codes, units: UnitCounts, *, chance: Chance) -> Resamples:
    """The counts of all systems in every resample, whatever is drawn; `units` are those of `chance.unit`."""
    if chance.with_raters:
        sums = resampled_raters(cases, truth, places, chance=chance)
        # The scarcer kind decides how far intervals are expanded: there are many items and a handful of raters.
        n_units = min(len(cases.raters), units.n) if chance.unit else len(cases.raters)
        return Resamples(sums, n_units)
    rng = generator(chance.seed, "evaluate", chance.cluster)
    sums = resample_units(units, n_resamples=chance.n_resamples, rng=rng)
    return Resamples(sums, units.n, effective_number(units, len(cases.systems)))


def resampled_raters(cases: Cases, truth: Truth, places: Codes, *, chance: Chance) -> Numbers:
    """The counts of all systems, the raters drawn with replacement; an item without a vote then counts nowhere."""
    require_drawable(cases, truth)
    # Items by name, not by row: what is drawn for an item does not depend on the order of a file.
    places = places[np.argsort(cases.items.gather(places).cast(pl.String).to_numpy().astype(str), kind="stable")]
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
    require_raters(votes.judgments, "intervals by rater")


def rater_shares(votes: Votes, truth: Truth, *, n_resamples: int, seed: int) -> Iterator[Numbers]:
    """How true each item is to raters drawn with replacement, in blocks of items x resamples; nan without a vote."""
    n_votes, n_error = _by_rater(votes.equal if truth.is_graded else votes)
    n_raters, rng = len(votes.raters), generator(seed, "evaluate", "raters")
    for n in portions(n_resamples if n_raters else 0, len(votes)):
        weights = rng.multinomial(n_raters, np.full(n_raters, 1 / n_raters), size=n).T
        share = share_of(n_error @ weights, n_votes @ weights)
        yield share if truth.is_graded else sides(share)


def _unit_weights(cases: Cases, places: Codes, chance: Chance) -> Callable[[int], Numbers | None]:
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


def _by_rater(votes: Votes) -> tuple[Any, Any]:
    """Items x raters: who voted, and who voted for error; raters by what they said, not by their names."""
    from scipy.sparse import coo_array  # a fifth of a second that most commands need not wait for

    rank = np.argsort(np.argsort(votes.items.cast(pl.String).to_numpy().astype(str))).astype(np.uint64)
    mixed = ((rank[votes.item] * np.uint64(2) + votes.is_error + np.uint64(1)) * ODD) >> np.uint64(12)
    content = np.zeros(len(votes.raters), np.uint64)
    np.add.at(content, votes.rater, mixed * mixed)
    place = np.argsort(np.argsort(content, kind="stable"))[votes.rater]
    shape = (len(votes), len(votes.raters))
    n_votes = coo_array((np.ones(len(place)), (votes.item, place)), shape=shape).tocsr()
    n_error = coo_array((votes.is_error.astype(np.float64), (votes.item, place)), shape=shape).tocsr()
    return n_votes, n_error


def discordant(cases: Cases, truth: Truth, first: int, second: int) -> McNemar:
    """The test for two systems (by place) on the items that both decided on and that have an answer."""
    one, other = cases.flagged[:, first], cases.flagged[:, second]
    known = (one >= 0) & (other >= 0) & np.isin(truth.values, (0.0, 1.0))
    differ = known & (one != other)
    is_first_right = one[differ] == truth.values[differ]
    n_first = int(is_first_right.sum())
    return mcnemar(n_first, int(differ.sum()) - n_first)
