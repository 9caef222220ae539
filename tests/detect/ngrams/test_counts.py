from __future__ import annotations

import pytest

from grater.detect.ngrams.counts import END, START, UNKNOWN, NgramVocabulary, normal


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
