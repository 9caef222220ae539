"""Which trigrams of the essays look as if their preposition were extraneous.

Madnani et al. 2011, section 2.1.  All trigrams of the essays with a preposition in the middle are looked up; a use is
a trigram at one place.  Both neighbours must be words (begin with a letter).  As everywhere, *to* before a verb and
particles are not prepositions (`prepositions.candidates`).  A trigram (*marry with her*) is suspicious if it is
unattested in a large corpus, or has "a count much lower than expected based on the bigram count" (*marry her*).  The
paper gives no formula; ours:

    rate(p)   = sum of c(a p b) / sum of c(a b)     over all trigrams of the essays with p in the middle
    expected  = rate(p) c(a b)
    score     = log((expected + 1/2) / (c(a p b) + 1/2))

So a preposition that often stands between words which also stand side by side must be rarer to be suspicious.  A
trigram is kept if its bigram is attested at least `least_bigram` times and its count is at most `ratio` of what was
expected, or it is unattested.  The most suspicious come first; equal ones in order of their words.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import TypeAlias

from grater.corpora.text.analysis import Sentence, analyse
from grater.detect.ngrams.counts import normal
from grater.detect.prepositions.candidates import PREP, preposition_places
from grater.model import Essay, Item, Span

Trigram: TypeAlias = tuple[str, str, str]
Bigram: TypeAlias = tuple[str, str]

RATIO = 0.1
MOST = 2000
"""Suspects in a list: more than anybody will review."""


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
    """The uses of each trigram, in order; a trigram is its words, separated by blanks."""
    uses_by_trigram: dict[str, list[Use]] = defaultdict(list)
    for use in uses:
        uses_by_trigram[use.words].append(use)
    return uses_by_trigram


def uses_of(essays: Iterable[Essay]) -> Iterator[Use]:
    """Every use of a preposition between two words, in order."""
    for essay in essays:
        document = str(essay.metadata.get("document") or "")
        for sentence in analyse(essay):
            for index in preposition_places(sentence):
                beside = sentence.words[index - 1 : index + 2 : 2] if index else ()
                if len(beside) == 2 and all(word[0].isalpha() for word in beside):
                    yield _use(essay, document, sentence, index)


def _use(essay: Essay, document: str, sentence: Sentence, index: int) -> Use:
    first, middle, last = (normal(word) for word in sentence.words[index - 1 : index + 2])
    span, whole = sentence.spans[index], Span(sentence.spans[0].start, sentence.spans[-1].end)
    return Use(
        trigram=(first, middle, last),
        essay_id=essay.essay_id,
        document=document,
        span=span,
        context=whole.of(essay.text),
        offset=span.start - whole.start,
    )


@dataclass(frozen=True, slots=True)
class Suspect:
    """A trigram with its counts; `uses` are its places in the essays, in order."""

    trigram: Trigram
    n_trigram: float
    n_bigram: float
    expected: float
    uses: tuple[Use, ...]

    @property
    def words(self) -> str:
        return self.uses[0].words

    @property
    def score(self) -> float:
        return log((self.expected + 0.5) / (self.n_trigram + 0.5))


def wanted_ngrams(uses: Iterable[Use]) -> set[tuple[str, ...]]:
    """The trigrams and bigrams whose counts are needed."""
    trigrams = {use.trigram for use in uses}
    return {*trigrams, *map(without, trigrams)}


def rank(
    uses: Sequence[Use], counts: Mapping[tuple[str, ...], float], *, least_bigram: float = 1, ratio: float = RATIO
) -> list[Suspect]:
    """The suspicious trigrams, worst first."""
    uses_by_words = {uses_of_words[0].trigram: uses_of_words for uses_of_words in by_trigram(uses).values()}
    rates = _rates(uses_by_words, counts)
    suspects = []
    for trigram, uses_of_words in uses_by_words.items():
        n_trigram, n_bigram = counts.get(trigram, 0), counts.get(without(trigram), 0)
        expected = rates[trigram[1]] * n_bigram
        if n_bigram >= least_bigram and (not n_trigram or n_trigram <= ratio * expected):
            suspects.append(
                Suspect(
                    trigram=trigram,
                    n_trigram=n_trigram,
                    n_bigram=n_bigram,
                    expected=expected,
                    uses=tuple(uses_of_words),
                )
            )
    return sorted(suspects, key=lambda suspect: (-suspect.score, suspect.trigram))


def _rates(trigrams: Iterable[Trigram], counts: Mapping[tuple[str, ...], float]) -> dict[str, float]:
    """The ratio of a preposition's trigrams to their bigrams, by preposition."""
    with_it: dict[str, float] = defaultdict(float)
    without_it: dict[str, float] = defaultdict(float)
    for trigram in trigrams:
        with_it[trigram[1]] += counts.get(trigram, 0)
        without_it[trigram[1]] += counts.get(without(trigram), 0)
    return {word: with_it[word] / without_it[word] if without_it[word] else 0.0 for word in with_it}
