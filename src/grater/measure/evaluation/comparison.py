"""Detectors compared on the same items: paired tests, rank groups, and other tests on request.

Only items that every system decided on and that have a truth are compared; the others are counted. The difference of
two systems, its interval and its p rest on the influence of each essay (or item); p has Holm's correction over all
pairs, and systems that do not differ significantly share a letter. With a sample, all estimates are for the corpus.
Randomisation by essay runs on request; McNemar's test is also given, but treats items as independent and rejects too
often if errors cluster.

Systems that decided on *different* items are not ranked (`different.py`), nor are systems whose score the design
withholds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations
from math import isnan, nan
from typing import Literal, TypeAlias

import numpy as np

from grater.errors import UnknownName, UsageError, unknown
from grater.measure.evaluation.cases import (
    ADJUDICATED,
    SCORES,
    Cases,
    Truth,
    Truths,
    each_score,
    flag_lists,
    graded,
    only,
    score_of,
    sides,
    without_own_work,
)
from grater.measure.evaluation.design import CheapJudge
from grater.measure.evaluation.different import Different, different_data
from grater.measure.evaluation.evaluation import (
    EvaluationOptions,
    contaminated,
    correction_by_gold,
    parts_by,
    question_of,
    signature_of,
)
from grater.measure.evaluation.gold import Correction, corrected_difference
from grater.measure.evaluation.standard import (
    HEADLINE,
    SHOWN,
    Scored,
    against,
    discordant,
    effects_note,
    known_items,
    tally,
)
from grater.measure.sampling.draw import draws_of
from grater.measure.units import by_code
from grater.model import Interval, Json
from grater.result import FLAT, HIDDEN, OPTIONAL, Data, Estimate, Result, in_json, key
from grater.sheet import Sheet, Signature, counted, interval, p_value, undefined_notes, with_notes
from grater.tables import Judgments, Sample, Table
from grater.uncertainty import (
    LEVEL,
    Basis,
    Influence,
    McNemar,
    Numbers,
    PairTest,
    Scope,
    adjusted_tests,
    difference,
    few_draws,
    holm,
    paired_tests,
    randomisation,
    rank_groups,
)
from grater.uncertainty.sampled import Flags, Strata, small_cell_variance

Test: TypeAlias = Literal["paired", "randomisation", "mcnemar"]
"""The test behind the rank groups: the engine's, or one of those by name."""

PART_UNJUDGED = "{} and {} disagree on items of which none was judged; add both to the sample"
MCNEMAR_BY_ITEM = "McNemar's test takes items as independent, and rejects too often where errors cluster."


@dataclass(frozen=True, slots=True, eq=False)
class Pair(Data):
    """Two systems: the difference of their scores, McNemar's test, and randomisation if requested."""

    test: PairTest = field(metadata=FLAT)
    mcnemar: McNemar = field(metadata=HIDDEN)
    mcnemar_holm: float = field(metadata=HIDDEN)
    randomisation: float = field(default=nan, metadata=HIDDEN)
    randomisation_holm: float = field(default=nan, metadata=HIDDEN)

    @property
    @in_json(flat=True)
    def _tests(self) -> dict[str, Json]:
        found: dict[str, Json] = {"mcnemar": {**self.mcnemar.to_dict(), "mid_p_holm": self.mcnemar_holm}}
        if not isnan(self.randomisation):
            found["randomisation"] = {"p": self.randomisation, "p_holm": self.randomisation_holm}
        return found

    def p_of(self, test: Test) -> float:
        by_name = {"paired": self.test.p_holm, "randomisation": self.randomisation_holm, "mcnemar": self.mcnemar_holm}
        return by_name[test]


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
    warnings: tuple[str, ...] = ()
    scope: Scope | None = field(default=None, metadata=OPTIONAL)
    different: Different | None = field(default=None, metadata=key("different_data", optional=True))
    test: Test = field(default="paired", metadata=HIDDEN)

    @property
    @in_json("systems")
    def _systems(self) -> list[dict[str, Json]]:
        return [
            {"system": scored.system, "n": scored.n, **scored.as_json(), "group": self.groups.get(scored.system)}
            for scored in self.systems
        ]

    def estimates(self) -> Iterator[Estimate]:
        for name, part in {"": self, **self.parts}.items():
            for scored in part.systems:
                yield from each_score(scored.scores, part=name, system=scored.system, other="")
            for pair in part.pairs:
                difference = {part.score: pair.test.difference}
                yield from each_score(difference, part=name, system=pair.test.first, other=pair.test.second)

    def sheets(self) -> list[Sheet]:
        sheets = self._own_sheets("") if self.pairs or not (self.parts or self.different) else []
        sheets += [sheet for name, part in self.parts.items() for sheet in part._own_sheets(name)]
        sheets += self.different.sheets() if self.different else []
        effects = effects_note({scored.system: scored.design_effect for scored in self.systems})
        words = [*([effects] if effects else []), *([self.scope.sentence] if self.scope else [])]
        return with_notes(sheets, words, str(self.signature or ""))

    def _own_sheets(self, part: str) -> list[Sheet]:
        heading = f"{part}: " if part else ""
        systems = counted(len(self.systems), "system")
        items = counted(self.n_items, "common item") if self.n_items else "items of their own"
        more = [] if self.score in SHOWN else [self.score]
        columns = ("", *SHOWN.values(), *more, "group")
        rows = [
            (scored.system, *(interval(scored[name]) for name in (*SHOWN, *more)), self.groups.get(scored.system, ""))
            for scored in self.systems
        ]
        title = f"{heading}{systems} on {items}, {f'best {self.score} first' if self.groups else 'not ranked'}"
        own = Sheet(title, columns, tuple(rows), notes=tuple(self._notes()), name="systems")
        return [own, *([_pair_sheet(self)] if self.pairs else [])]

    def _notes(self) -> Iterator[str]:
        if self.groups:
            yield "Systems that share a letter do not differ significantly (Holm, 95 %)."
        if self.n_left_out:
            yield f"{self.n_left_out:,} items are left out: not judged, or not decided on by all."
        if self.signature and "correction" in self.signature.options:
            yield "Differences are corrected for what raters get wrong; scores and McNemar's test are as judged."
        yield from undefined_notes(scored[name] for scored in self.systems for name in SHOWN)


