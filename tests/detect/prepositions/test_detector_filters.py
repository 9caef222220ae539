from __future__ import annotations

import pytest

from grater.detect.prepositions.detector import Flag, antonyms, benefactives, quantifiers, repeated, spelling
from grater.errors import UnknownName
from tests.detect.prepositions.tagged import candidate_of
from tests.detect.prepositions.tiny import tiny_detector

KNOWN = frozenset(["he", "was", "good", "in", "at", "the", "game"])


def flag_of(text: str, word: str, suggestion: str, kind: str = "choice") -> Flag:
    return Flag(candidate_of(text, word), kind, word, suggestion)


def test_an_unknown_word_within_two_of_the_place_silences() -> None:
    near = flag_of("he/PRP was/VBD goood/JJ in/IN the/DT game/NN", "in", "at")
    assert spelling(near, KNOWN)
    far = flag_of("hee/PRP was/VBD good/JJ in/IN the/DT game/NN", "in", "at")
    assert not spelling(far, KNOWN)


def test_names_numbers_and_marks_are_no_misspellings() -> None:
    for token in ("Ulm/NNP", "17/CD", "--/:"):
        assert not spelling(flag_of(f"{token} was/VBD in/IN the/DT game/NN", "in", "at"), KNOWN)


@pytest.mark.parametrize(("written", "suggestion"), [("with", "without"), ("from", "to"), ("after", "before")])
def test_opposites_silence_a_choice_only(written: str, suggestion: str) -> None:
    text = f"went/VBD {written}/IN the/DT game/NN"
    assert antonyms(flag_of(text, written, suggestion), KNOWN)
    assert not antonyms(flag_of(text, written, "-NONE-", "extraneous"), KNOWN)
    assert not antonyms(flag_of(text, written, "on"), KNOWN)


def test_for_before_a_person_is_left_alone() -> None:
    assert benefactives(flag_of("bought/VBD it/PRP for/IN her/PRP", "for", "to"), KNOWN)
    assert not benefactives(flag_of("bought/VBD it/PRP for/IN fun/NN", "for", "in"), KNOWN)


def test_a_quantifier_with_of_and_a_bare_noun_is_flagged() -> None:
    bare = candidate_of("some/DT of/IN people/NNS", "of")
    assert quantifiers(bare)
    assert not repeated(bare)
    assert not quantifiers(candidate_of("some/DT of/IN the/DT people/NNS", "of"))
    assert not quantifiers(candidate_of("fear/NN of/IN people/NNS", "of"))
    assert not quantifiers(candidate_of("lots/NNS of/IN people/NNS", "of"))


def test_the_second_of_two_equal_prepositions_is_flagged() -> None:
    text = "he/PRP sat/VBD with/IN With/IN us/PRP"
    assert repeated(candidate_of(text, "With"))
    assert not repeated(candidate_of(text, "with"))


def test_an_unknown_filter_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'antonyms'"):
        tiny_detector().with_filters(["antonym"])
