"""Sentences as their annotators want them."""

from __future__ import annotations

from grater.corpora.m2 import read_m2
from grater.measure.corrections.scores import corrected_texts


def corrected(*lines: str) -> dict[str, str]:
    filled = [line.replace("~", "|||REQUIRED|||-NONE-|||") + "\n" for line in lines]
    (essay,) = read_m2(filled, name="test")
    return corrected_texts(essay)


def test_every_annotator_gives_a_text() -> None:
    lines = (
        "S He go in home",
        "A 1 2|||R|||goes~0",
        "A 2 3|||U|||~0",
        "A 4 4|||M|||.~1",
        "A -1 -1|||noop|||-NONE-~2",
    )
    assert corrected(*lines) == {"0": "He goes home", "1": "He go in home .", "2": "He go in home"}


def test_insertions_come_before_the_word_they_stand_at() -> None:
    assert corrected("S He eats apple", "A 2 3|||R|||pear~0", "A 2 2|||M|||a~0", "A 2 2|||M|||ripe~0") == {
        "0": "He eats a ripe pear"
    }


def test_of_overlapping_edits_the_first_counts() -> None:
    assert corrected("S a b c", "A 0 2|||R|||x~0", "A 1 3|||R|||y~0") == {"0": "x c"}


def test_alternatives_give_their_first_and_uncorrected_errors_stay() -> None:
    assert corrected("S a b", "A 0 1|||R|||x||y~0", "A 1 2|||UNK|||b~0") == {"0": "x b"}


def test_a_sentence_that_nobody_read_stays_as_it_is() -> None:
    assert corrected("S a  b") == {"0": "a b"}
