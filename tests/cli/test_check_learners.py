"""A class report: marks by rule, by learner and over time."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.running import Capture, grater

WRONG = "The girl waited on the bus."
RIGHT = "The girl waited for the bus."
ESSAYS = [
    ("a1", f"{WRONG} {WRONG}", "Anna", "2026-09-01"),
    ("a2", f"{WRONG} {RIGHT}", "Anna", "2026-10-01"),
    ("b1", f"{RIGHT} The boy discussed about the film.", "Ben <i>", "2026-09-01"),
]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "class.jsonl"
    lines: list[object] = [{"format": "grater-corpus", "version": 1}]
    for name, text, learner, date in ESSAYS:
        lines.append({"id": name, "text": text, "metadata": {"learner": learner, "date": date}})
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def test_marks_are_counted_by_rule_learner_and_date(capsys: Capture, corpus: Path, tiny_model: Path) -> None:
    result = json.loads(grater(capsys, "learners", corpus, "--system", tiny_model, "--json").out)
    assert [(row["mark"], row["n"], row["learners"]) for row in result["marks"]] == [
        ("Verb + preposition", 3, 1),
        ("Verb without a preposition", 1, 1),
    ]
    anna, ben = result["learners"]
    assert (anna["learner"], anna["essays"], anna["words"], anna["marks"]) == ("Anna", 2, 24, 3)
    assert anna["per_100_words"] == pytest.approx(100 * 3 / 24)
    assert anna["change"] == pytest.approx(100 / 12 - 200 / 12), "from two marks in 12 words to one"
    assert (ben["change"], ben["most_often"]) == (None, ["Verb without a preposition"])
    out = grater(capsys, "learners", corpus, "--system", tiny_model).out
    assert "4 marks in 3 essays, 36 words" in out
    of_anna = [line.split()[1] for line in out.split("Over time")[1].splitlines() if line.startswith("Anna")]
    assert of_anna == ["2026-09-01", "2026-10-01"]
    fields = ("--learner-field", "date", "--date-field", "nothing")
    result = json.loads(grater(capsys, "learners", corpus, "--system", tiny_model, "--json", *fields).out)
    assert [row["learner"] for row in result["learners"]] == ["2026-09-01", "2026-10-01"]


def test_a_page_loads_nothing_and_escapes_names(
    capsys: Capture, tmp_path: Path, corpus: Path, tiny_model: Path
) -> None:
    ran = grater(capsys, "learners", corpus, "--system", tiny_model, "--out", tmp_path / "class.html")
    page = (tmp_path / "class.html").read_text(encoding="utf-8")
    assert (ran.status, "By learner" in ran.out) == (0, True)
    assert "Ben &lt;i&gt;" in page
    assert page.count("<table>") == 3
    assert "3 essays by 2 learners, 36 words: 4 marks, 11.1 per 100 words." in page
    assert "✗</s> We discussed about the plan.<br>" in page, "a rule has its example"
    assert page.count("<svg") == 1, "a curve for whoever wrote twice"
    assert "src=" not in page
    assert "href=" not in page


def test_a_text_file_is_counted_for_its_name(capsys: Capture, tmp_path: Path, tiny_model: Path) -> None:
    for name in ("anna", "ben"):
        (tmp_path / f"{name}.txt").write_text(WRONG, encoding="utf-8")
    files = [tmp_path / "anna.txt", tmp_path / "ben.txt"]
    result = json.loads(grater(capsys, "learners", *files, "--system", tiny_model, "--json").out)
    learners = [(row["learner"], row["marks"], row["change"]) for row in result["learners"]]
    assert learners == [("anna", 1, None), ("ben", 1, None)]
