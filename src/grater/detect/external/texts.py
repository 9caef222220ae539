"""The edits between an essay and its correction, token by token or merged and typed."""

from __future__ import annotations

from collections.abc import Sequence

from grater.corpora.edits.engine import GraterEngine
from grater.corpora.normalise import TokenRange, align, tokens_of_edit
from grater.corpora.text.tokens import token_spans, tokens_of
from grater.model import Edit, Essay, Span

TAG = "corrected"


def edits_between(essay: Essay, corrected: str, *, rater: str) -> tuple[Edit, ...]:
    """The edits that turn the essay's tokens into those of the corrected text."""
    # Tokenised text is corrected token by token: its spaces are the boundaries of tokens.
    target = (
        corrected.split() if essay.tokens is not None else [span.of(corrected) for span in token_spans(corrected)]
    )
    return edits_to(essay, target, rater=rater)


def edits_to(essay: Essay, target: Sequence[str], *, rater: str) -> tuple[Edit, ...]:
    """The edits that turn the essay's tokens into others."""
    spans = tokens_of(essay)
    source = [span.of(essay.text) for span in spans]
    edits, position = [], 0
    for old, new in align(source, target) if source != target else ():
        gap = spans[position].start if position < len(spans) else len(essay.text)
        span = Span(gap, gap) if old is None else spans[position]
        if old != new:
            edits.append(
                Edit(span=span, replacements=(_inserted(new or "", essay.text, span),), tag=TAG, rater=rater)
            )
        position += old is not None
    return tuple(edits)


def typed(essay: Essay, edits: Sequence[Edit]) -> tuple[Edit, ...]:
    """The edits between two texts, merged where words change together, with types."""
    if not edits or any(edit.tag != TAG for edit in edits):
        return tuple(edits)
    tokens = tokens_of(essay)
    words = [token.of(essay.text) for token in tokens]
    corrected, inserted = [[word] for word in (*words, "")], [list[str]() for _ in (*words, "")]
    for edit in edits:
        place, new = tokens_of_edit(edit, essay.text, tokens), edit.replacements[0].split()
        if place is not None and place.start == place.end:
            inserted[place.start] += new
        elif place is not None:
            corrected[place.start] = new
    target = [word for pair in zip(inserted, corrected, strict=True) for each in pair for word in each if word]
    [made] = GraterEngine().extract([(words, target)])
    return tuple(
        Edit(
            TokenRange(edit.start, edit.end, ()).span(essay.text, tokens),
            (edit.correction,),
            edit.type,
            edits[0].rater,
        )
        for edit in made
    )


def _inserted(words: str, text: str, span: Span) -> str:
    """A word inserted before another needs a space after it; at the end it needs one before."""
    if span.start != span.end or not words:
        return words
    return f"{words} " if span.start < len(text) else f" {words}"
