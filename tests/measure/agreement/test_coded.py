import numpy as np
import polars as pl
import pytest

from grater.errors import GraterError
from grater.measure.units import Coded, coded, in_order, reordered
from grater.tables import Judgments
from tests.measure.agreement.tables import judgments

ROWS = ("b Zoe ok", "a Ann error", "b Ann ok", "c Zoe error")


def named(codes: Coded) -> list[tuple[str, str, str]]:
    triples = zip(codes.item.tolist(), codes.rater.tolist(), codes.label.tolist(), strict=True)
    return [(codes.items[item], codes.raters[rater], codes.labels[label]) for item, rater, label in triples]


@pytest.mark.parametrize(
    "kind", [pl.String, pl.Categorical, pl.Enum(["x", "Zoe", "c", "ok", "b", "a", "Ann", "error"])]
)
def test_codes_name_what_the_rows_say_whatever_the_type_of_the_columns(kind: pl.DataType) -> None:
    table = judgments(*ROWS)
    codes = coded(Judgments(table.frame.cast(kind), "frame"))
    assert named(codes) == [tuple(row.split()) for row in ROWS]
    assert codes.items.to_list() == ["b", "a", "c"]
    assert (codes.raters, codes.labels) == (("Ann", "Zoe"), ("error", "ok"))
    assert {array.dtype for array in (codes.item, codes.rater, codes.label)} == {np.dtype(np.int32)}


def test_numbers_are_in_the_order_of_their_size() -> None:
    codes = coded(judgments("a 10 2", "a 9 10", "b 9 -1"))
    assert codes.raters == ("9", "10")
    assert codes.labels == ("-1", "2", "10")


def test_label_that_shows_up_late_is_found() -> None:
    table = judgments(*(f"i{number} r x" for number in range(5000)), "last r a")
    codes = coded(table)
    assert codes.labels == ("a", "x")
    assert codes.label.tolist() == [1] * 5000 + [0]


def test_given_order_holds_and_must_name_every_label() -> None:
    codes = reordered(coded(judgments("a r low", "b r high")), ["low", "mid", "high"])
    assert named(codes) == [("a", "r", "low"), ("b", "r", "high")]
    with pytest.raises(GraterError, match="no place for low"):
        reordered(coded(judgments("a r low", "b r high")), ["high"])


def test_empty_cell_is_refused() -> None:
    frame = pl.DataFrame({"item": ["a", None], "rater": ["r", "s"], "label": ["x", "y"]})
    with pytest.raises(GraterError, match="'item', found 1 empty"):
        coded(Judgments(frame, "frame"))


@pytest.mark.parametrize(
    ("names", "ordered"),
    [
        (["r10", "r2", "r1"], ["r1", "r2", "r10"]),
        (["a1b10", "a1b9", "a1b11"], ["a1b9", "a1b10", "a1b11"]),
        (["10", "9", "-1"], ["-1", "9", "10"]),
        (["r02", "r2", "r1"], ["r1", "r02", "r2"]),
        (["r1", "r", "s2"], ["r", "r1", "s2"]),
        ([], []),
    ],
)
def test_names_stand_in_the_order_in_which_people_count(names: list[str], ordered: list[str]) -> None:
    assert [names[place] for place in in_order(names)] == ordered
