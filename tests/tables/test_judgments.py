"""Which judgments count: status, flags, confidence, duplicates, merged labels, raters, the first of each item."""

from __future__ import annotations

import polars as pl
import pytest

from grater.errors import BadInput, UsageError
from grater.tables import (
    Judgments,
    are_first,
    equal_in_number,
    first_of_each,
    parse_merge,
    read_decisions,
    read_judgments,
    require_raters,
)

FRAME = pl.DataFrame(
    {
        "item": ["a", "a", "a", "b", "b"],
        "rater": ["1", "2", "3", "1", "2"],
        "label": ["0", "1", "2", "e", "0"],
        "status": ["valid", None, "untrusted", "withdrawn", "surplus"],
        "confidence": [0.2, 0.9, 0.9, None, 1.0],
        "flags": ["spelling | context", None, "context", "spellings", None],
    }
)


def test_only_judgments_that_count_are_kept_and_the_others_are_counted() -> None:
    judgments = read_judgments(FRAME)
    assert judgments.frame["rater"].to_list() == ["1", "2"]
    assert judgments.dropped == {"status surplus": 1, "status untrusted": 1, "status withdrawn": 1}
    judgments = read_judgments(FRAME, status=("untrusted", "surplus"))
    assert judgments.frame["status"].to_list() == ["untrusted", "surplus"]
    assert judgments.dropped == {"status valid": 2, "status withdrawn": 1}
    assert len(read_judgments(FRAME, status=("all",))) == 5
    judgments = read_judgments(FRAME, status=("all",), drop_flags=("spelling", "context", "typo"))
    assert judgments.frame["flags"].to_list() == [None, "spellings", None]
    assert judgments.dropped == {"flag spelling": 1, "flag context": 1, "flag typo": 0}
    judgments = read_judgments(FRAME, status=("all",), min_confidence=0.9)
    assert judgments.frame["confidence"].to_list() == [0.9, 0.9, 1.0]
    assert judgments.dropped == {"no confidence": 1, "confidence below 0.9": 1}
    frame = FRAME.select("item", "rater", "label")
    with pytest.raises(UsageError, match="expected a column 'flags', found none"):
        read_judgments(frame, drop_flags=("spelling",))
    with pytest.raises(UsageError, match="expected a column 'confidence', found none"):
        read_judgments(frame, min_confidence=0.5)
    none_counts = r"expected judgments that count, found none \(5 status Approved\); see status"
    with pytest.raises(BadInput, match=none_counts):
        read_judgments(FRAME.with_columns(status=pl.lit("Approved")))


def test_labels_are_merged_under_one_new_name_each() -> None:
    merge = parse_merge(["0,1=error", " 2 , x = ok"])
    assert merge == {"0": "error", "1": "error", "2": "ok", "x": "ok"}
    judgments = read_judgments(FRAME, status=("all",), merge=merge)
    assert judgments.frame["label"].to_list() == ["error", "error", "ok", "e", "error"]
    with pytest.raises(UsageError, match="expected one new name for label '0', found 'error' and 'ok'"):
        parse_merge(["0=error", "0=ok"])
    for setting in ("0,1", "0,=error", "0=", "=error"):
        with pytest.raises(UsageError, match="expected OLD,OLD=NEW"):
            parse_merge([setting])


def test_duplicates_are_named_or_the_first_or_last_is_kept() -> None:
    frame = pl.DataFrame({"item": ["a", "b", "a", "a"], "rater": "r", "label": ["x", "y", "z", "w"]})
    with pytest.raises(BadInput, match="row 3: expected item 'a', rater 'r' once, found it in rows 1, 3, 4; correct"):
        read_judgments(frame)
    items = [f"i{number}" for number in range(30)] * 2
    with pytest.raises(BadInput) as refused:
        read_judgments(pl.DataFrame({"item": items, "rater": "r", "label": "x"}))
    lines = str(refused.value).splitlines()
    assert len(lines) == 4
    assert lines[-1].endswith("30 are there more than once; the first 3 are named above")
    first, last = read_judgments(frame, duplicates="first"), read_judgments(frame, duplicates="last")
    assert (first.frame["label"].to_list(), last.frame["label"].to_list()) == (["x", "y"], ["y", "w"])
    assert (first.dropped, last.dropped) == ({"duplicate, first kept": 2}, {"duplicate, last kept": 2})
    with pytest.raises(UsageError, match="expected duplicates error, first or last"):
        read_judgments(frame, duplicates="any")  # type: ignore[arg-type]
    status = ["withdrawn", "valid", "valid", "withdrawn"]
    assert read_judgments(frame.with_columns(status=pl.Series(status))).frame["label"].to_list() == ["y", "z"]
    frame = pl.DataFrame({"item": ["a", "a", "a"], "system": ["S", "T", "S"], "flagged": [1, 1, 0]})
    with pytest.raises(BadInput, match="row 3: expected item 'a', system 'S' once"):
        read_decisions(frame)
    assert read_decisions(frame, duplicates="last").dropped == {"duplicate, last kept": 1}


