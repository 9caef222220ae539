"""Paired tests between systems that did the same work.

Two tests of the same question, could the difference of two scores be chance:

`bootstrap` resamples units (Efron & Tibshirani 1993, chapter 16).  The difference has the limits of its resamples,
and p is twice the share of resamples on the far side of 0, so that p < .05 where the limits leave 0 out.
`randomisation` (Noreen 1989; Yeh 2000) swaps the two systems' counts of a unit with probability one half; p is the
share of swaps that give a difference at least as large.  Both count what was seen as one more draw, so p is never 0:
Phipson & Smyth 2010.  A draw that gives exactly 0 counts half to each side.

Between many systems p is Holm's (1979): all tests together err in one case of twenty at most.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import isnan, nan
from typing import Literal, TypeAlias

import numpy as np

from grater.model import Interval, Json
from grater.statistics.bootstrap import Numbers, expanded_tail
from grater.statistics.multiple import holm

Test: TypeAlias = Literal["bootstrap", "randomisation"]
Score: TypeAlias = Callable[[Numbers], Numbers]
"""From sums in the last axis to one number: shape (..., k) gives (...)."""

LEVEL = 0.95
TOO_FEW = "a single unit cannot be resampled"
NO_DRAWS = "no resample was drawn"


@dataclass(frozen=True, slots=True)
class PairTest:
    """The first system's score less the second's; `p` by test, and `holm` the same adjusted for all pairs."""

    first: str
    second: str
    difference: Interval
    p: dict[Test, float]
    holm: dict[Test, float]

    def as_json(self) -> dict[str, Json]:
        tests = {
            name: {"p": _number(self.p[name]), "p_holm": _number(self.holm[name])}
            for name in ("bootstrap", "randomisation")
        }
        return {"systems": [self.first, self.second], "difference": self.difference.as_json(), **tests}


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """What the tests need: scores as seen and as drawn, sums as seen, and sums of the units that change sides.

    Shapes are (systems,) for `values`, (resamples, systems) for the scores `drawn`, (systems, k) for `sums` and
    (swaps, systems, k) for `swapped`.
    """

    names: Sequence[str]
    n_units: int
    values: Numbers
    drawn: Numbers
    sums: Numbers
    swapped: Numbers


def percentile_interval(value: float, drawn: Numbers, *, n_units: int, level: float = LEVEL) -> Interval:
    """A score with the expanded percentiles of its resamples (`grater.statistics.bootstrap`)."""
    if n_units < 2 or isnan(value):
        return Interval(value, nan, nan, TOO_FEW if n_units else "there is nothing to score")
    if not drawn.size:
        return Interval(value, nan, nan, NO_DRAWS)
    tail = expanded_tail(n_units, level=level)
    low, high = np.quantile(drawn, [tail, 1 - tail])
    # Limits that a resample does not reach never exclude what was seen.
    return Interval(value, min(float(low), value), max(float(high), value))


def paired_tests(systems: Drawn, score: Score) -> list[PairTest]:
    """Every two systems, in the order given."""
    pairs = list(combinations(range(len(systems.names)), 2))
    p: dict[Test, list[float]] = {
        "bootstrap": [_bootstrap(systems, *pair) for pair in pairs],
        "randomisation": [_randomisation(systems, score, *pair) for pair in pairs],
    }
    adjusted = {name: holm(values) for name, values in p.items()}
    return [
        PairTest(
            systems.names[first],
            systems.names[second],
            _difference(systems, first, second),
            {name: values[place] for name, values in p.items()},
            {name: values[place] for name, values in adjusted.items()},
        )
        for place, (first, second) in enumerate(pairs)
    ]


def _difference(systems: Drawn, first: int, second: int) -> Interval:
    value = float(systems.values[first] - systems.values[second])
    return percentile_interval(value, systems.drawn[:, first] - systems.drawn[:, second], n_units=systems.n_units)


def _bootstrap(systems: Drawn, first: int, second: int) -> float:
    differences = systems.drawn[:, first] - systems.drawn[:, second]
    if systems.n_units < 2 or not differences.size:
        return nan
    # Past the expanded tail of few units lies less than a plain percentile would leave out; p keeps in step with it.
    tail = expanded_tail(systems.n_units, level=LEVEL)
    if tail == 0:  # two units: no resample lies so far out
        return 1.0
    stretch = (1 - LEVEL) / 2 / tail
    n_zero = float((differences == 0).sum()) / 2
    n_beyond = min(float((differences < 0).sum()), float((differences > 0).sum())) + n_zero
    return min(1.0, stretch * 2 * (1 + n_beyond) / (1 + len(differences)))


def _randomisation(systems: Drawn, score: Score, first: int, second: int) -> float:
    if systems.n_units < 2 or not len(systems.swapped):
        return nan
    moved = systems.swapped[:, second] - systems.swapped[:, first]
    differences = score(systems.sums[first] + moved) - score(systems.sums[second] - moved)
    seen = abs(float(score(systems.sums[first]) - score(systems.sums[second])))
    # Sums that are equal in truth may differ in the last bit of their scores.
    n_as_large = int((np.abs(differences) >= seen - 1e-12).sum())
    return (1 + n_as_large) / (1 + len(differences))


def resamples_needed(n_systems: int, *, level: float = LEVEL) -> int:
    """Resamples below which no pair of so many systems could be told apart after Holm, however far apart they are."""
    n_pairs = n_systems * (n_systems - 1) // 2
    return int(np.ceil(2 * n_pairs / (1 - level)))


def _number(value: float) -> float | None:
    return None if isnan(value) else value
