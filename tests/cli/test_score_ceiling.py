"""`grater score --ceiling` as a person runs it."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from tests.cli.running import Capture, grater, widest
from tests.measure.corrections.essays import REFERENCE, SOURCE, SYSTEM, TEXT
from tests.real_data import data_path


@pytest.fixture
def reference(tmp_path: Path) -> Path:
    path = tmp_path / "ref.m2"
    path.write_text(REFERENCE)
    (tmp_path / "ours.m2").write_text(SYSTEM)
    (tmp_path / "ours.txt").write_text("\n".join(TEXT) + "\n")
    (tmp_path / "idle.txt").write_text("\n".join(SOURCE) + "\n")
    return path


def test_people_and_systems_stand_in_one_table_on_every_way_out(capsys: Capture, reference: Path) -> None:
    ran = grater(capsys, "score", "--ceiling", reference, "--hyp", reference.parent / "ours.txt", "--json")
    found = json.loads(ran.out)
    assert ran.status == 0
    assert found["annotators"] == ["0", "1"]
    assert [(row["name"], row["kind"], row["references"]) for row in found["rows"]] == [
        ("human", "human", 1),
        ("0", "annotator", 1),
        ("1", "annotator", 1),
        ("ours", "system", 1),
    ]
    assert found["rows"][2]["f0.5"]["value"] == pytest.approx(0.9375)
    assert found["signature"].startswith("m2-ceiling|grater:")
    ran = grater(capsys, "score", "--ceiling", reference, "--hyp", reference.parent / "ours.m2", "--metric", "errant")
    assert ran.status == 0
    assert "human" in ran.out
    assert "against 1 reference" in ran.out
    assert widest(ran.out) <= 120
    ours, idle = reference.parent / "ours.txt", reference.parent / "idle.txt"
    ran = grater(
        capsys, "score", "--ceiling", ours, idle, "--source", idle, "--metric", "gleu", "--table", "markdown"
    )
    assert ran.status == 0
    assert ran.out.startswith("**GLEU against 1 reference**")
    assert "|  | GLEU | % of human | sets |" in ran.out
    ran = grater(capsys, "score", "--ceiling", reference, "--references", "4")
    assert (ran.status, ran.out) == (2, "")
    assert "from 1 to 1 references" in ran.err


@pytest.mark.data
def test_files_of_single_annotators_are_so_many_judges(capsys: Capture) -> None:
    files = [data_path(f"conll14/ten-annotators/A{number}.m2") for number in range(1, 4)]
    ran = grater(capsys, "score", "--ceiling", *files, "--metric", "errant", "--references", "2", "--json")
    found = json.loads(ran.out)
    assert found["annotators"] == ["A1", "A2", "A3"]
    assert (found["sentences"], found["left_out"]) == (1312, 0)
    assert [row["kind"] for row in found["rows"]] == ["human", *["annotator"] * 3]


def test_a_terminal_sees_how_far_it_is(capsys: Capture, reference: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = StringIO()
    monkeypatch.setattr("grater.cli.command.messages", Console(file=stream, force_terminal=True, width=60))
    ran = grater(capsys, "score", "--ceiling", reference, "--json")
    assert ran.status == 0
    json.loads(ran.out)
    assert "scoring people" in stream.getvalue()
    assert "100%" in stream.getvalue()
