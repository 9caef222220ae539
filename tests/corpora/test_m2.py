"""M2 blocks become essays and essays become M2: every bad line and everything that M2 cannot hold is named."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest

from grater.corpora.formats import EssayIds, Loss
from grater.corpora.m2 import FORMAT, read_m2
from grater.corpora.normalise import cut
from grater.errors import BadInput
from grater.model import Edit, Essay, Json, Span, short_hash
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
        "S My cat\n" + edit_line(0, 1, "x", annotator="7") + NOOP_LINE.format(2) + edit_line(0, 1, "y", annotator="7")
    )
    assert essay.annotators == ("7", "2")
    assert [edit.rater for edit in essay.edits] == ["7", "7"]
    first, second = read("S It rain .\n\nS It snow .\n" + edit_line(1, 2, "snows"))
    assert (first.annotators, first.metadata) == (("0",), {"m2_noop": False})
    assert (second.annotators, second.metadata) == (("0",), {})
    first, second = read("S It rain .\n\nS It snow .\n" + edit_line(1, 2, "snows") + NOOP_LINE.format(1))
    assert (first.annotators, first.metadata) == ((), {})
    assert second.annotators == ("0", "1")
    lines = ["S It rain .\n", "\n", "S It snow .\n", edit_line(1, 2, "snows")]
    assert next(read_m2(lines, name="x")).annotators == ()


def test_a_noop_that_is_not_as_usual_is_remembered() -> None:
    (essay,) = read("S My cat\n" + NOOP_LINE.format(0) + edit_line(0, 1, "x") + NOOP_LINE.format(1))
    usual = "-1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-"
    assert essay.annotators == ("0", "1")
    assert [edit.rater for edit in essay.edits] == ["0"]
    assert essay.metadata == {"m2_noop_lines": [[usual], [usual]]}
    (essay,) = read("S My cat\nA 0 0|||noop|||x|||REQUIRED|||fine|||0\n")
    assert (essay.annotators, essay.edits) == (("0",), ())
    assert essay.metadata == {"m2_noop_lines": [["0 0|||noop|||x|||REQUIRED|||fine"]]}


BLOCKS = (
    f"S My cat sleep\n{edit_line(1, 2, 'dog')}\nS It dream\n{NOOP_LINE.format(0)}\nS Yes\n{edit_line(0, 1, 'No')}"
)


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


def tokenised(text: str, *edits: Edit, annotators: Iterable[str] = ("0",), **metadata: Json) -> Essay:
    (essay,) = read(f"S {text}\n")
    return replace(essay, edits=edits, annotators=tuple(annotators), metadata=metadata)


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


def test_annotators_keep_their_order_and_those_who_marked_nothing_get_a_noop() -> None:
    edit = Edit(Span(0, 2), ("A",), "Det", "1")
    assert write(tokenised("My cat", edit, annotators=("0", "1", "2")))[0] == (
        f"S My cat\n{NOOP}0\nA 0 1|||Det|||A|||REQUIRED|||-NONE-|||1\n{NOOP}2\n\n"
    )
    edits = [Edit(Span(0, 2), (word,), "Det", rater) for word, rater in [("A", "1"), ("The", "0"), ("One", "1")]]
    text, losses = write(tokenised("My cat", *edits, annotators=("0", "1")))
    assert [line.split("|||")[2] for line in text.splitlines()[1:4]] == ["The", "A", "One"]
    assert read(text)[0].annotators == ("0", "1")
    assert losses == []


def test_annotators_who_are_no_numbers_are_numbered_in_order_and_reported_once() -> None:
    first, second = (
        tokenised(text, *(Edit(Span(0, 2), ("x",), "T", rater) for rater in raters), annotators=raters)
        for text, *raters in (("My cat", "Ann", "7", "01"), ("My dog", "0", "Ann"))
    )
    text, losses = write(first, second)
    assert [line[-1] for line in text.splitlines() if line.startswith("A")] == list("07120")
    assert losses == [
        f"essay {essay.essay_id}: annotator {name!r} changed: M2 numbers its annotators; this one is {number}"
        for number, (essay, name) in enumerate([(first, "Ann"), (first, "01"), (second, "0")])
    ]


def test_what_an_essay_has_and_m2_has_not_is_reported() -> None:
    essay = replace(tokenised("My cat", title="On cats", language="Welsh"), essay_id="doc 1")
    assert write(essay)[1] == [
        "essay doc 1: metadata title, language left out: M2 has no place for it",
        "essay doc 1: essay id left out: M2 has no ids; readers make one from the text",
    ]
    essay = tokenised("My cat", Edit(Span(0, 2), ("A",), "Det", "1"), annotators=("0",))
    assert write(essay)[1] == [
        f"essay {essay.essay_id}: annotators without '1' changed: "
        "M2 takes everyone with an A line to have read it all"
    ]
    assert write(Essay("doc 1", " \n")) == (
        "",
        [
            "essay doc 1: essay id left out: M2 has no ids; readers make one from each sentence",
            "essay doc 1: text left out: it has no words, and M2 stores sentences",
        ],
    )


def nn(start: int, end: int, *replacements: str, tag: str = "Nn", comment: str = "", **extra: Json) -> Edit:
    return Edit(Span(start, end), replacements, tag, "0", comment, extra)


OTHERWISE = "left out: an A line with it would be read as something else"


@pytest.mark.parametrize(
    ("edit", "written", "loss"),
    [
        (nn(3, 6, "big\ndog"), "Nn|||big dog", "edit 3-6 Nn changed: it contains a line end, which became a space"),
        (
            nn(4, 6, "ow"),
            "Nn|||cow",
            "edit 4-6 Nn changed: it begins or ends inside a token, and was widened to whole tokens",
        ),
        (
            nn(3, 6),
            "UNK|||cat",
            "edit 3-6 Nn changed: M2 can write 'found but not corrected' only with the tag UNK; the tag 'Nn' is lost",
        ),
        (nn(3, 6, "dog", comment="a ||| b"), "Nn|||dog", f"comment of edit 3-6 Nn {OTHERWISE}"),
        (nn(3, 6, "dog", comment="-NONE-"), "Nn|||dog", f"comment of edit 3-6 Nn {OTHERWISE}"),
        (nn(3, 6, "dog", weight=3, by="x"), "Nn|||dog", "by, weight of edit 3-6 Nn left out: M2 has no place for it"),
        *(
            (nn(3, 6, *replacements, tag=tag), "", f"edit 3-6 {tag} {OTHERWISE}")
            for replacements, tag in [
                (("a ||| b",), "Nn"),
                (("a || b",), "Nn"),
                (("dog|",), "Nn"),
                (("-NONE-",), "Nn"),
                (("dog", "a||b"), "Nn"),
                (("cat",), "UNK"),
                (("dog",), "noop"),
                (("dog",), "N|||n"),
            ]
        ),
        (nn(2, 3, " "), "", "edit 2-3 Nn left out: it changes no token, only white space"),
    ],
)
def test_what_a_line_cannot_hold_is_reported(edit: Edit, written: str, loss: str) -> None:
    essay = tokenised("My cat sleep", edit)
    line = f"A 1 2|||{written}|||REQUIRED|||-NONE-|||0" if written else f"{NOOP}0"
    assert write(essay) == (f"S My cat sleep\n{line}\n\n", [f"essay {essay.essay_id}: {loss}"])


def test_a_spelling_as_read_is_not_written_once_the_edit_has_changed() -> None:
    (essay,) = read("S My cat\nA 1 2|||Nn|||-NONE-|||REQUIRED|||-NONE-|||0\n")
    changed = replace(essay, edits=(replace(essay.edits[0], replacements=("dog",)),))
    assert "A 1 2|||Nn|||dog|||REQUIRED" in write(changed)[0]


def test_essays_that_would_get_other_readers_are_reported() -> None:
    unread, other = tokenised("My cat", annotators=()), tokenised("My cow", annotators=())
    read_by_one = tokenised("My dog", annotators=("0",))
    what = "annotators (none) of 2 essays without A lines, this one first"
    assert write(unread, read_by_one, other)[1] == [
        f"essay {unread.essay_id}: {what} changed: read again they have 0"
    ]
    assert write(unread, tokenised("My dog", annotators=("0", "1")))[1] == []
    silent = tokenised("My cat", m2_noop=False)
    what = "annotators 0 of 1 essays without A lines, this one first"
    assert write(silent) == ("S My cat\n\n", [f"essay {silent.essay_id}: {what} changed: read again they have none"])


@pytest.mark.parametrize("text", ["My cat\r", "My\ncat"])
def test_a_text_that_is_not_one_line_is_joined_anew(text: str) -> None:
    essay = Essay(short_hash(text), text, tokens=(Span(0, 2), Span(3, 6)))
    written, losses = write(essay)
    assert written == "S My cat\n\n"
    assert f"essay {essay.essay_id}: text changed: it was tokenised and split into sentences" in losses


def test_an_essay_without_tokens_is_cut_into_sentences() -> None:
    text = "My cat doesn't sleeps. It dream\nof a fishs!"
    edits = (
        Edit(Span(15, 21), ("sleep",), "SVA", "Ann", "seen twice"),
        Edit(Span(26, 31), ("dreams",), "SVA", "Ann"),
        Edit(Span(19, 24), ("",), "Um", "Ann"),
    )
    essay = Essay("doc 1", text, edits, ("Ann", "Bob"), metadata={"title": "Cats"})
    written, losses = write(essay)
    assert written == (
        "S My cat does n't sleeps .\nA 4 5|||SVA|||sleep|||REQUIRED|||seen twice|||0\n"
        f"{NOOP}1\n\n"
        "S It dream\nA 1 2|||SVA|||dreams|||REQUIRED|||-NONE-|||0\n"
        f"{NOOP}1\n\n"
        f"S of a fishs !\n{NOOP}0\n{NOOP}1\n\n"
    )
    assert losses == [
        "essay doc 1: metadata title left out: M2 has no place for it",
        "essay doc 1: edit 19-24 Um left out: it crosses sentences",
        "essay doc 1: essay id left out: M2 has no ids; readers make one from each sentence",
        "essay doc 1: text changed: it was tokenised and split into sentences",
        "essay doc 1: annotator 'Ann' changed: M2 numbers its annotators; this one is 0",
        "essay doc 1: annotator 'Bob' changed: M2 numbers its annotators; this one is 1",
    ]


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
