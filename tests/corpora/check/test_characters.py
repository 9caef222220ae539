"""Suspicious whitespace and unseen characters."""

from __future__ import annotations

import pytest

from grater.model import Edit, Span
from tests.corpora.check.essays import edit_of, essay_of, found, messages, tokenised

TEXT = "We went home , then slept."


@pytest.mark.parametrize(
    ("words", "correction", "trouble"),
    [
        ("went ", "walked", "the correction glues two words together"),
        (" home", "back", "the correction glues two words together"),
        (" went ", "", "the deletion glues two words together"),
        ("went", "walked ", "the correction doubles a space"),
        ("went", " walked", "the correction doubles a space"),
        ("went", "walked  off", "the correction holds a double space"),
        ("went", "walked\noff", "the correction runs over a line end"),
    ],
)
def test_an_edit_that_spoils_the_spaces_is_found(words: str, correction: str, trouble: str) -> None:
    (message,) = messages(essay_of(TEXT, edit_of(TEXT, words, correction)), rule="whitespace")
    assert message.startswith(f"{trouble}: Mec ")


@pytest.mark.parametrize(
    ("words", "correction"),
    [
        ("went ", "walked "),  # the space is on both sides
        ("went ", ""),  # a deletion that takes its space along
        (" went", ""),
        ("went", ""),  # one that leaves two spaces is how most are made
        (" ,", ","),  # no space before a comma
        (" ", ""),  # two words become one
        (" ", "-"),
        ("went", "walked off"),
    ],
)
def test_an_edit_that_leaves_good_spaces_is_not(words: str, correction: str) -> None:
    assert not found(essay_of(TEXT, edit_of(TEXT, words, correction)), rule="whitespace")


def test_a_space_that_was_double_before_is_not_doubled_by_the_edit() -> None:
    text = "We went  home."
    assert not found(essay_of(text, Edit(Span(8, 13), (" back",), "Wci", "A")), rule="whitespace")


def test_an_insertion_brings_its_own_space() -> None:
    assert not found(essay_of(TEXT, Edit(Span(7, 7), (" straight",), "Wci", "A")), rule="whitespace")


def test_in_tokenised_text_a_correction_has_no_spaces_at_its_ends() -> None:
    for correction, n_found in ((" walked", 1), ("walked ", 1), ("walked", 0), ("", 0)):
        essay = tokenised(TEXT, edit_of(TEXT, "went", correction))
        assert len(found(essay, rule="whitespace")) == n_found


@pytest.mark.parametrize(
    ("character", "name"),
    [
        ("\u00a0", "U+00A0 no-break space"),
        ("\t", "U+0009 tab"),
        ("\x07", "U+0007 control character"),
        ("\u200b", "U+200B zero-width space"),
        ("\ufeff", "U+FEFF byte-order mark"),
        ("\u00ad", "U+00AD soft hyphen"),
        ("\u200f", "U+200F right-to-left mark"),
    ],
)
def test_unseen_characters_are_named_and_counted_once_for_an_essay(character: str, name: str) -> None:
    essay = essay_of(f"One{character}two{character}three.")
    assert messages(essay, rule="odd-characters") == [f"the text holds {name} (2 times)"]


def test_a_correction_with_an_unseen_character_is_found_at_its_line() -> None:
    (finding,) = found(essay_of(TEXT, edit_of(TEXT, "went", "went\u00a0off", line=40)), rule="odd-characters")
    assert finding.line == 40
    assert finding.message == "the correction holds U+00A0 no-break space: Mec 'went' → 'went\\xa0off'"


def test_ordinary_text_with_accents_quotes_dashes_and_emoji_is_not_odd() -> None:
    assert not found(essay_of("“Déjà vu” – naïve… 👩‍🚀 cafe\u0301\nA second line."), rule="odd-characters")
