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


def test_a_form_may_have_several_lemmas_and_short_words_keep_their_letters() -> None:
    assert {"leave", "left"} <= lemmas_of("left")
    assert stem("the") == "the"
    assert stem("is") != stem("it")


@pytest.mark.parametrize(
    "family", [("decide", "decision", "decisive"), ("happy", "happiness", "happily"), ("possible", "possibility")]
)
def test_words_of_one_family_share_a_stem(family: tuple[str, ...]) -> None:
    assert len({stem(word) for word in family}) == 1


@pytest.mark.parametrize("word", ["house", "House", "colour", "color", "organise", "organize", "London", "went"])
def test_words_are_known_in_british_and_american_spelling(word: str) -> None:
    assert is_word(word)


@pytest.mark.parametrize("word", ["beautifull", "recieve", "london's", "", "xqzt"])
def test_what_is_no_word_is_not(word: str) -> None:
    assert not is_word(word)


def test_the_list_holds_words_alone() -> None:
    assert len(words()) > 100_000
    assert not any(word.endswith("'s") or " " in word for word in words())
