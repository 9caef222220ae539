"""The places that a preposition detector looks at.

T&C 2008, section 3.1: every use of one of the 34 prepositions.  What the tagger takes for something else is left
out: particles (RP), adverbs (RB: *about 20*), verbs (*like*), and *to* before a verb.  A tag of TO alone does not
make an infinitive, since tag sets differ: *to* is one where a base form follows, adverbs between them set aside.

Beyond the papers, a gap is a candidate (`prep-missing`) where a noun phrase or a gerund begins right after a word
that could have brought a preposition with it: a verb, noun, adjective, adverb or particle.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from grater.text.analysis import Sentence
from grater.text.prepositions import canonical

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
