"""What is counted in a text and in its readings; it adds up over essays, annotators and files.

A *reading* is one annotator's pass over a text: a sentence that two annotators read is one sentence and two readings.
Densities and shares are per reading, so that a second annotator does not make a text look worse.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

K = TypeVar("K")


@dataclass(frozen=True, slots=True)
class CorpusCounts:
    """Sufficient statistics of the corpus study.

    A *place* is a span that one annotator marked, once or more.  `by_sentence` maps a number of edits to the readings
    of a sentence that have so many.
    """

    sentences: int = 0
    tokens: int = 0
    unread: int = 0  # sentences that nobody read
    sentences_read: int = 0
    tokens_read: int = 0
    edits: int = 0
    edits_inside: int = 0  # edits that start and end in one sentence
    places: int = 0
    places_with_several: int = 0  # more than one edit there, or an edit with more than one correction
    edits_with_several: int = 0  # edits with more than one correction
    by_tag: Mapping[str, int] = field(default_factory=dict, hash=False)
    by_sentence: Mapping[int, int] = field(default_factory=dict, hash=False)

    def __add__(self, other: CorpusCounts) -> CorpusCounts:
        # Written out, not by fields(): this runs for every M2 block.
        return CorpusCounts(
            self.sentences + other.sentences,
            self.tokens + other.tokens,
            self.unread + other.unread,
            self.sentences_read + other.sentences_read,
            self.tokens_read + other.tokens_read,
            self.edits + other.edits,
            self.edits_inside + other.edits_inside,
            self.places + other.places,
            self.places_with_several + other.places_with_several,
            self.edits_with_several + other.edits_with_several,
            _sum(self.by_tag, other.by_tag),
            _sum(self.by_sentence, other.by_sentence),
        )

    def sentences_with(self, n_edits: int) -> int:
        """Readings of a sentence that have exactly so many edits."""
        return self.by_sentence.get(n_edits, 0)

    @property
    def labels(self) -> int:
        """Tags given: as many as edits, more where merged edits have two tags."""
        return sum(self.by_tag.values())


def total(parts: Iterable[CorpusCounts]) -> CorpusCounts:
    return sum(parts, start=CorpusCounts())


def _sum(first: Mapping[K, int], second: Mapping[K, int]) -> Mapping[K, int]:
    if not second or not first:
        return first or second
    summed = dict(first)
    for key, n in second.items():
        summed[key] = summed.get(key, 0) + n
    return summed
