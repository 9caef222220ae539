"""Lemmas and stems, and the list of words, which tells a misspelling from a wrong word."""

from __future__ import annotations

import pytest

from grater.corpora.text.lemmas import is_word, lemma, lemmas_of, stem, words


@pytest.mark.parametrize(
    ("word", "tag", "expected"),
    [
        ("hoping", "VBG", "hope"),
        ("hopping", "VBG", "hop"),
        ("opening", "VBG", "open"),
        ("telling", "VBG", "tell"),
        ("added", "VBD", "add"),
        ("controlled", "VBD", "control"),
        ("Studies", "VBZ", "study"),
        ("goes", "VBZ", "go"),
        ("was", "VBD", "be"),
        ("n't", "RB", "not"),
        ("ca", "MD", "can"),
        ("children", "NNS", "child"),
        ("easier", "JJR", "easy"),
        ("worst", "JJS", "bad"),
        ("worst", "RBS", "badly"),
        ("bring", "VB", "bring"),
        ("London", "NNP", "london"),
        ("", "NN", ""),
    ],
)
def test_lemma(word: str, tag: str, expected: str) -> None:
    assert lemma(word, tag) == expected


def test_a_form_may_have_several_lemmas_and_words_of_one_family_share_a_stem() -> None:
    assert {"leave", "left"} <= lemmas_of("left")
    assert stem("the") == "the"
    assert stem("is") != stem("it")
    for family in ("decide decision decisive", "happy happiness happily", "possible possibility"):
        assert len({stem(word) for word in family.split()}) == 1, family


def test_the_list_holds_words_alone_in_british_and_american_spelling() -> None:
    known = ["house", "House", "colour", "color", "organise", "organize", "London", "went"]
    assert [word for word in (*known, "beautifull", "recieve", "london's", "", "xqzt") if is_word(word)] == known
    assert len(words()) > 100_000
    assert not any(word.endswith("'s") or " " in word for word in words())
