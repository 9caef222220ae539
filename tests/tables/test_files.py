"""Tables from frames, parquet, JSON Lines and text of all shapes; whatever the bytes are, its errors are ours."""

from __future__ import annotations

import contextlib
import datetime
import gzip
import io
import json
import math
import random
import tempfile
from collections.abc import Iterator
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grater.errors import BadInput, GraterError, UsageError
from grater.tables import read_decisions, read_gold, read_judgments, read_table
from grater.tables.files import read_delimited, read_jsonl, read_text
from grater.tables.schema import SCHEMAS, Kind
from tests.each import for_each
from tests.examples import examples

ROWS = [("n1", "Ada", "1"), ("n1", "Bo", "2"), ("n2", "Ada", "1")]
COLUMNS: dict[str, list[Any]] = {"item": ["n1", "n1", "n2"], "rater": ["Ada", "Bo", "Ada"], "label": [1, 2, 1]}


@pytest.fixture
def pd() -> Any:
    """Half a second to import, which workers that run other files do not wait for."""
    import pandas

    return pandas


def test_every_library_gives_the_same_table(pd: Any) -> None:
    import pyarrow

    for make in (pl.DataFrame, pl.LazyFrame, pd.DataFrame, pyarrow.table):
        assert read_judgments(make(COLUMNS)).frame.rows() == ROWS, make


def test_a_gap_does_not_turn_one_into_one_point_zero(pd: Any) -> None:
    frame = pd.DataFrame({"item": [1, 2, 3], "label": [1, None, 2], "reason": [None, None, None]})
    assert frame["label"].dtype == float
    with pytest.raises(BadInput, match="gold frame: row 2: expected a value in column 'label'"):
        read_gold(frame)
    assert read_gold(frame.dropna(subset="label")).frame.select("item", "label").rows() == [("1", "1"), ("3", "2")]


def test_frames_keep_text_fractions_and_lists() -> None:
    for items, labels, expected in (
        ([1.0, 2.5], [-3.0, 1e20], [("1", "-3"), ("2.5", "1e+20")]),
        (["1.0", "01"], ["1.0", "1"], [("1.0", "1.0"), ("01", "1")]),  # text that looks like a number
    ):
        frame = pl.DataFrame({"item": items, "rater": ["a", "a"], "label": labels})
        assert read_judgments(frame).frame.select("item", "label").rows() == expected
    frame = frame.with_columns(flags=pl.Series([["f", "g"], []]))
    assert read_judgments(frame).frame["flags"].to_list() == ["f|g", None]


def test_values_of_frames_become_the_cells_they_mean(pd: Any) -> None:
    frame = pl.DataFrame(
        {
            "item": pl.Series(["a", "b"], dtype=pl.Categorical),
            "rater": ["r", "r"],
            "label": pl.Series(["x", "y"], dtype=pl.Enum(["x", "y"])),
            "at": [datetime.datetime(2024, 5, 1, 9, 30, tzinfo=datetime.UTC), None],
        }
    )
    assert read_judgments(frame).frame.rows() == [("a", "r", "x", "2024-05-01T09:30:00+00:00"), ("b", "r", "y", None)]
    columns = {"item": ["a", "b"], "system": ["S", "S"], "flagged": [1.0, 0.0], "score": [0.5, math.nan]}
    assert read_decisions(pd.DataFrame(columns)).frame.rows() == [("a", "S", True, 0.5), ("b", "S", False, None)]
    with pytest.raises(BadInput, match="row 2: expected a finite number in column 'score', found nan"):
        read_decisions(pl.DataFrame(columns))
    frame = pd.DataFrame({"item": [1, "a", 2.0, pd.NA], "rater": ["r"] * 4, "label": [True, 1, "x", 2]})
    with pytest.raises(BadInput, match="row 4: expected a value in column 'item'"):
        read_judgments(frame)
    assert read_judgments(frame.head(3)).frame["item"].to_list() == ["1", "a", "2"]
    assert read_judgments(frame.head(3)).frame["label"].to_list() == ["true", "1", "x"]


def test_what_turns_into_a_frame_is_read_and_what_is_none_refused() -> None:
    class Dataset:
        def to_pandas(self) -> pl.DataFrame:
            return pl.DataFrame(COLUMNS)

    assert read_judgments(Dataset()).frame.rows() == ROWS
    with pytest.raises(BadInput, match="cannot be computed"):
        read_judgments(pl.DataFrame(COLUMNS).lazy().select("none"))
    for source in (3, None, object(), {"item": [1]}, [1]):
        with pytest.raises(UsageError, match="expected a path or a pandas, polars or Arrow frame"):
            read_judgments(source)


