"""Feedback on one essay: the flags of several detectors in the order of the text, with advice to the writer.

`check` takes a text, `feedback_on` an essay and detectors that are loaded.  A `Feedback` is shown on a terminal by
the command, in a notebook as a table, and as one HTML page that loads nothing (`to_html`).

A flag is put as a question and says how sure the detector is: `SURE`, `FAIRLY` and `ALSO` are the probabilities from
which an answer is called sure, fairly sure, or worth a second suggestion.  The note says what was looked for and, for
detectors that were measured, how far their flags can be trusted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby
from pathlib import PurePath
from typing import TYPE_CHECKING

from grater.corpora.plain import read_text
from grater.detect.detector import Detector, Finding
from grater.detect.systems import load_systems
from grater.model import DELETE, Essay, Json, Span
from grater.result import Result
from grater.sheet import Sheet, counted

if TYPE_CHECKING:
    import polars as pl

DEFAULT_SYSTEMS = ("prep-maxent", "article")

AROUND = 60
"""Characters of the text shown on each side of a flag."""

MISSING = {"prep-missing": "A preposition", "article": "An article"}
WRONG = {"prep": "the wrong preposition", "article": "the wrong article", "number": "in the wrong number"}
"""What may be amiss, by the kind of the item."""

LOOKED_FOR = {
    "prep": "prepositions",
    "prep-missing": "missing prepositions",
    "article": "articles",
    "number": "singular and plural",
}
MEASURED = ("prep-maxent", "prep-perceptron", "prep-lm", "prep-both", "article")
CHANCES = (
    "About half of its marks are errors to most teachers, and it finds about one error in six: ask, do not obey."
)
"""From docs/detectors.md and docs/articles.md: five or more of ten annotators of CoNLL-2014 see 588 errors; of 186
marks of `prep-maxent` and `article`, 95 are among them."""

SURE, FAIRLY, ALSO = 0.95, 0.8, 0.1


@dataclass(frozen=True, slots=True, repr=False)
class Feedback(Result):
    """An essay with its flags; `name` is the file, `n_candidates` the number of places each system looked at.

    `kinds` are the kinds of places that any system looked at.
    """

    name: str
    essay: Essay
    flags: tuple[Finding, ...]
    n_candidates: dict[str, int]
    kinds: tuple[str, ...] = ()

    @property
    def summary(self) -> str:
        """`essay.txt: 3 places to look at again (prep-maxent looked at 40)`."""
        looked = "; ".join(f"{name} looked at {n:,}" for name, n in self.n_candidates.items())
        n_places = counted(len(self.flags), "place") if self.flags else "nothing"
        return f"{self.name}: {n_places} to look at again ({looked})"

    @property
    def note(self) -> str:
        """What was looked for, what was not, and how far the marks can be trusted."""
        known = [words for kind, words in LOOKED_FOR.items() if kind in self.kinds]
        if not known:
            return ""
        text = f"Looked for: {', '.join(known)}; not for spelling, verbs, word order or anything else."
        return f"{text} {CHANCES}" if set(self.n_candidates) <= set(MEASURED) else text

    def to_dict(self) -> dict[str, Json]:
        return {
            "file": self.name,
            "essay": self.essay.essay_id,
            "characters": len(self.essay.text),
            "systems": [{"system": name, "candidates": n} for name, n in self.n_candidates.items()],
            "note": self.note,
            "flags": [_flag(finding) for finding in self.flags],
        }

    def to_frame(self) -> pl.DataFrame:
        """One row per flag, in the order of the text."""
        import polars as pl  # which a command that prints feedback need not wait for

        schema = {"start": pl.Int64, "end": pl.Int64, "kind": pl.String, "target": pl.String, "system": pl.String}
        schema |= {"type": pl.String, "suggestion": pl.String, "score": pl.Float64, "sureness": pl.String}
        rows = [_flag(finding) for finding in self.flags]
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
        return _page(self)


def check(text: str, systems: Sequence[str] = DEFAULT_SYSTEMS, *, name: str = "text") -> Feedback:
    """Feedback on a text by the systems of these names."""
    essay = next(iter(read_text([text], name=name)))
    return feedback_on(essay, load_systems(systems), name=name)


def feedback_on(essay: Essay, systems: Sequence[Detector], *, name: str) -> Feedback:
    """Every system's flags on an essay."""
    flags: list[Finding] = []
    n_candidates: dict[str, int] = {}
    for system in systems:
        findings = list(system.find([essay]))
        n_candidates[system.name] = len(findings)
        flags += [finding for finding in findings if finding.decision.flagged]
    flags.sort(key=lambda finding: (finding.item.span, finding.item.kind, finding.decision.system))
    kinds = tuple(dict.fromkeys(kind for system in systems for kind in system.kinds))
    return Feedback(name=name, essay=essay, flags=tuple(flags), n_candidates=n_candidates, kinds=kinds)


