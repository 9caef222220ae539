"""JSON Lines: values of any type become the cells they mean."""

from __future__ import annotations

from pathlib import Path

import pytest

from grater.errors import BadInput
from grater.tables import read_decisions, read_judgments
from grater.tables.jsonl import N_TOGETHER, read_jsonl


def complaint(text: str) -> str:
    with pytest.raises(BadInput) as caught:
        read_jsonl(text, name="t.jsonl")
    return str(caught.value)


def test_the_number_one_and_the_text_one_are_one_label(tmp_path: Path) -> None:
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


def test_lines_may_lack_keys_and_be_blank(tmp_path: Path) -> None:
    path = tmp_path / "d.jsonl"
    path.write_text(
        '{"item": "a", "system": "S", "flagged": 1}\n\n \n{"score": 2, "item": "b", "system": "S", "flagged": false}'
    )
    frame = read_decisions(path).frame
    assert frame.rows() == [("a", "S", True, None), ("b", "S", False, 2.0)]


def test_a_list_is_right_in_flags_and_an_object_in_payload(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    path.write_text(
        '{"item": "a", "rater": "r", "label": "ok", "flags": ["spelling", "context"], "payload": {"x": [1]}}\n'
    )
    frame = read_judgments(path).frame
    assert frame.select("flags", "payload").rows() == [("spelling|context", '{"x": [1]}')]


@pytest.mark.parametrize("value", ["[1, 2]", '{"a": 1}'])
def test_several_values_are_no_label(tmp_path: Path, value: str) -> None:
    path = tmp_path / "j.jsonl"
    path.write_text(
        f'{{"item": "a", "rater": "r", "label": "ok"}}\n{{"item": "b", "rater": "r", "label": {value}}}\n'
    )
    with pytest.raises(BadInput, match=r"j\.jsonl:2: expected text or a number in column 'label', found"):
        read_judgments(path)


def test_not_a_number_is_no_number(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    row = '{"item": "%s", "system": "S", "flagged": 1, "score": %s}\n'
    path.write_text(row % ("a", "NaN") + row % ("b", "-Infinity"))
    with pytest.raises(BadInput) as caught:
        read_decisions(path)
    assert [problem.line for problem in caught.value.problems] == [1, 2]


def test_bad_lines_are_named() -> None:
    found = complaint('{"item": 1}\n[1]\n{"item": \n"x"\n{"item": "\\ud800"}\n')
    assert [line.split(": ")[0] for line in found.splitlines()] == [
        "t.jsonl:2",
        "t.jsonl:3",
        "t.jsonl:4",
        "t.jsonl:5",
    ]


def test_deep_nesting_is_an_error_not_a_crash() -> None:
    assert "t.jsonl:1: expected a JSON object" in complaint("[" * 100_000)


def test_escapes_are_characters() -> None:
    raw = read_jsonl('{"item": "caf\\u00e9 \\ud83d\\ude00"}\n', name="t")
    assert raw.columns["item"].to_list() == ["café 😀"]


def test_a_column_that_changes_its_type_late_is_one_column() -> None:
    text = '{"a": 1, "b": 1}\n' * N_TOGETHER + '{"a": "x", "b": 1.5, "c": "new"}\n'
    raw = read_jsonl(text, name="t")
    assert raw.columns["a"].to_list()[-2:] == [1, "x"]
    assert raw.columns["b"].to_list()[-2:] == [1.0, 1.5]
    assert raw.columns["c"].to_list()[-2:] == [None, "new"]
    assert len(raw.columns["c"]) == N_TOGETHER + 1
