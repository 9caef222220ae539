"""Our own JSONL: nothing is lost, and nothing wrong gets in."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest

from grater.corpora.formats import Loss
from grater.corpora.jsonl import FORMAT, read_jsonl, write_jsonl
from grater.errors import GraterError
from grater.model import Edit, Essay, Json, Span
from tests.corpora.sources import Tried

JSONL = Tried(FORMAT)
read, problems_of = JSONL.read, JSONL.problems_of

HEAD = '{"format":"grater-corpus","version":1}\n'
GOOD = '{"id":"a","text":"He go home."}'


def write(*essays: Essay) -> str:
    losses: list[Loss] = []
    text = "".join(write_jsonl(essays, losses.append))
    assert losses == []
    return text


def edit_with(**fields: Json) -> str:
    """A file of one essay with one edit, a field of the edit replaced."""
    edit: dict[str, Json] = {"start": 3, "end": 5, "replacements": ["goes"], "tag": "SVA", "rater": "R1"}
    return HEAD + json.dumps({"id": "a", "text": "He go home.", "edits": [edit | fields]})


def test_the_file_is_a_header_and_an_essay_a_line_with_only_the_fields_that_are_set() -> None:
    edit = Edit(Span(3, 5), ("goes",), "SVA", "R1")
    text = write(Essay("a", "He go home.", (edit,), ("R1",), (Span(0, 2), Span(3, 5))), Essay("b", "Fine."))
    assert text == (
        '{"format":"grater-corpus","version":1}\n'
        '{"id":"a","text":"He go home.","annotators":["R1"],'
        '"edits":[{"start":3,"end":5,"replacements":["goes"],"tag":"SVA","rater":"R1"}],"tokens":[[0,2],[3,5]]}\n'
        '{"id":"b","text":"Fine."}\n'
    )


def test_essays_come_back_with_their_lines_and_characters() -> None:
    edits = (
        Edit(
            Span(3, 5), ("goes", "went"), "SVA", "R1", "either will do", {"sure": [1, 0.5, None, True, {"é": "😀"}]}
        ),
        Edit(Span(3, 5), ("",), "Rloc", "R2"),
        Edit(Span(11, 11), (), "Um", ""),
    )
    essay = Essay("a", "He go home.", edits, ("R2", "R1"), (), {"language": "Thai", "age": 19})
    assert read(write(essay)) == [essay]
    (essay,) = read(f"{HEAD}\n" + edit_with().removeprefix(HEAD))
    assert (essay.line, essay.edits[0].line) == (3, 3)
    text = write(Essay("a", "naïve\u2028\x85\x0b\x0c\x1e 😀\r\n\tend"))
    assert text.count("\n") == 2
    assert "naïve\u2028\x85" in text
    assert read(text)[0].text == "naïve\u2028\x85\x0b\x0c\x1e 😀\r\n\tend"
    (essay,) = read(HEAD + '{"id":"a","text":"\\ud83d\\ude00!"}')
    assert essay.text == "😀!"
    assert read(HEAD) == []
    assert write() == HEAD
    essays = read_jsonl(iter([HEAD, GOOD, "{"]), name="test")
    assert next(essays).essay_id == "a"


@pytest.mark.parametrize(
    "text", [HEAD + GOOD, f"\ufeff{HEAD}{GOOD}\n", f"\n \n{HEAD}\n\t\n{GOOD}\n\n\n", f"{HEAD}{GOOD}\r\n"]
)
def test_bom_blank_lines_crlf_and_a_missing_final_newline_do_no_harm(text: str) -> None:
    assert read(text) == [Essay("a", "He go home.")]


NO_HEADERS = [
    "",
    "\n",
    GOOD,
    "[]",
    "S He go home .\n",
    '{"format":"other","version":1}',
    '{"format":"grater-corpus","version":true}',
    '{"format":"grater-corpus","version":1,"x":2}',
]


@pytest.mark.parametrize("text", NO_HEADERS)
def test_a_file_without_our_header_is_refused_with_the_header_it_lacks(text: str) -> None:
    (problem,) = problems_of(text)
    assert 'expected the header {"format":"grater-corpus","version":1}, found' in problem


def test_a_newer_version_is_refused_with_what_to_do() -> None:
    (problem,) = problems_of(f'{{"format":"grater-corpus","version":2}}\n{GOOD}')
    assert problem == "test:1: expected version 1 of the format, found 2; read it with a newer grater"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "expected JSON, found an error at character 3"),
        (GOOD[:-4], "expected JSON, found an error"),
        ("[1]", "expected an essay to be an object, found [1]"),
        ('{"id":"a"}', 'expected text in an essay, found ["id"]'),
        ('{"id":1,"text":""}', "expected id to be a string, found 1"),
        ('{"id":"a","text":null}', "expected text to be a string, found null"),
        ('{"id":"a","text":"","txet":""}', 'edits, tokens, metadata in an essay, found ["txet"]'),
        ('{"id":"a","text":"","text":"x"}', "expected each key once, found 'text' again"),
        ('{"id":"a","text":"","metadata":{"k":1,"k":1}}', "expected each key once, found 'k' again"),
        ('{"id":"a","text":"","metadata":[]}', "expected metadata to be an object, found []"),
        ('{"id":"a","text":"","metadata":{"x":NaN}}', "expected a finite number, found NaN"),
        ('{"id":"a","text":"","metadata":{"x":-Infinity}}', "expected a finite number, found -Infinity"),
        ('{"id":"a","text":"","metadata":{"x":1e999}}', 'expected a finite number, found 1e999'),
        ('{"id":"a","text":"","annotators":"R1"}', 'expected annotators to be a list, found "R1"'),
        ('{"id":"a","text":"","annotators":["R1",2]}', "expected annotators[1] to be a string, found 2"),
        ('{"id":"a","text":"","annotators":["R1","R1"]}', 'expected each annotator once, found ["R1", "R1"]'),
        ('{"id":"a","text":"abc","tokens":[[0,4]]}', "expected tokens[0] inside the text (0 to 3), found 0 to 4"),
        ('{"id":"a","text":"abc","tokens":[[0,2],[1,3]]}', "tokens in the order of the text, found tokens[1]"),
        ('{"id":"a","text":"abc","tokens":[[0]]}', "two whole numbers, start and end, found [0]"),
        ('{"id":"a","text":"abc","tokens":null}', "expected tokens to be a list, found null"),
        ('{"id":"a","text":"\\ud83d"}', "expected text, found half a surrogate pair"),
        ('{"id":"a","text":"\ud83d"}', "expected text, found half a surrogate pair"),
        ('{"id":"a","text":"","metadata":{"\\uDE00":1}}', "expected text, found half a surrogate pair"),
        ('{"id":"a","text":"","metadata":{"x":' + "9" * 5000 + "}}", "expected JSON of a reasonable size"),
        ('{"id":"a","text":"","metadata":' + '{"x":' * 100_000, "expected JSON of a reasonable size"),
    ],
)  # fmt: skip
def test_a_bad_line_is_named_with_what_was_expected(line: str, message: str) -> None:
    (problem,) = problems_of(f'{HEAD}{line}\n{{"id":"b","text":""}}\n')
    assert problem.startswith("test:2: ")
    assert message in problem


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"start": True}, "expected edits[0] to have two whole numbers, start and end, found [true, 5]"),
        ({"end": 5.0}, "expected edits[0] to have two whole numbers, start and end, found [3, 5.0]"),
        ({"start": "3"}, "expected edits[0] to have two whole numbers"),
        ({"start": -1}, "expected edits[0] inside the text (0 to 11), found -1 to 5"),
        ({"end": 12}, "expected edits[0] inside the text (0 to 11), found 3 to 12"),
        ({"start": 6}, "expected edits[0] inside the text (0 to 11), found 6 to 5"),
        ({"replacements": None}, "expected edits[0].replacements to be a list, found null"),
        ({"replacements": "goes"}, 'expected edits[0].replacements to be a list, found "goes"'),
        ({"replacements": [1]}, "expected edits[0].replacements[0] to be a string, found 1"),
        ({"tag": 1}, "expected edits[0].tag to be a string, found 1"),
        ({"rater": None}, "expected edits[0].rater to be a string, found null"),
        ({"comment": 0}, "expected edits[0].comment to be a string, found 0"),
        ({"extra": "x"}, 'expected edits[0].extra to be an object, found "x"'),
        ({"sure": 1}, "expected only start, end, replacements, tag, rater, comment, extra in edits[0]"),
    ],
)
def test_a_bad_edit_is_named_with_what_was_expected(fields: dict[str, Json], message: str) -> None:
    (problem,) = problems_of(edit_with(**fields))
    assert message in problem


def test_repeated_ids_are_refused_and_problems_collected_up_to_twenty() -> None:
    (problem,) = problems_of(f"{HEAD}{GOOD}\n{GOOD}\n")
    assert problem == "test:3: expected a different id for each essay, found 'a' again"
    assert len(problems_of(HEAD + "{}\n" * 3)) == 3
    assert len(problems_of(HEAD + "{}\n" * 30)) == 21
    assert "stopped after 20 problems" in problems_of(HEAD + "{}\n" * 30)[-1]


@pytest.mark.parametrize(
    "essay",
    [
        Essay("a", "\ud83d"),
        Essay("a", "", metadata={"x": float("nan")}),
        Essay("a", "", metadata={"x": float("inf")}),
    ],
)
def test_what_json_cannot_hold_is_refused_on_writing(essay: Essay) -> None:
    with pytest.raises(GraterError, match="essay a: cannot be written"):
        write(essay)


@pytest.mark.parametrize("depth", [*range(850, 1050, 4), 3000])
def test_deep_nesting_is_read_or_refused_wherever_the_limit_lies(depth: int) -> None:
    deep = "[" * depth + "]" * depth
    for line in (deep, f'{{"id":"a","text":"","metadata":{{"x":{deep}}}}}', f'{{"id":"\\u0061","text":{deep}}}'):
        with suppress(GraterError):
            assert len(write(*read(HEAD + line))) > depth
