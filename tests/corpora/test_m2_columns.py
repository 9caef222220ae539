"""The columns of an M2 file are what splitting its lines in plain Python gives."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from grater.corpora.m2.bytes import count_tokens, find, leading_numbers, words_at, words_of
from grater.corpora.m2.columns import (
    MOST_LINES,
    N_LINES,
    Columns,
    scan,
    stretches,
    within_sentences,
)
from grater.errors import BadInput, Problems
from tests.examples import examples

COMMON = "|||REQUIRED|||-NONE-|||"


@dataclass(frozen=True)
class PlainRow:
    sentence: str
    start: int
    end: int
    tag: str
    correction: str
    required: str
    comment: str
    annotator: str


def parsed_plainly(text: str) -> list[PlainRow]:
    """The A lines as m2scorer reads them: split at blank lines, at line ends, at bars."""
    rows = []
    for block in text.split("\n\n"):
        sentence, *lines = block.strip("\n").split("\n")
        for line in lines:
            span, tag, correction, required, comment, annotator = line[2:].split("|||")
            start, end = span.split()
            rows.append(
                PlainRow(sentence[2:], int(start), int(end), tag, correction, required, comment, annotator.strip())
            )
    return rows


def parsed_by_columns(text: str) -> list[PlainRow]:
    columns = scan(text.encode())
    assert columns.problems == []
    return rows_of(columns)


def rows_of(columns: Columns) -> list[PlainRow]:
    def part(bounds: tuple[np.ndarray, np.ndarray], row: int) -> str:
        return columns.data[bounds[0][row] : bounds[1][row]].decode()

    sentences = (columns.sentence_start[columns.sentence], columns.sentence_end[columns.sentence])
    return [
        PlainRow(
            part(sentences, row),
            int(columns.start[row]),
            int(columns.end[row]),
            part(columns.tag, row),
            part(columns.correction, row),
            part(columns.required, row),
            part(columns.comment, row),
            columns.annotators[columns.annotator[row]],
        )
        for row in range(len(columns.line))
    ]


FIELD = st.text(st.characters(exclude_characters="\n\r", exclude_categories=["Cs"]), max_size=12).filter(
    lambda field: "|||" not in field and not field.endswith("|")
)
NUMBER = st.one_of(st.integers(0, 12), st.integers(90, 110), st.integers(990, 1010), st.integers(0, 10**8))
ANNOTATOR = st.one_of(st.integers(0, 12).map(str), st.sampled_from(["007", "100", "99", "12345", "R1", "ü", " 3 "]))
LINE = st.one_of(
    st.builds("A {} {}|||{}|||{}|||REQUIRED|||-NONE-|||{}".format, NUMBER, NUMBER, FIELD, FIELD, ANNOTATOR),
    st.builds("A {} {}|||{}|||{}|||{}|||{}|||{}".format, NUMBER, NUMBER, FIELD, FIELD, FIELD, FIELD, ANNOTATOR),
    st.builds("A  {}  {} |||Nn|||cats||dogs|||REQUIRED|||-NONE-|||{}".format, NUMBER, NUMBER, ANNOTATOR),
    st.builds("A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||{}".format, ANNOTATOR),
)
BLOCK = st.builds(lambda field, lines: "\n".join([f"S {field}", *lines]), FIELD, st.lists(LINE, max_size=4))


@examples(150)
@given(st.lists(BLOCK, min_size=1, max_size=4).map("\n\n".join))
@example("S a\nA 0 1|||Nn||||||REQUIRED|||-NONE-|||0")
@example("S a | b\nA 0 1|||Nn||||||REQUIRED|||-NONE-|||0")
@example("S a\nA 0 1|||Nn|||x|y|||REQUIRED|||-NONE-|||0\n\nS |\nA 0 1|||Nn||||||REQUIRED|||-NONE-|||10")
@example("S a\nA 0 1|||||||||REQUIRED|||-NONE-|||0")
@example("S a\nA 0 1|||a very long tag indeed, of more than a hundred letters" + 60 * "!" + "|||x" + COMMON + "0")
def test_columns_hold_what_plain_splitting_gives(text: str) -> None:
    assert parsed_by_columns(text) == parsed_plainly(text)


@examples(100)
@given(
    st.lists(st.text(st.characters(exclude_characters="\n\r", exclude_categories=["Cs"]), max_size=20), max_size=6)
)
@example([" two  spaces ", "a\tb", "a\u00a0b", "a\u3000b c", "\x00 \x1f \x1c", "", " ", "é ü", "\u200b", "a\u0085b"])
def test_tokens_are_those_of_split(sentences: list[str]) -> None:
    columns = scan("".join(f"S {sentence}\n\n" for sentence in sentences).encode())
    n_tokens = count_tokens(columns.data, columns.sentence_start, columns.sentence_end)
    assert n_tokens.tolist() == [len(sentence.split()) for sentence in sentences]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_every_row_knows_its_line_and_sentence(end: str) -> None:
    lines = [
        "",
        "S One cat",
        "A 0 1|||Nn|||Two|||REQUIRED|||-NONE-|||0",
        "",
        "",
        "S Two dog",
        "A 1 2|||Nn|||dogs" + COMMON + "1",
    ]
    columns = scan(end.join(lines).encode(), first_line=11)
    assert columns.sentence_line.tolist() == [12, 16]
    assert columns.line.tolist() == [13, 17]
    assert columns.sentence.tolist() == [0, 1]
    assert columns.edits_of().tolist() == [0, 1, 2]
    assert [row.sentence for row in rows_of(columns)] == ["One cat", "Two dog"]
    assert columns.annotators == ("0", "1")


def test_a_span_outside_its_sentence_has_no_row() -> None:
    columns = within_sentences(
        scan(b"S One cat\nA 0 3|||Nn|||x" + COMMON.encode() + b"0\nA 0 2|||Nn|||x" + COMMON.encode() + b"0\n")
    )
    assert columns.end.tolist() == [2]
    assert columns.problems == [(2, "expected token numbers from 0 to 2 (the sentence has 2 tokens), found 0 3")]


def test_stretches_are_whole_blocks() -> None:
    block = [b"S a\n", f"A 0 1|||Nn|||b{COMMON}0\n".encode(), b"\n"]
    lines = block * N_LINES
    batches = [lines[start : start + 1000] for start in range(0, len(lines), 1000)]
    pieces = list(stretches(batches, problems=Problems("x")))
    assert len(pieces) > 2
    assert b"".join(piece for _, piece in pieces) == b"".join(lines)
    assert all(piece.startswith(b"S ") and piece.endswith(b"\n\n") for _, piece in pieces)
    assert [number for number, _ in pieces] == [
        1 + sum(piece.count(b"\n") for _, piece in pieces[:n]) for n in range(len(pieces))
    ]


def test_a_file_without_blank_lines_is_given_up_before_it_fills_the_memory() -> None:
    problems = Problems("x")
    endless = ([b"S a\n"] * N_LINES for _ in range(10 * MOST_LINES // N_LINES))
    assert list(stretches(endless, problems=problems)) == []
    assert next(endless, None) is not None
    with pytest.raises(BadInput, match="expected a blank line"):
        problems.done()


@given(st.binary(min_size=8, max_size=40), st.sampled_from("| 0a"))
def test_a_byte_is_found_where_it_first_stands_in_a_word(data: bytes, char: str) -> None:
    codes = np.frombuffer(data, np.uint8)
    at = np.arange(len(data) - 7)
    expected = [data[start : start + 8].find(char.encode()) for start in at]
    assert find(char, words_at(words_of(codes), at)).tolist() == [8 if place < 0 else place for place in expected]


@pytest.mark.parametrize(
    ("text", "number", "width"),
    [
        ("7 ", 7, 1),
        ("42|", 42, 2),
        ("123 ", 123, 3),
        ("07", 0, 1),
        ("x1", 0, 0),
        ("-1", 0, 0),
        ("00", 0, 1),
        ("9:", 9, 1),
    ],
)
def test_a_leading_number_is_read_up_to_three_digits(text: str, number: int, width: int) -> None:
    words = words_of(np.frombuffer(text.encode().ljust(8), np.uint8))
    found, widths = leading_numbers(words)
    assert (int(found[0]), int(widths[0])) == (number, width)
