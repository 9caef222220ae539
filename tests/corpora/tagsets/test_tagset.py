"""Tag sets as values: lookup, groups, unknown names, the guess."""

from __future__ import annotations

import pytest

from grater.corpora.tagsets import TAGSETS, Tag, TagSet, all_tagsets, guess_tagset
from grater.errors import UnknownName

SMALL = TagSet("small", "A small set", (Tag("B", "b", "late", "", ""), Tag("A", "a", "early", "", "")))


def test_a_tag_is_found_by_its_code() -> None:
    assert SMALL["A"].name == "a"


def test_an_unknown_tag_is_answered_with_the_nearest_one() -> None:
    with pytest.raises(UnknownName, match=r"unknown nucle tag 'ArtOrDt'\. Did you mean 'ArtOrDet'\?"):
        TAGSETS["nucle"]["ArtOrDt"]


def test_an_unknown_set_is_answered_with_the_nearest_one() -> None:
    with pytest.raises(UnknownName, match=r"unknown tag set 'nucl'\. Did you mean 'nucle'\?"):
        TAGSETS["nucl"]


def test_groups_keep_the_order_of_the_tags() -> None:
    assert SMALL.groups == ("late", "early")


def test_the_tags_of_a_group_are_found_by_its_name() -> None:
    assert [tag.code for tag in SMALL.of_group("early")] == ["A"]


def test_an_unknown_group_is_an_error() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'early'"):
        SMALL.of_group("eary")


def test_the_registry_has_the_four_sets() -> None:
    assert {"nucle", "conll14", "errant", "clc"} <= set(TAGSETS.names())


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
def test_every_tag_has_a_code_of_its_own_and_every_field(tagset: TagSet) -> None:
    assert len(tagset.by_code) == len(tagset)
    for tag in tagset:
        assert tag.name
        assert tag.group
        assert tag.description.endswith(".")
        assert tag.example
        assert "|" not in tag.description + tag.example


@pytest.mark.parametrize("tagset", all_tagsets(), ids=lambda tagset: tagset.name)
def test_every_example_of_a_tag_that_owes_a_correction_shows_one(tagset: TagSet) -> None:
    for tag in tagset:
        if tag.code != "QL":  # an error of the question has no sentence of its own
            assert ("→" in tag.example) == tag.owes_correction, tag
