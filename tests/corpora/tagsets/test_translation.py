"""Maps between the sets: every tag answered, nothing translated to what does not exist.

Wcip and Rloc told apart by the words of the edit; all sentences are ours, the answers worked by hand.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grater.corpora.tagsets import ROUTES, TAGSETS, Mapped, changed_words, split, translate, translate_edit
from grater.errors import UnknownName
from grater.model import Edit, Span


def edit_of(text: str, words: str, correction: str, tag: str) -> Edit:
    start = text.index(words)
    return Edit(Span(start, start + len(words)), (correction,), tag, "A")


@pytest.mark.parametrize("route", ROUTES, ids="-".join)
def test_every_tag_of_the_source_is_answered_with_tags_of_the_target_or_a_reason(route: tuple[str, str]) -> None:
    source, target = route
    for tag in TAGSETS[source]:
        mapped = translate(tag.code, source, target)
        assert all(code in TAGSETS[target] for code in mapped.codes)
        n_codes = len(mapped.codes)
        assert {"exact": n_codes == 1, "broader": n_codes == 1, "split": n_codes > 1, "none": n_codes == 0}[
            mapped.relation
        ]
        assert bool(mapped.reason) == (mapped.relation != "exact")
        assert translate(tag.code, source, source) == Mapped("exact", (tag.code,))


def test_conll14_maps_back_what_nucle_gave_it_unless_it_was_split() -> None:
    for tag in TAGSETS["nucle"]:
        for code in translate(tag.code, "nucle", "conll14").codes:
            back = translate(code, "conll14", "nucle").code
            assert back == tag.code or tag.code == "Rloc"  # redundant articles and prepositions change their name


KITCHEN = "We came to the kitchen for powerful tea."


@pytest.mark.parametrize(
    ("words", "correction", "tag", "target", "code"),
    [
        ("to", "at", "Wcip", "conll14", "Prep"),
        ("powerful", "strong", "Wcip", "conll14", "Wci"),
        ("the", "", "Rloc", "conll14", "ArtOrDet"),
        ("to", "", "Rloc", "conll14", "Prep"),
        ("powerful", "", "Rloc", "conll14", "Rloc-"),
        ("to", "at", "Wcip", "errant", "R:PREP"),  # a chain, which chooses at every step
        ("came", "came up", "Wcip", "errant", None),
        ("to", "", "Wcip", "errant", "U:PREP"),
    ],
)
def test_words_choose_between_the_halves(
    words: str, correction: str, tag: str, target: str, code: str | None
) -> None:
    assert translate_edit(edit_of(KITCHEN, words, correction, tag), KITCHEN, "nucle", target).code == code


def test_what_cannot_be_translated_is_reported() -> None:
    mapped = translate("Wcip", "nucle", "conll14")
    assert (mapped.relation, mapped.codes, mapped.code) == ("split", ("Prep", "Wci"), None)
    edit = Edit(Span(3, 7), (), "ArtOrDet", "A")
    assert translate_edit(edit, KITCHEN, "conll14", "errant").relation == "split"
    assert translate("AGV", "clc", "nucle") == Mapped("exact", ("SVA",))
    assert translate("RT", "clc", "nucle").relation == "broader"  # Prep is exact, its Wcip is not
    assert translate("Cit", "nucle", "errant") == Mapped("none", (), "ERRANT has no type for citations")
    assert translate("Vt", "nucle", "clc") == Mapped("none", (), "there is no map from nucle to clc")
    with pytest.raises(UnknownName, match="Did you mean 'Wcip'"):
        translate("Wcp", "nucle", "conll14")


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


def test_the_first_correction_decides_word_by_word() -> None:
    assert halved("They arrived to us.", "to", tag="Wcip") == "Wcip/other"
    assert halved("They arrived to us.", "to", "at", "near", tag="Wcip") == "Wcip/prep"
    assert halved("They arrived to us.", "to", "at", tag="Prep") == "Prep"
    text = "She sat in it."
    edit = Edit(Span(8, 9), ("o",), "Wcip", "A")  # the i of "in", to make it "on"
    assert changed_words(edit, text).removed == ("in",)
    assert changed_words(edit, text).added == ("on",)
    assert split(edit, text) == "Wcip/prep"
    assert halved("It is Anna's at last.", "at", "to the", tag="Wcip") == "Wcip/other"
    assert halved("It is Anna's at last.", "Anna's", "a", tag="Rloc") == "Rloc/other"


@given(st.text(max_size=20), st.text(max_size=12), st.data())
def test_split_answers_for_any_text_and_place(text: str, correction: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    edit = Edit(Span(start, end), (correction,), "Wcip", "A")
    assert split(edit, text) in ("Wcip/prep", "Wcip/other")
