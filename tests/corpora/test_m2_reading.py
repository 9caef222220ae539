"""M2 blocks become essays: tokens, code-point spans, annotators, and a clear word about every bad line."""

from __future__ import annotations

import pytest

from grater.corpora.m2 import FORMAT, read_m2
from grater.errors import BadInput
from grater.model import Edit, Span, short_hash
from tests.corpora.sources import Tried

M2 = Tried(FORMAT, "essays.m2")
read, problems_of = M2.read, M2.problems_of

NOOP = "A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||{}\n"


def edit_line(start: int, end: int, correction: str, *, tag: str = "Nn", annotator: str = "0") -> str:
    return f"A {start} {end}|||{tag}|||{correction}|||REQUIRED|||-NONE-|||{annotator}\n"


def one_edit(sentence: str, line: str) -> Edit:
    (essay,) = read(f"S {sentence}\n{line}")
    (edit,) = essay.edits
    return edit


def test_a_block_is_an_essay_with_tokens_edits_lines_and_spellings() -> None:
    (first, second) = read(
        f"S My cat sleep .\n{edit_line(2, 3, 'sleeps', tag='SVA')}\nS It dream .\n{NOOP.format(0)}\n"
    )
    assert first.essay_id == short_hash("My cat sleep .")
    assert first.text == "My cat sleep ."
    assert first.tokens == (Span(0, 2), Span(3, 6), Span(7, 12), Span(13, 14))
    assert first.edits == (Edit(Span(7, 12), ("sleeps",), "SVA", "0"),)
    assert (first.line, first.edits[0].line, second.line) == (1, 2, 4)
    assert (first.annotators, second.annotators, second.edits) == (("0",), ("0",), ())
    assert (dict(first.metadata), dict(second.metadata)) == ({}, {})
    assert one_edit("My cat  ", edit_line(2, 2, "sleeps")).span == Span(8, 8)
    edit = one_edit("My cat sleep", "A 1 2|||Nn|||-NONE-|||OPTIONAL||||||0\n")
    assert edit.extra == {"m2_correction": "-NONE-", "m2_required": "OPTIONAL", "m2_comment": ""}
    assert edit.comment == ""


@pytest.mark.parametrize(
    ("start", "end", "span"),
    [(0, 1, Span(0, 2)), (1, 3, Span(3, 12)), (0, 0, Span(0, 0)), (2, 2, Span(7, 7)), (3, 3, Span(12, 12))],
)
def test_a_span_of_tokens_is_a_span_of_code_points(start: int, end: int, span: Span) -> None:
    assert one_edit("My cat sleep", edit_line(start, end, "x")).span == span


@pytest.mark.parametrize("white", ["\t", "\u00a0", "\u3000", "  ", " \u2009", "\x1f", "\x85", "\r"])
def test_tokens_are_cut_at_any_white_space(white: str) -> None:
    edit = one_edit(f"My{white}cat sleep", edit_line(1, 2, "dog"))
    assert edit.span == Span(2 + len(white), 5 + len(white))


@pytest.mark.parametrize("invisible", ["\u200b", "\u2060", "\x00", "\ufeff"])
def test_invisible_characters_that_are_no_white_space_stay_in_their_token(invisible: str) -> None:
    edit = one_edit(f"My{invisible}cat sleep", edit_line(1, 2, "sleeps"))
    assert edit.span == Span(7, 12)


@pytest.mark.parametrize(
    ("correction", "replacements"),
    [
        ("cats", ("cats",)),
        ("", ("",)),
        ("-NONE-", ("",)),
        ("cats||dogs", ("cats", "dogs")),
        ("cats||-NONE-", ("cats", "")),
        ("||cats", ("", "cats")),
        ("a|b", ("a|b",)),
        (" two  words ", (" two  words ",)),
    ],
)
def test_a_correction_may_delete_or_give_alternatives(correction: str, replacements: tuple[str, ...]) -> None:
    assert one_edit("My cat sleep", edit_line(1, 2, correction)).replacements == replacements


@pytest.mark.parametrize("tag", ["UNK", "Um"])
def test_a_correction_that_equals_the_words_of_an_unclear_error_is_none(tag: str) -> None:
    assert one_edit("My cat sleep", edit_line(1, 3, "cat sleep", tag=tag)).replacements == ()
    assert one_edit("My cat sleep", edit_line(1, 3, "", tag=tag)).replacements == ("",)
    assert one_edit("My cat sleep", edit_line(1, 3, "cat sleep", tag="Nn")).replacements == ("cat sleep",)


def test_who_read_a_block() -> None:
    (essay,) = read(
        "S My cat\n" + edit_line(0, 1, "x", annotator="7") + NOOP.format(2) + edit_line(0, 1, "y", annotator="7")
    )
    assert essay.annotators == ("7", "2")
    assert [edit.rater for edit in essay.edits] == ["7", "7"]
    first, second = read("S It rain .\n\nS It snow .\n" + edit_line(1, 2, "snows"))
    assert (first.annotators, first.metadata) == (("0",), {"m2_noop": False})
    assert (second.annotators, second.metadata) == (("0",), {})
    first, second = read("S It rain .\n\nS It snow .\n" + edit_line(1, 2, "snows") + NOOP.format(1))
    assert (first.annotators, first.metadata) == ((), {})
    assert second.annotators == ("0", "1")
    lines = ["S It rain .\n", "\n", "S It snow .\n", edit_line(1, 2, "snows")]
    assert next(read_m2(lines, name="x")).annotators == ()


