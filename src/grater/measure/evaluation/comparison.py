"""Detectors against each other on the same items: McNemar, paired bootstrap, randomisation, rank groups.

Only items that every system decided on and that have a truth take part; the others are counted.  Resamples are those
of `standard.py`: essays with all their items where they are known, else items; all systems share them, so
differences are paired.  Swaps of the randomisation test are of whole essays, too.  With fewer than 20 essays the
bootstrap's p and interval are Student's t.  McNemar's test, under its name, looks at items one by one and at right
and wrong only: where errors cluster it rejects too often.

Systems that decided on *different* items are not ranked: `different.py` stands beside, or in place of, the paired
tests.  Rank groups are for systems with common items alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import isnan

import numpy as np

from grater.errors import UnknownName, UsageError
from grater.measure.evaluation.cases import (
    ADJUDICATED,
    CELLS,
    SCORES,
    Cases,
    Counts,
    Truth,
    Truths,
    below,
    cases_of,
    each_score,
    graded,
    only,
    scores,
    sides,
    truth_of,
)
from grater.measure.evaluation.different import Different, different_data
from grater.measure.evaluation.evaluation import (
    EvaluationOptions,
    correction_of,
    parts_by,
    scope_of_cases,
    signature_of,
)
from grater.measure.evaluation.rater_error import Correction, corrected_scores
from grater.measure.evaluation.standard import (
    Scored,
    against,
    discordant,
    drawn_sums,
    effects_note,
    is_clustered,
    narrowing,
    of_systems,
    settled,
    units_of,
    with_words,
)
from grater.model import Json
from grater.registry import unknown
from grater.result import FLAT, HIDDEN, OPTIONAL, Data, Estimate, Result, in_json, key
from grater.sheet import Sheet, counted, interval, p_value, undefined_notes
from grater.signature import Signature
from grater.tables import Judgments, Table
from grater.uncertainty.bootstrap import (
    Chance,
    Drawn,
    McNemar,
    PairTest,
    Test,
    holm,
    paired_tests,
    rank_groups,
    resamples_needed,
    student_tests,
    swap_units,
)
from grater.uncertainty.intervals import FEW_UNITS, LEVEL, Ints, Numbers, Scope, generator

SHOWN = ("precision", "recall", "f0.5")
TITLES = ("precision", "recall", "F0.5")
MCNEMAR_BY_ITEM = (
    "McNemar treats items as independent, and rejects too often where errors cluster; the others resample {}s."
)


@dataclass(frozen=True, slots=True, eq=False)
class Pair(Data):
    """Two systems: the difference of their scores with two tests, and McNemar's test of their decisions."""

    test: PairTest = field(metadata=FLAT)
    mcnemar: McNemar = field(metadata=HIDDEN)
    mcnemar_holm: float = field(metadata=HIDDEN)

    @property
    @in_json("mcnemar")
    def _mcnemar(self) -> dict[str, Json]:
        return {**self.mcnemar.to_dict(), "mid_p_holm": self.mcnemar_holm}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Comparison(Result):
    """Systems from best to worst by `score`, with the letters of their rank groups, and every pair of them."""

    score: str
    systems: tuple[Scored, ...] = field(metadata=HIDDEN)
    groups: dict[str, str] = field(metadata=HIDDEN)
    pairs: tuple[Pair, ...]
    n_items: int
    n_left_out: int
    signature: Signature | None = field(default=None, metadata=key(write=str))
    parts: Mapping[str, Comparison] = field(default_factory=dict, metadata=OPTIONAL)
    warnings: tuple[str, ...] = field(default=(), metadata=HIDDEN)
    scope: Scope | None = field(default=None, metadata=OPTIONAL)
    different: Different | None = field(default=None, metadata=key("different_data", optional=True))

    @property
    @in_json("systems")
    def _systems(self) -> list[dict[str, Json]]:
        return [
            {"system": scored.system, "n": scored.n, **scored.as_json(), "group": self.groups.get(scored.system)}
            for scored in self.systems
        ]

    def estimates(self) -> Iterator[Estimate]:
        """The scores of each system, then the differences of every pair; parts below."""
        for name, part in {"": self, **self.parts}.items():
            for scored in part.systems:
                yield from each_score(scored.scores, part=name, system=scored.system, other="")
            for pair in part.pairs:
                difference = {part.score: pair.test.difference}
                yield from each_score(difference, part=name, system=pair.test.first, other=pair.test.second)

    def sheets(self) -> list[Sheet]:
        """Systems on common items, parts, and systems on different items, each with what its intervals speak of."""
        shown = [(sheet, self.scope) for sheet in (self._own_sheets("") if self.pairs else [])]
        shown += [(sheet, part.scope) for name, part in self.parts.items() for sheet in part._own_sheets(name)]
        each = self.scope.of_each if self.scope else None
        shown += [(sheet, each) for sheet in (self.different.sheets() if self.different else [])]
        effects = effects_note({scored.system: scored.design_effect for scored in self.systems})
        (first, scope), *more = shown
        first = replace(first, notes=(*first.notes, *([effects] if effects else [])))
        *sheets, last = [
            worded
            for sheet, scope in [(first, scope), *more]
            for worded in with_words([sheet], [scope.sentence] if scope else [])
        ]
        return [*sheets, replace(last, signature=str(self.signature or ""))]

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
        return [Sheet(title, columns, tuple(rows), notes=tuple(self._notes()), name="systems"), _pair_sheet(self)]

    def _notes(self) -> Iterator[str]:
        yield "Systems that share a letter cannot be told apart at 95 % (Holm)."
        if self.n_left_out:
            yield f"{self.n_left_out:,} items are left out: not judged, or not decided on by all."
        if self.signature and "correction" in self.signature.options:
            yield "Corrected for what raters get wrong; McNemar as judged."
        yield from undefined_notes(scored[name] for scored in self.systems for name in SHOWN)


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
    by_essay = comparison.scope is not None and comparison.scope.is_clustered
    notes = (MCNEMAR_BY_ITEM.format(comparison.scope.unit),) if by_essay and comparison.scope else ()
    title = f"Differences of {comparison.score}; p after Holm"
    return Sheet(title, columns, tuple(rows), notes=notes, name="pairs")


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
    require_score(score)
    options = options or EvaluationOptions()
    cases = cases_of(decisions, judgments, items=items, unknown=options.unknown, first=options.redundancy)
    require_systems(cases)
    truth = truth_of(cases, options.truth, gold=gold, seed=options.chance.seed)
    believed = replace(options, truth="share") if weighted and options.truth != ADJUDICATED else options
    correction = correction_of(judgments, gold, believed, merge=merge)
    truth = graded(cases, truth, seed=options.chance.seed) if weighted else truth
    chance, because = settled(options.chance, cases.columns.filter(~np.isnan(truth.values)))
    options = replace(options, chance=chance)
    named = {"weighted": "yes" if truth.is_graded else "no", **(correction.options if correction else {})}
    question = _Question(
        cases=cases,
        truth=truth,
        chance=chance,
        because=because,
        score=score,
        test=test,
        correction=correction,
        signature=signature_of(cases, options, what="compare", score=score, test=test, **named),
    )
    different = different_data(cases, truth, chance=chance, edges=options.edges)
    whole = question.whole(different)
    parts = {
        name: question.compared(where=where)
        for name, where in parts_by(cases, options.by).items()
        if is_comparable(cases, truth, where)
    }
    warnings = [*(whole.scope.warnings if whole.scope else ()), *too_few_resamples(len(cases.systems), chance)]
    warnings += different.warnings if different else ()
    return replace(whole, parts={**whole.parts, **parts}, warnings=tuple(warnings), different=different)