def test_a_folder_of_parquet_files_is_one_table_and_a_name_with_brackets_no_pattern(tmp_path: Path) -> None:
    folder = tmp_path / "j.parquet"
    folder.mkdir()
    with pytest.raises(BadInput, match="expected parquet files in this folder"):
        read_judgments(folder)
    frame = pl.DataFrame(COLUMNS)
    frame.head(1).write_parquet(folder / "part-0.parquet")
    frame.tail(2).write_parquet(folder / "part-1.parquet")
    assert read_judgments(folder).frame.rows() == ROWS
    pl.DataFrame(COLUMNS).write_parquet(tmp_path / "j[1].parquet")
    assert len(read_judgments(tmp_path / "j[1].parquet")) == 3


def test_values_of_json_become_the_cells_they_mean(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    path.write_text(
        '{"item": 1, "rater": "Ada", "label": 1}\n'
        '{"item": "1", "rater": "Bo", "label": "1"}\n'
        '{"item": 1.0, "rater": 7, "label": true}\n'
        '{"item": 12345678901234567890, "rater": "Bo", "label": 2.5}\n'
    )
    assert read_judgments(path).frame.rows() == [
        ("1", "Ada", "1"),
        ("1", "Bo", "1"),
        ("1", "7", "true"),
        ("12345678901234567890", "Bo", "2.5"),
    ]
    path = tmp_path / "d.jsonl"
    path.write_text(
        '{"item": "a", "system": "S", "flagged": 1}\n\n \n{"score": 2, "item": "b", "system": "S", "flagged": false}'
    )
    frame = read_decisions(path).frame
    assert frame.rows() == [("a", "S", True, None), ("b", "S", False, 2.0)]
    path.write_text(
        '{"item": "a", "rater": "r", "label": "ok", "flags": ["spelling", "context"], "payload": {"x": [1]}}\n'
    )
    frame = read_judgments(path).frame
    assert frame.select("flags", "payload").rows() == [("spelling|context", '{"x": [1]}')]
    row = '{"item": "%s", "system": "S", "flagged": 1, "score": %s}\n'
    path.write_text(row % ("a", "NaN") + row % ("b", "-Infinity"))
    with pytest.raises(BadInput) as caught:
        read_decisions(path)
    assert [problem.line for problem in caught.value.problems] == [1, 2]
    for value in ("[1, 2]", '{"a": 1}'):
        rows_written = (
            f'{{"item": "a", "rater": "{rater}", "label": {label}}}' for rater, label in (("r", 1), ("s", value))
        )
        path.write_text("\n".join(rows_written))
        with pytest.raises(BadInput, match=r"d\.jsonl:2: expected text or a number in column 'label', found"):
            read_judgments(path)


def test_bad_lines_are_named_and_a_column_that_changes_its_type_late_is_one_column() -> None:
    with pytest.raises(BadInput) as caught:
        read_jsonl('{"item": 1}\n[1]\n{"item": \n"x"\n{"item": "\\ud800"}\n', name="t.jsonl")
    assert [problem.line for problem in caught.value.problems] == [2, 3, 4, 5]
    text = '{"a": 1, "b": 1}\n' * 20_000 + '{"a": "x", "b": 1.5, "c": "new"}\n'
    raw = read_jsonl(text, name="t")
    ends = {name: cells.to_list()[-2:] for name, cells in raw.columns.items()}
    assert ends == {"a": [1, "x"], "b": [1.0, 1.5], "c": [None, "new"]}
    assert len(raw.columns["c"]) == 20_000 + 1


def rows(text: str, separator: str = ",") -> list[tuple[object, ...]]:
    raw = read_delimited(text, name="t.csv", separator=separator)
    return list(zip(*(series.to_list() for series in raw.columns.values()), strict=True))


def lines(text: str) -> list[int]:
    raw = read_delimited(text, name="t.csv", separator=",")
    assert raw.lines is not None
    return raw.lines.to_list()


def complaint(text: str, separator: str = ",") -> str:
    with pytest.raises(BadInput) as caught:
        read_delimited(text, name="t.csv", separator=separator)
    return str(caught.value)


@for_each(
    [
        *("a,b\n1,2\n3,\n", "a,b\n1,2\n3,", "a,b\r\n1,2\r\n3,\r\n", "a,b\r1,2\r3,\r", " a , b \n1,2\n3,\n"),
        *("\n\na,b\n\n1,2\n\n\n3,\n\n", 'a,b\n"1",2\n3,""\n', 'a,"b"\r\n1,"2"\r\n3,\r\n'),
    ]
)
def test_one_table_in_many_shapes(text: str) -> None:
    assert rows(text) == [("1", "2"), ("3", None)]


def test_cells_are_kept_as_they_stand() -> None:
    text = 'a,b\n1,"one\ntwo, ""three"""\n2,x\n'
    assert rows(text) == [("1", 'one\ntwo, "three"'), ("2", "x")]
    assert lines(text) == [2, 4]
    for cell in ('5" nail', " x ", "x\u2028y\x85z", "x" * 300_000):
        assert rows(f"a,b\n{cell},1\n") == [(cell, "1")]
        quoted = cell.replace('"', '""')
        assert rows(f'a,b\n"{quoted}",1\n') == [(cell, "1")]
    # Blank lines keep their number.
    assert lines("a,b\n\n1,2\n\n\n3,4\n") == [3, 6]
    assert lines('a,b\n\n1,"2"\n\n\n3,4\n') == [3, 6]


def test_ragged_lines_are_named_but_where_mechanical_turk_leaves_columns_out() -> None:
    expected = (
        "t.csv:3: expected 2 cells as in the header, found 1\nt.csv:4: expected 2 cells as in the header, found 3"
    )
    assert complaint("a,b\n1,2\n3\n4,5,6\n") == expected
    assert complaint('a,b\n1,"2"\n3\n4,5,6\n') == expected
    assert rows('a,Approve,Reject\n1\n"2",,x\n') == [("1", None, None), ("2", None, "x")]
    assert complaint('a,Approve,Reject\n"1",x\n') == "t.csv:2: expected 3 cells as in the header, found 2"
    assert "found 'a' more than once" in complaint("a,b,a\n1,2,3\n")


@pytest.mark.parametrize(
    ("text", "separator"),
    [("a;b\n1;2,5\n", ","), ('"a";"b"\n1;"2,5"\n', ","), ("\na\tb\n1\t2,5\n", ","), ('a,b\n1,"2,5"\n', "\t")],
)
def test_another_separator_is_recognised(text: str, separator: str) -> None:
    assert rows(text, separator) == [("1", "2,5")]


@for_each(
    [
        *("item;label\n;\na,b;ok\n;\n", '"item";"label"\n;\n"a,b";"ok"\n"";""\n'),
        *(f"{line}\r\nitem;label\r\na,b;ok\r\n" for line in ("sep=;", "SEP=;", '"sep=;"')),
    ]
)
def test_rows_of_empty_cells_and_the_line_by_which_excel_names_its_separator_are_no_rows(text: str) -> None:
    assert rows(text) == [("a,b", "ok")]
    assert lines(text) == [3]


def test_a_decimal_comma_is_read_where_semicolons_separate_and_nowhere_else(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_text("item;system;flagged;score\na;S;1;0,5\nb;S;0;-,25\nc;S;0;0.75\nd;S;0;2\n")
    assert read_decisions(path).frame["score"].to_list() == [0.5, -0.25, 0.75, 2]
    path.write_text("item;system;flagged;score\na;S;1;1.200,5\n")
    with pytest.raises(BadInput, match=r"d\.csv:2: expected a number in column 'score', found '1\.200,5'"):
        read_decisions(path)
    path.write_text('item,system,flagged,score\na,S,1,"1,200"\n')
    with pytest.raises(BadInput, match="found '1,200'"):
        read_decisions(path)


def test_empty_files_have_no_header_and_quotes_that_do_not_pair_are_named_by_line() -> None:
    for text in ("", "\n", "\r\n\r\n"):
        assert complaint(text) == "t.csv: expected a line that names the columns, found an empty file"
    for text in ('a,b\n1,"2\n3,4\n', 'a,b\n1,"2"x\n'):
        assert complaint(text).startswith("t.csv:2: expected quotes in pairs")


def test_bytes_that_are_not_utf8_are_named_and_a_byte_order_mark_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"\xef\xbb\xbfa,b\n1,2\n")
    assert rows(read_text(path)) == [("1", "2")]
    path.write_bytes(b"a,b\ncaf\xe9,2\n")
    with pytest.raises(
        BadInput, match=r"t\.csv:2: expected UTF-8, found byte 0xe9 at byte 7; save the file as UTF-8"
    ):
        read_text(path)
    path.write_bytes("a,b\n1,2\n".encode("utf-16"))
    with pytest.raises(BadInput, match="expected UTF-8, found UTF-16"):
        read_text(path)


def as_parquet(columns: dict[str, list[Any]]) -> bytes:
    stream = BytesIO()
    pl.DataFrame(columns).write_parquet(stream)
    return stream.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        b"item,rater,label\n1,a,ok\n",
        b"item\trater\tlabel\n1\ta\tok\n",
        b'\n{"item": 1, "rater": "a", "label": "ok"}\n',
        gzip.compress(b"item,rater,label\n1,a,ok\n"),
        as_parquet({"item": ["1"], "rater": ["a"], "label": ["ok"]}),
    ],
    ids=["csv", "tsv", "jsonl", "packed", "parquet"],
)
def test_standard_input_is_known_by_its_first_characters(content: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(content)))
    for _ in range(2):  # a command may come back to it
        judgments = read_judgments("-")
        assert judgments.name == "standard input"
        assert judgments.frame.select("item", "rater", "label").rows() == [("1", "a", "ok")]


