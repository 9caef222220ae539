import polars as pl
import pytest

from grater.errors import GraterError
from grater.measure.agreement.groups import agreement_by_group, by_batch, by_column, without_flagged
from grater.measure.agreement.summary import agreement
from grater.tables import Judgments, read_items
from tests.measure.agreement.tables import judgments

ROWS = ("a 1 x", "a 2 x", "b 1 x", "b 2 y", "c 1 y", "c 2 y", "d 1 y", "d 2 x")


def sizes(parts: dict[str, Judgments]) -> dict[str, int]:
    return {name: len(part) for name, part in parts.items()}


def test_parts_by_a_column_of_judgments_are_in_the_order_of_its_values() -> None:
    table = judgments(*ROWS, place=[10, 10, 9, 9, 9, 9, None, 10])
    assert sizes(by_column(table, "place")) == {"(none)": 1, "10": 3, "9": 4}
    assert list(by_column(judgments(*ROWS, place=[10, 9] * 4), "place")) == ["9", "10"]


def test_parts_by_a_column_of_items() -> None:
    items = pl.DataFrame(
        {
            "item": ["a", "b", "c"],
            "essay": "e",
            "start": 0,
            "end": 1,
            "kind": "prep",
            "mention": ["first", "new", "first"],
        }
    )
    parts = by_column(judgments(*ROWS), "mention", items=read_items(items))
    assert sizes(parts) == {"(none)": 2, "first": 4, "new": 2}


def test_unknown_column_is_answered_with_those_there_are() -> None:
    with pytest.raises(GraterError, match="Did you mean 'place'"):
        by_column(judgments(*ROWS, place=[1] * 8), "plac")


def test_batches_are_in_order_of_their_first_judgment() -> None:
    batch = ["z", "z", "b", "b", "a", "a", "z", "z"]
    at = ["2008-03-05", "2008-03-01", "2008-02-01", "2008-02-02", "2008-09-01", "2008-10-01", "2008-12-01", None]
    assert list(by_batch(judgments(*ROWS, batch=batch, at=at))) == ["b", "z", "a"]
    assert list(by_batch(judgments(*ROWS, batch=batch))) == ["a", "b", "z"]


def test_flagged_by_any_takes_out_more_than_flagged_by_all() -> None:
    flags = ["spelling", None, "spelling|style", "grammar", "style", None, None, None]
    table = judgments(*ROWS, flags=flags)
    named = ("spelling", "grammar")
    assert set(without_flagged(table, named, by="any").frame["item"]) == {"c", "d"}
    assert set(without_flagged(table, named, by="all").frame["item"]) == {"a", "c", "d"}
    assert without_flagged(table, named, by="any").dropped == {"item flagged spelling or grammar by any rater": 4}


def test_flags_must_be_there() -> None:
    with pytest.raises(GraterError, match="'flags', found none"):
        without_flagged(judgments(*ROWS), ("spelling",), by="any")


def test_range_and_tests_over_parts() -> None:
    table = judgments(
        *(f"{item}{copy} {rest}" for copy in range(8) for item, rest in (r.split(" ", 1) for r in ROWS))
    )
    half = table.frame["item"].str.slice(1).cast(pl.Int64) < 4
    table = Judgments(table.frame.with_columns(half=half), "table")
    found = agreement_by_group(by_column(table, "half"), agreement, by="half")
    assert found.range == (0.0, 0.0)
    [test] = found.tests
    assert (test.first, test.second) == ("false", "true")
    assert test.comparison.test.p == pytest.approx(1)


def test_holm_raises_p_when_there_are_several_tests() -> None:
    rows = [f"{kind}{n} {rater} {label}" for kind in "abc" for n in range(40) for rater, label in _said(kind, n)]
    table = judgments(*rows)
    table = Judgments(table.frame.with_columns(kind=pl.col("item").str.slice(0, 1)), "table")
    three = agreement_by_group(by_column(table, "kind"), agreement, by="kind")
    two = agreement_by_group(
        {name: part for name, part in by_column(table, "kind").items() if name != "c"}, agreement, by="kind"
    )
    assert len(three.tests) == 3
    assert three.tests[0].comparison.test.p > two.tests[0].comparison.test.p


def _said(kind: str, n: int) -> list[tuple[int, int]]:
    wrong = {"a": 4, "b": 3, "c": 5}[kind]
    return [(1, n % 2), (2, 1 - n % 2 if n % wrong == 0 else n % 2)]


def test_headline_is_kappa_for_two_raters_and_alpha_for_more() -> None:
    parts = agreement_by_group(
        {"two": judgments(*ROWS), "three": judgments(*ROWS, "a 3 y")}, agreement, by="x", with_tests=False
    ).parts
    assert [part.headline[0] for part in parts.values()] == ["kappa", "alpha"]
