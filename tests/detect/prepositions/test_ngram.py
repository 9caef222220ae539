from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grater.corpora.text.analysis import Sentence
from grater.corpora.text.prepositions import PREPOSITIONS
from grater.detect.prepositions.candidates import COLUMN_OF, MISSING, NONE, PREP, Candidate, answer_of
from grater.detect.prepositions.engines import NgramEngine
from grater.model import Span
from grater_train.kneser_ney import language_model
from grater_train.ngrams import ModelSize, train
from tests.detect.ngrams.texts import SENTENCES
from tests.examples import examples


def sentence_of(words: Sequence[str]) -> Sentence:
    """Tags and chunks are nothing to a language model."""
    spans = tuple(Span(10 * place, 10 * place + 5) for place in range(len(words)))
    return Sentence(spans, tuple(words), ("NN",) * len(words), ())


def engine_of(order: int = 4, costs: float = 0.0) -> NgramEngine:
    trained = train(SENTENCES, ModelSize(order=order, prune=(0,)))
    model = language_model(trained.smoothed, trained.vocabulary)
    return NgramEngine(model, np.arange(35, dtype=np.float64) * costs)


ENGINE = engine_of()
PLACES = [(words, place) for words in SENTENCES for place in range(len(words))]


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_scores_differ_as_the_probabilities_of_the_whole_sentences_do(order: int) -> None:
    engine = engine_of(order)
    for words, place in PLACES[::3]:
        scores = engine.scores([Candidate(sentence_of(words), place, PREP)])[0]
        without = engine.model.sentence_log_p([*words[:place], *words[place + 1 :]])
        for preposition in ("at", "for", "of", "until"):
            changed = engine.model.sentence_log_p([*words[:place], preposition, *words[place + 1 :]])
            assert scores[COLUMN_OF[preposition]] - scores[NONE] == pytest.approx(changed - without, abs=1e-9)


def test_a_gap_is_scored_with_the_preposition_put_in_before_the_word() -> None:
    words = ["we", "waited", "her", "at", "the", "market", "."]
    scores = ENGINE.scores([Candidate(sentence_of(words), 2, MISSING)])[0]
    with_for = ENGINE.model.sentence_log_p(["we", "waited", "for", "her", "at", "the", "market", "."])
    assert scores[COLUMN_OF["for"]] - scores[NONE] == pytest.approx(with_for - ENGINE.model.sentence_log_p(words))


def test_the_likeliest_preposition_is_the_one_of_the_text() -> None:
    words = ["she", "waited", "of", "the", "train", "."]
    scores = ENGINE.scores([Candidate(sentence_of(words), 2, PREP)])[0]
    assert PREPOSITIONS[int(scores[:NONE].argmax())] == "for"


def test_an_extraneous_preposition_loses_to_none() -> None:
    words = ["they", "discussed", "about", "the", "plan", "."]
    scores = ENGINE.scores([Candidate(sentence_of(words), 2, PREP)])[0]
    assert scores[NONE] > scores[COLUMN_OF["about"]]


def test_what_the_written_preposition_costs_is_taken_from_none_alone() -> None:
    candidates = [Candidate(sentence_of(words), place, PREP) for words, place in PLACES]
    candidates.append(Candidate(sentence_of(SENTENCES[0]), 3, MISSING))
    difference = ENGINE.scores(candidates) - engine_of(costs=0.5).scores(candidates)
    assert (difference[:, :NONE] == 0).all()
    costs = [0.5 * answer_of(candidate) for candidate in candidates]
    assert difference[:, NONE].tolist() == pytest.approx(costs, abs=1e-9)


@given(st.permutations(range(len(PLACES))), st.integers(1, 20))
@examples(10)
def test_neither_order_nor_batch_changes_a_score(order: list[int], size: int) -> None:
    candidates = [Candidate(sentence_of(words), place, PREP) for words, place in PLACES]
    whole = ENGINE.scores(candidates)
    parts = [
        ENGINE.scores([candidates[place] for place in order[start : start + size]])
        for start in range(0, len(order), size)
    ]
    assert (np.concatenate(parts) == whole[order]).all()


def test_no_candidates_give_no_rows() -> None:
    assert ENGINE.scores([]).shape == (0, NONE + 1)


def test_spelling_and_case_of_the_writer_change_nothing() -> None:
    plain, odd = ["we", "went", "toward", "the", "station"], ["We", "went", "Towards", "THE", "station"]
    first, second = (ENGINE.scores([Candidate(sentence_of(words), 2, PREP)]) for words in (plain, odd))
    assert (first == second).all()


def test_the_engine_knows_which_words_its_model_has() -> None:
    assert "Market" in ENGINE
    assert "zeppelin" not in ENGINE