KNOWN_COLUMNS = [
    *("item", "rater", "label", "flagged", "score", "start", "end", "essay", "kind", "system", "stratum"),
    *("probability", "confidence", "flags", "payload", "seconds", "\x00place"),
    *("HITId", "WorkerId", "AssignmentId", "Answer.x"),
    *("_unit_id", "_worker_id", "_tainted", "_created_at", "_golden", "q", "q_gold"),
]
CELLS = ["", " ", "1", "0.5", "nan", "-1", "1e999", "true", "[1, 2]", "{}", "é", "\0", "=1", "'=1", "x|y", "low"]
SIGNS = [*",,,\n\n\r\t;", "\r\n", *"\"'|\ufeff\u2028[]{}:"]
PIECES = [*KNOWN_COLUMNS, *CELLS, *SIGNS]
TEXT = st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=40).map("".join)
PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3)
VALUES = PLAIN | st.lists(st.integers(), max_size=2)
NAMES = st.sampled_from(KNOWN_COLUMNS)


def attempt(source: object) -> None:
    for kind in SCHEMAS:
        with contextlib.suppress(GraterError):
            read_table(kind, source)
    with contextlib.suppress(GraterError):
        read_judgments(source, drop_flags=("f",), min_confidence=0.5, duplicates="last")


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


