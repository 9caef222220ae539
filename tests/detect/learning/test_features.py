from __future__ import annotations

from grater.detect.learning.features import CLASSES, GrowingVocabulary, Vocabulary, renumbering

WORDS = Vocabulary(("the", "0000", "it's"))
FIRST = len(CLASSES)


def test_case_digits_and_curly_apostrophes_do_not_count() -> None:
    assert list(WORDS.numbers(["The", "the", "1990", "2012", "It’s"])) == [
        FIRST,
        FIRST,
        FIRST + 1,
        FIRST + 1,
        FIRST + 2,
    ]
    assert "THE" in WORDS
    assert "1812" in WORDS
    assert "cat" not in WORDS


def test_an_unknown_word_falls_into_a_class_by_its_ending() -> None:
    named = [CLASSES[number] for number in WORDS.numbers(["zipping", "12.5", "mid-air", "%", "blorg", "zebras"])]
    assert named == ["<-ing>", "<number>", "<joined>", "<mark>", "<other>", "<-s>"]


def test_a_growing_vocabulary_numbers_words_as_they_come_and_can_be_renumbered() -> None:
    growing = GrowingVocabulary()
    assert list(growing.numbers(["A", "the", "a", "1990"])) == [1, 2, 1, 3]
    assert renumbering(tuple(growing.places), WORDS) == [0, CLASSES.index("<other>"), FIRST, FIRST + 1]
