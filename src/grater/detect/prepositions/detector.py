"""The preposition detector: candidates, an engine's scores, thresholds and filters, in that order.

A decision's score is by how much its best margin exceeds the threshold of its type: above 0 the engine flags, and
the filters decide last.  A filter that flags where the engine does not gives the score 0.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from grater.detect.detector import Finding, grouped
from grater.detect.learning.weights import Scores
from grater.detect.prepositions.candidates import ANSWERS, MISSING, PREP, Candidate, Engine, answer_of, candidates_of
from grater.detect.prepositions.filters import (
    DEFAULT,
    TYPE_OF_RULES,
    Flag,
    Words,
    check_names,
    is_flagged,
    is_silenced,
)
from grater.detect.prepositions.thresholds import TYPES, Thresholds, margins
from grater.model import DELETE, Decision, Essay, Item, Json, Span
from grater.text.analysis import analyse_all

MOST_ANSWERS = 4
"""Answers of a finding with their probabilities; the writer's own comes after them, if it is another."""

DECIMALS = 6
"""Machines may differ in the last digits of an exponential; what is shown is rounded."""


class AnyWord:
    """Contains every word: for engines without a vocabulary."""

    def __contains__(self, word: object) -> bool:
        return True


@dataclass(frozen=True, slots=True)
class PlacedCandidate:
    """A candidate with its essay."""

    essay_id: str
    candidate: Candidate

    @property
    def item(self) -> Item:
        span = self.candidate.sentence.spans[self.candidate.index]
        place_span = Span(span.start, span.start) if self.candidate.is_gap else span
        return Item(self.essay_id, place_span, self.candidate.kind)


@dataclass(frozen=True, slots=True)
class PrepositionDetector:
    """An engine with its thresholds; `known` contains the words that are no noise."""

    name: str
    engine: Engine
    thresholds: Thresholds
    card: Mapping[str, Json]
    known: Words = field(default_factory=AnyWord)
    filters: Collection[str] = DEFAULT
    kinds: tuple[str, ...] = (PREP, MISSING)

    def with_filters(self, names: Collection[str]) -> PrepositionDetector:
        """The same with other filters."""
        return replace(self, filters=check_names(names))

    def find(self, essays: Iterable[Essay]) -> Iterator[Finding]:
        for group in grouped(essays):
            waiting = [
                PlacedCandidate(essay.essay_id, candidate)
                for essay, sentences in zip(group, analyse_all(group), strict=True)
                for sentence in sentences
                for candidate in candidates_of(sentence, with_gaps=MISSING in self.kinds)
            ]
            yield from self._decided(waiting)

    def _decided(self, waiting: list[PlacedCandidate]) -> Iterator[Finding]:
        candidates = [placed.candidate for placed in waiting]
        if not candidates:
            return
        scores = self.engine.scores(candidates)
        written = [answer_of(candidate) for candidate in candidates]
        differences = margins(scores, written)
        excess = differences.values - self.thresholds.rows(written)
        types = excess.argmax(axis=1)
        exceeding = np.round(excess.max(axis=1), DECIMALS).tolist()
        best, kinds, beliefs = differences.best.tolist(), types.tolist(), beliefs_of(scores, written)
        for placed, own, answer, kind, score, belief in zip(
            waiting, written, best, kinds, exceeding, beliefs, strict=True
        ):
            suggestion = DELETE if TYPES[kind] == TYPE_OF_RULES else ANSWERS[answer]
            yield self._finding(placed, Flag(placed.candidate, TYPES[kind], ANSWERS[own], suggestion), score, belief)

    def _finding(
        self, placed: PlacedCandidate, flag: Flag, score: float, belief: tuple[tuple[str, float], ...]
    ) -> Finding:
        item = placed.item
        candidate = placed.candidate
        target = "" if candidate.is_gap else candidate.sentence.words[candidate.index]
        if score > 0 and not is_silenced(flag, self.known, self.filters):
            decision = Decision(item.item_id, self.name, True, score, flag.type, flag.suggestion)
        elif is_flagged(candidate, self.filters):
            decision = Decision(item.item_id, self.name, True, max(score, 0.0), TYPE_OF_RULES, DELETE)
        else:
            decision = Decision(item.item_id, self.name, False, score)
        return Finding(item, decision, target, belief)


def beliefs_of(scores: Scores, written: list[int]) -> list[tuple[tuple[str, float], ...]]:
    """The likeliest answers and their probabilities, the writer's own among them."""
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares = np.round(shares / shares.sum(axis=1, keepdims=True), DECIMALS)
    top = np.argsort(-shares, axis=1, kind="stable")[:, :MOST_ANSWERS]
    of_top = np.take_along_axis(shares, top, axis=1).tolist()
    of_own = shares[np.arange(len(shares)), written].tolist()
    beliefs = []
    for answers, values, own, of in zip(top.tolist(), of_top, written, of_own, strict=True):
        named = tuple(zip((ANSWERS[answer] for answer in answers), values, strict=True))
        beliefs.append(named if own in answers else (*named, (ANSWERS[own], of)))
    return beliefs