@dataclass(frozen=True, slots=True, eq=False)
class _Question:
    """What is asked of whom: the same for the whole, its parts, and systems that share their items."""

    cases: Cases
    truth: Truth
    chance: Chance
    because: str
    score: str
    test: Test
    correction: Correction | None
    signature: Signature

    def compared(self, *, where: Truths | None = None, columns: Sequence[int] = ()) -> Comparison:
        """Systems, all or by number, on the items that all of them decided on."""
        cases = of_systems(self.cases, columns) if columns else self.cases
        comparison = compare_systems(
            cases,
            self.truth,
            chance=self.chance,
            score=self.score,
            test=self.test,
            where=where,
            correction=self.correction,
        )
        common: Truths = np.asarray((cases.flagged >= 0).all(axis=1)) & (True if where is None else where)
        scope = scope_of_cases(cases, self.truth, self.chance, self.because, comparison.systems, where=common)
        return replace(comparison, signature=self.signature, scope=scope)

    def whole(self, different: Different | None) -> Comparison:
        """All systems on their common items; without one, each alone, and groups among those that share theirs."""
        cases, truth, chance = self.cases, self.truth, self.chance
        if different is None or is_comparable(cases, truth, np.ones(len(cases), bool)):
            return self.compared()
        systems = tuple(against(cases, truth, chance=chance))
        return Comparison(
            score=self.score,
            systems=systems,
            groups={},
            pairs=(),
            n_items=0,
            n_left_out=len(cases),
            signature=self.signature,
            parts={
                ", ".join(cases.systems[at] for at in columns): self.compared(columns=columns)
                for columns in different.same_items
                if len(columns) > 1
            },
            scope=scope_of_cases(cases, truth, chance, self.because, systems).of_each,
        )