def _pair_sheet(comparison: Comparison) -> Sheet:
    has_swaps = any(not isnan(pair.randomisation) for pair in comparison.pairs)
    rows = [
        (
            f"{pair.test.first} – {pair.test.second}",
            interval(pair.test.difference),
            p_value(pair.test.p_holm),
            *([p_value(pair.randomisation_holm)] if has_swaps else []),
            f"{pair.mcnemar.first:,} : {pair.mcnemar.second:,}",
            p_value(pair.mcnemar_holm),
        )
        for pair in comparison.pairs
    ]
    swaps = ["randomisation p"] if has_swaps else []
    columns = ("", "difference", "p", *swaps, "only one right", "McNemar mid-p")
    by_essay = comparison.scope is not None and comparison.scope.is_clustered
    notes = [MCNEMAR_BY_ITEM] if by_essay else []
    notes += undefined_notes(pair.test.difference for pair in comparison.pairs)
    title = f"Differences of {comparison.score}; p after Holm"
    return Sheet(title, columns, tuple(rows), notes=tuple(notes), name="pairs")


def compare(
    decisions: Table,
    judgments: Judgments,
    *,
    items: Table | None = None,
    sample: Sample | None = None,
    labels: Judgments | None = None,
    assist: CheapJudge | None = None,
    gold: Table | None = None,
    merge: Mapping[str, str] | None = None,
    options: EvaluationOptions | None = None,
    score: str = "f0.5",
    weighted: bool = False,
    test: Test = "paired",
) -> Comparison:
    """Every two systems, on all items and on parts of them; other arguments are those of `evaluate`."""
    if score not in SCORES:
        raise UnknownName(unknown("score", score, list(SCORES)))
    options = options or EvaluationOptions()
    judgments, own_work = without_own_work(decisions, by_code(judgments))
    believed = replace(options, truth="share") if weighted and options.truth != ADJUDICATED else options
    cases, truth = question_of(
        decisions, judgments, options, items=items, sample=sample, labels=labels, assist=assist, gold=gold
    )
    if len(cases.systems) < 2:
        raise UsageError(f"expected at least two systems to compare, found only {cases.systems[0]}")
    truth = graded(cases, truth, seed=options.basis.seed) if weighted else truth
    correction = correction_by_gold(
        judgments, gold, believed, merge=merge, systems=cases.systems, decisions=decisions
    )
    named = {"weighted": "yes" if truth.is_graded else "no", **(correction.options if correction else {})}
    signature = signature_of(cases, options, what="compare", score=score, test=test, **named)
    different = different_data(cases, truth, basis=options.basis, edges=options.edges)
    basis = options.basis
    compared = partial(compare_systems, truth=truth, basis=basis, score=score, test=test, correction=correction)
    if (different is None or is_comparable(cases, truth)) and not flag_lists(cases):
        whole = compared(cases)
    else:  # nothing in common: each alone, and groups of those that share items
        groups = different.same_items if different else ()
        together = [cases.of_systems(columns) for columns in groups if len(columns) > 1]
        scope = cases.essays.scope_of(cases.items.filter(known_items(cases, truth)), basis=basis)
        whole = Comparison(
            score=score,
            systems=tuple(against(cases, truth, basis=basis)),
            groups={},
            pairs=(),
            n_items=0,
            n_left_out=len(cases),
            parts={", ".join(group.systems): compared(group) for group in together},
            scope=replace(scope, n_units=0),
            test=test,
        )
    parts = {
        name: compared(cases, where=where)
        for name, where in parts_by(cases, options.by).items()
        if is_comparable(cases, truth, where)
    }
    warnings = [
        *own_work,
        *dict.fromkeys(
            f"not ranked by {score}: {reason}" for reason in cases.withheld.values() if score != "precision"
        ),
        *contaminated(cases, judgments, gold, options),
        *_drawn_for_others(cases),
        *few_draws(options.basis, len(whole.pairs), are_swaps=test == "randomisation"),
        *(whole.scope.warnings if whole.scope else ()),
        *(different.warnings if different else ()),
        *(correction.warnings if correction else ()),
    ]
    return replace(
        whole, parts={**whole.parts, **parts}, warnings=tuple(warnings), different=different, signature=signature
    )


