"""Detectors against each other on the same items: McNemar, paired bootstrap, randomisation, rank groups.

Statistics.md, "Two systems".  Only items that every system decided on and that have a truth take part; the others
are counted.  Resamples are those of `draws.py`: items, or essays with all their items; all systems share them, so
differences are paired.  McNemar looks at items one by one and at right and wrong only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import isnan

import numpy as np

from grater.errors import UnknownName, UsageError
from grater.evaluate.cases import Cases, Truths, only
from grater.evaluate.counts import CELLS, SCORES, scores
from grater.evaluate.draws import discordant, drawn_sums, units_of
from grater.evaluate.rater_error import Correction, corrected_scores
from grater.evaluate.standard import Scored, against
from grater.evaluate.truth import Truth, sides
from grater.model import Json
from grater.registry import unknown
from grater.rng import generator
from grater.statistics.bootstrap import Chance, swap_units
from grater.statistics.intervals import LEVEL, Ints, Numbers
from grater.statistics.mcnemar import McNemar
from grater.statistics.multiple import holm, rank_groups
from grater.statistics.paired import Drawn, PairTest, Test, paired_tests
from grater.statistics.student_t import student_tests


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """Two systems: the difference of their scores with two tests, and McNemar's test of their decisions."""

    test: PairTest
    mcnemar: McNemar
    mcnemar_holm: float

    def as_json(self) -> dict[str, Json]:
        return {**self.test.as_json(), "mcnemar": {**self.mcnemar.as_json(), "mid_p_holm": self.mcnemar_holm}}


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """Systems from best to worst by `score`, with the letters of their rank groups, and every pair of them."""

    score: str
    systems: tuple[Scored, ...]
    groups: dict[str, str]
    pairs: tuple[Pair, ...]
    n_items: int
    n_left_out: int


def compare_systems(
    cases: Cases,
    truth: Truth,
    *,
    chance: Chance,
    score: str = "f0.5",
    test: Test = "bootstrap",
    where: Truths | None = None,
    correction: Correction | None = None,
) -> Comparison:
    """Every two systems on their common items; with a correction, after it."""
    if score not in SCORES:
        raise UnknownName(unknown("score", score, list(SCORES)))
    if len(cases.systems) < 2:
        raise UsageError(f"expected at least two systems to compare, found only {cases.systems[0]}")
    here = np.ones(len(cases), bool) if where is None else where
    common = here & (cases.flagged >= 0).all(axis=1) & ~np.isnan(truth.values)
    places = only(common)
    if correction and correction.raters.reason:
        raise UsageError(f"nothing can be corrected: {correction.raters.reason}; leave --gold out")
    if correction:
        scored = corrected_scores(cases, truth, correction, chance=chance, where=common)
    else:
        scored = against(cases, truth, chance=chance, where=common)
    order = sorted(range(len(scored)), key=lambda at: (-_rankable(scored[at][score].value), scored[at].system))
    drawn = _drawn(cases, truth, places, order, chance, score, correction)
    tests = paired_tests(drawn, lambda sums: _score(correction.seen(sums) if correction else sums, score))
    if chance.cluster == "rater":
        tests = student_tests(tests, drawn)
    pairs = _pairs(cases, truth, common, order, tests)
    ranked = [scored[at] for at in order]
    apart = [(pair.test.first, pair.test.second) for pair in pairs if pair.test.holm[test] <= 1 - LEVEL]
    letters = rank_groups([each.system for each in ranked], apart)
    return Comparison(score, tuple(ranked), letters, tuple(pairs), len(places), int(here.sum()) - len(places))


def is_comparable(cases: Cases, truth: Truth, where: Truths) -> bool:
    """Whether there is any item that all systems decided on and that has a truth."""
    return bool((where & (cases.flagged >= 0).all(axis=1) & ~np.isnan(truth.values)).any())


def _rankable(value: float) -> float:
    return -2.0 if isnan(value) else value  # an undefined score comes last; kappa may be as low as -1


def _score(sums: Numbers, score: str) -> Numbers:
    numbers: Numbers = scores(sums)[..., SCORES.index(score)]
    return numbers


def _drawn(
    cases: Cases,
    truth: Truth,
    places: Ints,
    order: Sequence[int],
    chance: Chance,
    score: str,
    correction: Correction | None,
) -> Drawn:
    units = units_of(cases, truth, places, unit=chance.unit)
    n_systems, n = len(cases.systems), chance.n_resamples
    shape = (-1, n_systems, len(CELLS))
    resamples = drawn_sums(cases, truth, places, units, chance=chance)
    sides_changed = swap_units(units, n_resamples=n, rng=generator(chance.seed, "evaluate", "swaps"))
    total = units.sums.reshape(n_systems, len(CELLS))[list(order)]
    sums = resamples.sums.reshape(shape)[:, list(order)]
    values = _score(correction.seen(total) if correction else total, score)
    drawn = _score(correction.drawn(sums, seed=chance.seed) if correction else sums, score)
    # A draw in which a score is undefined says nothing, unless the score is undefined anyway.
    says = ~np.isnan(drawn[:, ~np.isnan(values)]).any(axis=1)
    return Drawn(
        names=[cases.systems[at] for at in order],
        n_units=resamples.n_units,
        values=values,
        drawn=drawn[says],
        sums=total,
        swapped=sides_changed.reshape(shape)[:, list(order)],
    )


def _pairs(cases: Cases, truth: Truth, common: Truths, order: Sequence[int], tests: Sequence[PairTest]) -> list[Pair]:
    hard = Truth(truth.name, np.where(common, sides(truth.values), np.nan), is_graded=False)
    found = [discordant(cases, hard, first, second) for first, second in combinations(order, 2)]
    adjusted = holm([each.mid_p for each in found])
    return [Pair(test, each, p) for test, each, p in zip(tests, found, adjusted, strict=True)]
