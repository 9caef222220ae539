"""Precision, recall and F of detectors against one truth, and against each rater in turn.

T&C 2008, 5.2 and Table 4, finds that the same system gains or loses ten points of precision with the rater it is
held against; `each_rater` shows that for every rater, and `spread` how far apart they are.

Limits: Wilson for precision, recall and the error rate where items are drawn and the truth is yes or no; the
bootstrap of `draws.py` otherwise, and for F; Student's t where raters alone are drawn, for there are few (`few.py`).
Kappa has the limits of `grater.agreement` where counts are whole.  Where every resample is alike (all flags right), a
bootstrap has no width, which nobody believes: Wilson's limits of the number of units that speak take its place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan, nan
from statistics import fmean, stdev

import numpy as np

from grater.agreement.cohen import cohen_kappa
from grater.agreement.confusion import confusion
from grater.evaluate.cases import Cases, Truths
from grater.evaluate.compare import limits
from grater.evaluate.counts import CELLS, REASONS, SCORES, SHARES, Counts, below, scores
from grater.evaluate.draws import Chance, defined, drawn_sums, units_of
from grater.evaluate.few import SHARE, student_limits
from grater.evaluate.resampling import Numbers
from grater.evaluate.truth import Truth
from grater.intervals.wilson import wilson
from grater.model import Interval
from grater.rng import generator
from grater.tables import require_raters

MOST_RATERS = 40
"""Raters whose F gets limits."""


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """One system against one truth: `n` items, all `SCORES`, and what made them."""

    system: str
    n: int
    counts: Counts
    scores: dict[str, Interval]

    def __getitem__(self, name: str) -> Interval:
        return self.scores[name]


@dataclass(frozen=True, slots=True)
class Spread:
    """A score over raters: lowest, highest, mean and standard deviation."""

    n_raters: int
    low: float
    high: float
    mean: float
    sd: float


def against(cases: Cases, truth: Truth, *, chance: Chance, where: Truths | None = None) -> list[Scored]:
    """Every system against the truth, on the items that it knows and `where` allows."""
    wanted = ~np.isnan(truth.values)
    places = np.flatnonzero(wanted if where is None else wanted & where)
    units = units_of(cases, truth, places, unit=chance.unit)
    shape = (len(cases.systems), len(CELLS))
    drawn = drawn_sums(cases, truth, places, units, chance=chance)
    sums = units.sums.reshape(shape)
    numbers = scores(drawn.sums.reshape(-1, *shape))
    n_items = (cases.flagged[places] >= 0).sum(axis=0)
    is_plain = chance.cluster == "item" and not truth.is_graded
    return [
        _scored(system, int(n_items[place]), sums[place], numbers[:, place], drawn.n_units, chance, is_plain=is_plain)
        for place, system in enumerate(cases.systems)
    ]


def _scored(
    system: str, n: int, sums: Numbers, drawn: Numbers, n_units: int, chance: Chance, *, is_plain: bool
) -> Scored:
    counts = Counts(*sums.tolist())
    values = scores(sums)
    found = {
        name: _interval(name, float(values[place]), counts, drawn[:, place], n_units, chance, is_plain=is_plain)
        for place, name in enumerate(SCORES)
    }
    return Scored(system, n, counts, found)


def _interval(
    name: str, value: float, counts: Counts, drawn: Numbers, n_units: int, chance: Chance, *, is_plain: bool
) -> Interval:
    if isnan(value):
        return Interval(nan, nan, nan, REASONS[name])
    if is_plain and name in SHARES:
        return wilson(value * below(name, counts), below(name, counts), level=chance.level)
    if is_plain and name == "kappa" and (counts.row() % 1 == 0).all():
        return _kappa(counts, chance)
    if chance.cluster == "rater":
        ends = (-1.0, 1.0) if name == "kappa" else SHARE
        return student_limits(value, defined(drawn, value), n_units=n_units, level=chance.level, ends=ends)
    found = limits(value, defined(drawn, value), n_units=n_units, level=chance.level)
    if found.low == found.high and name in SHARES and chance.unit:
        n = min(below(name, counts), n_units)
        flat = wilson(value * n, n, level=chance.level)
        return Interval(value, min(flat.low, value), max(flat.high, value))
    return found


def _kappa(counts: Counts, chance: Chance) -> Interval:
    table = confusion([[counts.hit, counts.false_alarm], [counts.miss, counts.correct_rejection]], ("error", "ok"))
    rng = generator(chance.seed, "evaluate", "kappa")
    n_resamples = chance.n_resamples
    return cohen_kappa(table, rng=rng, method="bootstrap", n_resamples=n_resamples, level=chance.level)


def each_rater(cases: Cases, *, chance: Chance, where: Truths | None = None) -> dict[str, list[Scored]]:
    """Every system against each rater by name, on the items that the rater judged; limits are by item."""
    require_raters(cases.judgments, "results by rater")
    tables = _by_rater(cases, where)
    with_draws = len(cases.raters) <= MOST_RATERS
    return {
        rater: [
            _of_rater(system, tables[at, place], chance, with_draws) for place, system in enumerate(cases.systems)
        ]
        for at, rater in enumerate(cases.raters)
    }


def _by_rater(cases: Cases, where: Truths | None) -> Numbers:
    """(raters, systems, 4): the counts against each rater."""
    kept = slice(None) if where is None else where[cases.item]
    item, rater, is_ok = cases.item[kept], cases.rater[kept], ~cases.is_error[kept]
    n_raters, n_cells = len(cases.raters), len(CELLS)
    tables = np.zeros((n_raters, len(cases.systems), n_cells))
    for place, flags in enumerate(cases.flagged.T):
        mark = flags[item]
        cell = rater.astype(np.int64) * n_cells + 2 * (mark == 0) + is_ok
        found = np.bincount(cell[mark >= 0], minlength=n_raters * n_cells)
        tables[:, place] = found.reshape(n_raters, n_cells)
    return tables


def _of_rater(system: str, sums: Numbers, chance: Chance, with_draws: bool) -> Scored:
    n = int(sums.sum())
    n_resamples = chance.n_resamples if with_draws and n else 0
    rng = generator(chance.seed, "evaluate", "rater")
    drawn = scores(rng.multinomial(n, sums / max(1, n), size=n_resamples).astype(np.float64))
    return _scored(system, n, sums, drawn, n, chance, is_plain=True)


def spread(of_raters: Sequence[Interval]) -> Spread:
    """How far a score moves with the rater; raters for whom it is undefined take no part."""
    values = [score.value for score in of_raters if not isnan(score.value)]
    if not values:
        return Spread(0, nan, nan, nan, nan)
    return Spread(len(values), min(values), max(values), fmean(values), stdev(values) if len(values) > 1 else nan)