@examples(60)
@given(content=TEXT.map(lambda text: text.encode("utf-8", "surrogatepass")) | st.binary(max_size=60))
@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".csv.gz"])
def test_no_text_file_breaks_a_reader(folder: Path, suffix: str, content: bytes) -> None:
    path = folder / f"t{suffix}"
    path.write_bytes(content)
    attempt(path)


ROWS_OF_CELLS = st.lists(st.lists(st.sampled_from(CELLS), min_size=8, max_size=8), max_size=3)


@examples(60)
@given(st.lists(NAMES, min_size=2, max_size=8, unique=True), ROWS_OF_CELLS)
def test_no_cells_under_known_names_break_a_reader(folder: Path, header: list[str], rows: list[list[str]]) -> None:
    path = folder / "t.tsv"
    path.write_text("\n".join("\t".join(row[: len(header)]) for row in [header, *rows]))
    attempt(path)


@examples(60)
@given(st.lists(st.dictionaries(NAMES, VALUES, max_size=6), min_size=1, max_size=4))
def test_no_json_breaks_a_reader(folder: Path, rows: list[dict[str, object]]) -> None:
    path = folder / "t.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows))
    attempt(path)


@examples(60)
@given(st.dictionaries(NAMES, st.lists(VALUES, min_size=2, max_size=2), max_size=6))
def test_no_frame_breaks_a_reader(columns: dict[str, list[object]]) -> None:
    attempt(pl.DataFrame({name: pl.Series(values, strict=False) for name, values in columns.items()}))
    attempt(pl.DataFrame({name: pl.Series(values, dtype=pl.Object) for name, values in columns.items()}))


@pytest.mark.parametrize("kind", list(SCHEMAS))
def test_no_damage_to_parquet_breaks_a_reader(folder: Path, kind: Kind) -> None:
    stream = io.BytesIO()
    pl.DataFrame({column.name: ["1", "0"] for column in SCHEMAS[kind].columns}).write_parquet(stream)
    whole = stream.getvalue()
    chance = random.Random(20)
    path = folder / "t.parquet"
    for _ in range(40):
        content = bytearray(whole)
        for _ in range(3):
            content[chance.randrange(len(content))] = chance.randrange(256)
        path.write_bytes(bytes(content[: chance.choice([len(content), len(content), len(content) // 2])]))
        with contextlib.suppress(GraterError):
            read_table(kind, path)
