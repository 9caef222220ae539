"""The words around an item that a page shows: its sentence, cut at the item, and the sentences before it."""

from __future__ import annotations

from collections.abc import Sequence

from grater.errors import UsageError
from grater.model import Essay, Span
from grater.tasks.task import Piece, Unit, UnitItem
from grater.text.sentences import sentences_of

TARGET, GAP, BLANK = "target", "gap", "blank"


def only_item(unit: Unit) -> UnitItem:
    if len(unit.items) != 1:
        raise UsageError(f"unit {unit.unit_id}: expected one item on a page, found {len(unit.items)}")
    return unit.items[0]


def sentence_around(essay: Essay, span: Span) -> tuple[Span, tuple[Span, ...]]:
    """The sentence, or the run of sentences, that a span stands in, and all sentences before it."""
    sentences = sentences_of(essay)
    home = _home(sentences, span)
    before = tuple(sentence for sentence in sentences if sentence.end <= home[0].start)
    return Span(min(span.start, home[0].start), max(span.end, home[-1].end)), before


def _home(sentences: Sequence[Span], span: Span) -> Sequence[Span]:
    """The sentences that a span touches; a gap has one, and in the space between two it follows the first."""
    touched = [sentence for sentence in sentences if sentence.touches(span)]
    if touched:
        return touched if len(span) else touched[:1]
    earlier = [sentence for sentence in sentences if sentence.end <= span.start]
    return earlier[-1:] or sentences[:1] or [span]


def words_before(essay: Essay, span: Span, *, n_sentences: int) -> str:
    """The text of up to `n_sentences` sentences before the span's own, as the writer spaced it."""
    _, before = sentence_around(essay, span)
    nearest = before[len(before) - min(n_sentences, len(before)) :]
    return essay.text[nearest[0].start : nearest[-1].end] if nearest else ""


def pieces_around(essay: Essay, span: Span, *, mark: str, shown: str | None = None) -> tuple[Piece, ...]:
    """The sentence cut at the span; `shown` stands in for the writer's words, which then do not appear at all."""
    sentence, _ = sentence_around(essay, span)
    words = span.of(essay.text) if shown is None else shown
    pieces = (
        Piece(essay.text[sentence.start : span.start]),
        Piece(words, mark),
        Piece(essay.text[span.end : sentence.end]),
    )
    return tuple(piece for piece in pieces if piece.text or piece.mark)
