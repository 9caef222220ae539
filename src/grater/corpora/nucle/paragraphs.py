"""Paragraphs of an essay: between places in the text and NUCLE's (paragraph, offset).

Paragraphs are joined by one newline, so each place in the text is one place in one paragraph, its end included.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate

from grater.model import Json


@dataclass(frozen=True, slots=True)
class Paragraphs:
    """Where each paragraph starts in the text, and how long it is."""

    starts: tuple[int, ...]
    lengths: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.lengths)

    def offset(self, paragraph: int, offset: int) -> int:
        return self.starts[paragraph] + offset

    def place(self, offset: int) -> tuple[int, int]:
        paragraph = bisect_right(self.starts, offset) - 1
        return paragraph, offset - self.starts[paragraph]

    def of(self, text: str) -> list[str]:
        return [text[start : start + length] for start, length in zip(self.starts, self.lengths, strict=True)]


def paragraphs_of_lengths(lengths: Iterable[int]) -> Paragraphs:
    lengths = tuple(lengths)
    starts = accumulate((length + 1 for length in lengths[:-1]), initial=0)
    return Paragraphs(tuple(starts) if lengths else (), lengths)


def paragraphs_of_text(text: str) -> Paragraphs:
    """A paragraph a line."""
    return paragraphs_of_lengths(len(line) for line in text.split("\n"))


def kept_paragraphs(lengths: Json, text: str) -> Paragraphs | None:
    """The paragraphs that metadata tells of, or None where they do not fit the text."""
    if not isinstance(lengths, list):
        return None
    numbers = [length for length in lengths if type(length) is int and length >= 0]
    paragraphs = paragraphs_of_lengths(numbers)
    fits = len(numbers) == len(lengths) and "\n".join(paragraphs.of(text)) == text
    return paragraphs if fits and sum(numbers) + max(len(numbers) - 1, 0) == len(text) else None