def _drawn_for_others(cases: Cases) -> Iterator[str]:
    drawn_for = {draw.system for draw in draws_of(cases.design.sample)} if cases.design else set()
    others = [name for name in cases.systems if name not in drawn_for]
    if drawn_for and others:
        yield (
            f"the sample was drawn for {', '.join(sorted(drawn_for))}, not for {', '.join(others)}: differences are "
            "conservative, most of all where errors are rare; add these systems to the sample"
        )


def compare_systems(
    cases: Cases,
    truth: Truth,
    *,
    basis: Basis,
    score: str = "f0.5",
    test: Test = "paired",
    where: Truths | None = None,
    correction: Correction | None = None,
) -> Comparison:
    here = np.ones(len(cases), bool) if where is None else where
    decided = here & (cases.flagged >= 0).all(axis=1)
    common = decided & known_items(cases, truth)
    places = only(common)
    if correction and correction.raters.undefined_because:
        raise UsageError(f"nothing can be corrected: {correction.raters.undefined_because}; compare without gold")
    inside = decided if cases.design else common  # a sample speaks of what was not judged, too
    found = against(
        cases, truth, basis=basis, where=None if inside.all() else inside, with_effects=True, is_paired=True
    )
    order = sorted(found, key=lambda scored: (-np.nan_to_num(scored[score].value, nan=-2.0), scored.system))
    defined = {scored.system: scored.influences[score] for scored in order if score in scored.influences}
    if cases.design and score in HEADLINE:
        tests = _sampled(cases, truth, defined, score, basis)
    else:
        tests = paired_tests(defined)
    if basis.population == "these" and not cases.design and len(places) == int(decided.sum()):
        tests = [_census(each) for each in tests]
    elif correction:
        tests = _corrected(cases, truth, tests, score, correction, basis)
    if not cases.withheld:
        tests = _with_undefined(order, score, tests)
    pairs = _pairs(cases, truth, common, tests, score=score, test=test, basis=basis)
    apart = [pair.test.systems for pair in pairs if pair.p_of(test) < 1 - LEVEL]
    can_rank = len(defined) == len(order) and not any(isnan(pair.p_of(test)) for pair in pairs)
    effects = [of.design_effect.get(score, nan) for of in found]
    return Comparison(
        score=score,
        systems=tuple(order),
        groups=rank_groups([scored.system for scored in order], apart) if can_rank else {},
        pairs=tuple(pairs),
        n_items=len(places),
        n_left_out=0 if cases.design else int(here.sum()) - len(places),
        scope=cases.essays.scope_of(
            cases.items.filter(inside),
            basis=basis,
            effect=max((effect for effect in effects if not isnan(effect)), default=nan),
            n_raters=len(cases.raters),
        ),
        test=test,
    )


def _with_undefined(order: Sequence[Scored], score: str, tests: Sequence[PairTest]) -> list[PairTest]:
    """Every pair, best first; if a score of the pair is undefined, the reason replaces the difference."""
    known, found = {each.systems: each for each in tests}, []
    for first, second in combinations(order, 2):
        reason = first[score].undefined_because or second[score].undefined_because
        none = PairTest((first.system, second.system), Interval(nan, nan, nan, reason), nan, nan)
        found.append(known.get(none.systems, none))
    return found


