"""Feedback on one essay: the flags of several detectors in the order of the text, with advice to the writer.

`check` takes a text, `feedback_on` an essay and detectors that are loaded.  A `Feedback` is shown on a terminal by
the command, in a notebook as a table, and as one HTML page that loads nothing (`to_html`).

The note says what was looked for and, for detectors that were measured, how far their flags can be trusted; what is
said of a mark is in `grater.detect.marks`.

A place is marked once: flags on the same words are one `Mark`.  A checker of whole texts, as Harper is, gives way to
the systems named before it, and to our detectors wherever it is named: what it flags of words that are flagged
already is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import PurePath
from typing import TYPE_CHECKING

from grater.corpora.plain import read_text
from grater.detect.detector import Checker, Detector, Finding
from grater.detect.feedback_page import page
from grater.detect.marks import (
    Mark,
    advice,
    alternatives,
    excerpt,
    explanation_of,
    question,
    reason,
    source,
    sureness,
)
from grater.detect.systems import default_systems, load_systems
from grater.model import Essay, Json, Span
from grater.result import Result
from grater.sheet import Sheet, counted

if TYPE_CHECKING:
    import polars as pl

LOOKED_FOR = {
    "prep": "prepositions",
    "prep-missing": "missing prepositions",
    "article": "articles",
    "number": "singular and plural",
    "verb-form": "verb forms",
}
UNLOOKED = "not for spelling, verbs, word order or anything else"
UNLOOKED_BESIDE_VERBS = "not for spelling, word order or anything else"
MEASURED = ("prep-maxent", "prep-perceptron", "prep-lm", "prep-both", "article")
CHANCES = (
    "About half of the marks of prepositions, articles and nouns are errors to most teachers, and about one such "
    "error in six is marked: ask, do not obey."
)
"""From docs/detectors.md and docs/articles.md: five or more of ten annotators of CoNLL-2014 see 588 errors; of 186
marks of `prep-maxent` and `article`, 95 are among them."""


@dataclass(frozen=True, slots=True, repr=False)
class Feedback(Result):
    """An essay with its flags; `name` is the file, `n_candidates` the number of places each system looked at.

    A checker of whole texts looked at no number of places.  `kinds` are the kinds of places that the others looked
    at.
    """

    name: str
    essay: Essay
    flags: tuple[Finding, ...]
    n_candidates: dict[str, int | None]
    kinds: tuple[str, ...] = ()

    @property
    def marks(self) -> tuple[Mark, ...]:
        """The flags by the words that they are about, in the order of the text."""
        places = groupby(self.flags, key=lambda finding: finding.item.span)
        return tuple(
            Mark(span=span, findings=findings, explanation=explanation_of(findings[0], self.essay.text))
            for span, findings in ((span, tuple(same)) for span, same in places)
        )

    @property
    def summary(self) -> str:
        """`essay.txt: 3 places to look at again (prep-maxent looked at 40; harper read it all)`."""
        looked = "; ".join(
            f"{name} read it all" if n is None else f"{name} looked at {n:,}" for name, n in self.n_candidates.items()
        )
        n_places = counted(len(self.marks), "place") if self.flags else "nothing"
        return f"{self.name}: {n_places} to look at again ({looked})"

    @property
    def note(self) -> str:
        """What was looked for, what was not, and how far the marks can be trusted."""
        known = [words for kind, words in LOOKED_FOR.items() if kind in self.kinds]
        readers = [name for name, n in self.n_candidates.items() if n is None]
        if not known:
            return f"Marked: whatever {' and '.join(readers)} would change." if readers else ""
        unlooked = UNLOOKED_BESIDE_VERBS if "verb-form" in self.kinds else UNLOOKED
        rest = f"anything else comes from {' and '.join(readers)}" if readers else unlooked
        text = f"Looked for: {', '.join(known)}; {rest}."
        own = set(self.n_candidates) - set(readers)
        return f"{text} {CHANCES}" if own <= set(MEASURED) else text

    def to_dict(self) -> dict[str, Json]:
        return {
            "file": self.name,
            "essay": self.essay.essay_id,
            "characters": len(self.essay.text),
            "systems": [{"system": name, "candidates": n} for name, n in self.n_candidates.items()],
            "note": self.note,
            "flags": [_flag(finding, self.essay.text) for finding in self.flags],
        }

    def to_frame(self) -> pl.DataFrame:
        """One row per flag, in the order of the text."""
        import polars as pl  # which a command that prints feedback need not wait for

        schema = {"start": pl.Int64, "end": pl.Int64, "kind": pl.String, "target": pl.String, "system": pl.String}
        schema |= {"type": pl.String, "suggestion": pl.String, "score": pl.Float64, "sureness": pl.String}
        rows = [_flag(finding, self.essay.text) for finding in self.flags]
        return pl.DataFrame({name: [row[name] for row in rows] for name in schema}, schema=schema)

    def sheets(self) -> tuple[Sheet, ...]:
        """The flags, each with the words around it."""
        rows = tuple(self._row(finding) for finding in self.flags)
        notes = (self.note,) if self.note else ()
        return (Sheet(self.summary, ("line", "text", "advice", "why", "system"), rows, notes=notes),)

    def _row(self, finding: Finding) -> tuple[str, ...]:
        around = excerpt(self.essay.text, finding.item.span)
        text = f"{around.before}[{around.marked}]{around.after}"
        return str(around.line), text, advice(finding), reason(finding), source(finding)

    def to_html(self) -> str:
        """A whole page: the marked text and a list of suggestions."""
        title = f"Feedback on {PurePath(self.name).name}"
        return page(title, note=self.note, text=self.essay.text, marks=self.marks)


def check(text: str, systems: Sequence[str] = (), *, name: str = "text") -> Feedback:
    """Feedback on a text by the systems of these names, else by the default ones."""
    essay = next(iter(read_text([text], name=name)))
    return feedback_on(essay, load_systems(systems or default_systems()), name=name)


def feedback_on(essay: Essay, systems: Sequence[Detector], *, name: str) -> Feedback:
    """Every system's flags on an essay."""
    flags: list[Finding] = []
    n_candidates: dict[str, int | None] = dict.fromkeys(system.name for system in systems)
    detectors = [system for system in systems if not isinstance(system, Checker)]
    for system in detectors:
        findings = list(system.find([essay]))
        n_candidates[system.name] = len(findings)
        flags += [finding for finding in findings if finding.decision.flagged]
    for checker in (system for system in systems if isinstance(system, Checker)):
        flags += _elsewhere(checker.marks(essay), flags)
    flags.sort(key=lambda finding: (finding.item.span, finding.item.kind, finding.decision.system))
    kinds = tuple(dict.fromkeys(kind for system in detectors for kind in system.kinds))
    return Feedback(name=name, essay=essay, flags=tuple(flags), n_candidates=n_candidates, kinds=kinds)


def _elsewhere(findings: Iterable[Finding], flags: Sequence[Finding]) -> list[Finding]:
    """The findings about words that are not flagged yet."""
    taken = [flag.item.span for flag in flags]
    return [finding for finding in findings if not any(_is_same(finding.item.span, span) for span in taken)]


def _is_same(one: Span, other: Span) -> bool:
    """Whether two places share a character, or are the same gap."""
    return one == other or (one.start < other.end and other.start < one.end)


def _flag(finding: Finding, text: str) -> dict[str, Json]:
    decision, span = finding.decision, finding.item.span
    explanation = explanation_of(finding, text)
    return {
        "item": finding.item.item_id,
        "start": span.start,
        "end": span.end,
        "kind": finding.item.kind,
        "target": finding.target,
        "system": decision.system,
        "type": decision.type,
        "suggestion": decision.suggestion,
        "score": decision.score,
        "sureness": sureness(finding),
        "alternatives": alternatives(finding),
        "message": question(finding),
        "explanation": explanation.to_dict() if explanation else None,
        "probabilities": dict(finding.probabilities),
    }
