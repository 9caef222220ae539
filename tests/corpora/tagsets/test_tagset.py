"""Tag sets as values: lookup, groups, unknown names, the guess.

The four sets against their sources.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from grater.corpora.tagsets import OURS, TAGSETS, Tag, TagSet, all_tagsets, guess_tagset
from grater.errors import UnknownName

SMALL = TagSet("small", "A small set", (Tag("B", "b", "late", "", ""), Tag("A", "a", "early", "", "")))


def test_unknown_names_are_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownName, match=r"unknown nucle tag 'ArtOrDt'\. Did you mean 'ArtOrDet'\?"):
        TAGSETS["nucle"]["ArtOrDt"]
    with pytest.raises(UnknownName, match=r"unknown tag set 'nucl'\. Did you mean 'nucle'\?"):
        TAGSETS["nucl"]
    with pytest.raises(UnknownName, match="Did you mean 'early'"):
        SMALL.of_group("eary")


@pytest.mark.parametrize(
    ("tags", "name"),
    [
        (["Vt", "Wcip"], "nucle"),
        (["Vt", "Prep"], "conll14"),
        (["Vt"], "nucle"),  # both know it: the first wins
        (["R:SPELL", "Vt", "M:DET"], "errant"),
        (["TV", "RT", "AGV"], "clc"),
        ([], "nucle"),
    ],
)
def test_the_guess_is_the_set_that_knows_most_of_the_tags(tags: list[str], name: str) -> None:
    assert guess_tagset(tags).name == name


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
    assert {group: " ".join(tag.code for tag in nucle.of_group(group)) for group in nucle.groups} == TABLE_1
    assert list(nucle.groups) == list(TABLE_1)
    assert (len(nucle), len(nucle.groups)) == (27, 13)
    assert {tag.code for tag in TAGSETS["nucle"] if not tag.owes_correction} == {"Um", "Cit", "Wa"}


def test_conll14_has_prepositions_apart_and_a_smaller_redundancy() -> None:
    nucle, conll14 = set(TAGSETS["nucle"].by_code), set(TAGSETS["conll14"].by_code)
    assert nucle - conll14 == {"Wcip", "Rloc"}
    assert conll14 - nucle == {"Prep", "Wci", "Rloc-"}
    assert len(TAGSETS["conll14"]) == 28  # Ng et al. 2014: 28 error types


def test_errant_has_55_types_of_which_24_replace() -> None:
    errant = TAGSETS["errant"]
    # Bryant et al. 2017: 25 main types with UNK, 55 with their operations.
    assert len(errant) == 55
    assert [len(errant.of_group(group)) for group in errant.groups] == [15, 24, 15, 1]
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
