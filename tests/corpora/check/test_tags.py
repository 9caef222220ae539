"""Unknown tags."""

from __future__ import annotations

from grater.corpora.check import check_essays
from grater.corpora.tagsets import TAGSETS
from tests.corpora.check.essays import edit_of, essay_of, found, messages

TEXT = "She go home every days ."


def test_an_unknown_tag_is_one_finding_with_its_number_and_first_line() -> None:
    first = essay_of(
        TEXT, edit_of(TEXT, "go", "goes", tag="SVA", line=4), edit_of(TEXT, "days", "day", tag="Nnn", line=8)
    )
    second = essay_of(TEXT, edit_of(TEXT, "days", "day", tag="Nnn", line=90), essay_id="e2")
    (finding,) = found(first, second, rule="unknown-tag")
    assert (finding.essay_id, finding.line) == ("e1", 8)
    assert finding.message == (
        "the tag 'Nnn' of 2 edits, here first, is not in nucle, the set that fits this corpus best; "
        "did you mean 'Nn'?"
    )


def test_tags_of_the_guessed_set_are_known() -> None:
    essay = essay_of(
        TEXT, edit_of(TEXT, "go", "goes", tag="R:VERB:SVA"), edit_of(TEXT, "days", "day", tag="R:NOUN:NUM")
    )
    assert not found(essay, rule="unknown-tag")


def test_a_tag_of_another_set_is_unknown() -> None:
    essay = essay_of(TEXT, edit_of(TEXT, "go", "goes", tag="SVA"), edit_of(TEXT, "days", "day", tag="Nn"))
    other = essay_of(TEXT, edit_of(TEXT, "home", "house", tag="RN"))
    assert messages(essay, other, rule="unknown-tag")[0].startswith(
        "the tag 'RN' of 1 edit, here first, is not in nucle"
    )


def test_a_given_set_is_not_guessed() -> None:
    essay = essay_of(TEXT, edit_of(TEXT, "go", "goes", tag="SVA"))
    (finding,) = check_essays([essay], tagset=TAGSETS["clc"])
    assert finding.message == "the tag 'SVA' of 1 edit, here first, is not in clc; did you mean 'SA'?"


def test_an_essay_without_edits_has_no_unknown_tags() -> None:
    assert not found(essay_of(TEXT), rule="unknown-tag")
