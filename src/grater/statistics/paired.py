"""Paired tests between systems that did the same work: could the difference of two scores be chance?

`bootstrap` resamples units (Efron & Tibshirani 1993, chapter 16).  The difference has the interval of its resamples,
and p is twice the share of resamples on the far side of 0, for few units on the scale of Student's t, as the interval
is: p < .05 where the interval leaves 0 out.
`randomisation` (Noreen 1989; Yeh 2000) swaps the two systems' counts of a unit with probability one half; p is the
share of swaps that give a difference at least as large.  Both count the observed data as one more draw, so p is never
0: Phipson & Smyth 2010.  A draw that gives exactly 0 counts half to each side.

Between many systems p is Holm's (`grater.statistics.multiple`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import isnan, nan
from typing import Literal, TypeAlias

import numpy as np

from grater.model import Interval, Json
from grater.statistics.intervals import LEVEL, Numbers, contracted_tail, percentile_interval
from grater.statistics.multiple import holm

Test: TypeAlias = Literal["bootstrap", "randomisation"]
Score: TypeAlias = Callable[[Numbers], Numbers]
"""From sums in the last axis to one number: shape (..., k) gives (...)."""


@dataclass(frozen=True, slots=True)
class PairTest:
    """The first system's score less the second's; `p` by test, and `holm` the same adjusted for all pairs."""

    first: str
    second: str
    difference: Interval
    p: dict[Test, float]
    holm: dict[Test, float]

    def to_dict(self) -> dict[str, Json]:
        tests = {
            name: {"p": _number(self.p[name]), "p_holm": _number(self.holm[name])}
            for name in ("bootstrap", "randomisation")
        }
        return {"systems": [self.first, self.second], "difference": self.difference.as_json(), **tests}


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """What the tests need: scores as observed and as drawn, sums as observed, and sums of the units that are swapped.

    Shapes are (systems,) for `values`, (resamples, systems) for the scores `drawn`, (systems, k) for `sums` and
    (swaps, systems, k) for `swapped`.
    """

    names: Sequence[str]
    n_units: int
    values: Numbers
    drawn: Numbers
    sums: Numbers
    swapped: Numbers


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
    return percentile_interval(value, systems.drawn[:, first] - systems.drawn[:, second], n_units=systems.n_units)


def _bootstrap_p(systems: Drawn, first: int, second: int) -> float:
    differences = systems.drawn[:, first] - systems.drawn[:, second]
    if systems.n_units < 2 or not differences.size:
        return nan
    n_zero = float((differences == 0).sum()) / 2
    n_beyond = min(float((differences < 0).sum()), float((differences > 0).sum())) + n_zero
    return 2 * contracted_tail((1 + n_beyond) / (1 + len(differences)), systems.n_units)


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

    All pairs of so many systems are compared, or `n_pairs` of them.
    """
    if n_pairs is None:
        n_pairs = n_systems * (n_systems - 1) // 2
    return int(np.ceil(2 * n_pairs / (1 - level)))


def _number(value: float) -> float | None:
    return None if isnan(value) else value
