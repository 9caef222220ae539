"""Edits that do not change what they should.

Suspicious whitespace and unseen characters.

Duplicates, and spans across sentences.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from grater.corpora.check import check_essays
from grater.corpora.tagsets import TAGSETS
from grater.model import Edit, Span
from tests.corpora.check.essays import edit_of, essay_of, found, messages, tokenised

TEXT = "The cat sat on  the mat, of course."


def test_a_correction_that_changes_nothing_is_found() -> None:
    essay = essay_of(TEXT, edit_of(TEXT, "cat", "cat", line=12))
    (finding,) = found(essay, rule="equals-text")
    assert str(finding) == "the correction equals the text: Mec 'cat' → 'cat' [equals-text]"
    assert (finding.line, finding.essay_id) == (12, "e1")
    essay = essay_of(TEXT, Edit(Span(3, 3), ("",), "Mec", "A"))
    assert messages(essay, rule="equals-text") == ["inserts nothing: Mec after 'The' → ''"]
    essay = essay_of(TEXT, Edit(Span(0, 0), ("",), "Mec", "A"))
    assert messages(essay, rule="equals-text") == ["inserts nothing: Mec at the start → ''"]
    text = "A cafe\u0301 here."
    assert found(essay_of(text, edit_of(text, "cafe\u0301", "caf\u00e9")), rule="changes-nothing")


@pytest.mark.parametrize("correction", ["dog", "Cat", ""])
def test_a_real_correction_is_not_reported_to_equal_the_text(correction: str) -> None:
    essay = essay_of(TEXT, edit_of(TEXT, "cat", correction))
    assert not found(essay, rule="equals-text")
    assert not found(essay, rule="changes-nothing")


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


def test_a_missing_correction_is_found_where_the_tag_of_the_set_owes_one() -> None:
    essay = essay_of(TEXT, edit_of(TEXT, "sat", tag="Vt"))
    assert messages(essay, rule="no-correction") == ["expected a correction, found none: Vt 'sat' → no correction"]
    essay = essay_of(TEXT, edit_of(TEXT, "sat", tag="Um"))
    rules = [finding.rule for finding in check_essays([essay], tagset=TAGSETS["errant"])]
    assert rules == ["no-correction", "unknown-tag"]


ODD_TEXT = "We went home , then slept."


@pytest.mark.parametrize(
    ("words", "correction", "trouble"),
    [
        ("went ", "walked", "the correction glues two words together"),
        (" home", "back", "the correction glues two words together"),
        (" went ", "", "the deletion glues two words together"),
        ("went", "walked ", "the correction doubles a space"),
        ("went", " walked", "the correction doubles a space"),
        ("went", "walked  off", "the correction contains a double space"),
        ("went", "walked\noff", "the correction contains a line end"),
    ],
)
def test_an_edit_that_spoils_the_spaces_is_found(words: str, correction: str, trouble: str) -> None:
    (message,) = messages(essay_of(ODD_TEXT, edit_of(ODD_TEXT, words, correction)), rule="whitespace")
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
    assert not found(essay_of(ODD_TEXT, edit_of(ODD_TEXT, words, correction)), rule="whitespace")


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
    assert messages(essay, rule="odd-characters") == [f"the text contains {name} (2 times)"]


def test_unseen_corrections_and_edits_that_repeat_are_found_at_their_line() -> None:
    (finding,) = found(essay_of(ODD_TEXT, edit_of(ODD_TEXT, "went", "went\u00a0off", line=40)), rule="odd-characters")
    assert finding.line == 40
    assert finding.message == "the correction contains U+00A0 no-break space: Mec 'went' → 'went\\xa0off'"
    (finding,) = found(essay_of(TWO_SENTENCES, EDIT, replace(EDIT, line=24)), rule="duplicate")
    assert finding.line == 24
    assert finding.message == "the same edit by 'A' is already there at line 20: Wci 'stayed' → 'remained'"


TWO_SENTENCES = "It rained. We stayed at home and read."
EDIT = edit_of(TWO_SENTENCES, "stayed", "remained", tag="Wci", line=20)


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
    assert not found(essay_of(TWO_SENTENCES, EDIT, other), rule="duplicate")


def test_a_span_with_words_of_two_sentences_is_found_in_raw_text() -> None:
    essay = essay_of(TWO_SENTENCES, edit_of(TWO_SENTENCES, ". We", ", so we", tag="Srun", line=30))
    (finding,) = found(essay, rule="across-sentences")
    assert finding.line == 30
    assert finding.message == "the span covers 2 sentences: Srun '. We' → ', so we'"
    text = "It rained . We stayed ."
    assert not messages(tokenised(text, edit_of(text, ". We", ", so we")), rule="across-sentences")
