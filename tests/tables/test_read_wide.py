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


def test_lists_in_cells_are_judgments_only_without_raters() -> None:
    # Real lists are read too.
    judgments = read_judgments(pl.DataFrame({"item": ["a", "b"], "label": [["x", "y"], None], "other": [[1], [2]]}))
    assert judgments.frame.rows() == [("a", "1", "x", "[1]"), ("a", "2", "y", "[1]")]
    assert judgments.dropped == {"rows without an answer": 1}
    # A list of lists is no label.
    with pytest.raises(BadInput, match="row 2: expected a list of labels in column 'label'"):
        read_judgments(pl.DataFrame({"item": ["a", "b"], "label": ["[1]", "[[1]]"]}))
    # With raters a list is one odd label.
    frame = pl.DataFrame({"item": ["a"], "rater": ["r"], "label": ["[1]"]})
    assert read_judgments(frame).frame["label"].to_list() == ["[1]"]


WIDE = pl.DataFrame({"item": ["a", "b", "c"], "first": [1, None, None], "second": [2, 3, None]})


def test_columns_side_by_side_are_positions_or_people() -> None:
    # Columns side by side are raters by position.
    judgments = read_wide(WIDE, labels=["first", "second"])
    assert judgments.frame.rows() == [("a", "1", "1"), ("a", "2", "2"), ("b", "2", "3")]
    assert judgments.anonymous_raters
    assert judgments.dropped == {"rows without an answer": 1}
    # Columns side by side may be people.
    judgments = read_wide(WIDE, labels=["first", "second"], are_raters=True)
    assert judgments.frame["rater"].to_list() == ["first", "second", "second"]
    assert not judgments.anonymous_raters
    # Columns must be there.
    with pytest.raises(UnknownName, match=r"unknown column 'frist'\. Did you mean 'first'"):
        read_wide(WIDE, labels=["frist"])
    with pytest.raises(BadInput, match="expected columns of labels, found none named"):
        read_wide(WIDE, labels=[])
    # An item stands in one row.
    with pytest.raises(BadInput, match="row 2: expected item 'a', rater '1' once"):
        read_wide(pl.DataFrame({"item": ["a", "a"], "x": [1, 2]}), labels=["x"])
    # Rows without any judgment are no table.
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
    with pytest.raises(BadInput, match="if every rater has a column, name these with `rater_columns`"):
        read_judgments(path)
