"""The word that a system would write in each place, flagged or not: its best one, and the next with probabilities.

T&C 2008, section 4: in the cloze test a system fills every blank; in the choice test raters compare its word with the
writer's wherever the two differ.  A flag is another thing: it needs a margin above a threshold, so the few flags of a
cautious system are its surest mismatches and no sample of them.

A system that gives probabilities gives its words with them.  Any other (a checker, a corrected file) would write its
suggestion where it flags and the writer's word elsewhere, without a probability.  *No word* (`-NONE-`) is an answer
to articles; of a preposition, which in both tests stands in a blank, it is none.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import polars as pl

from grater.detect.detector import Detector, Finding
from grater.detect.prepositions.candidates import PREP
from grater.errors import UsageError
from grater.model import DELETE, Essay
from grater.text.prepositions import canonical

Answers: TypeAlias = tuple[tuple[str, float | None], ...]
"""Words and what the system gives them, the likeliest first."""


def answers_of(finding: Finding) -> Answers:
    """What the system would write there, the likeliest first."""
    given = finding.words or finding.probabilities
    if not given:
        given_word = finding.decision.suggestion or finding.target or DELETE
        return ((given_word, None),)
    if finding.item.kind != PREP:
        return tuple(given)
    return tuple((word, share) for word, share in given if word != DELETE)


def best_word(finding: Finding) -> str:
    return answers_of(finding)[0][0]


def written_word(finding: Finding) -> str:
    """The writer's word as answers have it: a preposition in its one spelling, `-NONE-` for a gap."""
    return canonical(finding.target) or finding.target.lower() or DELETE


def is_mismatch(finding: Finding) -> bool:
    """Whether the system would write another word than the writer."""
    return best_word(finding).lower() != written_word(finding)


def answers_cell(answers: Sequence[tuple[str, float | None]]) -> str:
    """A JSON object, `{"on": 0.52, "at": 0.31}`, the likeliest first; a word without a probability has null."""
    return json.dumps(dict(answers), ensure_ascii=False)


@dataclass(frozen=True, slots=True, eq=False)
class Filled:
    """A system's answers to some places: its own words, and the writer's."""

    system: str
    findings: tuple[Finding, ...]
    names: Mapping[str, str]

    @property
    def decisions(self) -> pl.DataFrame:
        """The system's best words as suggestions, as `grater cloze` takes them."""
        return pl.DataFrame([self._row(finding) for finding in self.findings], schema=COLUMNS, orient="row")

    @property
    def mismatches(self) -> pl.DataFrame:
        """The same where system and writer differ: what a choice test asks about."""
        differing = [self._row(finding) for finding in self.findings if is_mismatch(finding)]
        return pl.DataFrame(differing, schema=COLUMNS, orient="row")

    @property
    def written(self) -> pl.DataFrame:
        """The writer's words by item."""
        rows = [(self._name(finding), written_word(finding)) for finding in self.findings]
        return pl.DataFrame(rows, schema={"item": pl.String, "label": pl.String}, orient="row")

    def _name(self, finding: Finding) -> str:
        return self.names.get(finding.item.item_id, finding.item.item_id)

    def _row(self, finding: Finding) -> tuple[object, ...]:
        answers, span = answers_of(finding), finding.item.span
        words = (answers[0][0], answers_cell(answers), written_word(finding))
        place = (finding.item.essay_id, span.start, span.end, finding.item.kind)
        return (self._name(finding), self.system, finding.decision.flagged, *words, *place)


COLUMNS: dict[str, type] = {
    "item": str,
    "system": str,
    "flagged": bool,
    "suggestion": str,
    "answers": str,
    "target": str,
    "essay": str,
    "start": int,
    "end": int,
    "kind": str,
}


def filled(
    detector: Detector,
    essays: Iterable[Essay],
    *,
    wanted: Collection[str] = (),
    names: Mapping[str, str] | None = None,
) -> Filled:
    """What a system writes into the blanks of these items (by the names of their table), or of all its words."""
    called = names or {}
    asked = set(wanted)
    places = tuple(place for place in _places(detector, essays) if not asked or _called(place, called) in asked)
    missing = len(asked) - len(places)
    if asked and not places:
        raise UsageError(
            f"{detector.name} looks at none of the {len(asked):,} judged places; are these the essays of the items?"
        )
    if missing > 0:
        raise UsageError(
            f"{detector.name} looks at {len(places):,} of the {len(asked):,} judged places only: it has no word for "
            f"the other {missing:,}; leave them out, or name the table of items"
        )
    return Filled(system=detector.name, findings=places, names=called)


def _called(finding: Finding, names: Mapping[str, str]) -> str:
    return names.get(finding.item.item_id, finding.item.item_id)


def _places(detector: Detector, essays: Iterable[Essay]) -> Iterator[Finding]:
    """Places with words of the writer's: a blank hides one."""
    return (finding for finding in detector.find(essays) if len(finding.item.span))
