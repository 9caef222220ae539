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
    extra: dict[str, Json] = {"sure": [1, 0.5, None, True, {"é": "😀"}]}
    edits = (
        Edit(Span(3, 5), ("goes", "went"), "SVA", "R1", "either will do", extra),
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


def test_bom_blank_lines_crlf_and_a_missing_final_newline_do_no_harm() -> None:
    for text in (HEAD + GOOD, f"\ufeff{HEAD}{GOOD}\n", f"\n \n{HEAD}\n\t\n{GOOD}\n\n\n", f"{HEAD}{GOOD}\r\n"):
        assert read(text) == [Essay("a", "He go home.")], text


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"id":"a","text":"\ud83d"}', "expected text, found half a surrogate pair"),
        ('{"id":"a","text":"","metadata":{"x":' + "9" * 5000 + "}}", "expected JSON of a reasonable size"),
        ('{"id":"a","text":"","metadata":' + '{"x":' * 100_000, "expected JSON of a reasonable size"),
        (f"{GOOD}\n{GOOD}", "expected a different id for each essay, found 'a' again"),
    ],
    ids=["surrogate", "digits", "depth", "repeated"],
)
def test_a_monstrous_line_and_a_repeated_id_are_refused(line: str, message: str) -> None:
    (problem,) = problems_of(f"{HEAD}{line}\n")
    assert problem.startswith(f"test:{2 + line.count(chr(10))}: {message}")


def test_problems_are_collected_up_to_twenty() -> None:
    assert len(problems_of(HEAD + "{}\n" * 3)) == 3
    assert len(problems_of(HEAD + "{}\n" * 30)) == 21
    assert "stopped after 20 problems" in problems_of(HEAD + "{}\n" * 30)[-1]


@pytest.mark.parametrize(("text", "metadata"), [("\ud83d", {}), ("", {"x": float("nan")}), ("", {"x": float("inf")})])
def test_what_json_cannot_hold_is_refused_on_writing(text: str, metadata: dict[str, Json]) -> None:
    with pytest.raises(GraterError, match="essay a: cannot be written"):
        write(Essay("a", text, metadata=metadata))


@pytest.mark.parametrize("depth", [*range(850, 1050, 4), 3000])
def test_deep_nesting_is_read_or_refused_wherever_the_limit_lies(depth: int) -> None:
    deep = "[" * depth + "]" * depth
    for line in (deep, f'{{"id":"a","text":"","metadata":{{"x":{deep}}}}}', f'{{"id":"\\u0061","text":{deep}}}'):
        with suppress(GraterError):
            assert len(write(*read(HEAD + line))) > depth
