"""Data frames of any library, and parquet."""

from __future__ import annotations

import datetime
import math
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from grater.errors import BadInput, UsageError
from grater.tables import read_decisions, read_gold, read_items, read_judgments

ROWS = [("n1", "Ada", "1"), ("n1", "Bo", "2"), ("n2", "Ada", "1")]
COLUMNS = {"item": ["n1", "n1", "n2"], "rater": ["Ada", "Bo", "Ada"], "label": [1, 2, 1]}


@pytest.mark.parametrize("make", [pl.DataFrame, pl.LazyFrame, pd.DataFrame, pa.table])
def test_every_library_gives_the_same_table(make: Any) -> None:
    assert read_judgments(make(COLUMNS)).frame.rows() == ROWS


def test_a_gap_does_not_turn_one_into_one_point_zero() -> None:
    frame = pd.DataFrame({"item": [1, 2, 3], "label": [1, None, 2], "reason": [None, None, None]})
    assert frame["label"].dtype == float
    with pytest.raises(BadInput, match="gold frame: row 2: expected a value in column 'label'"):
        read_gold(frame)
    assert read_gold(frame.dropna(subset="label")).frame.select("item", "label").rows() == [("1", "1"), ("3", "2")]


def test_fractions_stay_what_they_are() -> None:
    frame = pl.DataFrame({"item": [1.0, 2.5], "rater": ["a", "a"], "label": [-3.0, 1e20]})
    assert read_judgments(frame).frame.select("item", "label").rows() == [("1", "-3"), ("2.5", "1e+20")]


def test_text_is_text_even_where_it_looks_like_a_number() -> None:
    frame = pl.DataFrame({"item": ["1.0", "01"], "rater": ["a", "a"], "label": ["1.0", "1"]})
    assert read_judgments(frame).frame.select("item", "label").rows() == [("1.0", "1.0"), ("01", "1")]


def test_mixed_columns_of_pandas_are_read_value_by_value() -> None:
    frame = pd.DataFrame({"item": [1, "a", 2.0, pd.NA], "rater": ["r"] * 4, "label": [True, 1, "x", 2]})
    with pytest.raises(BadInput, match="row 4: expected a value in column 'item'"):
        read_judgments(frame)
    assert read_judgments(frame.head(3)).frame["item"].to_list() == ["1", "a", "2"]
    assert read_judgments(frame.head(3)).frame["label"].to_list() == ["true", "1", "x"]


def test_categories_and_dates_become_text() -> None:
    frame = pl.DataFrame(
        {
            "item": pl.Series(["a", "b"], dtype=pl.Categorical),
            "rater": ["r", "r"],
            "label": pl.Series(["x", "y"], dtype=pl.Enum(["x", "y"])),
            "at": [datetime.datetime(2024, 5, 1, 9, 30, tzinfo=datetime.UTC), None],
        }
    )
    assert read_judgments(frame).frame.rows() == [("a", "r", "x", "2024-05-01T09:30:00+00:00"), ("b", "r", "y", None)]


def test_real_lists_are_flags() -> None:
    frame = pl.DataFrame({"item": ["a", "b"], "rater": ["r", "r"], "label": ["x", "y"], "flags": [["f", "g"], []]})
    assert read_judgments(frame).frame["flags"].to_list() == ["f|g", None]


def test_a_missing_number_of_pandas_is_missing_and_a_nan_of_polars_is_wrong() -> None:
    columns = {"item": ["a", "b"], "system": ["S", "S"], "flagged": [1.0, 0.0], "score": [0.5, math.nan]}
    assert read_decisions(pd.DataFrame(columns)).frame.rows() == [("a", "S", True, 0.5), ("b", "S", False, None)]
    with pytest.raises(BadInput, match="row 2: expected a finite number in column 'score', found nan"):
        read_decisions(pl.DataFrame(columns))


def test_an_empty_frame_has_no_rows() -> None:
    with pytest.raises(BadInput, match="judgments frame: expected judgments, found no rows"):
        read_judgments(pl.DataFrame({"item": [], "rater": [], "label": []}))


@pytest.mark.parametrize("source", [3, None, object(), {"item": [1]}, [1]])
def test_what_is_no_frame_is_refused(source: object) -> None:
    with pytest.raises(UsageError, match="expected a path or a pandas, polars or Arrow frame"):
        read_judgments(source)


def test_a_lazy_frame_that_fails_is_bad_input() -> None:
    with pytest.raises(BadInput, match="cannot be computed"):
        read_judgments(pl.DataFrame(COLUMNS).lazy().select("none"))


def test_columns_of_one_name_are_refused() -> None:
    with pytest.raises(BadInput, match="expected every column once"):
        read_judgments(pd.DataFrame([[1, 2]], columns=["item", "item"]))


def test_parquet_is_read_as_it_was_written(tmp_path: Path) -> None:
    pl.DataFrame(COLUMNS).write_parquet(tmp_path / "j.parquet")
    assert read_judgments(tmp_path / "j.parquet").frame.rows() == ROWS


def test_a_folder_of_parquet_files_is_one_table(tmp_path: Path) -> None:
    folder = tmp_path / "j.parquet"
    folder.mkdir()
    with pytest.raises(BadInput, match="expected parquet files in this folder"):
        read_judgments(folder)
    frame = pl.DataFrame(COLUMNS)
    frame.head(1).write_parquet(folder / "part-0.parquet")
    frame.tail(2).write_parquet(folder / "part-1.parquet")
    assert read_judgments(folder).frame.rows() == ROWS


def test_a_name_with_brackets_is_no_pattern(tmp_path: Path) -> None:
    pl.DataFrame(COLUMNS).write_parquet(tmp_path / "j[1].parquet")
    assert len(read_judgments(tmp_path / "j[1].parquet")) == 3


def test_a_damaged_parquet_file_is_bad_input(tmp_path: Path) -> None:
    path = tmp_path / "j.parquet"
    path.write_bytes(b"PAR1 not really PAR1")
    with pytest.raises(BadInput, match="cannot be read as parquet"):
        read_judgments(path)


def test_numbers_in_frames_are_checked_too() -> None:
    frame = pl.DataFrame({"item": ["a"], "essay": ["e"], "start": [2.0], "end": [math.inf], "kind": ["prep"]})
    with pytest.raises(BadInput, match="row 1: expected a whole number in column 'end', found inf"):
        read_items(frame)
