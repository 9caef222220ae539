"""What may make an item hard is worked out from its text, not supplied."""

from __future__ import annotations

import polars as pl

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


def factors_of(essay: Essay, places: list[tuple[str, str, int, int, str]]) -> pl.DataFrame:
    items = read_items(pl.DataFrame(places, schema=["item", "essay", "start", "end", "kind"], orient="row"))
    return with_factors(items, [essay]).frame


def test_a_garbled_sentence_is_a_surprise_and_only_a_preposition_has_alternatives() -> None:
    gap, _ = at("it.")
    places = [
        ("common", "e", *at("in the"), "collocation"),
        ("bus", "e", *at("for"), "prep"),
        ("rare", "e", *at("for", 1), "prep"),
        ("garbled", "e", *at("tow"), "collocation"),
        ("gap", "e", gap, gap, "prep-missing"),
        ("elsewhere", "other", 0, 1, "prep"),
    ]
    frame = factors_of(Essay("e", TEXT), places)
    factors = {row["item"]: {name: row[name] for name in FACTORS} for row in frame.iter_rows(named=True)}
    assert factors["garbled"]["surprise"] > factors["common"]["surprise"] + 2
    assert factors["common"]["surprise"] == factors["bus"]["surprise"], "of the sentence"
    assert 1 <= factors["bus"]["alternatives"] < factors["rare"]["alternatives"] <= 34
    assert factors["common"]["alternatives"] is factors["gap"]["alternatives"] is None
    assert factors["gap"]["length"] == factors["garbled"]["length"]
    assert set(factors["elsewhere"].values()) == {None}, "of another essay"


def test_an_error_next_to_the_item_is_near_and_one_on_it_is_not() -> None:
    def of(*places: tuple[int, int]) -> object:
        edits = tuple(Edit(Span(*place), ("x",), "X", "A") for place in places)
        essay = Essay("e", TEXT, edits, ("A",) if places else ())
        return factors_of(essay, [("bus", "e", *at("for"), "prep")])["error_nearby"].item()

    assert of() is None, "nobody looked"
    assert of(at("for")) == "no"
    assert of(at("for"), at("bus")) == "yes"
    assert of(at("morning")) == "no"


def test_prepositions_of_time_and_place_are_recognised_by_their_noun() -> None:
    text = "We met in the early morning at the old station in 1999 with great joy."
    words = ("in", "at", "in 1999", "with")
    places = [(word, "e", text.index(word), text.index(word) + len(word.split()[0]), "prep") for word in words]
    frame = factors_of(Essay("e", text), places)
    assert frame["use"].to_list() == ["time", "place", "time", "other"]
    assert frame["sentence"][1] == "We met in the early morning [at] the old station in 1999 with great joy."
