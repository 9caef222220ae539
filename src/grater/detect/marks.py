"""A mark on an essay in words: the advice, the reason, the system and its confidence, and the text around it.

A flag is phrased as a question and states the detector's confidence: `SURE`, `FAIRLY` and `ALSO` are the minimum
probabilities for calling an answer sure, fairly sure, or worth a second suggestion; a calibrated detector states
which share of such marks is right (`ODDS`). The reason is one of the rules for learners (`rules.toml`), else the
system's own message.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from grater.detect.detector import Finding
from grater.detect.explanations import Explanation, explain, place_of
from grater.model import DELETE, Span

NEXT_WORD = re.compile(r"[ \t]*(?P<word>[\w'’-]+)")
LAST_WORD = re.compile(r"[\w'’-]+\s*$")
ON_ONE_LINE = str.maketrans("\n\t", "  ")

AROUND = 60
"""Characters of the text shown on each side of a flag."""

MISSING = {"prep-missing": "A preposition", "article": "An article"}
WRONG = {
    "prep": "the wrong preposition",
    "article": "the wrong article",
    "number": "in the wrong number",
    "verb-form": "in the wrong form",
}
"""The possible error, by the kind of the item."""

SURE, FAIRLY, ALSO = 0.95, 0.8, 0.1
ODDS = ((0.95, "19 of 20"), (0.9, "9 of 10"), (0.8, "4 of 5"), (0.75, "3 of 4"), (0.66, "2 of 3"), (0.5, "half"))
"""Shares of marks that are right, in words."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A place with all findings on it; the first one is explained."""

    span: Span
    findings: tuple[Finding, ...]
    explanation: Explanation | None


def advice(finding: Finding) -> str:
    """The advice for a flag, in a few words: `into → in`, `drop about`, `put in to`, `of → on or upon`."""
    decision, target = finding.decision, visible(finding.target)
    if decision.suggestion == DELETE:
        return f"drop {target}"
    if decision.suggestion is None:
        return f"look again at {target}" if target else "look again"
    words = " or ".join(visible(word) for word in (decision.suggestion, *alternatives(finding)))
    return f"{target} → {words}" if target else f"put in {words}"


def visible(words: str) -> str:
    """Words unchanged; spaces and punctuation in quotation marks."""
    return words if not words or any(map(str.isalnum, words)) else f"“{words}”"


def alternatives(finding: Finding) -> list[str]:
    """Other words that fit nearly as well."""
    if not finding.item.kind.startswith("prep") or finding.alternatives:
        return [word for word in finding.alternatives if word]
    best = (DELETE, finding.decision.suggestion, finding.target.lower())
    return [word for word, belief in finding.probabilities if belief >= ALSO and word not in best]


def sureness(finding: Finding) -> str:
    """The system's confidence in its answer, in words; empty without probabilities.

    A calibrated system states which share of such marks is right.
    """
    if finding.confidence is not None:
        share = next((words for least, words in ODDS if finding.confidence >= least), "fewer than half")
        return f"{share} of such marks are right" if "half" in share else f"{share} such marks are right"
    belief = max((belief for _, belief in finding.probabilities), default=None)
    if belief is None:
        return ""
    return "sure" if belief >= SURE else "fairly sure" if belief >= FAIRLY else "not quite sure"


def source(finding: Finding) -> str:
    """The system behind a flag, and its confidence."""
    return ", ".join(word for word in (finding.decision.system, sureness(finding)) if word)


def reason(finding: Finding) -> str:
    """The possible error in two words."""
    if finding.decision.suggestion == DELETE:
        return "not needed?"
    if not finding.target:
        return f"{MISSING.get(finding.item.kind, 'A word').lower()} missing?"
    return f"{WRONG.get(finding.item.kind, finding.item.kind)}?"


def explanation_of(finding: Finding, text: str) -> Explanation | None:
    """The rule that explains a flag."""
    suggestion = finding.decision.suggestion
    if suggestion is None:
        return None
    return explain(place_of(text, finding.item.span, finding.item.kind, suggestion), finding.rule)