def test_without_raters_positions_are_raters_unless_a_column_looks_misspelt() -> None:
    judgments = read_judgments(pl.DataFrame({"item": ["a", "b", "a"], "label": ["x", "y", "z"]}))
    assert judgments.anonymous_raters
    assert judgments.frame.rows() == [("a", "1", "x"), ("b", "1", "y"), ("a", "2", "z")]
    with pytest.raises(UsageError, match="confusion matrices need rater ids, and this table has none"):
        require_raters(judgments, "confusion matrices")
    frame = pl.DataFrame({"item": ["a"], "worker_id": ["w"], "label": ["x"]})
    with pytest.raises(BadInput, match="expected a column 'rater', found 'worker_id'; pass `columns="):
        read_judgments(frame)
    assert read_judgments(frame, columns={"rater": ""}).anonymous_raters


def judged(*rows: tuple[str, str, str | None]) -> Judgments:
    found = [(item, rater, "ok", at) for item, rater, at in rows]
    return Judgments(pl.DataFrame(found, ["item", "rater", "label", "at"], orient="row"), "table")


DAY = "2026-01-31T"
ROWS = [
    *(("a", "r3", f"{DAY}09:03"), ("a", "r1", f"{DAY}09:01"), ("b", "r1", f"{DAY}09:02")),
    *(("a", "r2", f"{DAY}09:02"), ("b", "r2", f"{DAY}09:02"), ("c", "r1", f"{DAY}09:00")),
]


def test_the_first_of_each_item_are_by_time_then_by_name() -> None:
    table = judged(*ROWS)
    assert are_first(table, 2).tolist() == [False, True, True, True, True, False]
    kept = first_of_each(table, 2)
    assert kept.frame.select("item", "rater").rows() == [("a", "r1"), ("b", "r1"), ("a", "r2"), ("b", "r2")]
    assert kept.dropped == {"after the first 2 of an item": 1, "of items with fewer than 2": 1}
    first, other = (first_of_each(judged(*rows), 1).frame.sort("item") for rows in (ROWS, ROWS[::-1]))
    assert other.equals(first), "the order of rows changes nothing"
    assert other["rater"].to_list() == ["r1", "r1", "r1"]
    # Where no item has so many, nobody has stopped asking yet.
    assert len(equal_in_number(table, 4)) == len(equal_in_number(table, 0)) == 6
    assert len(equal_in_number(table, 2)) == 4


def test_without_times_the_first_is_unknown() -> None:
    with pytest.raises(UsageError, match="1 judgments have no time"):
        first_of_each(judged(("a", "r1", None), ("a", "r2", DAY + "09:00")), 1)
    no_column = Judgments(judged(*ROWS).frame.drop("at"), "table")
    with pytest.raises(UsageError, match="6 judgments have no time"):
        first_of_each(no_column, 1)
    with pytest.raises(UsageError, match="at least the first 1"):
        first_of_each(judged(*ROWS), 0)


@pytest.mark.parametrize(
    "times",
    [
        ("9", "10", "100"),
        ("2026-01-31T12:30:00+02:00", "2026-01-31T11:00:00Z", "2026-01-31 11:30"),
        ("2026-01-31T11:00:00Z", "2026-01-31T11:00:00.5Z", "2026-02-01"),
    ],
)
def test_times_are_compared_as_times_not_as_text(times: tuple[str, str, str]) -> None:
    table = judged(*(("a", rater, at) for rater, at in zip("xyz", times, strict=True)))
    assert [are_first(table, n).tolist() for n in (1, 2)] == [[True, False, False], [True, True, False]]


def test_what_is_no_time_is_refused_and_no_number_is_too_large() -> None:
    with pytest.raises(UsageError, match="found 'yesterday'"):
        are_first(judged(("a", "x", "2026-01-31"), ("a", "y", "yesterday")), 1)
    assert not are_first(judged(*ROWS), 10**30).any()
