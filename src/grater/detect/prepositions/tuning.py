"""What an engine needs whose scores of none and of a preposition do not compare: costs, from text it did not see.

The cost of a preposition is the mean margin of none over it in well-formed text (`ngram`, `combined`); a preposition
with few uses is drawn towards the mean of all, as if FEW uses of that mean were added.  A gap's cost is the mean of
all.  Then one step is added to every cost, up to which none wins over a preposition that is right as often as a
preposition wins over a gap that should stay: a margin of 0 means that the engine is in two minds.  Thresholds are
chosen on the same text with errors put in, as for the other engines (`training.choose_thresholds`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Protocol, Self, TypeVar

import numpy as np

from grater.detect.learning.scores import Scores
from grater.detect.prepositions.candidates import Candidate, candidates_of
from grater.detect.prepositions.corruption import frequencies
from grater.detect.prepositions.engine import ANSWERS, NONE, Engine, answer_of
from grater.detect.prepositions.thresholds import Thresholds, margins
from grater.detect.prepositions.training import Options, choose_thresholds
from grater.errors import UsageError
from grater.text.analysis import Sentence, analyse

MOST_LINES = 4000
"""Lines that costs and thresholds come from, evenly spread over those held out."""

MOST_SENTENCES = 10_000
FEW = 20


class Priced(Engine, Protocol):
    """An engine that lowers the score of none by a cost for each answer."""

    def with_costs(self, costs: Scores) -> Self: ...


PricedEngine = TypeVar("PricedEngine", bound=Priced)


def tuned(engine: PricedEngine, held_out: Sequence[str], *, seed: int = 0) -> tuple[PricedEngine, Thresholds]:
    """The engine with its costs, and thresholds for it."""
    held_out = held_out[:: 1 + len(held_out) // MOST_LINES]
    sentences = (sentence for line in held_out for sentence in analyse(line))
    candidates = _candidates(islice(sentences, MOST_SENTENCES))
    written = np.array([answer_of(candidate) for candidate in candidates], np.int64)
    if not (written != NONE).any():
        raise UsageError("expected prepositions in the text to choose thresholds on, found none; name more text")
    priced = engine.with_costs(costs_of(engine, candidates, written))
    shares = frequencies(written[written != NONE].tolist())
    return priced, choose_thresholds(priced, held_out, Options(seed=seed), shares)


def costs_of(
    engine: Priced, candidates: Sequence[Candidate], written: np.ndarray[tuple[int], np.dtype[np.int64]]
) -> Scores:
    """The mean cost of each preposition, rounded so that a card can show it; the last is a gap's."""
    plain = engine.with_costs(np.zeros(len(ANSWERS)))
    found = margins(plain.scores(candidates), written.tolist()).values
    is_gap = written == NONE
    uses, gaps, words = found[~is_gap, 1], found[is_gap, 2], written[~is_gap]
    n = np.bincount(words, minlength=NONE)[:NONE]
    means = (np.bincount(words, weights=uses, minlength=NONE)[:NONE] + FEW * uses.mean()) / (n + FEW)
    costs = np.append(means, uses.mean())
    rounded: Scores = np.round(costs + _balance(uses - costs[words], gaps + costs[NONE]), 4)
    return rounded


def _balance(uses: Scores, gaps: Scores) -> float:
    """The step at which margins of uses lie above it as often as those of gaps above its opposite."""
    steps = np.quantile(uses, np.linspace(0, 1, 1001))
    above = 1 - np.searchsorted(np.sort(uses), steps, side="right") / len(uses)
    opposite = 1 - np.searchsorted(np.sort(gaps), -steps, side="right") / max(1, len(gaps))
    return float(steps[np.abs(above - opposite).argmin()])


def _candidates(sentences: Iterable[Sentence]) -> list[Candidate]:
    return [candidate for sentence in sentences for candidate in candidates_of(sentence)]
