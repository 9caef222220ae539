"""Prepositions between two words, as essays have them.

Madnani et al. 2011, section 2.1: all trigrams of the essays with a preposition in the middle.  A use is the trigram
at one place.  Both neighbours must be words (begin with a letter): nothing is missing or too much beside a bracket.
As everywhere, *to* before a verb and particles are no prepositions (`prepositions.candidates`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from grater.detect.ngrams.words import normal
from grater.detect.prepositions.candidates import PREP, preposition_places
from grater.model import Essay, Item, Span
from grater.text.analysis import Sentence, analyse

Trigram: TypeAlias = tuple[str, str, str]
Bigram: TypeAlias = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Use:
    """A preposition at its place, `span`; `context` is the sentence, in which it starts at `offset`."""

    trigram: Trigram
    essay_id: str
    document: str
    span: Span
    context: str
    offset: int

    @property
    def words(self) -> str:
        return " ".join(self.trigram)

    @property
    def item(self) -> Item:
        return Item(self.essay_id, self.span, PREP)

    @property
    def target(self) -> str:
        return self.context[self.offset : self.offset + len(self.span)]


def without(trigram: Trigram) -> Bigram:
    """The words with the preposition removed."""
    return trigram[0], trigram[2]


def by_trigram(uses: Iterable[Use]) -> dict[str, list[Use]]:
    """The uses of each trigram, in order; a trigram is its words with blanks between."""
    found: dict[str, list[Use]] = defaultdict(list)
    for use in uses:
        found[use.words].append(use)
    return found


def uses_of(essays: Iterable[Essay]) -> Iterator[Use]:
    """Every use of a preposition between two words, in order."""
    for essay in essays:
        document = str(essay.metadata.get("document") or "")
        for sentence in analyse(essay):
            for place in preposition_places(sentence):
                if 0 < place < len(sentence.words) - 1 and _is_between_words(sentence, place):
                    yield _use(essay, document, sentence, place)


def _is_between_words(sentence: Sentence, place: int) -> bool:
    return sentence.words[place - 1][0].isalpha() and sentence.words[place + 1][0].isalpha()


def _use(essay: Essay, document: str, sentence: Sentence, place: int) -> Use:
    first, middle, last = (normal(word) for word in sentence.words[place - 1 : place + 2])
    span, whole = sentence.spans[place], Span(sentence.spans[0].start, sentence.spans[-1].end)
    return Use((first, middle, last), essay.essay_id, document, span, whole.of(essay.text), span.start - whole.start)
