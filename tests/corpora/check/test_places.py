"""Duplicates, and spans across sentences."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grater.model import Edit, Span
from tests.corpora.check.essays import edit_of, essay_of, found, messages, tokenised

TEXT = "It rained. We stayed at home and read."
EDIT = edit_of(TEXT, "stayed", "remained", tag="Wci", line=20)


def test_the_same_edit_twice_is_found_at_the_second_line() -> None:
    (finding,) = found(essay_of(TEXT, EDIT, replace(EDIT, line=24)), rule="duplicate")
    assert finding.line == 24
    assert finding.message == "the same edit by 'A' stands already at line 20: Wci 'stayed' → 'remained'"


def test_the_same_edit_three_times_is_two_too_many() -> None:
    assert len(found(essay_of(TEXT, EDIT, EDIT, EDIT), rule="duplicate")) == 2


@pytest.mark.parametrize(
    "other",
    [
        replace(EDIT, rater="B"),
        replace(EDIT, tag="Vt"),
        replace(EDIT, replacements=("kept",)),
        replace(EDIT, span=Span(EDIT.span.start, EDIT.span.end + 3)),
    ],
    ids=["rater", "tag", "correction", "span"],
)
def test_edits_that_differ_in_anything_are_no_duplicates(other: Edit) -> None:
    assert not found(essay_of(TEXT, EDIT, other), rule="duplicate")


def test_a_span_with_words_of_two_sentences_is_found() -> None:
    essay = essay_of(TEXT, edit_of(TEXT, ". We", ", so we", tag="Srun", line=30))
    (finding,) = found(essay, rule="across-sentences")
    assert finding.line == 30
    assert finding.message == "the span runs over 2 sentences: Srun '. We' → ', so we'"


@pytest.mark.parametrize("words", ["rained.", "rained. ", " We", "We stayed", "read."])
def test_a_span_inside_one_sentence_is_not(words: str) -> None:
    assert not found(essay_of(TEXT, edit_of(TEXT, words, "x")), rule="across-sentences")


def test_an_insertion_between_two_sentences_is_not() -> None:
    assert not found(essay_of(TEXT, Edit(Span(10, 10), (" Hard.",), "Mec", "A")), rule="across-sentences")


def test_an_essay_with_tokens_of_its_own_is_one_sentence() -> None:
    text = "It rained . We stayed ."
    assert not messages(tokenised(text, edit_of(text, ". We", ", so we")), rule="across-sentences")
