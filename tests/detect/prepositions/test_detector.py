"""The preposition detector: its candidates and what is seen of them, thresholds, filters and flags."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from grater.detect.detector import Finding
from grater.detect.linear import TAGS
from grater.detect.prepositions.candidates import (
    COLUMN_OF,
    NONE,
    Candidate,
    candidates_of,
    gap_places,
    preposition_places,
)
from grater.detect.prepositions.detector import (
    Flag,
    Thresholds,
    antonyms,
    benefactives,
    quantifiers,
    repeated,
    spelling,
)
from grater.detect.prepositions.features import (
    FIELDS,
    N_WORDS,
    contexts,
)
from grater.errors import UnknownName
from grater.model import Essay
from grater_train.events import GrowingVocabulary
from tests.detect.prepositions.native_text import native_lines
from tests.detect.prepositions.tagged import candidate_of, sentence_of
from tests.detect.prepositions.tiny import tiny_detector

LEARNER = "The girl waited on the bus. The boy discussed about the film at Monday. The king listened the music."


def flags_on(text: str) -> list[Finding]:
    return [finding for finding in tiny_detector().find([Essay("e", text)]) if finding.decision.flagged]


def test_wrong_extraneous_and_missing_prepositions_are_flagged_with_suggestions() -> None:
    found = [(each.target, each.decision.type, each.decision.suggestion) for each in flags_on(LEARNER)]
    assert found == [
        ("on", "choice", "for"),
        ("about", "extraneous", "-NONE-"),
        ("at", "choice", "on"),
        ("", "missing", "to"),
    ]


def test_native_text_is_left_alone() -> None:
    assert flags_on(" ".join(native_lines(60))) == []


def test_every_candidate_has_a_finding_flagged_or_not() -> None:
    found = list(tiny_detector().find([Essay("e", "The girl waited for the bus on Monday.")]))
    assert [each.target for each in found] == ["for", "on"]
    assert not any(each.decision.flagged for each in found)
    assert all(each.decision.suggestion is None for each in found)


def test_a_threshold_that_nothing_exceeds_leaves_only_the_rules() -> None:
    detector = replace(tiny_detector(), thresholds=Thresholds())
    found = [
        each for each in detector.find([Essay("e", "She sat with with him. " + LEARNER)]) if each.decision.flagged
    ]
    assert [(each.target, each.decision.type) for each in found] == [("with", "extraneous")]
    silent = detector.with_filters([])
    assert not any(each.decision.flagged for each in silent.find([Essay("e", "She sat with with him.")]))


def test_a_preposition_may_have_a_threshold_of_its_own() -> None:
    thresholds = Thresholds(5.0, 6.0, 7.0, {"in": 2.0})
    written = [COLUMN_OF["in"], COLUMN_OF["among"], NONE]
    assert thresholds.rows(written).tolist() == [[2.0, 6.0, 7.0], [5.0, 6.0, 7.0], [5.0, 6.0, 7.0]]


KNOWN = frozenset(["he", "was", "good", "in", "at", "the", "game"])


def flag_of(text: str, word: str, suggestion: str, kind: str = "choice") -> Flag:
    return Flag(candidate_of(text, word), kind, word, suggestion)


def test_an_unknown_word_within_two_of_the_place_silences() -> None:
    near = flag_of("he/PRP was/VBD goood/JJ in/IN the/DT game/NN", "in", "at")
    assert spelling(near, KNOWN)
    far = flag_of("hee/PRP was/VBD good/JJ in/IN the/DT game/NN", "in", "at")
    assert not spelling(far, KNOWN)


@pytest.mark.parametrize(("written", "suggestion"), [("with", "without"), ("from", "to"), ("after", "before")])
def test_opposites_silence_a_choice_only(written: str, suggestion: str) -> None:
    text = f"went/VBD {written}/IN the/DT game/NN"
    assert antonyms(flag_of(text, written, suggestion), KNOWN)
    assert not antonyms(flag_of(text, written, "-NONE-", "extraneous"), KNOWN)
    assert not antonyms(flag_of(text, written, "on"), KNOWN)


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


def words_at(text: str) -> list[str]:
    sentence = sentence_of(text)
    return [sentence.words[place] for place in preposition_places(sentence)]


def test_a_preposition_in_any_case_and_spelling_is_a_candidate() -> None:
    assert words_at("Till/IN noon/NN she/PRP walked/VBD towards/IN it/PRP") == ["Till", "towards"]


def test_a_gap_stands_where_a_noun_phrase_follows_a_verb_and_not_after_a_preposition() -> None:
    sentence = sentence_of("she/PRP listens/VBZ music/NN in/IN the/DT car/NN")
    assert gap_places(sentence) == [2]


def test_candidates_come_in_the_order_of_the_sentence() -> None:
    sentence = sentence_of("she/PRP reads/VBZ books/NNS in/IN bed/NN")
    assert [(each.index, each.kind) for each in candidates_of(sentence)] == [(2, "prep-missing"), (3, "prep")]
    assert [each.kind for each in candidates_of(sentence, with_gaps=False)] == ["prep"]


def test_for_before_a_person_is_left_alone() -> None:
    assert benefactives(flag_of("bought/VBD it/PRP for/IN her/PRP", "for", "to"), KNOWN)
    assert not benefactives(flag_of("bought/VBD it/PRP for/IN fun/NN", "for", "in"), KNOWN)


def test_names_numbers_and_marks_are_no_misspellings() -> None:
    for token in ("Ulm/NNP", "17/CD", "--/:"):
        assert not spelling(flag_of(f"{token} was/VBD in/IN the/DT game/NN", "in", "at"), KNOWN)


LONG = "the/DT old/JJ man/NN quickly/RB told/VBD a/DT story/NN about/IN the/DT long/JJ war/NN"


def row_of(candidate: Candidate) -> dict[str, str]:
    """The context in words, `-` for nothing there."""
    vocabulary = GrowingVocabulary()
    (row,) = contexts([candidate], vocabulary).tolist()
    words, tags = ["-", *vocabulary.places], ["-", *TAGS]
    names = [words if place < N_WORDS else tags for place in range(len(FIELDS) - 1)]
    shown = {field: names[place][row[place]] for place, field in enumerate(FIELDS[:-1])}
    return {**shown, "nearest": str(row[-1])}


def test_a_gap_has_the_context_of_an_extraneous_preposition_in_it() -> None:
    gap = row_of(candidate_of("we/PRP discussed/VBD the/DT plan/NN", "the", kind="prep-missing"))
    filled = row_of(candidate_of("we/PRP discussed/VBD about/IN the/DT plan/NN", "about"))
    assert gap == filled


def test_a_row_does_not_depend_on_its_neighbours() -> None:
    sentences = [sentence_of(LONG), sentence_of("he/PRP sat/VBD on/IN it/PRP")]
    candidates = [Candidate(sentences[0], 7, "prep"), Candidate(sentences[1], 2, "prep")]
    vocabulary = GrowingVocabulary()
    together = contexts(candidates, vocabulary)
    alone = [contexts([candidate], vocabulary) for candidate in candidates]
    assert np.array_equal(together, np.concatenate(alone))
