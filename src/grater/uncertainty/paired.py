"""Paired tests between systems that did the same work: could the difference of two scores be chance?

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

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import erfc, hypot, isnan, nan, sqrt
from string import ascii_lowercase, ascii_uppercase
from typing import Literal, TypeAlias

import numpy as np

from grater.errors import UsageError
from grater.model import Interval
from grater.result import HIDDEN, Data, in_json
from grater.uncertainty.intervals import (
    LEVEL,
    Numbers,
    are_alike,
    contracted_tail,
    percentile_interval,
    student_interval,
    student_quantile,
    student_spread,
    unseen_share,
)

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
