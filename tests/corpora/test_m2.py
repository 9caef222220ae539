"""M2 blocks become essays and essays become M2, whose tokens and lines are found again."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grater.corpora.formats import EssayIds, Loss
from grater.corpora.m2 import FORMAT, read_m2
from grater.corpora.normalise import cut
from grater.errors import BadInput
from grater.model import Edit, Essay, Span, short_hash
from tests.corpora.sources import Tried

M2 = Tried(FORMAT, "essays.m2")
read, write, problems_of = M2.read, M2.write_and_report, M2.problems_of

NOOP = "A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||"
NOOP_LINE = NOOP + "{}\n"


def edit_line(start: int, end: int, correction: str, *, tag: str = "Nn", annotator: str = "0") -> str:
    return f"A {start} {end}|||{tag}|||{correction}|||REQUIRED|||-NONE-|||{annotator}\n"


def one_edit(sentence: str, line: str) -> Edit:
    (essay,) = read(f"S {sentence}\n{line}")
    (edit,) = essay.edits
    return edit


def test_a_block_is_an_essay_with_tokens_edits_lines_and_spellings() -> None:
    (first, second) = read(
        f"S My cat sleep .\n{edit_line(2, 3, 'sleeps', tag='SVA')}\nS It dream .\n{NOOP_LINE.format(0)}\n"
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


WHITE = ("\t", "\u00a0", "\u3000", "  ", " \u2009", "\x1f", "\x85", "\r")
INVISIBLE = ("\u200b", "\u2060", "\x00", "\ufeff")


@pytest.mark.parametrize(
    ("sentence", "span"),
    [
        *((f"My{white}cat sleep", Span(2 + len(white), 5 + len(white))) for white in WHITE),
        *((f"My{invisible}cat sleep", Span(7, 12)) for invisible in INVISIBLE),
    ],
)
def test_tokens_are_cut_at_any_white_space_and_at_nothing_else_invisible(sentence: str, span: Span) -> None:
    assert one_edit(sentence, edit_line(1, 2, "dog")).span == span


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
        "S My cat\n" + edit_line(0, 1, "x", annotator="7") + NOOP_LINE.format(2) + edit_line(0, 1, "y", annotator="7")
    )
    assert essay.annotators == ("7", "2")
    assert [edit.rater for edit in essay.edits] == ["7", "7"]
    rain, snow = "S It rain .\n", "S It snow .\n" + edit_line(1, 2, "snows")
    first, second = read(f"{rain}\n{snow}")
    assert (first.annotators, first.metadata) == (("0",), {"m2_noop": False})
    assert (second.annotators, second.metadata) == (("0",), {})
    first, second = read(f"{rain}\n{snow}{NOOP_LINE.format(1)}")
    assert (first.annotators, first.metadata, second.annotators) == ((), {}, ("0", "1"))
    assert next(read_m2(f"{rain}\n{snow}".splitlines(keepends=True), name="x")).annotators == ()


def test_a_noop_that_is_not_as_usual_is_remembered() -> None:
    usual = "-1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-"
    for lines, annotators, kept in (
        (NOOP_LINE.format(0) + edit_line(0, 1, "x") + NOOP_LINE.format(1), ("0", "1"), [[usual], [usual]]),
        ("A 0 0|||noop|||x|||REQUIRED|||fine|||0\n", ("0",), [["0 0|||noop|||x|||REQUIRED|||fine"]]),
    ):
        (essay,) = read("S My cat\n" + lines)
        assert (essay.annotators, essay.metadata) == (annotators, {"m2_noop_lines": kept})
        assert [edit.replacements for edit in essay.edits] == [("x",)][: len(kept) - 1]


BLOCKS = (
    f"S My cat sleep\n{edit_line(1, 2, 'dog')}\nS It dream\n{NOOP_LINE.format(0)}\nS Yes\n{edit_line(0, 1, 'No')}"
)


def test_blank_lines_and_line_ends_make_no_difference() -> None:
    crlf = BLOCKS.replace("\n", "\r\n")
    many = "\n\n" + BLOCKS.replace("\n\n", "\n\n\n\n") + "\n\n\n"
    assert len(read(BLOCKS)) == 3
    for text in (
        BLOCKS + "\n",
        BLOCKS.rstrip("\n"),
        many,
        BLOCKS.replace("\n\n", "\n \t\n"),
        crlf,
        crlf + "\r\n\r\n",
    ):
        assert read(text) == read(BLOCKS), text


def test_an_empty_sentence_has_no_tokens() -> None:
    for line in ("S ", "S"):
        first, second = read(f"{line}\n{edit_line(0, 0, 'Hello')}\nS Yes\n")
        assert (first.text, first.tokens, second.text) == ("", (), "Yes")
        assert first.edits[0].span == Span(0, 0)


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


@pytest.mark.parametrize(
    "text",
    [
        f"S My cat sleep .\nA 2 3|||SVA|||sleeps|||REQUIRED|||-NONE-|||0\n\nS It dream .\n{NOOP}0\n\n",
        "S My cat sleep .\nA 2 3|||SVA|||sleeps|||REQUIRED|||-NONE-|||0\n\nS It dream .\n\n",
        f"S It rain .\n\nS It snow .\nA 1 2|||SVA||||||REQUIRED|||-NONE-|||0\n{NOOP}1\n\n",
        f"S It snow .\n{NOOP}0\nA 1 2|||SVA|||-NONE-|||OPTIONAL||||||1\n"
        "A 1 2|||SVA|||a||-NONE-|||REQUIRED|||?|||1\n\n",
        f"S It snow .\n{NOOP}0\nA 1 2|||SVA|||snows|||REQUIRED|||-NONE-|||0\nA 0 0|||noop||||||REQUIRED|||hm|||1\n\n",
        "S It snow .\nA 1 2|||X|||a|||REQUIRED|||-NONE-|||0\nA 1 2|||X|||b|||REQUIRED|||-NONE-|||1\n"
        "A 1 2|||X|||c|||REQUIRED|||-NONE-|||0\n\n",
        "S It snow .\nA 1 2|||UNK|||snow|||REQUIRED|||-NONE-|||0\nA 1 1|||Um||||||REQUIRED|||-NONE-|||0\n\n",
        "S  It\u00a0 snow .\t\nA 0 2|||||||||REQUIRED|||-NONE-|||3\n\nS \n\n",
        "S a|b ||| c\nA 0 1|||a|b||||x|||REQUIRED|||-NONE-|||0\n\n",
        "",
    ],
)
def test_what_was_read_is_written_byte_for_byte(text: str) -> None:
    assert write(*read(text)) == (text, [])


def test_a_spelling_as_read_is_not_written_once_the_edit_has_changed() -> None:
    (essay,) = read("S My cat\nA 1 2|||Nn|||-NONE-|||REQUIRED|||-NONE-|||0\n")
    changed = replace(essay, edits=(replace(essay.edits[0], replacements=("dog",)),))
    assert "A 1 2|||Nn|||dog|||REQUIRED" in write(changed)[0]


TEXT = "My cat doesn't sleeps well. It  dream of fishs!"


@pytest.mark.parametrize(
    ("words", "replacement", "line"),
    [
        ("sleeps", "sleep", "A 4 5|||X|||sleep"),
        ("doesn't sleeps", "sleep", "A 2 5|||X|||sleep"),
        ("doesn't sleeps", "doesn't sleep", "A 4 5|||X|||sleep"),
        (" well", "", "A 5 6|||X|||"),
        ("cat ", "dog ", "A 1 2|||X|||dog"),
        ("well.", "soundly.", "A 5 6|||X|||soundly"),
        ("n't", "n't ever", "A 4 4|||X|||ever"),
        ("|well.", "not", "A 5 5|||X|||not"),
        ("|dream", "not", "A 1 1|||X|||not"),
        ("| It", "Yes", "A 7 7|||X|||Yes"),  # between two sentences: of the first
        ("s!", "!", "A 3 4|||X|||fish"),
    ],
)
def test_an_edit_of_raw_text_is_placed_on_the_tokens_it_changes(words: str, replacement: str, line: str) -> None:
    start = TEXT.index(words.removeprefix("|"))
    span = Span(start, start if words.startswith("|") else start + len(words))
    text, _ = write(Essay("doc 1", TEXT, (Edit(span, (replacement,), "X", "0"),), ("0",)))
    assert f"{line}|||REQUIRED|||-NONE-|||0" in text.splitlines()


def test_a_block_knows_its_document_and_the_edit_that_it_was_made_of() -> None:
    edit, losses = Edit(Span(30, 34), (), "Um", "0"), list[Loss]()
    first, second = cut(Essay("doc 1", TEXT, (edit,), ("0", "1")), EssayIds(), losses.append)
    assert (first.essay.text, second.essay.text) == ("My cat does n't sleeps well .", "It dream of fishs !")
    assert second.essay.metadata == {"document": "doc 1", "document_start": TEXT.index("It")}
    assert second.essay.annotators == ("0", "1")
    [kept] = second.essay.edits
    assert (kept.span.of(second.essay.text), kept.replacements, second.originals) == ("dream", (), (edit,))
    assert [loss.changed for loss in losses] == [True]
