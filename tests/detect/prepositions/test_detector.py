"""The preposition detector: candidates and what is seen of them, thresholds, flags, selection in native text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from grater.corpora.text.analysis import Sentence, chunks
from grater.detect.detector import Finding
from grater.detect.linear import TAGS
from grater.detect.prepositions.candidates import (
    ANSWERS,
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
    Words,
    antonyms,
    benefactives,
    quantifiers,
    repeated,
    spelling,
)
from grater.detect.prepositions.features import FIELDS, N_WORDS, contexts
from grater.detect.prepositions.selection import TITLE, Tally, result_of, selection_test
from grater.detect.systems import load_system
from grater.errors import UnknownName, UsageError
from grater.model import Essay, Span
from grater_train.events import GrowingVocabulary
from tests.detect.prepositions.native_text import native_lines
from tests.detect.prepositions.tiny import tiny_detector

LEARNER = "The girl waited on the bus. The boy discussed about the film at Monday. The king listened the music."


def flags_on(text: str) -> list[Finding]:
    return [finding for finding in tiny_detector().find([Essay("e", text)]) if finding.decision.flagged]


def test_wrong_extraneous_and_missing_prepositions_are_flagged_with_suggestions_and_right_ones_are_not() -> None:
    found = [(each.target, each.decision.type, each.decision.suggestion) for each in flags_on(LEARNER)]
    assert found == [
        ("on", "choice", "for"),
        ("about", "extraneous", "-NONE-"),
        ("at", "choice", "on"),
        ("", "missing", "to"),
    ]
    assert flags_on(" ".join(native_lines(60))) == []
    unflagged = list(tiny_detector().find([Essay("e", "The girl waited for the bus on Monday.")]))
    assert [(each.target, each.decision.flagged, each.decision.suggestion) for each in unflagged] == [
        ("for", False, None),
        ("on", False, None),
    ]


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


def sentence_of(text: str) -> Sentence:
    """A sentence written as `word/TAG word/TAG`, so that nothing depends on the tagger."""
    pairs = [pair.rsplit("/", 1) for pair in text.split()]
    words, tags = (tuple(column) for column in zip(*pairs, strict=True))
    ends = np.cumsum([len(word) + 1 for word in words]).tolist()
    spans = tuple(Span(end - 1 - len(word), end - 1) for word, end in zip(words, ends, strict=True))
    return Sentence(spans, words, tags, chunks(words, tags))


def candidate_of(text: str, word: str, *, kind: str = "prep") -> Candidate:
    """The candidate at the first token that is the word; of kind `prep-missing`, the gap before it."""
    sentence = sentence_of(text)
    return Candidate(sentence, sentence.words.index(word), kind)


KNOWN = frozenset(["he", "was", "good", "in", "at", "the", "game"])


GAME = "was/VBD in/IN the/DT game/NN"


@pytest.mark.parametrize(
    ("silences", "text", "word", "suggestion", "expected"),
    [
        (spelling, "he/PRP was/VBD goood/JJ in/IN the/DT game/NN", "in", "at", True),
        (spelling, "hee/PRP was/VBD good/JJ in/IN the/DT game/NN", "in", "at", False),  # three words away
        *((spelling, f"{token} {GAME}", "in", "at", False) for token in ("Ulm/NNP", "17/CD", "--/:")),
        (antonyms, "went/VBD with/IN the/DT game/NN", "with", "without", True),
        (antonyms, "went/VBD from/IN the/DT game/NN", "from", "to", True),
        (antonyms, "went/VBD after/IN the/DT game/NN", "after", "before", True),
        (antonyms, "went/VBD with/IN the/DT game/NN", "with", "-NONE-", False),
        (antonyms, "went/VBD with/IN the/DT game/NN", "with", "on", False),
        (benefactives, "bought/VBD it/PRP for/IN her/PRP", "for", "to", True),
        (benefactives, "bought/VBD it/PRP for/IN fun/NN", "for", "in", False),
    ],
)
def test_noise_opposites_and_for_a_person_silence_a_choice(
    silences: Callable[[Flag, Words], bool], text: str, word: str, suggestion: str, expected: bool
) -> None:
    kind = "extraneous" if suggestion == "-NONE-" else "choice"
    assert silences(Flag(candidate_of(text, word), kind, word, suggestion), KNOWN) == expected


@pytest.mark.parametrize(
    ("rule", "text", "word", "expected"),
    [
        (quantifiers, "some/DT of/IN people/NNS", "of", True),
        (quantifiers, "some/DT of/IN the/DT people/NNS", "of", False),
        (quantifiers, "fear/NN of/IN people/NNS", "of", False),
        (quantifiers, "lots/NNS of/IN people/NNS", "of", False),
        (repeated, "some/DT of/IN people/NNS", "of", False),
        (repeated, "he/PRP sat/VBD with/IN With/IN us/PRP", "With", True),
        (repeated, "he/PRP sat/VBD with/IN With/IN us/PRP", "with", False),
    ],
)
def test_of_after_a_quantifier_and_the_second_of_two_prepositions_are_flagged_by_rule(
    rule: Callable[[Candidate], bool], text: str, word: str, expected: bool
) -> None:
    assert rule(candidate_of(text, word)) == expected


def test_an_unknown_filter_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'antonyms'"):
        tiny_detector().with_filters(["antonym"])


def test_candidates_are_prepositions_in_any_spelling_and_gaps_behind_verbs_in_the_order_of_the_sentence() -> None:
    assert preposition_places(sentence_of("Till/IN noon/NN she/PRP walked/VBD towards/IN it/PRP")) == [0, 4]
    assert gap_places(sentence_of("she/PRP listens/VBZ music/NN in/IN the/DT car/NN")) == [2]
    sentence = sentence_of("she/PRP reads/VBZ books/NNS in/IN bed/NN")
    assert [(each.index, each.kind) for each in candidates_of(sentence)] == [(2, "prep-missing"), (3, "prep")]
    assert [each.kind for each in candidates_of(sentence, with_gaps=False)] == ["prep"]


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
    long = "the/DT old/JJ man/NN quickly/RB told/VBD a/DT story/NN about/IN the/DT long/JJ war/NN"
    candidates = [candidate_of(long, "about"), candidate_of("he/PRP sat/VBD on/IN it/PRP", "on")]
    vocabulary = GrowingVocabulary()
    together = contexts(candidates, vocabulary)
    alone = [contexts([candidate], vocabulary) for candidate in candidates]
    assert np.array_equal(together, np.concatenate(alone))


def tally_of_pairs(*pairs: tuple[str, str], texts: int = 3) -> Tally:
    """What stood there and what was chosen, in so many texts in turn."""
    tally = Tally()
    scores = np.full((len(pairs), len(ANSWERS)), -9.0)
    for place, (_, chosen) in enumerate(pairs):
        scores[place, COLUMN_OF[chosen]] = 0
    scores[:, -1] = 5.0  # none at all, which selection sets aside
    written = np.array([COLUMN_OF[stood] for stood, _ in pairs])
    tally.add(scores, written, [str(place % texts) for place in range(len(pairs))])
    return tally


def test_accuracy_and_majority_are_shares_of_all_prepositions_and_f_is_of_each() -> None:
    pairs = [("of", "of"), ("of", "of"), ("of", "in"), ("in", "in"), ("upon", "under"), ("at", "of")]
    found = result_of("any", tally_of_pairs(*pairs))
    assert (found.n, found.commonest) == (6, "of")
    assert (found.accuracy.value, found.majority.value) == pytest.approx((3 / 6, 3 / 6))
    of = found.by_preposition[0]
    assert (of.preposition, of.n) == ("of", 3)
    assert (of.precision.value, of.recall.value, of.f1.value) == pytest.approx((2 / 3, 2 / 3, 2 / 3))
    assert of.f1.low <= of.f1.value <= of.f1.high


def test_selection_is_for_preposition_detectors() -> None:
    with pytest.raises(UsageError, match="expected a detector of prepositions, found article"):
        selection_test(load_system("article"), [])


def test_texts_are_the_units() -> None:
    """Defect 12 of issue 34: a text in which everything is wrong is one case, not fifty."""
    pairs = [("in", "of" if place % 10 == 0 else "in") for place in range(500)]
    clustered = result_of("any", tally_of_pairs(*pairs, texts=10)).accuracy
    spread = result_of("any", tally_of_pairs(*pairs, texts=490)).accuracy
    assert clustered.value == spread.value == 0.9
    assert clustered.high - clustered.low > 4 * (spread.high - spread.low)


def test_a_system_fills_the_blanks_of_text_it_has_learnt_with_a_row_for_every_score() -> None:
    result = selection_test(tiny_detector(), [Essay("e", "\n".join(native_lines(50)))])
    assert result.accuracy.value > 2 * result.majority.value
    frame = result.to_frame()
    accuracy = frame.filter(frame["preposition"].is_null() & (frame["score"] == "accuracy"))
    assert accuracy["value"].to_list() == [result.accuracy.value]
    assert [sheet.title for sheet in result.sheets()] == [TITLE]
