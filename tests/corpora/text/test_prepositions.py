from __future__ import annotations

from grater.corpora.text.prepositions import PREPOSITIONS, VARIANTS, canonical


def test_there_are_34_prepositions_in_alphabetical_order() -> None:
    assert len(PREPOSITIONS) == 34
    assert list(PREPOSITIONS) == sorted(set(PREPOSITIONS))


def test_case_and_spelling_variants_are_one_preposition_of_the_list() -> None:
    assert [canonical(word) for word in ("towards", "TILL", "Of")] == ["toward", "until", "of"]
    assert {canonical(word) for word in ("", "the", "ofthe", "despite", "-NONE-")} == {None}
    assert set(VARIANTS.values()) <= set(PREPOSITIONS)
    assert not set(VARIANTS) & set(PREPOSITIONS)
