"""N-gram counts and the language model."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from grater.detect.ngrams.counts import END, START, UNKNOWN, NgramVocabulary, normal
from grater.detect.ngrams.language_model import KIND, LanguageModel, load, save
from grater.errors import BadInput
from grater.models import read_model, write_model
from grater_train.kneser_ney import language_model
from grater_train.ngrams import ModelSize, train
from tests.detect.ngrams.texts import SENTENCES, random_sentences


@pytest.mark.parametrize(
    ("written", "normal_form"),
    [
        ("The", "the"),
        ("1984", "0000"),
        ("2.5", "0.0"),
        ("Don’t", "don't"),
        ("Towards", "toward"),
        ("till", "until"),
        ("<s>", "<unk>"),
        ("</S>", "<unk>"),
    ],
)
def test_words_have_one_normal_form(written: str, normal_form: str) -> None:
    assert normal(written) == normal_form


def test_a_sentence_is_numbered_with_its_rims_and_unknown_words_are_zero() -> None:
    vocabulary = NgramVocabulary.of(["<unk>", "<s>", "</s>", "cat", "the"])
    assert vocabulary.sentence(["The", "dog"]).tolist() == [START, 4, UNKNOWN, END]
    assert vocabulary.sentence([]).tolist() == [START, END]


@pytest.fixture(scope="module")
def model() -> LanguageModel:
    trained = train([*SENTENCES, *random_sentences(6, n=300, n_words=40)], ModelSize(prune=(0, 0, 0, 1)))
    return language_model(trained.smoothed, trained.vocabulary)


def test_a_model_comes_back_from_its_file_as_it_was(model: LanguageModel, tmp_path: Path) -> None:
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
