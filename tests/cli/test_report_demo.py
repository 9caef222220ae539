"""`grater demo`: the whole loop, into a folder of one's own; twice is the same as once."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from grater.cli.report import fresh_study
from grater.sample import sample_path
from grater.store import open_store, people
from tests.cli.running import grater
from tests.conftest import Demo

pytest.importorskip("vl_convert")

FILES = {
    *("essays.jsonl", "essays.sgml", "essays.m2", "stats.json", "study.db"),
    *("items.csv", "decisions.csv", "judgments.csv", "crowd.csv", "crowd-without-gold.csv", "gold.csv"),
    *(
        "sample.csv",
        "sample.meta.json",
        "cloze.csv",
        "cloze-words.csv",
        "choice.csv",
        "nouns.csv",
        "constructions.csv",
        "report",
    ),
}
SECTIONS = (
    *("corpus", "experts", "agreement", "raters-needed", "raters-needed-without-gold", "raters", "systems", "bins"),
    *("thresholds", "sampling", "difficulty", "cloze", "choice", "constructions", "effort"),
)


def test_the_demo_is_the_whole_loop(capsys: pytest.CaptureFixture[str], demo: Demo) -> None:
    out = demo.folder
    assert {path.name for path in out.iterdir()} >= FILES
    assert "flags errors with precision" in demo.out
    assert f"the report is {out / 'report' / 'report.html'}" in demo.err
    assert "simulated" in demo.err
    page = (out / "report" / "report.html").read_text("utf-8")
    for name in SECTIONS:
        assert f'<section id="{name}"' in page, name
    assert "are simulated" in page
    assert "accuracy on gold from" in page
    assert list((out / "report" / "figures").glob("*.svg"))
    assert not list((out / "report" / "figures").glob("*.png"))
    status = json.loads(grater(capsys, "study", "status", out / "study.db", "--json").out)
    assert status["essays"] == 76
    assert grater(capsys, "study", "check", out / "study.db").status == 0
    assert (out / "essays.jsonl").read_bytes() == sample_path().read_bytes()


def test_a_demo_run_again_gives_the_same_tables(
    capsys: pytest.CaptureFixture[str], demo: Demo, tmp_path: Path
) -> None:
    out = tmp_path / "demo"
    shutil.copytree(demo.folder, out)
    tables = {name: (out / name).read_bytes() for name in FILES if name.endswith(".csv")}
    ran = grater(capsys, "demo", "--out", out, "--figures", "svg", "--resamples", 20, "--json")
    assert (ran.status, json.loads(ran.out)["report"]) == (0, str(out / "report" / "report.html"))
    assert {name: (out / name).read_bytes() for name in tables} == tables


def test_a_demo_says_in_one_line_what_is_in_its_way(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "demo" / "study.db").mkdir(parents=True)
    ran = grater(capsys, "demo", "--out", tmp_path / "demo", "--figures", "svg")
    assert ran.status == 2
    assert ran.err.splitlines()[-1].startswith(f"{tmp_path / 'demo' / 'study.db'}: expected a file or nothing")
    ran = grater(capsys, "demo", "--out", tmp_path / "other", "--figures", "gif")
    assert (ran.status, ran.out) == (2, "")
    assert "unknown type of figure 'gif'" in ran.err
    assert not (tmp_path / "other").exists()


def test_a_demo_cannot_take_the_place_of_a_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "demo").write_text("mine")
    ran = grater(capsys, "demo", "--out", tmp_path / "demo")
    assert (ran.status, ran.err) == (2, f"{tmp_path / 'demo'}: cannot be written: File exists\n")


def test_a_demo_leaves_alone_what_people_made(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "judgments.csv").write_text("mine")
    ran = grater(capsys, "demo", "--out", tmp_path)
    assert (ran.status, ran.err.count("\n")) == (2, 1)
    assert "judgments.csv: is no demo's, and would be lost" in ran.err
    assert [path.name for path in tmp_path.iterdir()] == ["judgments.csv"]
    (tmp_path / "judgments.csv").unlink()
    assert grater(capsys, "study", "new", tmp_path / "study.db", "--name", "My study").status == 0
    ran = grater(capsys, "demo", "--out", tmp_path)
    assert (ran.status, ran.err.count("\n")) == (2, 1)
    assert "study.db: it is no demo's; open it with grater serve" in ran.err
    assert json.loads(grater(capsys, "study", "status", tmp_path / "study.db", "--json").out)["study"] == "My study"


def test_a_study_of_a_demo_that_people_have_joined_is_kept(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    fresh_study(tmp_path)
    fresh_study(tmp_path)  # nobody has joined
    with open_store(tmp_path / "study.db") as store, store.write() as tx:
        people.add(tx, name="Ann", role="owner", password_hash="x")
    ran = grater(capsys, "demo", "--out", tmp_path)
    assert (ran.status, ran.err.count("\n")) == (2, 1)
    assert "study.db: people have joined it; open it with grater serve" in ran.err
    with open_store(tmp_path / "study.db") as store, store.read() as tx:
        assert [person.name for person in people.all(tx)] == ["Ann"]
