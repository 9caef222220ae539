"""The list of words, which tells a misspelling from a wrong word."""

from __future__ import annotations

import pytest

from grater.corpora.text.lemmas import is_word, words


@pytest.mark.parametrize("word", ["house", "House", "colour", "color", "organise", "organize", "London", "went"])
def test_words_are_known_in_british_and_american_spelling(word: str) -> None:
    assert is_word(word)


@pytest.mark.parametrize("word", ["beautifull", "recieve", "london's", "", "xqzt"])
def test_what_is_no_word_is_not(word: str) -> None:
    assert not is_word(word)


def test_the_list_holds_words_alone() -> None:
    assert len(words()) > 100_000
    assert not any(word.endswith("'s") or " " in word for word in words())
