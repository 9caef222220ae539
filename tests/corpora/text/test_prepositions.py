from __future__ import annotations

import pytest

from grater.corpora.text.prepositions import PREPOSITIONS, VARIANTS, canonical


def test_there_are_34_prepositions_in_alphabetical_order() -> None:
    assert len(PREPOSITIONS) == 34
    assert list(PREPOSITIONS) == sorted(set(PREPOSITIONS))


@pytest.mark.parametrize(("word", "preposition"), [("towards", "toward"), ("TILL", "until"), ("Of", "of")])
def test_case_and_spelling_variants_are_one_preposition(word: str, preposition: str) -> None:
    assert canonical(word) == preposition


@pytest.mark.parametrize("word", ["", "the", "ofthe", "despite", "-NONE-"])
def test_other_words_are_none(word: str) -> None:
    assert canonical(word) is None


def test_variants_lead_to_prepositions_of_the_list() -> None:
    assert set(VARIANTS.values()) <= set(PREPOSITIONS)
    assert not set(VARIANTS) & set(PREPOSITIONS)
