"""Several judgments in one row become one row each."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from grater.errors import BadInput, UnknownName
from grater.tables import read_judgments, read_wide


def test_a_list_in_a_cell_is_many_judgments_by_nobody(tmp_path: Path) -> None:
    path = tmp_path / "w.tsv"
    path.write_text("Id\tSentence\tScores\n7\tShe go.\t[3, 4, 3.0]\n8\tYes.\t[]\n9\tNo.\t['a', b]\n")
    judgments = read_judgments(path, columns={"item": "Id", "label": "Scores"})
    assert judgments.frame.rows() == [
        ("7", "1", "3", "She go."),
        ("7", "2", "4", "She go."),
        ("7", "3", "3", "She go."),
        ("9", "1", "a", "No."),
        ("9", "2", "b", "No."),
    ]
    assert judgments.anonymous_raters
    assert judgments.dropped == {"rows without an answer": 1}


def test_real_lists_are_read_too() -> None:
    judgments = read_judgments(pl.DataFrame({"item": ["a", "b"], "label": [["x", "y"], None], "other": [[1], [2]]}))
    assert judgments.frame.rows() == [("a", "1", "x", "[1]"), ("a", "2", "y", "[1]")]
    assert judgments.dropped == {"rows without an answer": 1}


def test_a_list_of_lists_is_no_label() -> None:
    with pytest.raises(BadInput, match="row 2: expected a list of labels in column 'label'"):
        read_judgments(pl.DataFrame({"item": ["a", "b"], "label": ["[1]", "[[1]]"]}))


def test_with_raters_a_list_is_one_odd_label() -> None:
    frame = pl.DataFrame({"item": ["a"], "rater": ["r"], "label": ["[1]"]})
    assert read_judgments(frame).frame["label"].to_list() == ["[1]"]


WIDE = pl.DataFrame({"item": ["a", "b", "c"], "first": [1, None, None], "second": [2, 3, None]})


def test_columns_side_by_side_are_raters_by_position() -> None:
    judgments = read_wide(WIDE, labels=["first", "second"])
    assert judgments.frame.rows() == [("a", "1", "1"), ("a", "2", "2"), ("b", "2", "3")]
    assert judgments.anonymous_raters
    assert judgments.dropped == {"rows without an answer": 1}


def test_columns_side_by_side_may_be_people() -> None:
    judgments = read_wide(WIDE, labels=["first", "second"], are_raters=True)
    assert judgments.frame["rater"].to_list() == ["first", "second", "second"]
    assert not judgments.anonymous_raters


def test_columns_must_be_there() -> None:
    with pytest.raises(UnknownName, match=r"unknown column 'frist'\. Did you mean 'first'"):
        read_wide(WIDE, labels=["frist"])
    with pytest.raises(BadInput, match="expected columns of labels, found none named"):
        read_wide(WIDE, labels=[])


def test_an_item_stands_in_one_row() -> None:
    with pytest.raises(BadInput, match="row 2: expected item 'a', rater '1' once"):
        read_wide(pl.DataFrame({"item": ["a", "a"], "x": [1, 2]}), labels=["x"])


def test_rows_without_any_judgment_are_no_table() -> None:
    with pytest.raises(BadInput, match="found no rows"):
        read_wide(pl.DataFrame({"item": ["a"], "x": [None]}), labels=["x"])


def test_a_sheet_with_a_column_per_rater_is_read_as_judgments(tmp_path: Path) -> None:
    path = tmp_path / "sheet.csv"
    path.write_text("sentence;Ada;Bo\nn1;wrong;ok\nn2;ok;\n;;\n")
    judgments = read_judgments(
        path, columns={"item": "sentence"}, rater_columns=["Ada", "Bo"], merge={"wrong": "error"}
    )
    assert judgments.frame.rows() == [("n1", "Ada", "error"), ("n1", "Bo", "ok"), ("n2", "Ada", "ok")]
    assert not judgments.anonymous_raters


def test_a_table_without_labels_is_asked_whether_raters_have_columns(tmp_path: Path) -> None:
    path = tmp_path / "sheet.csv"
    path.write_text("item,Ada,Bo\nn1,error,ok\n")
    with pytest.raises(BadInput, match="if every rater has a column, say rater columns NAME,NAME"):
        read_judgments(path)
