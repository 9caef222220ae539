"""The page of the race says what its results say, and keeps every loss."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from benchmarks import race

peers: Any = import_module("benchmarks.peers")  # beside a folder of that name, which mypy would take

ROW = {"job": "alpha", "peer": "theirs", "unit": "CPU s", "wanted": 10, "agrees": True, "note": "", "date": "today"}
WHERE = {"machine": "one core", "versions": {"grater": "1"}, "missing": [], "fell_short": []}


def lines_of(*rows: dict[str, Any], **more: Any) -> list[str]:
    return [line for line in race.page({**WHERE, **more, "rows": rows}).splitlines() if line.startswith("| alpha")]


def test_a_loss_and_an_answer_that_differs_stand_in_the_table() -> None:
    lost = ROW | {"size": 10_000, "ours": 2.0, "theirs": 1.0, "agrees": False}
    cells = "| alpha | 10,000 | theirs | 1 CPU s | 2 CPU s | 0.5 | 10 | **no** |"
    assert lines_of(lost, lost | {"code": "8f811ff+", "load": 3}) == [
        f"{cells} today |",
        f"{cells} today, 8f811ff+, load 3 |",
    ]


def test_a_peer_that_could_not_run_is_a_row_without_a_ratio() -> None:
    alone = ROW | {"size": 0, "ours": 0.01234, "theirs": None, "wanted": None, "agrees": None}
    assert lines_of(alone) == ["| alpha |  | theirs | could not run | 0.0123 CPU s | – | – | – | today |"]


def test_a_curve_needs_two_sizes() -> None:
    one = ROW | {"size": 10_000, "ours": 1.0, "theirs": 3.0}
    two = ROW | {"size": 100_000, "ours": 2.0, "theirs": None}
    assert race.scaling([one]) == []
    points = {(point["tool"], point["size"], point["cost"]) for point in race.scaling([one, two])}
    assert points == {("grater", 10_000, 1.0), ("theirs", 10_000, 3.0), ("grater", 100_000, 2.0)}


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_the_code_that_ran_is_marked_where_a_program_changed_not_where_results_did(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("program.py", "race.json"):
        (tmp_path / name).write_text("1")
    for asked in ("init -q", "add .", "-c user.name=n -c user.email=e commit -q -m first"):
        subprocess.run(["git", *asked.split()], cwd=tmp_path, check=True)
    monkeypatch.setattr(race, "ROOT", tmp_path)
    (tmp_path / "race.json").write_text("2")
    unchanged = race.commit()
    assert re.fullmatch("[0-9a-f]{7,}", unchanged)
    (tmp_path / "program.py").write_text("2")
    assert race.commit() == f"{unchanged}+"


def test_programs_record_only_when_they_are_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(race.FILE, raising=False)
    race.record(job="alpha", peer="theirs", ours=1.0, theirs=2.0)
    monkeypatch.setenv(race.FILE, str(tmp_path / "race.jsonl"))
    race.record(job="alpha", peer="theirs", ours=1.0, theirs=2.0, agrees=True)
    monkeypatch.setattr(race, "RESULTS", tmp_path / "none.json")
    results = race.gathered(tmp_path / "race.jsonl", ran=["gleu"], failed=["gleu"])
    assert [(row["job"], row["theirs"], row["agrees"]) for row in results["rows"]] == [("alpha", 2.0, True)]
    assert {"date", "code", "load"} <= results["rows"][0].keys()
    assert results["fell_short"] == ["gleu"]


def test_rows_of_programs_that_did_not_run_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = {
        "rows": [{"job": name, "program": name} for name in ("gleu", "startup")],
        "fell_short": ["gleu", "startup"],
    }
    (tmp_path / "race.json").write_text(json.dumps(before), "utf-8")
    monkeypatch.setattr(race, "RESULTS", tmp_path / "race.json")
    results = race.gathered(tmp_path / "nothing.jsonl", ran=["gleu"], failed=[])
    assert [row["job"] for row in results["rows"]] == ["startup"]
    assert results["fell_short"] == ["startup"]


def test_the_page_is_what_the_results_say() -> None:
    assert race.PAGE.read_text("utf-8") == race.page(json.loads(race.RESULTS.read_text("utf-8")))


def test_an_environment_that_was_linked_in_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own" / "bin").mkdir(parents=True)
    (tmp_path / ".peers").mkdir()
    (tmp_path / ".peers" / "errant").symlink_to(tmp_path / "own")
    monkeypatch.setattr(peers, "ROOT", tmp_path)
    peers.install(race.ROOT / "benchmarks" / "peers" / "errant.txt")
    assert [path.name for path in (tmp_path / "own").iterdir()] == ["bin"]


def test_a_peer_that_cannot_be_installed_does_not_stop_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "benchmarks" / "peers").mkdir(parents=True)
    for name in ("one", "two"):
        (tmp_path / "benchmarks" / "peers" / f"{name}.txt").touch()

    def refuse(home: Path, **_: bool) -> None:
        raise OSError(f"no room for {home.name}")

    monkeypatch.setattr(peers, "ROOT", tmp_path)
    monkeypatch.setattr(peers.venv, "create", refuse)
    assert peers.main() == 1
    assert [line.split()[0] for line in capsys.readouterr().err.splitlines()] == ["one", "two"]
