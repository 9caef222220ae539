"""Comma- and tab-separated text, in all the shapes that spreadsheets and old tools give it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grater.errors import BadInput
from grater.tables.delimited import read_delimited
from grater.tables.files import read_text


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


@pytest.mark.parametrize(
    "text",
    [
        "a,b\n1,2\n3,\n",
        "a,b\n1,2\n3,",
        "a,b\r\n1,2\r\n3,\r\n",
        "a,b\r1,2\r3,\r",
        "\n\na,b\n\n1,2\n\n\n3,\n\n",
        'a,b\n"1",2\n3,""\n',
        'a,"b"\r\n1,"2"\r\n3,\r\n',
        " a , b \n1,2\n3,\n",
    ],
)
def test_one_table_in_many_shapes(text: str) -> None:
    assert rows(text) == [("1", "2"), ("3", None)]


def test_blank_lines_keep_their_number() -> None:
    assert lines("a,b\n\n1,2\n\n\n3,4\n") == [3, 6]
    assert lines('a,b\n\n1,"2"\n\n\n3,4\n') == [3, 6]


def test_a_quoted_cell_holds_line_ends_quotes_and_separators() -> None:
    text = 'a,b\n1,"one\ntwo, ""three"""\n2,x\n'
    assert rows(text) == [("1", 'one\ntwo, "three"'), ("2", "x")]
    assert lines(text) == [2, 4]


def test_a_quote_inside_a_bare_cell_is_a_character() -> None:
    assert rows('a,b\n5" nail,x\n') == [('5" nail', "x")]


def test_spaces_in_cells_are_kept() -> None:
    assert rows("a,b\n x ,y\n") == [(" x ", "y")]


def test_line_separators_of_unicode_end_no_line() -> None:
    assert rows("a,b\nx\u2028y\x85z,1\n") == [("x\u2028y\x85z", "1")]
    assert rows('a,b\n"x\u2028y\x85z",1\n') == [("x\u2028y\x85z", "1")]


def test_ragged_lines_are_named() -> None:
    expected = (
        "t.csv:3: expected 2 cells as in the header, found 1\nt.csv:4: expected 2 cells as in the header, found 3"
    )
    assert complaint("a,b\n1,2\n3\n4,5,6\n") == expected
    assert complaint('a,b\n1,"2"\n3\n4,5,6\n') == expected


def test_mechanical_turk_leaves_its_last_two_columns_out() -> None:
    assert rows('a,Approve,Reject\n1\n"2",,x\n') == [("1", None, None), ("2", None, "x")]
    assert complaint('a,Approve,Reject\n"1",x\n') == "t.csv:2: expected 3 cells as in the header, found 2"


@pytest.mark.parametrize(
    ("text", "separator", "words"),
    [
        ("a;b\n1;2\n", ",", "expected cells separated by commas, found semicolons; save it with commas"),
        ("a\tb\n1\t2\n", ",", "expected cells separated by commas, found tabs; name it .tsv"),
        ("a,b\n1,2\n", "\t", "expected cells separated by tabs, found commas; name it .csv"),
    ],
)
def test_another_separator_is_recognised(text: str, separator: str, words: str) -> None:
    assert complaint(text, separator).startswith(f"t.csv:1: {words}")


@pytest.mark.parametrize("text", ["", "\n", "\r\n\r\n"])
def test_an_empty_file_has_no_header(text: str) -> None:
    assert complaint(text) == "t.csv: expected a line that names the columns, found an empty file"


@pytest.mark.parametrize("text", ['a,b\n1,"2\n3,4\n', 'a,b\n1,"2"x\n'])
def test_quotes_that_do_not_pair_are_named_by_line(text: str) -> None:
    assert complaint(text).startswith("t.csv:2: expected quotes in pairs")


def test_a_column_stands_once_in_the_header() -> None:
    assert "found 'a' more than once" in complaint("a,b,a\n1,2,3\n")


def test_a_very_long_cell_is_a_cell() -> None:
    cell = "x" * 300_000
    assert rows(f'a,b\n"{cell}",1\n') == [(cell, "1")]


def test_a_byte_order_mark_is_no_part_of_the_first_name(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"\xef\xbb\xbfa,b\n1,2\n")
    assert rows(read_text(path)) == [("1", "2")]


def test_a_byte_that_is_not_utf8_is_named_by_line_and_position(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b\ncaf\xe9,2\n")
    with pytest.raises(
        BadInput, match=r"t\.csv:2: expected UTF-8, found byte 0xe9 at byte 7; save the file as UTF-8"
    ):
        read_text(path)


def test_the_position_counts_the_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"\xef\xbb\xbfa\xff")
    with pytest.raises(BadInput, match="byte 0xff at byte 4"):
        read_text(path)


def test_utf16_is_called_by_its_name(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes("a,b\n1,2\n".encode("utf-16"))
    with pytest.raises(BadInput, match="expected UTF-8, found UTF-16"):
        read_text(path)


BARE = st.text(st.characters(exclude_characters='"\r\n,', exclude_categories=["Cs"]), min_size=1, max_size=6)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(BARE, BARE), min_size=1, max_size=5))
def test_quotes_change_nothing_where_none_are_needed(cells: list[tuple[str, str]]) -> None:
    bare = "a,b\n" + "".join(f"{one},{two}\n" for one, two in cells)
    quoted = "a,b\n" + "".join(f'"{one}",{two}\n' for one, two in cells)
    assert rows(bare) == rows(quoted)
    assert lines(bare) == lines(quoted)
