from __future__ import annotations

import numpy as np
import pytest

from grater.detect.ngrams.language_model import LanguageModel
from grater.detect.ngrams.training import Wish, train
from grater.detect.prepositions.candidates import candidates_of
from grater.detect.prepositions.engine import NONE, answer_of
from grater.detect.prepositions.ngram import NgramEngine
from grater.detect.prepositions.thresholds import margins
from grater.detect.prepositions.tuning import FEW, _balance, costs_of, tuned
from grater.errors import UsageError
from grater.text.analysis import analyse
from tests.detect.ngrams.texts import SENTENCES

LINES = [" ".join(words) for words in SENTENCES]


@pytest.fixture(scope="module")
def engine() -> NgramEngine:
    trained = train(SENTENCES, Wish(prune=(0,)))
    return NgramEngine(LanguageModel.of(trained.smoothed, trained.vocabulary))


def test_a_preposition_costs_its_mean_margin_drawn_towards_that_of_all(engine: NgramEngine) -> None:
    candidates = [each for line in LINES for sentence in analyse(line) for each in candidates_of(sentence)]
    written = np.array([answer_of(candidate) for candidate in candidates], np.int64)
    uses = margins(engine.scores(candidates), written.tolist()).values[:, 1]
    costs = costs_of(engine, candidates, written)
    is_use = written != NONE
    mean = uses[is_use].mean()
    steps = []
    for answer in range(NONE):
        own = uses[written == answer]
        steps.append(costs[answer] - (own.sum() + FEW * mean) / (len(own) + FEW))
    steps.append(costs[NONE] - mean)
    assert steps == pytest.approx([steps[0]] * (NONE + 1), abs=2e-4)  # costs are rounded to four places


def test_the_step_leaves_as_many_uses_above_it_as_gaps_above_its_opposite() -> None:
    gaps = np.array([-3.0, -1.0, 1.0, 3.0])
    step = _balance(np.array([1.0, 3.0, 5.0, 7.0]), gaps)
    assert 1 <= step < 3  # of the uses three lie above it, and of the gaps three above its opposite
    assert (gaps > -step).sum() == 3


def test_thresholds_come_with_the_costs(engine: NgramEngine) -> None:
    priced, thresholds = tuned(engine, LINES)
    assert priced.costs.any()
    assert min(thresholds.choice, thresholds.extraneous, thresholds.missing) >= 0


def test_text_without_prepositions_is_refused(engine: NgramEngine) -> None:
    with pytest.raises(UsageError, match="expected prepositions in the text"):
        tuned(engine, ["nothing here"])
