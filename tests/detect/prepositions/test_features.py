"""What the classifiers see of a preposition or a gap: words around it, heads of nearby phrases, 25 features."""

from __future__ import annotations

import numpy as np

from grater.detect.linear import TAGS, Vocabulary
from grater.detect.prepositions.candidates import Candidate
from grater.detect.prepositions.features import (
    ALL,
    FIELDS,
    HASHING,
    N_WORDS,
    contexts,
    stem_numbers,
    stemmed,
)
from grater_train.events import GrowingVocabulary
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


def test_a_feature_changes_with_its_own_fields_and_no_other() -> None:
    row = np.arange(1, len(FIELDS) + 1, dtype=np.int32)[None, :]
    before = HASHING.keys(row)[0]
    for place, field in enumerate(FIELDS):
        changed = row.copy()
        changed[0, place] += 1
        is_other = HASHING.keys(changed)[0] != before
        assert is_other.tolist() == [field in template.fields for template in ALL]


WORDS = Vocabulary(
    ("depend", "depends", "making", "make", "planned", "plan", "went", "go", "cities", "city", "bus", "glass")
)


def test_only_heads_are_stemmed() -> None:
    (form, stem) = WORDS.numbers(["depends", "depend"])
    rows = np.zeros((1, len(FIELDS)), np.int32)
    rows[0, [FIELDS.index("l1"), FIELDS.index("verb")]] = form
    found = stemmed(rows, stem_numbers(WORDS))
    assert found[0, FIELDS.index("l1")] == form
    assert found[0, FIELDS.index("verb")] == stem
    assert rows[0, FIELDS.index("verb")] == form