def advice(finding: Finding) -> str:
    """What to do about a flag, in a few words: `into → in`, `drop about`, `put in to`, `of → on or upon`."""
    decision = finding.decision
    if decision.suggestion == DELETE:
        return f"drop {finding.target}"
    words = " or ".join([str(decision.suggestion), *_alternatives(finding)])
    return f"{finding.target} → {words}" if finding.target else f"put in {words}"


def _alternatives(finding: Finding) -> list[str]:
    """Other prepositions that fit nearly as well."""
    if not finding.item.kind.startswith("prep"):
        return []
    best = (DELETE, finding.decision.suggestion, finding.target.lower())
    return [word for word, belief in finding.probabilities if belief >= ALSO and word not in best]


def sureness(finding: Finding) -> str:
    """How sure the system is of its answer, in words; empty where it gives no probabilities."""
    belief = max((belief for _, belief in finding.probabilities), default=None)
    if belief is None:
        return ""
    return "sure" if belief >= SURE else "fairly sure" if belief >= FAIRLY else "not quite sure"


def source(finding: Finding) -> str:
    """The system behind a flag, and how sure it is."""
    return ", ".join(word for word in (finding.decision.system, sureness(finding)) if word)


def reason(finding: Finding) -> str:
    """What may be amiss, in two words."""
    if finding.decision.suggestion == DELETE:
        return "not needed?"
    if not finding.target:
        return f"{MISSING.get(finding.item.kind, 'A word').lower()} missing?"
    return f"{WRONG.get(finding.item.kind, 'wrong')}?"


def question(finding: Finding) -> str:
    """The flag as a sentence to the writer."""
    decision, target = finding.decision, finding.target
    if decision.suggestion == DELETE:
        return f"“{target}” may not be needed here."
    if not target:
        return f"{MISSING.get(finding.item.kind, 'A word')} may be missing here: “{decision.suggestion}”?"
    return f"“{target}” may be {WRONG.get(finding.item.kind, 'wrong')} here; “{decision.suggestion}”?"


def _flag(finding: Finding) -> dict[str, Json]:
    decision, span = finding.decision, finding.item.span
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
        "message": question(finding),
        "probabilities": dict(finding.probabilities),
    }


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A flagged place with the words around it, on one line; `marked` is a low line where a word is missing."""

    line: int
    before: str
    marked: str
    after: str


def excerpt(text: str, span: Span) -> Excerpt:
    """The text around a span, up to the ends of its line and of words."""
    start, end = _window(text, span)
    return Excerpt(
        line=text.count("\n", 0, span.start) + 1,
        before=("…" if text[:start].strip() else "") + _on_one_line(text[start : span.start]),
        marked=span.of(text) if len(span) else "▁",
        after=("" if len(span) else " ") + _on_one_line(text[span.end : end]) + ("…" if text[end:].strip() else ""),
    )


def _window(text: str, span: Span) -> tuple[int, int]:
    start = max(text.rfind("\n", 0, span.start) + 1, span.start - AROUND)
    newline = text.find("\n", span.end)
    end = min(len(text) if newline < 0 else newline, span.end + AROUND)
    if start and text[start - 1] not in " \n":
        start = max(start, text.find(" ", start, span.start) + 1)
    if end < len(text) and text[end] not in " \n":
        end = max(span.end, text.rfind(" ", span.end, end))
    return start, end


def _on_one_line(text: str) -> str:
    return text.replace("\n", " ").replace("\t", " ")


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
.type, .back { color: var(--soft); font-size: .85em }
li:target, mark:target { outline: 2px solid var(--pen); outline-offset: 3px; border-radius: 3px }
@media print { .back { display: none } body { margin: 0 auto } }
"""


def _page(feedback: Feedback) -> str:
    by_span = [(span, list(same)) for span, same in groupby(feedback.flags, key=lambda finding: finding.item.span)]
    text = "".join(_marked(feedback.essay.text, [span for span, _ in by_span]))
    notes = "".join(_entry(number, findings) for number, (_, findings) in enumerate(by_span, 1))
    listed = f"<h2>To look at again</h2>\n<ol>{notes}</ol>" if notes else "<h2>Nothing to look at again</h2>"
    title = escape(f"Feedback on {PurePath(feedback.name).name}")
    return (
        f'<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8"><title>{title}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta name="color-scheme" content="light dark"><style>{STYLE}</style></head>\n'
        f'<body><main><h1>{title}</h1>\n<p class="note">{escape(feedback.note)}</p>\n'
        f'<div class="essay">{text}</div>\n{listed}\n</main></body></html>\n'
    )


def _marked(text: str, spans: Sequence[Span]) -> Iterator[str]:
    """The text with its marks; a span that overlaps the one before is marked from where that ends."""
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


def _entry(number: int, findings: list[Finding]) -> str:
    lines = "<br>".join(
        f"<strong>{escape(advice(finding))}</strong> {escape(question(finding))} "
        f'<span class="type">{escape(source(finding))}</span>'
        for finding in findings
    )
    return f'<li id="note-{number}">{lines} <a class="back" href="#place-{number}">back to the text</a></li>\n'
