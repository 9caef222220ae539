"""The places that a preposition detector checks, and the scores that an engine gives to each answer.

T&C 2008, section 3.1: every use of one of the 34 prepositions. Words with other tags are left out: particles (RP),
adverbs (RB: *about 20*), verbs (*like*), and *to* before a verb. The tag TO alone does not make an infinitive, since
tag sets differ: *to* is one if a base form follows, ignoring adverbs in between. Beyond the papers, a gap is a
candidate (`prep-missing`) if a noun phrase or a gerund begins right after a word that can take a preposition: a verb,
noun, adjective, adverb or particle.

The columns of scores are the 34 prepositions in the order of `text.prepositions`, then none at all. Scores are
log-probabilities if an engine has probabilities; only differences within a row matter.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from grater.corpora.text.analysis import Sentence
from grater.corpora.text.prepositions import PREPOSITIONS, canonical
from grater.detect.linear import Scores
from grater.model import DELETE, Item, Span

PREP, MISSING = "prep", "prep-missing"
PREPOSITION_TAGS = frozenset(("IN", "TO"))
BEFORE_GAP = ("VB", "NN", "JJ", "RB", "RP")
"""Prefixes of the tags of words that could have brought a preposition with them."""

ANSWERS: tuple[str, ...] = (*PREPOSITIONS, DELETE)
"""The columns of scores."""

NONE = len(PREPOSITIONS)
"""The column of no preposition."""

COLUMN_OF = {answer: column for column, answer in enumerate(ANSWERS)}


@dataclass(frozen=True, slots=True)
class Candidate:
    """The token at `index` (kind `prep`), or the gap before it (kind `prep-missing`)."""

    sentence: Sentence
    index: int
    kind: str

    @property
    def is_gap(self) -> bool:
        return self.kind == MISSING

    def item_in(self, essay_id: str) -> Item:
        span = self.sentence.spans[self.index]
        return Item(essay_id, Span(span.start, span.start) if self.is_gap else span, self.kind)


def preposition_places(sentence: Sentence) -> list[int]:
    """The tokens that are used as one of the 34 prepositions."""
    words, tags = sentence.words, sentence.tags
    return [
        index
        for index, tag in enumerate(tags)
        if tag in PREPOSITION_TAGS and canonical(words[index]) is not None and not _is_infinitive(words, tags, index)
    ]


def gap_places(sentence: Sentence) -> list[int]:
    """The tokens before which a preposition could be missing."""
    tags = sentence.tags
    starts = {chunk.start for chunk in sentence.chunks if chunk.kind == "NP"}
    starts.update(index for index, tag in enumerate(tags) if tag == "VBG")
    return [index for index in sorted(starts) if index and tags[index - 1].startswith(BEFORE_GAP)]


def candidates_of(sentence: Sentence, *, with_gaps: bool = True) -> Iterator[Candidate]:
    """Every candidate of a sentence, in order; a gap comes before its token."""
    places = [(index, PREP) for index in preposition_places(sentence)]
    if with_gaps:
        places += [(index, MISSING) for index in gap_places(sentence)]
        places.sort()
    for index, kind in places:
        yield Candidate(sentence, index, kind)


def _is_infinitive(words: tuple[str, ...], tags: tuple[str, ...], index: int) -> bool:
    if words[index].lower() != "to":
        return False
    after = index + 1
    while after < len(tags) and tags[after].startswith("RB"):
        after += 1
    return after < len(tags) and tags[after] == "VB"


class Engine(Protocol):
    """Anything that can score which preposition fits a place."""

    def scores(self, candidates: Sequence[Candidate]) -> Scores:
        """(candidates, 35): log-probabilities or scores; a row depends on its own candidate only."""
        ...


def answer_of(candidate: Candidate) -> int:
    """The column of the writer's answer."""
    if candidate.is_gap:
        return NONE
    written = canonical(candidate.sentence.words[candidate.index])
    return NONE if written is None else COLUMN_OF[written]