def _census(test: PairTest) -> PairTest:
    """The test if exactly these items are of interest and all were judged: no sampling error remains."""
    value = test.difference.value
    p = 1.0 if value == 0 else 0.0
    return PairTest(test.systems, Interval(value, value, value), p, p)


def is_comparable(cases: Cases, truth: Truth, where: Truths | None = None) -> bool:
    common = (cases.flagged >= 0).all(axis=1) & known_items(cases, truth)
    return bool((common if where is None else common & where).any())


def _pairs(
    cases: Cases, truth: Truth, common: Truths, tests: Sequence[PairTest], *, score: str, test: Test, basis: Basis
) -> list[Pair]:
    column = {name: place for place, name in enumerate(cases.systems)}
    shared = Truth(truth.name, np.where(common, sides(truth.values), np.nan), is_graded=False)
    places = [(column[each.first], column[each.second]) for each in tests]
    found = [discordant(cases, shared, *pair) for pair in places]
    swaps = [nan] * len(tests)
    if test == "randomisation":
        known = known_items(cases, truth)
        of = [
            tally(cases, truth.values, at, known=known, here=common, is_paired=True).units
            for at in range(len(column))
        ]
        swaps = [
            randomisation(of[one], of[other], partial(score_of, score), n_swaps=basis.n_resamples, seed=basis.seed)
            for one, other in places
        ]
    rows = zip(tests, found, holm([each.mid_p for each in found]), swaps, holm(swaps), strict=True)
    return [Pair(*row) for row in rows]


def _corrected(
    cases: Cases, truth: Truth, tests: Sequence[PairTest], score: str, correction: Correction, basis: Basis
) -> list[PairTest]:
    """The same pairs after correction for raters' errors."""
    if score not in HEADLINE:
        raise UsageError(f"differences of {score} cannot be corrected; compare {', '.join(HEADLINE)}")
    joint = (_joint(cases, truth, *each.systems, basis) for each in tests)
    found = [corrected_difference(strata, score, first, second, correction.raters) for strata, first, second in joint]
    return adjusted_tests([each.systems for each in tests], found)


def _sampled(cases: Cases, truth: Truth, scores: Mapping[str, Influence], score: str, basis: Basis) -> list[PairTest]:
    """Pairs on one sample; withheld if no judged item is among those on which the two systems disagree."""
    pairs, found = list(combinations(scores, 2)), []
    for first, second in pairs:
        strata, of_first, of_second = _joint(cases, truth, first, second, basis)
        size, n = strata.sizes.sum(axis=0), strata.judged.sum(axis=0)
        it = scores[first] - scores[second]
        it = replace(it, variance=it.variance + small_cell_variance(strata, score, of_first, of_second))
        if ((of_first != of_second) & (size > 0) & (n == 0)).any():
            it = replace(it, withheld_because=PART_UNJUDGED.format(first, second))
        found.append(difference(it))
    return adjusted_tests(pairs, found)


def _joint(cases: Cases, truth: Truth, one: str, other: str, basis: Basis) -> tuple[Strata, Flags, Flags]:
    """The crossed cells of two systems, and the flags of each system by cell; all items if nothing was sampled."""
    columns, design = [cases.systems.index(name) for name in (one, other)], cases.design
    marks = cases.flagged[:, columns]
    decided, known = (marks >= 0).all(axis=1), known_items(cases, truth)
    keys = [marks[:, 0], marks[:, 1]] + ([design.systems[at].cell for at in columns] if design else [])
    rows, cell = np.unique(np.stack(keys, axis=1)[decided], axis=0, return_inverse=True)
    is_items, k = cases.essays.unit == "item", len(rows)
    unit_of = np.zeros(int(decided.sum()), np.int64) if is_items else cases.unit_of[decided]
    n_units = int(unit_of.max(initial=0)) + 1

    def table(values: Numbers) -> Numbers:
        sums = np.bincount(unit_of * k + cell, values[decided], n_units * k)
        return np.asarray(sums.reshape(n_units, k), np.float64)

    judged = table(known.astype(np.float64))
    sizes = table(np.ones(len(cases))) if design else judged
    errors = table(np.where(known, np.nan_to_num(truth.values), 0.0))
    strata = Strata(sizes, judged, errors, cases.essays.unit, basis.population)
    return strata, rows[:, 0] == 1, rows[:, 1] == 1
