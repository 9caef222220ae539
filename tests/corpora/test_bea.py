"""BEA-2019 JSON: equal JSON in and out, and a clear word about everything else."""

from __future__ import annotations

import json

import pytest

from grater.corpora.bea import FORMAT
from grater.errors import BadInput
from grater.model import Edit, Essay, Json, Span, short_hash
from tests.corpora.sources import TextSource, Tried

BEA = Tried(FORMAT, "dev.json")
read, write, problems_of = BEA.read, BEA.write, BEA.problems_of

FIRST: dict[str, Json] = {
    "id": "1-70",
    "userid": "27",
    "cefr": "B1.i",
    "text": "My uncle keep bees .\nHe is love them",
    "edits": [[0, [[9, 13, "keeps"], [18, 19, ""], [24, 27, ""], [28, 32, "loves"]]], [1, []], [2, [[24, 32, None]]]],
}
SECOND: dict[str, Json] = {
    "id": "1-71",
    "l1": "Welsh",
    "age": 23,
    "q": [1, 2.5, None],
    "answer-s": {"a": True},
    "text": "Rain fall 🌧 on cafe\u0301",
    "edits": [[0, [[5, 9, "falls", "R:VERB:SVA"], [20, 20, ".", "M:PUNCT", 0.5, "sure"], [5, 9, None, ""]]]],
}


def lines_of(*records: dict[str, Json]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


CORPUS = lines_of(FIRST, SECOND)


def test_an_essay_has_its_id_text_edits_annotators_and_metadata_and_comes_back_in_order() -> None:
    first, second = read("\n" + CORPUS)
    assert (first.essay_id, first.text, first.annotators) == ("1-70", FIRST["text"], ("0", "1", "2"))
    assert first.edits == (
        Edit(Span(9, 13), ("keeps",), "", "0"),
        Edit(Span(18, 19), ("",), "", "0"),
        Edit(Span(24, 27), ("",), "", "0"),
        Edit(Span(28, 32), ("loves",), "", "0"),
        Edit(Span(24, 32), (), "", "2"),
    )
    assert [edit.tag for edit in second.edits] == ["R:VERB:SVA", "M:PUNCT", ""]
    assert [edit.extra for edit in second.edits] == [{}, {"more": [0.5, "sure"]}, {"more": []}]
    assert list(second.metadata.items()) == [(key, SECOND[key]) for key in ("l1", "age", "q", "answer-s")]
    assert (first.line, second.line, second.edits[0].line) == (2, 3, 3)
    assert [essay.line for essay in read("[\n" + json.dumps(FIRST, indent=1) + "]")] == [2]
    text = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in (FIRST, SECOND))
    assert write(*read(CORPUS)) == (text, [])


def test_ids_come_from_the_record_or_the_text_and_repeats_are_numbered() -> None:
    records: list[dict[str, Json]] = [{"id": "x", "_id": "y", "text": "a"}, {"_id": 9, "text": "a"}, {"text": "a"}]
    assert [essay.essay_id for essay in read(lines_of(*records))] == ["x", "9", short_hash("a")]
    text = lines_of({"id": "x", "text": "a", "edits": []}) * 3 + lines_of({"text": "a", "edits": []}) * 2
    assert [essay.essay_id for essay in read(text)][:3] == ["x", "x#2", "x#3"]
    assert write(*read(text)) == (text, [])
    assert json.loads(write(Essay("x#2", "a"))[0])["id"] == "x#2"
    (essay,) = read('{"id": "x", "text": "a"}')
    assert (essay.annotators, essay.edits) == ((), ())
    assert write(essay) == ('{"id": "x", "text": "a", "edits": []}\n', [])


@pytest.mark.parametrize(
    "text",
    [
        "\ufeff" + CORPUS,
        CORPUS.replace("\n", "\r\n"),
        CORPUS.rstrip("\n"),
        "\n\n" + CORPUS.replace("\n", "\n \n"),
        json.dumps([FIRST, SECOND]),
        json.dumps([FIRST, SECOND], indent=2),
        json.dumps([FIRST, SECOND], indent=0),
        "[\n" + ",\n".join(json.dumps(record) for record in (FIRST, SECOND)) + "\n]\n",
        json.dumps(FIRST, indent=4) + "\n" + json.dumps(SECOND, indent="\t"),
        json.dumps(FIRST) + " " + json.dumps(SECOND),
    ],
    ids=["bom", "crlf", "no-end", "blank-lines", "array", "indent", "flush", "lines-in-array", "spread", "one-line"],
)
def test_layout_makes_no_difference(text: str) -> None:
    assert read(text) == read(CORPUS)


def test_broken_and_monstrous_files_are_refused_and_the_essays_around_a_bad_line_read() -> None:
    seen: list[Essay] = []
    with pytest.raises(BadInput):
        seen.extend(FORMAT.read(TextSource(lines_of(FIRST) + '{"text": "one\n' + lines_of(SECOND))))
    assert [essay.essay_id for essay in seen] == ["1-70", "1-71"]
    text = json.dumps([FIRST, SECOND], indent=1)
    assert problems_of(text.rstrip("]\n")) == [
        "dev.json:1: expected a ']' for this '[', found none; the file may be cut off"
    ]
    cut = problems_of(text[: text.index("Rain")])
    assert [problem.split(": ")[0] for problem in cut][1:] == ["dev.json:1"]
    assert "found only its beginning" in cut[0]
    assert problems_of("[" + json.dumps([FIRST]) + "]") == [
        "dev.json:1: expected a JSON object, found '['",
        "dev.json:1: expected a ']' for this '[', found none; the file may be cut off",
    ]
    assert "reasonable size" in problems_of('{"text": "", "q": ' + "[" * 100_000 + "]" * 100_000 + "}")[0]
    assert "reasonable size" in problems_of('{"text": "", "q": ' + "9" * 10_000 + "}")[0]
    assert len(problems_of("{}\n" * 50)) == 21
