"""The engines of the preposition detectors: linear models, combinations, and the n-gram model and its counts."""

from __future__ import annotations

import tracemalloc
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from grater.corpora.text.analysis import Sentence, analyse
from grater.detect.linear import ROWS_AT_ONCE, packed, unpacked
from grater.detect.ngrams.counts import END, START, UNKNOWN, NgramVocabulary, normal
from grater.detect.ngrams.language_model import KIND, LanguageModel, load, save
from grater.detect.prepositions.candidates import (
    ANSWERS,
    COLUMN_OF,
    MISSING,
    NONE,
    PREP,
    Candidate,
    answer_of,
    candidates_of,
)
from grater.detect.prepositions.engines import (
    CombinedEngine,
    LinearEngine,
    NgramEngine,
    combined_from_file,
    load_linear,
    parts_of,
    save_combined,
    save_linear,
)
from grater.errors import BadInput, UsageError
from grater.model import Essay, Json, Span
from grater.models import read_model, write_model
from grater_train.kneser_ney import language_model
from grater_train.ngrams import ModelSize, train
from tests.detect.ngrams.texts import SENTENCES, random_sentences
from tests.detect.prepositions.native_text import native_lines
from tests.detect.prepositions.tiny import tiny_engine


def test_words_have_one_normal_form_and_a_sentence_is_numbered_with_its_rims_and_zero_for_unknown_words() -> None:
    forms = {"The": "the", "1984": "0000", "2.5": "0.0", "Don’t": "don't", "Towards": "toward", "till": "until"}
    forms |= {"<s>": "<unk>", "</S>": "<unk>"}
    assert {word: normal(word) for word in forms} == forms
    vocabulary = NgramVocabulary.of(["<unk>", "<s>", "</s>", "cat", "the"])
    assert vocabulary.sentence(["The", "dog"]).tolist() == [START, 4, UNKNOWN, END]
    assert vocabulary.sentence([]).tolist() == [START, END]


@pytest.fixture(scope="module")
def model() -> LanguageModel:
    trained = train([*SENTENCES, *random_sentences(6, n=300, n_words=40)], ModelSize(prune=(0, 0, 0, 1)))
    return language_model(trained.smoothed, trained.vocabulary)


def test_a_language_model_comes_back_from_its_file_as_it_was(model: LanguageModel, tmp_path: Path) -> None:
    save(model, tmp_path / "a.model", {"name": "ours"})
    again = load(tmp_path / "a.model")
    assert again.card["name"] == "ours"
    assert again.vocabulary == model.vocabulary
    for one, other in zip(model.tables, again.tables, strict=True):
        assert (one.keys == other.keys).all()
        everywhere = np.arange(len(one))
        assert one.log_p.at(everywhere).astype(np.float32).tolist() == other.log_p.at(everywhere).tolist()
    for words in SENTENCES:
        assert again.sentence_log_p(words) == pytest.approx(model.sentence_log_p(words), abs=1e-5)


@pytest.mark.parametrize("lost", ["words3_0", "log_p2_codes", "children2_0"])
def test_a_model_that_lost_a_table_is_refused(model: LanguageModel, tmp_path: Path, lost: str) -> None:
    save(model, tmp_path / "a.model", {})
    stored = read_model(tmp_path / "a.model", kind=KIND)
    arrays = {name: array for name, array in stored.arrays.items() if name != lost}
    write_model(tmp_path / "b.model", kind=KIND, card={}, arrays=arrays, strings=stored.strings)
    with pytest.raises(BadInput, match="do not fit together"):
        load(tmp_path / "b.model")


TEXT = " ".join(native_lines(40))


def test_a_model_comes_back_from_its_file_as_it_was(tmp_path: Path) -> None:
    engine = tiny_engine()
    save_linear(engine, tmp_path / "tiny.model")
    back = load_linear(tmp_path / "tiny.model")
    assert back.vocabulary == engine.vocabulary
    assert back.step == engine.step
    assert np.array_equal(back.keys, engine.keys)
    assert np.array_equal(back.table, engine.table)
    assert {**back.card, "hash": ""} == {**engine.card, "hash": ""}


