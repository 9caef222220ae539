"""Detectors against each other on the same items: McNemar, paired bootstrap, randomisation, rank groups.

Statistics.md, "Two systems".  Only items that every system decided on and that have a truth take part; the others
are counted.  Resamples are those of `draws.py`: items, or essays with all their items; all systems share them, so
differences are paired.  McNemar looks at items one by one and at right and wrong only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import isnan

import numpy as np
import polars as pl

from grater.errors import UnknownName, UsageError
from grater.evaluate.cases import Cases, Truths, cases_of, only
from grater.evaluate.counts import CELLS, SCORES, interval_rows, scores
from grater.evaluate.draws import discordant, drawn_sums, resampling_note, units_of
from grater.evaluate.evaluation import EvaluationOptions, correction_of, parts_by, signature_of
from grater.evaluate.rater_error import Correction, corrected_scores
from grater.evaluate.standard import Scored, against
from grater.evaluate.truth import ADJUDICATED, Truth, graded, sides, truth_of
from grater.model import Json
from grater.registry import unknown
from grater.result import Result
from grater.rng import generator
from grater.sheet import Sheet, counted, interval, p_value
from grater.signature import Signature
from grater.statistics.bootstrap import Chance, swap_units
from grater.statistics.intervals import LEVEL, Ints, Numbers
from grater.statistics.mcnemar import McNemar
from grater.statistics.multiple import holm, rank_groups
from grater.statistics.paired import Drawn, PairTest, Test, paired_tests, resamples_needed
from grater.statistics.student_t import student_tests
from grater.tables import Judgments, Table

SHOWN = ("precision", "recall", "f0.5")
TITLES = ("precision", "recall", "F0.5")


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """Two systems: the difference of their scores with two tests, and McNemar's test of their decisions."""

    test: PairTest
    mcnemar: McNemar
    mcnemar_holm: float

    def to_dict(self) -> dict[str, Json]:
        return {**self.test.as_json(), "mcnemar": {**self.mcnemar.as_json(), "mid_p_holm": self.mcnemar_holm}}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Comparison(Result):
    """Systems from best to worst by `score`, with the letters of their rank groups, and every pair of them."""

    score: str
    systems: tuple[Scored, ...]
    groups: dict[str, str]
    pairs: tuple[Pair, ...]
    n_items: int
    n_left_out: int
    signature: Signature | None = None
    parts: Mapping[str, Comparison] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Json]:
        systems: list[Json] = [
            {"system": scored.system, "n": scored.n, **scored.to_dict(), "group": self.groups[scored.system]}
            for scored in self.systems
        ]
        return {
            "score": self.score,
            "items": self.n_items,
            "left_out": self.n_left_out,
            "systems": systems,
            "pairs": [pair.to_dict() for pair in self.pairs],
            "signature": str(self.signature),
            **({"parts": {name: part.to_dict() for name, part in self.parts.items()}} if self.parts else {}),
        }

    def to_frame(self) -> pl.DataFrame:
        """One number per row: the scores of each system, then the differences of every pair; parts below."""
        return pl.DataFrame([row for name, part in {"": self, **self.parts}.items() for row in part._rows(name)])

    def _rows(self, part: str) -> Iterator[dict[str, str | float]]:
        for scored in self.systems:
            yield from interval_rows(scored.scores, part=part, system=scored.system, other="")
        for pair in self.pairs:
            difference = {self.score: pair.test.difference}
            yield from interval_rows(difference, part=part, system=pair.test.first, other=pair.test.second)

    def sheets(self) -> list[Sheet]:
        return [sheet for name, part in {"": self, **self.parts}.items() for sheet in part._own_sheets(name)]

    def _own_sheets(self, part: str) -> list[Sheet]:
        heading = f"{part}: " if part else ""
        title = (
            f"{heading}{len(self.systems)} systems on {counted(self.n_items, 'common item')}, best {self.score} first"
        )
        columns = ("", *TITLES, *([self.score] if self.score not in SHOWN else []), "group")
        shown = (*SHOWN, *([self.score] if self.score not in SHOWN else []))
        rows = [
            (scored.system, *(interval(scored[name]) for name in shown), self.groups[scored.system])
            for scored in self.systems
        ]
        systems = Sheet(title, columns, tuple(rows), notes=tuple(self._notes()), name="systems")
        signature = str(self.signature) if self.signature else ""
        pairs = replace(_pair_sheet(self), signature=signature)
        return [systems, replace(pairs, notes=(resampling_note(self.signature),)) if self.signature else pairs]

    def _notes(self) -> Iterator[str]:
        yield "Systems that share a letter cannot be told apart at 95 % (Holm)."
        if self.n_left_out:
            yield f"{self.n_left_out:,} items are left out: not judged, or not decided on by all."
        if self.signature and "correction" in self.signature.options:
            yield "Corrected for what raters get wrong; McNemar as judged."


