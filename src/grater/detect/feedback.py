"""Feedback on one essay: the flags of several detectors in text order, with advice for the writer.

A `Feedback` is shown on a terminal by the command, in a notebook as a table, and as one HTML page that loads nothing
(`to_html`).

The note says which errors were searched for and, for detectors that were measured, how reliable their flags are;
`grater.detect.marks` explains each mark.

A place is marked once: flags on the same words form one `Mark`. Flags of whole-text checkers such as Harper are left
out on words already flagged by systems named earlier, or by any of our detectors. Suggestions are improved as a
teacher would (`grater.detect.taught`).

The page is to be read on a screen or printed.  First comes the text with its marks, each with the number of its note;
the notes give the better word, the rule with an example at its first use, the system and its confidence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from itertools import groupby
from math import exp, log
from pathlib import PurePath
from typing import TYPE_CHECKING

from grater.detect.detector import Checker, Detector, Finding, require_precision
from grater.detect.explanations import Explanation
from grater.detect.grammar import CONVENTIONS
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
    why,
)
from grater.detect.systems import PATTERNS
from grater.detect.taught import taught
from grater.model import Essay, Json, Span
from grater.result import HIDDEN, OPTIONAL, Result, in_json, key
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
NOT_CHECKED = "not for spelling, verbs, word order or anything else"
NOT_CHECKED_AFTER = "not for spelling, word order or anything else"
MEASURED = ("prep-maxent", "prep-perceptron", "prep-lm", "prep-both", "article")
CHANCES = (
    "About half of the marks of prepositions, articles and nouns are errors to most teachers, and about one such "
    "error in six is marked: treat marks as questions."
)
"""Measured before `context`: five or more of ten annotators of CoNLL-2014 see 588 errors; of 186
marks of `prep-maxent` and `article`, 95 are among them."""

LEAST_SHOWN, LEAST_OF_SPELLING = 0.5, 0.6
"""Marks of which fewer are right are not shown.  Of misspellings in web pages with less, four in ten were right."""

RIGHT = {
    "context": (0.69, 0.49, 0.47, 0.0),
    "number": (1.38, 0.49, 1.25, 0.0),
    "verb-form": (1.59, 0.49, 0.47, 0.0),
    "spelling": (2.67, -0.063, 1.83, -0.088),
    "grammar": (1.117, 0.0, 0.579, 0.0),
    "harper": (1.49, 0.0, 1.21, 0.0),
}
CAPITAL, USUAL_MARKS, SUREST, MOST_SCORE = 0.95, 0.018, 0.95, {"context": 3.0, "spelling": 12.0}
"""The log-odds that a mark is right, by its system, or its kind for two kinds of `context`: a constant, and weights
of the score (up to a highest one), of the logarithm of how many times as many marks as usual the text has, and of
their product; more for a capital alone.  Fitted by logistic regression to 600 marks in the half of CoNLL-2014 that
`context` was calibrated on, CWEB-G and every other hundred lines of CWEB-S; verified on the rest of both corpora."""

TOKEN = re.compile(r"\w+|[^\w\s]")

WHO = {
    "context": "grater’s own model",
    "grammar": "patterns of frequent errors",
    "spelling": "our list of words",
    "harper": "a free checker of spelling and style",
}
"""The default systems in words for writers who have never heard of them."""


@dataclass(frozen=True, slots=True, repr=False)
class Feedback(Result):
    """An essay with its flags; `name` is the file, `n_candidates` the number of places each system checked.

    A checker of whole texts has no such number. `kinds` are the kinds of places that the others checked, `silent`
    those of which all marks were left out for the requested precision.
    """

    name: str = field(metadata=key("file"))
    essay: Essay = field(
        metadata=key(flat=True, write=lambda essay: {"essay": essay.essay_id, "characters": len(essay.text)})
    )
    flags: tuple[Finding, ...] = field(metadata=HIDDEN)
    n_candidates: dict[str, int | None] = field(
        metadata=key(
            "systems", write=lambda looked: [{"system": name, "candidates": n} for name, n in looked.items()]
        )
    )
    kinds: tuple[str, ...] = field(default=(), metadata=HIDDEN)
    silent: tuple[str, ...] = field(default=(), metadata=OPTIONAL)

    @property
    def marks(self) -> tuple[Mark, ...]:
        """The flags grouped by the words they concern, in text order."""
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
    @in_json()
    def note(self) -> str:
        """The error types that were searched, those that were not, and how reliable the marks are."""
        readers = [name for name, n in self.n_candidates.items() if n is None]
        if not self.kinds:
            return f"Marked: whatever {_named(readers)} would change.{self._silenced}" if readers else ""
        known = [words for kind, words in LOOKED_FOR.items() if kind in self.kinds]
        others = [kind for kind in self.kinds if kind not in LOOKED_FOR]
        not_checked = (
            "for nothing else" if others else NOT_CHECKED_AFTER if "verb-form" in self.kinds else NOT_CHECKED
        )
        rest = f"anything else comes from {_named(readers)}" if readers else not_checked
        own = [name for name in self.n_candidates if name not in readers]
        by = f" by {_named(own)}" if WHO.keys() & own else ""
        text = f"Looked for{by}: {', '.join(known + others)}; {rest}.{self._silenced}"
        return f"{text} {CHANCES}" if set(own) <= set(MEASURED) else text

    @property
    def _silenced(self) -> str:
        names = ", ".join(self.silent)
        return f" Left out at this precision: all marks of {names}." if names else ""

    @property
    @in_json("flags")
    def _flags(self) -> list[dict[str, Json]]:
        return [_flag(finding, self.essay.text) for finding in self.flags]

    def to_frame(self) -> pl.DataFrame:
        """One row per flag, in the order of the text."""
        import polars as pl  # which a command that prints feedback need not wait for

        schema = {"start": pl.Int64, "end": pl.Int64, "kind": pl.String, "target": pl.String, "system": pl.String}
        schema |= {"type": pl.String, "suggestion": pl.String, "score": pl.Float64, "sureness": pl.String}
        return pl.DataFrame({name: [flag[name] for flag in self._flags] for name in schema}, schema=schema)

    def sheets(self) -> tuple[Sheet, ...]:
        """The flags, each with the words around it."""
        rows = []
        for flag in self.flags:
            around = excerpt(self.essay.text, flag.item.span)
            text = f"{around.before}[{around.marked}]{around.after}"
            rows.append((str(around.line), text, advice(flag), reason(flag), source(flag)))
        notes = (self.note,) if self.note else ()
        return (Sheet(self.summary, ("line", "text", "advice", "why", "system"), tuple(rows), notes=notes),)

    def to_html(self) -> str:
        """A whole page: the marked text and a list of suggestions."""
        title = f"Feedback on {PurePath(self.name).name}"
        return page(title, note=self.note, text=self.essay.text, marks=self.marks)


def _named(systems: Sequence[str]) -> str:
    """`context (grater’s own model) and mine`."""
    return " and ".join(f"{name} ({WHO[name]})" if name in WHO else name for name in systems)


def feedback_on(
    essay: Essay,
    systems: Sequence[Detector],
    *,
    name: str,
    language: str | None = None,
    precision: float | None = None,
) -> Feedback:
    """Every system's flags on an essay.

    `language` is the variant of English for spelling, by default either. With a `precision`, only marks are shown of
    which this share is known to be right.
    """
    least = 0.0 if precision is None else require_precision(precision)
    if language:
        systems = [system.in_language(language) if hasattr(system, "in_language") else system for system in systems]
    systems = [system.for_writers() if hasattr(system, "for_writers") else system for system in systems]
    flags: list[Finding] = []
    n_candidates: dict[str, int | None] = dict.fromkeys(system.name for system in systems)
    detectors = [system for system in systems if not isinstance(system, Checker)]
    for system in detectors:
        findings = list(system.find([essay]))
        n_candidates[system.name] = len(findings)
        flags += [finding for finding in findings if finding.decision.flagged]
    for checker in (system for system in systems if isinstance(system, Checker)):
        taken = {place for flag in flags for place in _places(flag.item.span)}
        flags += [finding for finding in checker.marks(essay) if taken.isdisjoint(_places(finding.item.span))]
    flags = [flag for flag in flags if flag.decision.system == "context" or _is_shown(flag)]
    stated = [flag for flag in _stated(flags, essay.text) if _is_shown(flag)]
    shown = [taught(flag, essay.text) for flag in stated if (flag.confidence or 0.0) >= least]
    shown.sort(key=lambda finding: (finding.item.span, finding.item.kind, finding.decision.system))
    left = {flag.item.kind for flag in shown}
    return Feedback(
        name=name,
        essay=essay,
        flags=tuple(shown),
        n_candidates=n_candidates,
        kinds=tuple(dict.fromkeys(kind for system in detectors for kind in system.kinds)),
        silent=tuple(dict.fromkeys(flag.item.kind for flag in stated if flag.item.kind not in left)),
    )


def _places(span: Span) -> range:
    """The characters of a span (2i + 1) and the gaps between them (2i), or the gap that it is."""
    return range(2 * span.start + 1, 2 * span.end) if len(span) else range(2 * span.start, 2 * span.start + 1)


def _is_shown(flag: Finding) -> bool:
    least = LEAST_OF_SPELLING if flag.decision.system == "spelling" else LEAST_SHOWN
    return flag.confidence is None or flag.confidence >= least


def _stated(flags: Sequence[Finding], text: str) -> Iterator[Finding]:
    """The flags with the share of such marks that are right, for systems for which it was measured."""
    others = {flag.item.span for flag in flags if not _is_convention(flag)}
    density = log((len(others) + 1) / (USUAL_MARKS * len(TOKEN.findall(text)) + 1))
    for flag in flags:
        name, decision = flag.decision.system, flag.decision
        is_measured = name in RIGHT and not _is_convention(flag)
        if not is_measured or (flag.confidence is None and name != "context"):
            yield flag
            continue
        is_capital = name == "harper" and (decision.suggestion or "").lower() == flag.target.lower()
        score = min(MOST_SCORE.get(name, 0.0), max(0.0, decision.score or 0.0))
        by_kind = RIGHT.get(flag.item.kind) if name == "context" else None
        constant, by_score, by_density, by_both = by_kind or RIGHT[name]
        odds = constant + CAPITAL * is_capital + by_score * score + (by_density + by_both * score) * density
        yield replace(flag, confidence=round(min(SUREST, 1 / (1 + exp(-odds))), 3))


def _is_convention(flag: Finding) -> bool:
    return flag.decision.system == PATTERNS and flag.item.kind in CONVENTIONS


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


STYLE = """
:root { --ink: #1c1e21; --soft: #5c6370; --paper: #fffffe; --line: #e3e5e8 }
:root { --mark: #fff1c2; --pen: #b3261e; --good: #00694d }
@media screen and (prefers-color-scheme: dark) {
  :root { --ink: #ececee; --soft: #a5abb6; --paper: #16181b; --line: #34383f }
  :root { --mark: #4a3d12; --pen: #ff8a80; --good: #38cfa0 }
}
body { font: 18px/1.7 Georgia, "Times New Roman", serif; max-width: 44rem; margin: 2.5rem auto; padding: 0 1.25rem }
body { color: var(--ink); background: var(--paper) }
h1, h2, .note, li { font-family: Inter, "Helvetica Neue", Arial, sans-serif; line-height: 1.45 }
h1 { font-size: 1.4rem; margin: 0 } h2 { font-size: 1.05rem; margin: 2.5rem 0 .5rem }
.note { color: var(--soft); font-size: .9rem; margin: .4rem 0 2rem }
.essay { white-space: pre-wrap; overflow-wrap: anywhere }
mark { background: var(--mark); color: inherit; border-radius: 3px; padding: .05em .15em }
mark { text-decoration: underline wavy var(--pen) 1.5px; text-underline-offset: .2em }
mark.gap { padding: 0 .35em } a { color: inherit }
sup { font-size: .62em; line-height: 0; margin-left: .1em } sup a { text-decoration: none }
ol { padding-left: 1.6rem; margin: 0 }
li { padding: .6rem 0; border-bottom: 1px solid var(--line); font-size: .95rem }
li strong { color: var(--good); font-size: 1.05rem; margin-right: .4rem }
.why { margin: .25rem 0 0 } .example { margin: .25rem 0 0; font-size: .9em; color: var(--soft) }
.example b { color: var(--good); font-weight: 600 } .example s { color: var(--pen); text-decoration: none }
.type, .back { color: var(--soft); font-size: .85em }
li:target, mark:target { outline: 2px solid var(--pen); outline-offset: 3px; border-radius: 3px }
@media print { .back { display: none } body { margin: 0 auto } }
"""


BADGES = """<s aria-hidden="true">✗</s> {wrong}<br><b aria-hidden="true">✓</b> {right}"""


def page(title: str, *, note: str, text: str, marks: Sequence[Mark]) -> str:
    essay = "".join(_marked(text, [mark.span for mark in marks]))
    notes = "".join(_notes(marks))
    listed = f"<h2>To look at again</h2>\n<ol>{notes}</ol>" if notes else "<h2>Nothing to look at again</h2>"
    return whole_page(title, f'<p class="note">{escape(note)}</p>\n<div class="essay">{essay}</div>\n{listed}')


def whole_page(title: str, body: str, *, style: str = STYLE) -> str:
    """A page that loads nothing: a heading and a body."""
    return (
        f'<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8"><title>{escape(title)}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta name="color-scheme" content="light dark"><style>{style}</style></head>\n'
        f"<body><main><h1>{escape(title)}</h1>\n{body}\n</main></body></html>\n"
    )


def _marked(text: str, spans: Sequence[Span]) -> Iterator[str]:
    """The text with its marks; a span that overlaps the previous one is marked from that one's end."""
    done = 0
    for number, span in enumerate(spans, 1):
        start = max(done, span.start)
        end = max(start, span.end)
        words = escape(text[start:end]) or "&#8203;"
        kind = "" if end > start else ' class="gap"'
        link = f'<sup><a href="#note-{number}">{number}</a></sup>'
        yield f'{escape(text[done:start])}<mark id="place-{number}"{kind}>{words}{link}</mark>'
        done = end
    yield escape(text[done:])


def _notes(marks: Sequence[Mark]) -> Iterator[str]:
    """A note per mark; a rule shows its example at its first use."""
    shown: set[str] = set()
    for number, mark in enumerate(marks, 1):
        rule = mark.explanation.rule if mark.explanation else ""
        yield _note(number, mark, with_example=bool(rule) and rule not in shown)
        shown.add(rule)


def _note(number: int, mark: Mark, *, with_example: bool) -> str:
    lines = "<br>".join(
        f'<strong>{escape(advice(finding))}</strong> <span class="type">{escape(source(finding))}</span>'
        for finding in mark.findings
    )
    example = _example(mark.explanation) if mark.explanation and with_example else ""
    back = f'<a class="back" href="#place-{number}">back to the text</a>'
    return f'<li id="note-{number}">{lines} {back}<p class="why">{escape(why(mark))}</p>{example}</li>\n'


def _example(explanation: Explanation) -> str:
    sides = BADGES.format(wrong=escape(explanation.wrong), right=escape(explanation.right))
    return f'<p class="example">{sides}</p>'
