"""The effect of a system's suggestions on the people who see them: with and without, on marked essays.

Annotators who mark essays can be offered a system's marks (`grater.annotate.tasks.marking`). Compared with markings
by people who were not shown them, five numbers describe the effect: the share of the suggested places that annotators
mark (the precision that they would give to the system), the share of their marks of the same kinds that were
suggested (its recall), marks per 100 words, marks at other places per 100 words (fewer if annotators overlook more),
and seconds per 100 words. Agreement among annotators is computed as in `grater agree`.

The difference in the first number is the bias: how much better a system looks when scored by people who saw its
marks. Intervals are by essay (`grater.uncertainty`). If suggestions were shown for a random share of essays, the
difference is causal; between two jobs, people or times may also differ. A mark matches a suggestion if their spans
touch. If a condition has no markings, its numbers and the differences are undefined.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import nan

import numpy as np

from grater.errors import UsageError
from grater.measure.agreement.edits import edit_agreement
from grater.measure.evaluation.cases import each_score
from grater.model import FATES, Edit, Essay, Interval, Suggestion
from grater.result import Estimate, Result, in_json, key
from grater.sheet import Sheet, Signature, count, interval, number
from grater.uncertainty import Basis, Influence, Scope, Units, density, difference, influence, ratio, share

CONDITIONS = ("with", "without")
FATE_WORDS = {"left": "left unanswered"}
MEASURES = {
    "suggestions marked": "suggested places that annotators mark",
    "marks suggested": "their marks of these kinds that were suggested",
    "marks": "marks per 100 words",
    "marks elsewhere": "other marks per 100 words",
    "seconds": "seconds per 100 words",
}
DIGITS = {"marks": 2, "marks elsewhere": 2, "seconds": 1}
"""Decimals of the measures that are not shares; shares have three."""

NOT_SHARED = "no essay was marked by two annotators in this condition"
NO_MARKING = "this condition has no marking that counts"
NOTHING_TO_COMPARE = "one of the two conditions has no marking that counts"
WORDS = 100


@dataclass(frozen=True, slots=True)
class MarkedOnce:
    essay: Essay
    rater: str
    edits: tuple[Edit, ...]
    suggestions: tuple[Suggestion, ...]
    is_shown: bool
    fates: tuple[str, ...] = ()
    seconds: float | None = None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SuggestionEffect(Result):
    """`scores` by measure and condition, `differences` by measure, `kappas` by condition, and counts of `fates`."""

    n_essays: int
    n_markings: dict[str, int]
    scores: dict[str, dict[str, Interval]]
    differences: dict[str, Interval]
    kappas: dict[str, Interval] = field(metadata=key("kappa"))
    fates: dict[str, int]
    signature: Signature

    @property
    @in_json()
    def scope(self) -> Scope:
        return Scope(unit="essay", n_units=self.n_essays)

    @property
    @in_json()
    def warnings(self) -> tuple[str, ...]:
        return self.scope.warnings

    def estimates(self) -> Iterator[Estimate]:
        for name in MEASURES:
            yield from each_score(self.scores[name], measure=name)
        for name in MEASURES:
            yield from each_score({"difference": self.differences[name]}, measure=name)
        yield from each_score(self.kappas, measure="identification kappa")

    def sheets(self) -> list[Sheet]:
        apart = {name: interval(each, digits=DIGITS.get(name, 3)) for name, each in self.differences.items()}
        rows = [(words, *self._cells(self.scores[name], name), apart[name]) for name, words in MEASURES.items()]
        rows.append(("agreement on where errors are (kappa)", *self._cells(self.kappas), ""))
        shown = ", ".join(f"{self.n_markings[name]:,} markings {name}" for name in CONDITIONS)
        notes = (
            f"{self.n_essays:,} essays; {shown}.",
            "A positive difference in the first row is bias: people who see a system's marks rate it higher.",
            *self.reasons,
        )
        columns = ("", *CONDITIONS, "difference")
        effect = Sheet("Marking with and without suggestions", columns, tuple(rows), notes=notes, name="effect")
        total, words = sum(self.fates.values()), "What became of suggestions"
        fates = [
            (FATE_WORDS.get(fate, fate), count(n), number(n / total) if total else "")
            for fate, n in self.fates.items()
        ]
        became = Sheet(words, ("", "suggestions", "share"), tuple(fates), name="fates")
        return [effect, replace(became, notes=(self.scope.sentence,), signature=str(self.signature))]

    def _cells(self, by_condition: Mapping[str, Interval], name: str = "") -> tuple[str, str]:
        digits = DIGITS.get(name, 3)
        first, second = (interval(by_condition[condition], digits=digits) for condition in CONDITIONS)
        return first, second


def suggestion_effect(markings: Iterable[MarkedOnce]) -> SuggestionEffect:
    """From all markings of essays with known suggestions; refused if nobody was shown any."""
    known = list(markings)
    if not any(marking.is_shown for marking in known):
        raise UsageError("expected markings by annotators who were shown suggestions, found none")
    essays = sorted({marking.essay.essay_id for marking in known})
    place = {essay_id: row for row, essay_id in enumerate(essays)}
    rows = np.zeros((len(essays), 4 * len(MEASURES)))
    for marking in known:
        words = len(marking.essay.text.split())
        kinds = {suggestion.tag for suggestion in marking.suggestions}
        marked = sum(any(at.span.touches(edit.span) for edit in marking.edits) for at in marking.suggestions)
        at = [any(each.span.touches(edit.span) for each in marking.suggestions) for edit in marking.edits]
        of_kinds = [is_at for is_at, edit in zip(at, marking.edits, strict=True) if edit.tag in kinds]
        seconds = marking.seconds
        pairs = [
            (marked, len(marking.suggestions)),
            (sum(of_kinds), len(of_kinds)),
            (WORDS * len(at), words),
            (WORDS * (len(at) - sum(at)), words),
            (0, 0) if seconds is None else (WORDS * seconds, words),
        ]
        both = np.zeros((len(pairs), len(CONDITIONS), 2))
        both[:, CONDITIONS.index("with" if marking.is_shown else "without"), :] = pairs
        rows[place[marking.essay.essay_id]] += both.reshape(-1)
    units = Units(rows, "essay")
    its = {name: [_ratio(units, 4 * row), _ratio(units, 4 * row + 2)] for row, name in enumerate(MEASURES)}
    fates = Counter(fate for marking in known for fate in marking.fates)
    return SuggestionEffect(
        n_essays=len(essays),
        n_markings={name: sum(marking.is_shown == (name == "with") for marking in known) for name in CONDITIONS},
        scores={
            measure: {name: _interval(measure, it) for name, it in zip(CONDITIONS, pair, strict=True)}
            for measure, pair in its.items()
        },
        differences={
            name: difference(shown - unshown, undefined=NOTHING_TO_COMPARE).difference
            for name, (shown, unshown) in its.items()
        },
        kappas={name: _kappa(known, name) for name in CONDITIONS},
        fates={fate: fates[fate] for fate in FATES},
        signature=Signature("suggestions", Basis().signature("essay")),
    )


def _ratio(units: Units, part: int) -> Influence:
    return influence(units, lambda sums: ratio(sums[..., part], sums[..., part + 1]), units.rows[:, part + 1])


def _interval(measure: str, it: Influence) -> Interval:
    if measure in DIGITS:
        return density(it, undefined=NO_MARKING)
    return share(it, n=float(it.den.sum()), undefined=NO_MARKING)


def _kappa(markings: Sequence[MarkedOnce], condition: str) -> Interval:
    mine = [marking for marking in markings if marking.is_shown == (condition == "with")]
    by_essay: dict[str, Essay] = {}
    for marking in mine:
        essay = by_essay.get(marking.essay.essay_id, replace(marking.essay, edits=(), annotators=()))
        edits = tuple(replace(edit, rater=marking.rater) for edit in marking.edits)
        by_essay[marking.essay.essay_id] = replace(
            essay, edits=essay.edits + edits, annotators=(*essay.annotators, marking.rater)
        )
    try:
        return edit_agreement(by_essay.values()).criteria["identification"].mean_kappa
    except UsageError:
        return Interval(nan, nan, nan, NOT_SHARED)
