"""Gold edits in token numbers, from essays that were read from M2, and sentences as an M2 hypothesis corrects them.

As the official scorer reads M2: an annotator with a no-op alone has no edits; annotators without a line in a block
are absent from it; a block without any line has one annotator, who found nothing.  A correction is the words
between single spaces; one with doubled spaces, or other white space within, can match nothing.  An edit that names
no correction is a correction to the words that stand there, as M2 spells it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from grater.errors import UsageError
from grater.model import Edit, Essay, Span

NOBODY = "0"
"""The annotator of a block that has none: the official scorer's name for it."""


@dataclass(frozen=True, slots=True)
class GoldEdit:
    """Tokens [start, end) become any one of `replacements`; an empty one deletes them."""

    start: int
    end: int
    replacements: tuple[tuple[str, ...], ...]


def gold_edits(essay: Essay) -> dict[str, tuple[GoldEdit, ...]]:
    """What each annotator of an essay corrected, in the file's order; annotators in the order of their numbers."""
    tokens = _tokens(essay)
    edits: dict[str, list[GoldEdit]] = {annotator: [] for annotator in sorted(essay.annotators, key=_by_number)}
    for edit in essay.edits:
        start, end = _token_range(edit.span, tokens)
        texts = edit.replacements or (" ".join(token.of(essay.text) for token in tokens[start:end]),)
        edits[edit.rater].append(GoldEdit(start, end, tuple(_words(text) for text in texts)))
    return {annotator: tuple(found) for annotator, found in edits.items()} or {NOBODY: ()}


def source_tokens(essay: Essay) -> tuple[str, ...]:
    """The words of an essay as its source divides them."""
    return tuple(token.of(essay.text) for token in _tokens(essay))


def corrected_tokens(essay: Essay) -> tuple[str, ...]:
    """The words of an essay with its one annotator's edits applied, each by its first replacement."""
    if len(essay.annotators) > 1:
        raise UsageError(
            f"{_where(essay)}: expected one annotator in a hypothesis, found {', '.join(essay.annotators)}; "
            "keep the lines of one"
        )
    tokens, corrected, at = _tokens(essay), list[str](), 0
    words = source_tokens(essay)
    for start, end, edit in sorted(((*_token_range(edit.span, tokens), edit) for edit in essay.edits), key=_by_place):
        if start < at:
            raise UsageError(f"{_where(essay)}: expected edits that do not overlap, found two at token {start}")
        corrected += words[at:start]
        corrected += edit.replacements[0].split() if edit.replacements else words[start:end]
        at = end
    return (*corrected, *words[at:])


def _by_place(found: tuple[int, int, Edit]) -> tuple[int, int]:
    return found[:2]


def _by_number(annotator: str) -> tuple[bool, int, str]:
    is_number = annotator.isascii() and annotator.isdigit()
    return not is_number, int(annotator) if is_number else 0, annotator


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.strip().split(" ")) if text.strip() else ()


def _tokens(essay: Essay) -> tuple[Span, ...]:
    if essay.tokens is None:
        raise UsageError(f"{_where(essay)}: expected an essay with tokens, as M2 has them; convert it to M2 first")
    return essay.tokens


def _where(essay: Essay) -> str:
    return f"essay {essay.essay_id}" if essay.line is None else f"essay {essay.essay_id} (line {essay.line})"


def _token_range(span: Span, tokens: Sequence[Span]) -> tuple[int, int]:
    """The tokens that a span touches; where it touches none, the point before the next token."""
    start = bisect_right(tokens, span.start, key=_end)
    return start, max(start, bisect_left(tokens, span.end, key=_start))


def _start(token: Span) -> int:
    return token.start


def _end(token: Span) -> int:
    return token.end
