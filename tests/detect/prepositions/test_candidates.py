from __future__ import annotations

import pytest

from grater.detect.prepositions.candidates import candidates_of, gap_places, preposition_places
from tests.detect.prepositions.tagged import sentence_of


def words_at(text: str) -> list[str]:
    sentence = sentence_of(text)
    return [sentence.words[place] for place in preposition_places(sentence)]


def test_a_preposition_in_any_case_and_spelling_is_a_candidate() -> None:
    assert words_at("Till/IN noon/NN she/PRP walked/VBD towards/IN it/PRP") == ["Till", "towards"]


def test_the_infinitive_is_no_candidate_whatever_its_tag() -> None:
    assert words_at("he/PRP wants/VBZ to/TO go/VB") == []
    assert words_at("he/PRP wants/VBZ to/IN quietly/RB go/VB") == []


def test_to_before_a_noun_is_a_candidate_whatever_its_tag() -> None:
    assert words_at("he/PRP went/VBD to/TO school/NN") == ["to"]
    assert words_at("he/PRP went/VBD to/IN school/NN") == ["to"]


@pytest.mark.parametrize("tag", ["RP", "RB", "VB", "JJ"])
def test_what_the_tagger_takes_for_something_else_is_no_candidate(tag: str) -> None:
    assert words_at(f"she/PRP turned/VBD off/{tag} the/DT lamp/NN") == []


def test_words_beyond_the_34_are_no_candidates() -> None:
    assert words_at("despite/IN rain/NN beneath/IN trees/NNS") == []


def test_a_gap_stands_where_a_noun_phrase_follows_a_verb_and_not_after_a_preposition() -> None:
    sentence = sentence_of("she/PRP listens/VBZ music/NN in/IN the/DT car/NN")
    assert gap_places(sentence) == [2]


def test_a_sentence_does_not_begin_with_a_gap() -> None:
    assert gap_places(sentence_of("music/NN plays/VBZ")) == []


def test_candidates_come_in_the_order_of_the_sentence() -> None:
    sentence = sentence_of("she/PRP reads/VBZ books/NNS in/IN bed/NN")
    assert [(each.index, each.kind) for each in candidates_of(sentence)] == [(2, "prep-missing"), (3, "prep")]
    assert [each.kind for each in candidates_of(sentence, with_gaps=False)] == ["prep"]
