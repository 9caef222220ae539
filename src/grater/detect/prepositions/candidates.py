"""The places that a preposition detector looks at.

T&C 2008, section 3.1: every use of one of the 34 prepositions.  What the tagger takes for something else is left
out: particles (RP), adverbs (RB: *about 20*), verbs (*like*), and *to* before a verb.  A tag of TO alone does not
make an infinitive, since tag sets differ: *to* is one where a base form follows, adverbs between them set aside.

Beyond the papers, a gap is a candidate (`prep-missing`) where a noun phrase or a gerund begins right after a word
that could have brought a preposition with it: a verb, noun, adjective, adverb or particle.

What all engines have in common: a score for every preposition, and for none, at every candidate.

The columns are the 34 prepositions in house order (`text.prepositions`), then none at all.  Scores are log-
probabilities where an engine has probabilities; only differences within a row count, so any constant may be added to
a row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from grater.detect.learning.weights import Scores
from grater.model import DELETE
from grater.text.analysis import Sentence
from grater.text.prepositions import PREPOSITIONS, canonical

PREP, MISSING = "prep", "prep-missing"
PREPOSITION_TAGS = frozenset(("IN", "TO"))
BEFORE_GAP = ("VB", "NN", "JJ", "RB", "RP")
"""Beginnings of the tags of words that could have brought a preposition with them."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """The token at `index` (kind `prep`), or the gap before it (kind `prep-missing`)."""

    sentence: Sentence
    index: int
    kind: str

    @property
    def is_gap(self) -> bool:
        return self.kind == MISSING


def preposition_places(sentence: Sentence) -> list[int]:
    """The tokens that are used as one of the 34 prepositions."""
    words, tags = sentence.words, sentence.tags
    return [
        place
        for place, tag in enumerate(tags)
        if tag in PREPOSITION_TAGS and canonical(words[place]) is not None and not _is_infinitive(words, tags, place)
    ]


def gap_places(sentence: Sentence) -> list[int]:
    """The tokens before which a preposition could be missing."""
    tags = sentence.tags
    starts = {chunk.start for chunk in sentence.chunks if chunk.kind == "NP"}
    starts.update(place for place, tag in enumerate(tags) if tag == "VBG")
    return [place for place in sorted(starts) if place and tags[place - 1].startswith(BEFORE_GAP)]


def candidates_of(sentence: Sentence, *, with_gaps: bool = True) -> Iterator[Candidate]:
    """Every candidate of a sentence, in order; a gap comes before the token that it stands before."""
    places = [(place, PREP) for place in preposition_places(sentence)]
    if with_gaps:
        places += [(place, MISSING) for place in gap_places(sentence)]
        places.sort()
    for place, kind in places:
        yield Candidate(sentence, place, kind)


def _is_infinitive(words: tuple[str, ...], tags: tuple[str, ...], place: int) -> bool:
    if words[place].lower() != "to":
        return False
    after = place + 1
    while after < len(tags) and tags[after].startswith("RB"):
        after += 1
    return after < len(tags) and tags[after] == "VB"


ANSWERS: tuple[str, ...] = (*PREPOSITIONS, DELETE)
"""What the columns of scores mean."""

NONE = len(PREPOSITIONS)
"""The column of no preposition."""

COLUMN_OF = {answer: column for column, answer in enumerate(ANSWERS)}


class Engine(Protocol):
    """Anything that can say which preposition fits a place."""

    def scores(self, candidates: Sequence[Candidate]) -> Scores:
        """(candidates, 35): log-probabilities or scores; a row depends on its own candidate only."""
        ...


def answer_of(candidate: Candidate) -> int:
    """The column of what the writer wrote."""
    if candidate.is_gap:
        return NONE
    written = canonical(candidate.sentence.words[candidate.index])
    return NONE if written is None else COLUMN_OF[written]