def why(mark: Mark) -> str:
    """One sentence for the writer: the rule, else the system's message, else the possible error."""
    return mark.explanation.reason if mark.explanation else question(mark.findings[0])


def question(finding: Finding) -> str:
    """The flag as a sentence to the writer, or the system's own message as a quotation."""
    decision, target = finding.decision, finding.target
    if finding.message:
        return finding.message.replace("`", "")
    if decision.suggestion == DELETE:
        return f"“{target}” may not be needed here."
    if not target:
        return f"{MISSING.get(finding.item.kind, 'A word')} may be missing here: “{decision.suggestion}”?"
    return f"“{target}” may be {WRONG.get(finding.item.kind, 'wrong')} here; “{decision.suggestion}”?"


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A flagged place with the words around it, on one line; `marked` is an underscore for a missing word."""

    line: int
    before: str
    marked: str
    after: str


def excerpt(text: str, span: Span) -> Excerpt:
    """The text around a span, within its line and in whole words."""
    start = max(text.rfind("\n", 0, span.start) + 1, span.start - AROUND)
    newline = text.find("\n", span.end)
    end = min(len(text) if newline < 0 else newline, span.end + AROUND)
    if start and text[start - 1] not in " \n":
        start = max(start, text.find(" ", start, span.start) + 1)
    if end < len(text) and text[end] not in " \n":
        end = max(span.end, text.rfind(" ", span.end, end))
    before, after = (part.translate(ON_ONE_LINE) for part in (text[start : span.start], text[span.end : end]))
    return Excerpt(
        line=text.count("\n", 0, span.start) + 1,
        before=("…" if text[:start].strip() else "") + before,
        marked=span.of(text) if len(span) else "▁",
        after=("" if len(span) else " ") + after + ("…" if text[end:].strip() else ""),
    )


@dataclass(frozen=True, slots=True)
class TextChange:
    """The replacements, likeliest first, and the words that they replace: never empty, without extra spaces."""

    span: Span
    replacements: tuple[str, ...]


def change(text: str, finding: Finding) -> TextChange:
    """A flag as a change for an editor: an insertion includes the next word, a deletion a space.

    At the beginning of a sentence, the capital letter moves to the new first word.
    """
    span, suggestion = finding.item.span, finding.decision.suggestion
    if suggestion is None:
        return TextChange(span=span, replacements=())
    if suggestion == DELETE:
        follows = NEXT_WORD.match(text, span.end)
        if span.of(text)[:1].isupper() and follows:
            return TextChange(span=Span(span.start, follows.end()), replacements=(_capital(follows["word"]),))
        if text[span.end : span.end + 1] == " ":
            return TextChange(span=Span(span.start, span.end + 1), replacements=("",))
        start = span.start - (text[: span.start].endswith(" ") and not span.of(text).isspace())
        return TextChange(span=Span(start, span.end), replacements=("",))
    words = [suggestion, *alternatives(finding)]
    if span.start == span.end:
        place = span.start
        follows = NEXT_WORD.match(text, place)
        if not follows:
            before = LAST_WORD.search(text, 0, place)
            start = before.start() if before else place
            return TextChange(
                span=Span(start, place), replacements=tuple(f"{text[start:place]} {word}".strip() for word in words)
            )
        start, word = follows.start("word"), follows["word"]
        is_first = text[:start].rstrip(" \t")[-1:] in ("", *".!?\n")
        if is_first and word[:1].isupper() and word != "I":
            words, word = [_capital(each) for each in words], word[:1].lower() + word[1:]
        return TextChange(span=Span(start, follows.end()), replacements=tuple(f"{each} {word}" for each in words))
    is_first = span.of(text)[:1].isupper() and finding.item.kind != "capital"
    return TextChange(span=span, replacements=tuple(map(_capital, words)) if is_first else tuple(words))


def _capital(word: str) -> str:
    return word[:1].upper() + word[1:]