def require_score(score: str) -> None:
    if score not in SCORES:
        raise UnknownName(unknown("score", score, list(SCORES)))


def require_systems(cases: Cases) -> None:
    if len(cases.systems) < 2:
        raise UsageError(f"expected at least two systems to compare, found only {cases.systems[0]}")


def too_few_resamples(n_systems: int, chance: Chance) -> Iterator[str]:
    """A warning where no p can fall below .05 after Holm's correction, whatever the systems did."""
    least = resamples_needed(n_systems)
    if chance.n_resamples < least:
        yield f"{chance.n_resamples} resamples cannot tell {n_systems} systems apart; use {least} or more"


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
    require_score(score)
    require_systems(cases)
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
    n_decided = int((here & (cases.flagged >= 0).all(axis=1)).sum())
    drawn = _drawn(cases, truth, places, order, chance, score, correction, n_decided)
    tests = paired_tests(drawn, lambda sums: _score(correction.seen(sums) if correction else sums, score))
    is_few = is_clustered(chance) and drawn.n_units < FEW_UNITS
    if chance.cluster == "rater" or is_few:
        tests = student_tests(tests, drawn)
    pairs = _pairs(cases, truth, common, order, tests)
    ranked = [scored[at] for at in order]
    apart = [(pair.test.first, pair.test.second) for pair in pairs if pair.test.holm[test] <= 1 - LEVEL]
    letters = rank_groups([scored.system for scored in ranked], apart)
    return Comparison(
        score=score,
        systems=tuple(ranked),
        groups=letters,
        pairs=tuple(pairs),
        n_items=len(places),
        n_left_out=int(here.sum()) - len(places),
    )


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
    n_decided: int,
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
    factor = 1.0 if chance.population == "wider" else narrowing(len(places), n_decided)
    drawn = values + factor * (drawn - values)
    # A draw in which a score is undefined says nothing, unless the score is undefined anyway.
    says = ~np.isnan(drawn[:, ~np.isnan(values)]).any(axis=1)
    return Drawn(
        names=[cases.systems[at] for at in order],
        n_units=resamples.n_units,
        values=values,
        drawn=drawn[says],
        sums=total,
        swapped=sides_changed.reshape(shape)[:, list(order)],
        n_cases=[_n_cases(score, Counts.of_row(row)) for row in total],
        ends=(-2.0, 2.0) if score == "kappa" else (-1.0, 1.0),
        is_census=factor == 0,
    )


def _n_cases(score: str, counts: Counts) -> float:
    """The cases that a score rests on; kappa rests on the scarcer of flags and errors."""
    return min(below(name, counts) for name in (("precision", "recall") if score == "kappa" else (score,)))


def _pairs(cases: Cases, truth: Truth, common: Truths, order: Sequence[int], tests: Sequence[PairTest]) -> list[Pair]:
    hard = Truth(truth.name, np.where(common, sides(truth.values), np.nan), is_graded=False)
    by_item = [discordant(cases, hard, first, second) for first, second in combinations(order, 2)]
    adjusted = holm([mcnemar.mid_p for mcnemar in by_item])
    return [Pair(test, mcnemar, p) for test, mcnemar, p in zip(tests, by_item, adjusted, strict=True)]
