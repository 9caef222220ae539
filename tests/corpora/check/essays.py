"""Small essays for the rules of the check, written as a text and the words that an annotator marked in it."""

from __future__ import annotations

from grater.corpora.check import Finding, check_essays
from grater.model import Edit, Essay, Span


def edit_of(text: str, words: str, *corrections: str, tag: str = "Mec", rater: str = "A", line: int = 7) -> Edit:
    """An edit of the first place where the words stand."""
    start = text.index(words)
    return Edit(Span(start, start + len(words)), corrections, tag, rater, line=line)


def essay_of(text: str, *edits: Edit, annotators: tuple[str, ...] = ("A",), essay_id: str = "e1") -> Essay:
    return Essay(essay_id, text, edits, annotators, line=3)


def tokenised(text: str, *edits: Edit, annotators: tuple[str, ...] = ("A",), essay_id: str = "e1") -> Essay:
    """An essay as an M2 file gives it: its tokens are the words between the spaces."""
    spans, start = [], 0
    for word in text.split(" "):
        spans.append(Span(start, start + len(word)))
        start += len(word) + 1
    return Essay(essay_id, text, edits, annotators, tuple(spans), line=3)


def found(*essays: Essay, rule: str) -> list[Finding]:
    return [finding for finding in check_essays(essays) if finding.rule == rule]


def messages(*essays: Essay, rule: str) -> list[str]:
    return [finding.message for finding in found(*essays, rule=rule)]
