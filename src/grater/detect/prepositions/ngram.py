"""The language model as an engine: which sentence is likeliest, with which preposition, or with none?

Madnani et al. 2011, sections 2.1 and 4: a 4-gram language model looks at the sentence as it stands, without the
preposition, and, here, with each of the others.  Only the n-grams that the place touches differ, so only these are
asked: with a preposition the one that it ends and three that run over it, without it the three that close the gap.
A row's scores are log-probabilities of the sentence, up to a constant that all its variants share.

A sentence with one word less is likelier than the same with the word, good or bad, and how much depends on the word;
the paper does not say what it does about that.  Here the score of none is lowered by what the written preposition
costs in well-formed text (`costs`, see `training.tuned`).  Among the prepositions nothing changes.

Ties are margins of no more than TIE.  The paper's system calls them OK, which explains its perfect precision on the
most contentious items; ours does the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

import numpy as np

from grater.corpora.text.prepositions import PREPOSITIONS
from grater.detect.linear import Scores
from grater.detect.ngrams.language_model import NOTHING, LanguageModel, Rows
from grater.detect.ngrams.language_model import load as load_model
from grater.detect.prepositions.candidates import NONE, Candidate, answer_of
from grater.detect.prepositions.detector import PrepositionDetector, Thresholds
from grater.errors import BadInput, Problem, UsageError
from grater.model import Json
from grater.models import shipped

TIE = 1e-9
"""Log-probabilities that differ by less are equal: the rest is the rounding error of a sum."""

N_ANSWERS = NONE + 1

BLOCK = 1000
"""Candidates scored at once: 139 queries each."""


@dataclass(frozen=True, slots=True)
class NgramEngine:
    """A language model that scores the variants of a sentence; `costs` has the mean cost of each preposition.

    Its last number is the cost of a gap.
    """

    model: LanguageModel
    costs: Scores = field(default_factory=lambda: np.zeros(N_ANSWERS))

    @property
    def card(self) -> Mapping[str, Json]:
        return self.model.card

    def with_costs(self, costs: Scores) -> NgramEngine:
        """The same with other costs."""
        return replace(self, costs=costs)

    def __contains__(self, word: object) -> bool:
        """Whether the model knows a word."""
        return isinstance(word, str) and bool(self.model.vocabulary.ids([word])[0])

    def scores(self, candidates: Sequence[Candidate]) -> Scores:
        """(candidates, 35): one row of log-probabilities for each candidate."""
        blocks = [self._scores(candidates[start : start + BLOCK]) for start in range(0, len(candidates), BLOCK)]
        return np.concatenate([np.zeros((0, N_ANSWERS)), *blocks])

    def _scores(self, candidates: Sequence[Candidate]) -> Scores:
        left, right = self._contexts(candidates)
        written = [answer_of(candidate) for candidate in candidates]
        scores = np.empty((len(candidates), N_ANSWERS))
        scores[:, :NONE] = self._with(left, right)
        scores[:, NONE] = self._without(left, right) - self.costs[written]
        return scores

    def _contexts(self, candidates: Sequence[Candidate]) -> tuple[Rows, Rows]:
        """The n - 1 words on either side of each place, edges included."""
        reach = self.model.order - 1
        left = np.full((len(candidates), reach), NOTHING)
        right = np.full((len(candidates), reach), NOTHING)
        known: dict[tuple[str, ...], Rows] = {}
        for row, candidate in enumerate(candidates):
            words = candidate.sentence.words
            ids = known.get(words)
            if ids is None:
                ids = known[words] = self.model.vocabulary.sentence(words)
            position = candidate.index + 1  # `<s>` is in front
            before, after = ids[max(0, position - reach) : position], ids[position + (not candidate.is_gap) :][:reach]
            left[row, reach - len(before) :] = before
            right[row, : len(after)] = after
        return left, right

    def _without(self, left: Rows, right: Rows) -> Scores:
        if self.model.order == 1:
            return np.zeros(len(left))
        return self._summed(np.concatenate([left, right], axis=1)[:, None, :])[:, 0]

    def _with(self, left: Rows, right: Rows) -> Scores:
        ids = self.model.vocabulary.ids(PREPOSITIONS)
        n, reach = left.shape
        lines = np.empty((n, len(ids), 2 * reach + 1), np.int64)
        lines[:, :, :reach], lines[:, :, reach], lines[:, :, reach + 1 :] = left[:, None], ids, right[:, None]
        return self._summed(lines)

    def _summed(self, lines: Rows) -> Scores:
        """The log-probability of what every window of a line ends in; windows beyond the sentence count nothing."""
        order = self.model.order
        windows = np.lib.stride_tricks.sliding_window_view(lines, order, axis=2)
        flat = windows.reshape(-1, order)
        is_asked = flat[:, -1] != NOTHING
        answers = np.zeros(len(flat))
        answers[is_asked] = self.model.log_p(flat[is_asked])
        summed: Scores = answers.reshape(windows.shape[:3]).sum(axis=2)
        return summed


def engine_of(model: LanguageModel) -> NgramEngine:
    """The engine of a model, with the costs of its card where it has any."""
    costs = model.card.get("costs")
    if not isinstance(costs, Sequence) or len(costs) != N_ANSWERS:
        return NgramEngine(model)
    return NgramEngine(model, np.array([float(cost) for cost in costs]))  # type: ignore[arg-type]


def from_file(path: Path) -> PrepositionDetector:
    """The detector of a model file with a language model, under the file's name."""
    engine = engine_of(load_model(path))
    try:
        thresholds = Thresholds.of(engine.card.get("thresholds"))
    except UsageError as error:
        advice = "train it with held-out text to choose them on"
        raise BadInput(Problem(str(path), f"{error}; {advice}")) from error
    return PrepositionDetector(name=path.stem, engine=engine, thresholds=thresholds, card=engine.card, known=engine)


@cache
def load() -> PrepositionDetector:
    """The detector that comes with grater."""
    return from_file(shipped("prep-lm"))
