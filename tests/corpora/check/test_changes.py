"""Edits that do not change what they should."""

from __future__ import annotations

import pytest

from grater.corpora.check import check_essays
from grater.corpora.tagsets import TAGSETS
from grater.model import Edit, Span
from tests.corpora.check.essays import edit_of, essay_of, found, messages

TEXT = "The cat sat on  the mat, of course."


def test_a_correction_that_equals_the_text_is_found() -> None:
    essay = essay_of(TEXT, edit_of(TEXT, "cat", "cat", line=12))
    (finding,) = found(essay, rule="equals-text")
    assert str(finding) == "the correction equals the text: Mec 'cat' → 'cat' [equals-text]"
    assert (finding.line, finding.essay_id) == (12, "e1")


def test_one_alternative_that_equals_the_text_is_enough() -> None:
    assert found(essay_of(TEXT, edit_of(TEXT, "cat", "dog", "cat")), rule="equals-text")


def test_an_insertion_of_nothing_is_found() -> None:
    essay = essay_of(TEXT, Edit(Span(3, 3), ("",), "Mec", "A"))
    assert messages(essay, rule="equals-text") == ["inserts nothing: Mec after 'The' → ''"]


def test_an_insertion_of_nothing_at_the_start_is_told_as_such() -> None:
    essay = essay_of(TEXT, Edit(Span(0, 0), ("",), "Mec", "A"))
    assert messages(essay, rule="equals-text") == ["inserts nothing: Mec at the start → ''"]


@pytest.mark.parametrize("correction", ["dog", "Cat", ""])
def test_a_real_correction_is_not_said_to_equal_the_text(correction: str) -> None:
    essay = essay_of(TEXT, edit_of(TEXT, "cat", correction))
    assert not found(essay, rule="equals-text")
    assert not found(essay, rule="changes-nothing")


@pytest.mark.parametrize(("words", "correction"), [("on  the", "on the"), ("cat", "cat "), ("mat,", " mat,")])
def test_a_correction_of_nothing_but_spaces_is_found_once(words: str, correction: str) -> None:
    essay = essay_of(TEXT, edit_of(TEXT, words, correction))
    assert len(found(essay, rule="changes-nothing")) == 1
    assert not found(essay, rule="equals-text")


def test_another_coding_of_the_same_letter_changes_nothing() -> None:
    text = "A cafe\u0301 here."
    assert found(essay_of(text, edit_of(text, "cafe\u0301", "caf\u00e9")), rule="changes-nothing")


def test_a_space_put_in_where_one_was_missing_is_a_change() -> None:
    text = "We left.Then it rained."
    assert not found(essay_of(text, edit_of(text, ".", ". ")), rule="changes-nothing")


def test_a_space_taken_from_between_two_words_is_a_change() -> None:
    assert not found(essay_of(TEXT, edit_of(TEXT, "of course", "ofcourse")), rule="changes-nothing")


@pytest.mark.parametrize("tag", ["Rloc", "Rloc-"])
@pytest.mark.parametrize(
    ("words", "correction", "is_found"),
    [
        ("sat", "sat down", True),  # adds, removes nothing
        ("cat sat", "Sat the cat", True),  # order and capitals aside, all is still there
        ("sat", "sat", True),
        ("of course", "", False),
        ("of course", "course", False),
        ("of course", "surely", False),  # both words are gone
        (", of", " of", False),  # a comma is something too
    ],
)
def test_a_redundancy_must_remove_something(tag: str, words: str, correction: str, is_found: bool) -> None:
    essay = essay_of(TEXT, edit_of(TEXT, words, correction, tag=tag))
    assert bool(found(essay, rule="redundancy")) == is_found


def test_other_tags_may_add_without_removing() -> None:
    assert not found(essay_of(TEXT, edit_of(TEXT, "sat", "sat down", tag="Wci")), rule="redundancy")


def test_a_redundancy_without_a_correction_is_left_to_its_own_rule() -> None:
    essay = essay_of(TEXT, edit_of(TEXT, "sat", tag="Rloc"))
    assert not found(essay, rule="redundancy")
    assert len(found(essay, rule="no-correction")) == 1


def test_a_missing_correction_is_found_where_the_tag_owes_one() -> None:
    essay = essay_of(TEXT, edit_of(TEXT, "sat", tag="Vt"))
    assert messages(essay, rule="no-correction") == ["expected a correction, found none: Vt 'sat' → no correction"]


@pytest.mark.parametrize("tag", ["Um", "Cit", "Wa", "UNK"])
def test_a_missing_correction_is_lawful_where_the_tag_owes_none(tag: str) -> None:
    assert not found(essay_of(TEXT, edit_of(TEXT, "sat", tag=tag)), rule="no-correction")


def test_a_deletion_is_a_correction() -> None:
    assert not found(essay_of(TEXT, edit_of(TEXT, "sat", "", tag="Vt")), rule="no-correction")


def test_a_given_tag_set_decides_which_tags_owe_a_correction() -> None:
    essay = essay_of(TEXT, edit_of(TEXT, "sat", tag="Um"))
    rules = [finding.rule for finding in check_essays([essay], tagset=TAGSETS["errant"])]
    assert rules == ["no-correction", "unknown-tag"]