def test_scores_are_log_probabilities_and_do_not_depend_on_the_batch() -> None:
    engine = tiny_engine()
    candidates = [each for sentence in analyse(TEXT) for each in candidates_of(sentence)]
    together = engine.scores(candidates)
    alone = np.concatenate([engine.scores([candidate]) for candidate in candidates])
    backwards = engine.scores(candidates[::-1])[::-1]
    assert together.shape == (len(candidates), len(ANSWERS))
    assert np.allclose(np.exp(together).sum(axis=1), 1)
    assert together.tobytes() == alone.tobytes() == backwards.tobytes()


CARD: dict[str, Json] = {"name": "two", "thresholds": {"choice": 1.0, "extraneous": 1.0, "missing": 1.0}}


def one() -> LinearEngine:
    return tiny_engine("maxent")


def other() -> LinearEngine:
    return tiny_engine("perceptron")


@cache
def candidates() -> list[Candidate]:
    return [candidate for sentence in analyse(" ".join(native_lines(30))) for candidate in candidates_of(sentence)]


def test_a_score_is_the_mean_of_both() -> None:
    expected = (one().scores(candidates()) + other().scores(candidates())) / 2
    assert np.allclose(CombinedEngine((one(), other())).scores(candidates()), expected)


def test_a_combination_comes_back_from_its_file_as_it_was(tmp_path: Path) -> None:
    parts = {str(tmp_path / "one.model"): one(), str(tmp_path / "other.model"): other()}
    for name, engine in parts.items():
        save_linear(engine, Path(name))
    both = CombinedEngine((one(), other()), np.arange(len(ANSWERS)) / 10)
    save_combined(both, list(parts), tmp_path / "two.model", CARD)
    detector = combined_from_file(tmp_path / "two.model")
    assert np.array_equal(detector.engine.scores(candidates()), both.scores(candidates()))
    found = list(detector.find([Essay("a", "The boy waited at the bus on Monday.")]))
    assert {finding.decision.system for finding in found} == {detector.name} == {"two"}


def test_only_preposition_detectors_can_be_combined() -> None:
    with pytest.raises(UsageError, match="article: expected one of grater's own preposition detectors"):
        parts_of(["prep-maxent", "article"])


def sentence_of(words: Sequence[str]) -> Sentence:
    """Tags and chunks are nothing to a language model."""
    spans = tuple(Span(10 * place, 10 * place + 5) for place in range(len(words)))
    return Sentence(spans, tuple(words), ("NN",) * len(words), ())


def engine_of(order: int = 4) -> NgramEngine:
    trained = train(SENTENCES, ModelSize(order=order, prune=(0,)))
    return NgramEngine(language_model(trained.smoothed, trained.vocabulary), np.zeros(len(ANSWERS)))


ENGINE = engine_of()


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_scores_differ_as_the_probabilities_of_the_whole_sentences_do(order: int) -> None:
    engine = engine_of(order)
    places = [(words, place) for words in SENTENCES for place in range(len(words))]
    for words, place in places[::3]:
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


def test_what_the_written_preposition_costs_is_taken_from_none_alone() -> None:
    costs = np.arange(len(ANSWERS)) / 10
    for plain in (CombinedEngine((one(), other())), ENGINE):
        difference = plain.scores(candidates()) - replace(plain, costs=costs).scores(candidates())
        assert (difference[:, :NONE] == 0).all()
        assert np.allclose(difference[:, NONE], [costs[answer_of(candidate)] for candidate in candidates()])


def test_spelling_and_case_of_the_writer_change_nothing() -> None:
    plain, odd = ["we", "went", "toward", "the", "station"], ["We", "went", "Towards", "THE", "station"]
    first, second = (ENGINE.scores([Candidate(sentence_of(words), 2, PREP)]) for words in (plain, odd))
    assert (first == second).all()


def test_a_table_is_unpacked_as_it_was_in_little_more_memory_than_it_takes() -> None:
    """Every worker of a big job loads a model as it starts, all of them at once."""
    rng = np.random.default_rng(1)
    n_rows, n_classes = 4 * ROWS_AT_ONCE + 7, 32
    keys = np.sort(rng.choice(1 << 22, n_rows, replace=False)).astype(np.uint32)
    table = rng.integers(-127, 128, (n_rows + 1, n_classes), np.int8) * (rng.random((n_rows + 1, n_classes)) < 0.3)
    table[-1] = 0
    arrays = packed(keys, table)
    tracemalloc.start()
    found_keys, found = unpacked(arrays, n_classes)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert np.array_equal(found_keys, keys)
    assert np.array_equal(found, table)
    assert peak < 3 * (found_keys.nbytes + found.nbytes)