def _pair_sheet(comparison: Comparison) -> Sheet:
    rows = [
        (
            f"{pair.test.first} – {pair.test.second}",
            interval(pair.test.difference),
            p_value(pair.test.holm["bootstrap"]),
            p_value(pair.test.holm["randomisation"]),
            f"{pair.mcnemar.first:,} : {pair.mcnemar.second:,}",
            p_value(pair.mcnemar_holm),
        )
        for pair in comparison.pairs
    ]
    columns = ("", "difference", "bootstrap p", "randomisation p", "only one right", "McNemar mid-p")
    return Sheet(f"Differences of {comparison.score}; p after Holm", columns, tuple(rows), name="pairs")


def compare(
    decisions: Table,
    judgments: Judgments,
    *,
    items: Table | None = None,
    gold: Table | None = None,
    merge: Mapping[str, str] | None = None,
    options: EvaluationOptions | None = None,
    score: str = "f0.5",
    weighted: bool = False,
    test: Test = "bootstrap",
) -> Comparison:
    """Every two systems of the decisions, on all items and on parts of them; gold is as in `evaluate`."""
    options = options or EvaluationOptions()
    chance = options.chance
    cases = cases_of(decisions, judgments, items=items, unknown=options.unknown, first=options.redundancy)
    truth = truth_of(cases, options.truth, gold=gold, seed=chance.seed)
    believed = replace(options, truth="share") if weighted and options.truth != ADJUDICATED else options
    correction = correction_of(judgments, gold, believed, merge=merge)
    truth = graded(cases, truth, seed=chance.seed) if weighted else truth
    named = {"weighted": "yes" if truth.is_graded else "no", **(correction.options if correction else {})}
    signature = signature_of(cases, options, what="compare", score=score, test=test, **named)

    def compared(where: Truths | None = None) -> Comparison:
        own = compare_systems(cases, truth, chance=chance, score=score, test=test, where=where, correction=correction)
        return replace(own, signature=signature)

    parts = {
        name: compared(where)
        for name, where in parts_by(cases, options.by).items()
        if is_comparable(cases, truth, where)
    }
    return replace(compared(), parts=parts, warnings=tuple(_too_few_resamples(len(cases.systems), chance)))


def _too_few_resamples(n_systems: int, chance: Chance) -> Iterator[str]:
    least = resamples_needed(n_systems)
    if chance.n_resamples < least:
        yield f"{chance.n_resamples} resamples cannot tell {n_systems} systems apart; take {least} or more"


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
    if correction and correction.raters.undefined_because:
        raise UsageError(f"nothing can be corrected: {correction.raters.undefined_because}; compare without gold")
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
    letters = rank_groups([scored.system for scored in ranked], apart)
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
    by_item = [discordant(cases, hard, first, second) for first, second in combinations(order, 2)]
    adjusted = holm([mcnemar.mid_p for mcnemar in by_item])
    return [Pair(test, mcnemar, p) for test, mcnemar, p in zip(tests, by_item, adjusted, strict=True)]
