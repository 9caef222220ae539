"""Which trigrams look as if their preposition were one too many.

Madnani et al. 2011, section 2.1: a trigram (*marry with her*) is suspicious if it is unattested in a large corpus, or
has "a count much lower than expected based on the bigram count" (*marry her*).  The paper gives no formula; ours:

    rate(p)   = sum of c(a p b) / sum of c(a b)     over all trigrams of the essays with p in the middle
    expected  = rate(p) c(a b)
    score     = log((expected + 1/2) / (c(a p b) + 1/2))

So a preposition that often stands between words which also stand side by side must be rarer to be suspicious.  A
trigram is kept if its bigram is attested at least `least_bigram` times and its count is at most `ratio` of what was
expected, or it is unattested.  The most suspicious come first; equal ones in order of their words.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log

from grater.detect.mining.uses import Trigram, Use, by_trigram, without

RATIO = 0.1
MOST = 2000
"""Suspects that a list keeps: more than anybody will go through."""


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
    uses: Sequence[Use],
    counts: Mapping[tuple[str, ...], float],
    *,
    least_bigram: float = 1,
    ratio: float = RATIO,
) -> list[Suspect]:
    """The suspicious trigrams, worst first."""
    found = {places[0].trigram: places for places in by_trigram(uses).values()}
    rates = _rates(found, counts)
    suspects = []
    for trigram, places in found.items():
        n_trigram, n_bigram = counts.get(trigram, 0), counts.get(without(trigram), 0)
        expected = rates[trigram[1]] * n_bigram
        if n_bigram >= least_bigram and (not n_trigram or n_trigram <= ratio * expected):
            suspects.append(Suspect(trigram, n_trigram, n_bigram, expected, tuple(places)))
    return sorted(suspects, key=lambda suspect: (-suspect.score, suspect.trigram))


def _rates(trigrams: Iterable[Trigram], counts: Mapping[tuple[str, ...], float]) -> dict[str, float]:
    """How often each preposition stands between two words, for each time these stand side by side."""
    with_it: dict[str, float] = defaultdict(float)
    without_it: dict[str, float] = defaultdict(float)
    for trigram in trigrams:
        with_it[trigram[1]] += counts.get(trigram, 0)
        without_it[trigram[1]] += counts.get(without(trigram), 0)
    return {word: with_it[word] / without_it[word] if without_it[word] else 0.0 for word in with_it}
