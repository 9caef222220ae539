from __future__ import annotations

import numpy as np

from grater.detect.learning.tags import TAGS
from grater.detect.learning.vocabulary import GrowingVocabulary
from grater.detect.prepositions.candidates import Candidate
from grater.detect.prepositions.contexts import FIELDS, N_WORDS, contexts
from tests.detect.prepositions.tagged import candidate_of, sentence_of

LONG = "the/DT old/JJ man/NN quickly/RB told/VBD a/DT story/NN about/IN the/DT long/JJ war/NN"


def row_of(candidate: Candidate) -> dict[str, str]:
    """The context in words, `-` for nothing there."""
    vocabulary = GrowingVocabulary()
    (row,) = contexts([candidate], vocabulary).tolist()
    words, tags = ["-", *vocabulary.places], ["-", *TAGS]
    names = [words if place < N_WORDS else tags for place in range(len(FIELDS) - 1)]
    shown = {field: names[place][row[place]] for place, field in enumerate(FIELDS[:-1])}
    return {**shown, "nearest": str(row[-1])}


def test_a_row_has_the_words_around_and_the_heads_of_nearby_phrases() -> None:
    row = row_of(candidate_of(LONG, "about"))
    assert [row[name] for name in ("l3", "l2", "l1", "r1", "r2", "r3")] == [
        "told",
        "a",
        "story",
        "the",
        "long",
        "war",
    ]
    assert [row[name] for name in ("verb", "noun", "head")] == ["told", "story", "war"]
    assert [row[name] for name in ("l1.tag", "r1.tag", "head.tag", "verb.tag")] == ["NN", "DT", "NN", "VBD"]
    assert row["nearest"] == "1"


def test_at_the_edge_of_a_sentence_there_is_nothing() -> None:
    row = row_of(candidate_of("In/IN spring/NN", "In"))
    assert [row[name] for name in ("l1", "l2", "verb", "noun", "r2", "nearest")] == ["-", "-", "-", "-", "-", "0"]
    assert row["head"] == "spring"


def test_the_following_head_must_be_near() -> None:
    row = row_of(candidate_of("lived/VBD in/IN ,/, or/CC so/RB they/PRP said/VBD", "in"))
    assert row["head"] == "-"


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