def test_a_noop_that_is_not_as_usual_is_remembered() -> None:
    (essay,) = read("S My cat\n" + NOOP.format(0) + edit_line(0, 1, "x") + NOOP.format(1))
    usual = "-1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-"
    assert essay.annotators == ("0", "1")
    assert [edit.rater for edit in essay.edits] == ["0"]
    assert essay.metadata == {"m2_noop_lines": [[usual], [usual]]}
    (essay,) = read("S My cat\nA 0 0|||noop|||x|||REQUIRED|||fine|||0\n")
    assert (essay.annotators, essay.edits) == (("0",), ())
    assert essay.metadata == {"m2_noop_lines": [["0 0|||noop|||x|||REQUIRED|||fine"]]}


BLOCKS = f"S My cat sleep\n{edit_line(1, 2, 'dog')}\nS It dream\n{NOOP.format(0)}\nS Yes\n{edit_line(0, 1, 'No')}"


@pytest.mark.parametrize(
    "text",
    [
        BLOCKS + "\n",
        BLOCKS.rstrip("\n"),
        "\n\n" + BLOCKS.replace("\n\n", "\n\n\n\n") + "\n\n\n",
        BLOCKS.replace("\n\n", "\n \t\n"),
        BLOCKS.replace("\n", "\r\n"),
        BLOCKS.replace("\n", "\r\n") + "\r\n\r\n",
    ],
)
def test_blank_lines_and_line_ends_make_no_difference(text: str) -> None:
    assert read(text) == read(BLOCKS)
    assert len(read(text)) == 3


@pytest.mark.parametrize("line", ["S ", "S"])
def test_an_empty_sentence_has_no_tokens(line: str) -> None:
    first, second = read(f"{line}\n{edit_line(0, 0, 'Hello')}\nS Yes\n")
    assert (first.text, first.tokens, second.text) == ("", (), "Yes")
    assert first.edits[0].span == Span(0, 0)


STARTS = "expected a line starting with 'S ' or 'A ', found "
ORPHAN = "expected an 'S ' line before this 'A ' line; remove the blank line or add the sentence"
WITHIN = "expected token numbers from 0 to 2 (the sentence has 2 tokens), found "
FIELDS = "expected 6 fields (start end|||tag|||correction|||REQUIRED|||comment|||annotator), found "
NUMBERS = "expected two token numbers after 'A ', found "


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("X 1 2\n", 1, f"{STARTS}'X 1 2'"),
        ("Strange\n", 1, f"{STARTS}'Strange'"),
        (edit_line(0, 0, "x"), 1, ORPHAN),
        ("S My cat\nS It dream\n", 2, "expected a blank line before the next 'S ' line; put one there"),
        ("S My cat\n" + edit_line(0, 3, "x"), 2, f"{WITHIN}0 3"),
        ("S My cat\n" + edit_line(2, 1, "x"), 2, "expected a start that is not after the end, found 2 1"),
        ("S My cat\n" + edit_line(-1, -1, "x"), 2, f"{WITHIN}-1 -1"),
        ("S My cat\nA 0 1|||Nn|||x|||REQUIRED|||0\n", 2, f"{FIELDS}5"),
        ("S My cat\nA 0 1|||Nn|||x|||y|||REQUIRED|||-NONE-|||0\n", 2, f"{FIELDS}7"),
        ("S My cat\nA 0 one|||Nn|||x|||REQUIRED|||-NONE-|||0\n", 2, f"{NUMBERS}'0 one'"),
        ("S My cat\nA 0|||Nn|||x|||REQUIRED|||-NONE-|||0\n", 2, f"{NUMBERS}'0'"),
        (f"S My cat\nA 0 {'9' * 20}|||Nn|||x|||REQUIRED|||-NONE-|||0\n", 2, f"{NUMBERS}'0 {'9' * 20}'"),
        (
            "S My cat\nA 0 1|||Nn|||x|||REQUIRED|||-NONE-|||",
            2,
            "expected an annotator after the last '|||', found nothing",
        ),
    ],
)
def test_a_bad_line_is_named_with_what_was_expected(text: str, line: int, problem: str) -> None:
    assert problems_of(text) == [f"essays.m2:{line}: {problem}"]


def test_problems_come_together_up_to_twenty_behind_the_essays() -> None:
    text = "S My cat\n" + edit_line(0, 9, "x") + "A bad\n\nwhat?\n\n" + edit_line(0, 1, "x") + edit_line(0, 1, "y")
    assert [problem.split(":")[1] for problem in problems_of(text)] == ["2", "3", "5", "7"]
    few, many = "A 0 1|||Nn|||REQUIRED|||-NONE-|||0\n", "A 0 1|||Nn|||x|||y|||REQUIRED|||-NONE-|||0\n"
    assert [problem.split(":")[1] for problem in problems_of("S My cat\n" + few + many)] == ["2", "3"]
    problems = problems_of("S My cat\n" + 30 * edit_line(0, 9, "x"))
    assert len(problems) == 21
    assert problems[-1] == "essays.m2: stopped after 20 problems; there may be more"
    essays = read_m2(["S My cat\n", "\n", "S It dream\n", "A x\n"], name="x.m2")
    assert next(essays).text == "My cat"
    assert next(essays).text == "It dream"
    with pytest.raises(BadInput, match=r"x\.m2:4"):
        next(essays)
