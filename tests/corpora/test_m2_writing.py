"""Essays become M2 again, byte for byte where M2 can hold them, and the report names what it cannot."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest

from grater.corpora.m2 import FORMAT
from grater.model import Edit, Essay, Json, Span, short_hash
from tests.corpora.sources import Tried

M2 = Tried(FORMAT)
read, write = M2.read, M2.write_and_report

NOOP = "A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||"


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
    def essay(text: str, *raters: str) -> Essay:
        return tokenised(text, *(Edit(Span(0, 2), ("x",), "T", rater) for rater in raters), annotators=raters)

    first, second = essay("My cat", "Ann", "7", "01"), essay("My dog", "0", "Ann")
    text, losses = write(first, second)
    assert [line.rpartition("|||")[2] for line in text.splitlines() if line.startswith("A")] == [
        "0",
        "7",
        "1",
        "2",
        "0",
    ]
    assert losses == [
        f"essay {first.essay_id}: annotator 'Ann' changed: M2 numbers its annotators; this one is 0",
        f"essay {first.essay_id}: annotator '01' changed: M2 numbers its annotators; this one is 1",
        f"essay {second.essay_id}: annotator '0' changed: M2 numbers its annotators; this one is 2",
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


@pytest.mark.parametrize(
    ("edit", "line", "loss"),
    [
        (
            Edit(Span(3, 6), ("big\ndog",), "Nn", "0"),
            "A 1 2|||Nn|||big dog|||REQUIRED|||-NONE-|||0",
            "edit 3-6 Nn changed: it contains a line end, which became a space",
        ),
        (
            Edit(Span(4, 6), ("ow",), "Nn", "0"),
            "A 1 2|||Nn|||cow|||REQUIRED|||-NONE-|||0",
            "edit 4-6 Nn changed: it begins or ends inside a token, and was widened to whole tokens",
        ),
        (
            Edit(Span(3, 6), (), "Nn", "0"),
            "A 1 2|||UNK|||cat|||REQUIRED|||-NONE-|||0",
            "edit 3-6 Nn changed: M2 can write 'found but not corrected' only with the tag UNK; the tag 'Nn' is lost",
        ),
        (
            Edit(Span(3, 6), ("dog",), "Nn", "0", "a ||| b"),
            "A 1 2|||Nn|||dog|||REQUIRED|||-NONE-|||0",
            "comment of edit 3-6 Nn left out: an A line with it would be read as something else",
        ),
        (
            Edit(Span(3, 6), ("dog",), "Nn", "0", "-NONE-"),
            "A 1 2|||Nn|||dog|||REQUIRED|||-NONE-|||0",
            "comment of edit 3-6 Nn left out: an A line with it would be read as something else",
        ),
        (
            Edit(Span(3, 6), ("dog",), "Nn", "0", extra={"weight": 3, "by": "x"}),
            "A 1 2|||Nn|||dog|||REQUIRED|||-NONE-|||0",
            "by, weight of edit 3-6 Nn left out: M2 has no place for it",
        ),
        *(
            (
                Edit(Span(3, 6), replacements, tag, "0"),
                NOOP + "0",
                f"edit 3-6 {tag} left out: an A line with it would be read as something else",
            )
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
        (
            Edit(Span(2, 3), (" ",), "Nn", "0"),
            NOOP + "0",
            "edit 2-3 Nn left out: it changes no token, only white space",
        ),
    ],
)
def test_what_a_line_cannot_hold_is_reported(edit: Edit, line: str, loss: str) -> None:
    essay = tokenised("My cat sleep", edit)
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
