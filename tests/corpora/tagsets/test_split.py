"""Wcip and Rloc told apart by the words of the edit; all sentences are ours, the answers worked by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grater.corpora.tagsets import split
from grater.corpora.tagsets.split import changed_words
from grater.model import Edit, Span


def halved(text: str, words: str, *corrections: str, tag: str) -> str:
    start = text.index(words)
    return split(Edit(Span(start, start + len(words)), corrections, tag, "A"), text)


@pytest.mark.parametrize(
    ("words", "correction", "half"),
    [
        ("to", "at", "prep"),  # one preposition for another
        ("arrived to", "arrived at", "prep"),  # the verb is on both sides
        ("arrived to", "Arrived At", "prep"),  # capitals do not count
        ("arrived to", "reached", "other"),  # a verb changes too
        ("to", "to", "other"),  # nothing changes
        ("to", "", "prep"),  # a preposition goes
        ("station", "station within", "prep"),  # a preposition comes
        ("small station", "little station", "other"),
        ("to the", "at a", "other"),  # an article changes too
    ],
)
def test_wcip_is_a_preposition_if_nothing_but_prepositions_changes(words: str, correction: str, half: str) -> None:
    assert halved("They arrived to the small station.", words, correction, tag="Wcip") == f"Wcip/{half}"


@pytest.mark.parametrize("tag", ["Rloc", "Rloc-"])
@pytest.mark.parametrize(
    ("words", "correction", "half"),
    [
        ("the", "", "article"),
        ("the nature", "nature", "article"),
        ("very", "", "other"),
        ("of the", "of", "article"),
        ("of the nature", "", "other"),
    ],
)
def test_rloc_is_an_article_if_nothing_but_articles_goes(tag: str, words: str, correction: str, half: str) -> None:
    assert halved("He is very fond of the nature.", words, correction, tag=tag) == f"{tag}/{half}"


def test_without_a_correction_nothing_is_known_to_have_changed() -> None:
    assert halved("They arrived to us.", "to", tag="Wcip") == "Wcip/other"


def test_the_first_of_several_corrections_decides() -> None:
    assert halved("They arrived to us.", "to", "at", "near", tag="Wcip") == "Wcip/prep"


def test_other_tags_stay_as_they_are() -> None:
    assert halved("They arrived to us.", "to", "at", tag="Prep") == "Prep"


def test_a_span_that_cuts_a_word_is_read_with_the_whole_word() -> None:
    text = "She sat in it."
    edit = Edit(Span(8, 9), ("o",), "Wcip", "A")  # the i of "in", to make it "on"
    assert changed_words(edit, text).removed == ("in",)
    assert changed_words(edit, text).added == ("on",)
    assert split(edit, text) == "Wcip/prep"


def test_an_apostrophe_does_not_cut_a_word() -> None:
    assert halved("It is Anna's at last.", "at", "to the", tag="Wcip") == "Wcip/other"
    assert halved("It is Anna's at last.", "Anna's", "a", tag="Rloc") == "Rloc/other"


@given(st.text(max_size=20), st.text(max_size=12), st.data())
def test_split_answers_for_any_text_and_place(text: str, correction: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    edit = Edit(Span(start, end), (correction,), "Wcip", "A")
    assert split(edit, text) in ("Wcip/prep", "Wcip/other")
