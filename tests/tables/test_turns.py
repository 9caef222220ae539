"""The first judgments of each item."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl
import pytest

from grater.errors import UsageError
from grater.tables import Judgments, are_first, equal_in_number, first_of_each

ROWS = [
    ("a", "r3", "09:03"),
    ("a", "r1", "09:01"),
    ("b", "r1", "09:02"),
    ("a", "r2", "09:02"),
    ("b", "r2", "09:02"),
    ("c", "r1", "09:00"),
]


def judged(rows: Sequence[tuple[str, str, str | None]] | None = None) -> Judgments:
    found = [
        (item, rater, "ok", f"2026-01-31T{at}" if at else None)
        for item, rater, at in (ROWS if rows is None else rows)
    ]
    return Judgments(pl.DataFrame(found, ["item", "rater", "label", "at"], orient="row"), "table")


def test_the_first_two_of_every_item_by_time_and_then_by_name() -> None:
    assert are_first(judged(), 2).tolist() == [False, True, True, True, True, False]
    kept = first_of_each(judged(), 2)
    assert kept.frame.select("item", "rater").rows() == [("a", "r1"), ("b", "r1"), ("a", "r2"), ("b", "r2")]
    assert kept.dropped == {"after the first 2 of an item": 1, "of items with fewer than 2": 1}


def test_the_order_of_rows_changes_nothing() -> None:
    other = first_of_each(judged(ROWS[::-1]), 1).frame.sort("item")
    assert other.equals(first_of_each(judged(), 1).frame.sort("item"))
    assert other["rater"].to_list() == ["r1", "r1", "r1"]


def test_where_no_item_has_so_many_nobody_has_stopped_asking_yet() -> None:
    assert len(equal_in_number(judged(), 4)) == len(equal_in_number(judged(), 0)) == 6
    assert len(equal_in_number(judged(), 2)) == 4


def test_without_times_the_first_cannot_be_told() -> None:
    with pytest.raises(UsageError, match="1 judgments have no time"):
        first_of_each(judged([("a", "r1", None), ("a", "r2", "09:00")]), 1)
    no_column = Judgments(judged().frame.drop("at"), "table")
    with pytest.raises(UsageError, match="6 judgments have no time"):
        first_of_each(no_column, 1)
    with pytest.raises(UsageError, match="at least the first 1"):
        first_of_each(judged(), 0)


@pytest.mark.parametrize(
    "times",
    [
        ("9", "10", "100"),
        ("2026-01-31T12:30:00+02:00", "2026-01-31T11:00:00Z", "2026-01-31 11:30"),
        ("2026-01-31T11:00:00Z", "2026-01-31T11:00:00.5Z", "2026-02-01"),
    ],
)
def test_times_are_compared_as_times_not_as_text(times: tuple[str, str, str]) -> None:
    rows = [("a", rater, "ok", at) for rater, at in zip("xyz", times, strict=True)]
    table = Judgments(pl.DataFrame(rows, ["item", "rater", "label", "at"], orient="row"), "table")
    assert [are_first(table, n).tolist() for n in (1, 2)] == [[True, False, False], [True, True, False]]


def test_what_is_no_time_is_refused_and_no_number_is_too_large() -> None:
    rows = [("a", "x", "ok", "2026-01-31"), ("a", "y", "ok", "yesterday")]
    table = Judgments(pl.DataFrame(rows, ["item", "rater", "label", "at"], orient="row"), "table")
    with pytest.raises(UsageError, match="found 'yesterday'"):
        are_first(table, 1)
    assert not are_first(judged(), 10**30).any()
