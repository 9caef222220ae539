"""What may make an item hard is worked out from its text, not supplied."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from grater.detect.factors import FACTORS, with_factors
from grater.model import Edit, Essay, Span
from grater.tables import read_items

TEXT = (
    "He waited for the bus in the morning. "
    "The gondolier bargained for pomegranates. "
    "Man ability diver tow type humen succed it."
)


def at(word: str, nth: int = 0) -> tuple[int, int]:
    start = -1
    for _ in range(nth + 1):
        start = TEXT.index(word, start + 1)
    return start, start + len(word)


@pytest.fixture(scope="module")
def factors() -> dict[str, dict[str, float]]:
    places = {
        "common": (*at("in the"), "collocation"),
        "bus": (*at("for"), "prep"),
        "rare": (*at("for", 1), "prep"),
        "garbled": (*at("tow"), "collocation"),
        "first": (*at("He"), "pronoun"),
        "gap": (at("it.")[0], at("it.")[0], "prep-missing"),
        "elsewhere": (0, 1, "prep"),
    }
    rows = [(name, "other" if name == "elsewhere" else "e", *place) for name, place in places.items()]
    items = read_items(pl.DataFrame(rows, schema=["item", "essay", "start", "end", "kind"], orient="row"))
    frame = with_factors(items, [Essay("e", TEXT)]).frame
    return {row["item"]: {name: row[name] for name in FACTORS} for row in frame.iter_rows(named=True)}


def test_a_garbled_sentence_is_a_surprise(factors: dict[str, dict[str, float]]) -> None:
    assert factors["garbled"]["surprise"] > factors["common"]["surprise"] + 2
    assert factors["common"]["surprise"] == factors["bus"]["surprise"], "of the sentence"


def test_an_error_next_to_the_item_is_near_and_one_on_it_is_not() -> None:
    def of(*places: tuple[int, int]) -> str | None:
        items = read_items(
            pl.DataFrame(
                [("bus", "e", *at("for"), "prep")], schema=["item", "essay", "start", "end", "kind"], orient="row"
            )
        )
        edits = tuple(Edit(Span(*place), ("x",), "X", "A") for place in places)
        essay = Essay("e", TEXT, edits, ("A",) if places else ())
        [near] = with_factors(items, [essay]).frame["error_nearby"].to_list()
        return near  # type: ignore[no-any-return]

    assert of() is None, "nobody looked"
    assert of(at("for")) == "no"
    assert of(at("for"), at("bus")) == "yes"
    assert of(at("morning")) == "no"


def test_prepositions_of_time_and_place_are_recognised_by_their_noun() -> None:
    text = "We met in the early morning at the old station in 1999 with great joy."
    words = ("in", "at", "in 1999", "with")
    places = [(word, "e", text.index(word), text.index(word) + len(word.split()[0]), "prep") for word in words]
    items = read_items(pl.DataFrame(places, schema=["item", "essay", "start", "end", "kind"], orient="row"))
    frame = with_factors(items, [Essay("e", text)]).frame
    assert frame["use"].to_list() == ["time", "place", "time", "other"]
    assert frame["sentence"][1] == "We met in the early morning [at] the old station in 1999 with great joy."


def test_a_preposition_has_alternatives_and_other_items_have_none(factors: dict[str, dict[str, Any]]) -> None:
    assert 1 <= factors["bus"]["alternatives"] < factors["rare"]["alternatives"] <= 34
    assert factors["common"]["alternatives"] is None
    assert factors["gap"]["alternatives"] is None
    assert factors["gap"]["length"] == factors["garbled"]["length"]


def test_an_item_of_another_essay_has_no_factor(factors: dict[str, dict[str, float]]) -> None:
    assert set(factors["elsewhere"].values()) == {None}
