"""Tag sets as values, the four sets against their sources, and the maps between them."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grater.corpora.tagsets import MAPS, OURS, TAGSETS, TagSet, all_tagsets, guess_tagset, split
from grater.errors import UnknownName
from grater.model import Edit, Span


def test_an_unknown_tag_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownName, match=r"unknown nucle tag 'ArtOrDt'\. Did you mean 'ArtOrDet'\?"):
        TAGSETS["nucle"]["ArtOrDt"]


def test_the_guess_is_the_set_that_knows_most_of_the_tags() -> None:
    for tags, name in (
        ("Vt Wcip", "nucle"),
        ("Vt Prep", "conll14"),
        ("R:SPELL Vt M:DET", "errant"),
        ("TV RT AGV", "clc"),
    ):
        assert guess_tagset(tags.split()).name == name
    assert guess_tagset(["Vt"]).name == guess_tagset([]).name == "nucle"  # both know it: the first wins


@pytest.mark.parametrize("tagset", all_tagsets(), ids=lambda tagset: tagset.name)
def test_every_tag_has_a_code_of_its_own_every_field_and_an_example_with_the_correction_owed(tagset: TagSet) -> None:
    assert len(tagset.by_code) == len(tagset)
    for tag in tagset:
        assert tag.name
        assert tag.group
        assert tag.description.endswith(".")
        assert tag.example
        assert "|" not in tag.description + tag.example
        if tag.code != "QL":  # an error of the question has no sentence of its own
            assert ("→" in tag.example) == tag.owes_correction, tag


# Dahlmeier, Ng and Wu 2013, Table 1: groups in order, tags in order.
TABLE_1 = {
    "Verbs": "Vt Vm V0 Vform",
    "Subject-verb agreement": "SVA",
    "Articles/determiners": "ArtOrDet",
    "Nouns": "Nn Npos",
    "Pronouns": "Pform Pref",
    "Word choice": "Wcip Wa Wform Wtone",
    "Sentence Structure": "Srun Smod Spar Sfrag Ssub",
    "Word Order": "WOinc WOadv",
    "Transitions": "Trans",
    "Mechanics": "Mec",
    "Redundancy": "Rloc",
    "Citation": "Cit",
    "Others": "Others Um",
}


def test_nucle_has_the_27_tags_of_table_1_in_its_13_groups() -> None:
    nucle = TAGSETS["nucle"]
    groups = {name: " ".join(tag.code for tag in tags) for name, tags in groupby(nucle, lambda tag: tag.group)}
    assert list(groups.items()) == list(TABLE_1.items())
    assert (len(nucle), len(groups)) == (27, 13)
    assert {tag.code for tag in TAGSETS["nucle"] if not tag.owes_correction} == {"Um", "Cit", "Wa"}


def test_conll14_has_prepositions_apart_and_a_smaller_redundancy_and_maps_back_what_was_not_split() -> None:
    nucle, conll14 = set(TAGSETS["nucle"].by_code), set(TAGSETS["conll14"].by_code)
    assert nucle - conll14 == {"Wcip", "Rloc"}
    assert conll14 - nucle == {"Prep", "Wci", "Rloc-"}
    assert len(TAGSETS["conll14"]) == 28  # Ng et al. 2014: 28 error types
    for tag, mapped in MAPS["nucle", "conll14"].items():
        for code in mapped.codes:
            back = MAPS["conll14", "nucle"][code].codes
            assert back == (tag,) or tag == "Rloc"  # redundant articles and prepositions change their name


def test_errant_has_55_types_of_which_24_replace() -> None:
    errant = TAGSETS["errant"]
    # Bryant et al. 2017: 25 main types with UNK, 55 with their operations.
    assert len(errant) == 55
    assert list(Counter(tag.group for tag in errant).values()) == [15, 24, 15, 1]
    assert len({tag.code.partition(":")[2] or tag.code for tag in errant}) == 25
    for main in ("SPELL", "ORTH", "WO", "MORPH", "NOUN:NUM", "NOUN:INFL", "VERB:SVA", "VERB:INFL", "ADJ:FORM"):
        assert f"R:{main}" in errant
        assert f"M:{main}" not in errant
        assert f"U:{main}" not in errant


def test_clc_has_77_codes_described_by_word_class() -> None:
    clc = TAGSETS["clc"]
    assert len(clc) == 77  # Bryant 2019 (UCAM-CL-TR-938)
    assert {"AGN", "AGV", "CE", "CL", "ID", "L", "S", "SA", "SX", "TV", "W", "X", "QL"} <= set(clc.by_code)
    assert TAGSETS["clc"]["MT"].description == "A preposition is missing."
    assert TAGSETS["clc"]["RY"].description == "An adverb should be replaced by another."


@pytest.mark.parametrize("name", OURS)
def test_the_page_has_every_tag(name: str) -> None:
    page = (Path(__file__).parents[3] / "docs" / "tagsets.md").read_text("utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| ")]
    assert [tag.code for tag in TAGSETS[name] if not any(f"`{tag.code}`" in row for row in rows)] == []


@pytest.mark.parametrize("pair", MAPS, ids="-".join)
def test_a_map_answers_every_tag_with_tags_of_the_target_or_a_reason(pair: tuple[str, str]) -> None:
    source, target = pair
    assert set(MAPS[pair]) == set(TAGSETS[source].by_code)
    n_codes = {"exact": {1}, "broader": {1}, "split": {2, 3, 4, 5}, "none": {0}}
    for mapped in MAPS[pair].values():
        assert all(code in TAGSETS[target] for code in mapped.codes)
        assert len(mapped.codes) in n_codes[mapped.relation]
        assert bool(mapped.reason) == (mapped.relation != "exact")


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
    assert split(edit, text) == "Wcip/prep"
    assert halved("It is Anna's at last.", "at", "to the", tag="Wcip") == "Wcip/other"
    assert halved("It is Anna's at last.", "Anna's", "a", tag="Rloc") == "Rloc/other"


@given(st.text(max_size=20), st.text(max_size=12), st.data())
def test_split_answers_for_any_text_and_place(text: str, correction: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    edit = Edit(Span(start, end), (correction,), "Wcip", "A")
    assert split(edit, text) in ("Wcip/prep", "Wcip/other")
