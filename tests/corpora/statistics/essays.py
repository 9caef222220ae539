"""Small essays of our own for the corpus study, with numbers that can be counted by eye."""

from __future__ import annotations

from grater.model import Edit, Essay, Json, Span


def edit(start: int, end: int, *replacements: str, tag: str = "Wci", rater: str = "A") -> Edit:
    return Edit(Span(start, end), replacements, tag, rater)


#                0         1         2         3         4         5
#                0123456789012345678901234567890123456789012345678901234
TWO_SENTENCES = "My brother like football. He play it in every evening."
"""4 words and a stop, then 6 words and a stop: 12 tokens, 11 types (the stop twice)."""


def two_sentences(
    *edits: Edit, annotators: tuple[str, ...] = ("A",), essay_id: str = "one", **metadata: Json
) -> Essay:
    return Essay(essay_id, TWO_SENTENCES, edits, annotators, metadata=metadata)


def m2_block(text: str, *edits: Edit, annotators: tuple[str, ...] = ("0",), **metadata: Json) -> Essay:
    """A tokenised sentence, as the M2 reader gives it."""
    tokens, start = [], 0
    for word in text.split(" "):
        tokens.append(Span(start, start + len(word)))
        start += len(word) + 1
    return Essay(text, text, edits, annotators, tuple(tokens), metadata)
