"""Benchmarks run by hand: what they take from grater must be there, and the page says what the results say."""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from benchmarks import coverage, results
from benchmarks.harness import Row, Table, cost
from benchmarks.peers import install

import grater
from grater.model import Interval

ROOT = Path(__file__).parents[1]
FILES = [*sorted((ROOT / "benchmarks").glob("*.py")), *sorted((ROOT / "training" / "figures").glob("*.py"))]
CODE = re.compile(r'^[A-Z_0-9]+ = """(\n.*?)^"""$', re.M | re.S)
"""A script that a benchmark runs in a process of its own."""
ROW = {"job": "alpha", "peer": "theirs", "unit": "CPU s", "goal": 10.0, "agrees": True, "note": "", "size": 0}
ABOUT = {"date": "today", "code": "8f811ff+", "load": 3}


def taken_from_grater(tree: ast.Module) -> Iterator[tuple[str, str, str]]:
    """Module of grater, name there, and name here."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in ("grater", "grater_train"):
            for alias in node.names:
                yield node.module or "", alias.name, alias.asname or alias.name


def resolved(module: str, name: str) -> object:
    """What a module has under a name, which may be a module of its own."""
    try:
        return getattr(import_module(module), name)
    except AttributeError:
        return import_module(f"{module}.{name}")


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_benchmark_takes_what_grater_has(path: Path) -> None:
    source = path.read_text("utf-8")
    for part in [source, *(code for code in CODE.findall(source) if "grater" in code)]:
        tree = ast.parse(part)
        values = {here: resolved(module, name) for module, name, here in taken_from_grater(tree)}
        modules = {here: value for here, value in values.items() if isinstance(value, ModuleType)}
        modules |= {"grater": import_module("grater")} if re.search(r"^import grater$", part, re.M) else {}
        used = [
            (node.value.id, node.attr)
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules
        ]
        assert [f"{module}.{name}" for module, name in used if not hasattr(modules[module], name)] == []


def test_the_page_is_what_the_results_say() -> None:
    assert results.PAGE.read_text("utf-8") == results.page(json.loads(results.RESULTS.read_text("utf-8")))


def test_tables_have_the_largest_size_what_is_lost_and_a_summary() -> None:
    small = ROW | {"size": 10_000, "ours": 1.0, "theirs": 9.0}
    lost = ROW | {"size": 100_000, "ours": 2.0, "theirs": 1.0, "agrees": False}
    alone = ROW | {"job": "beta", "ours": 0.01234, "theirs": None, "goal": None, "agrees": None}
    shown = results.race({**ABOUT, "rows": [small, lost, alone]})
    assert [line for line in shown.splitlines() if line.startswith(("| alpha", "| beta"))] == [
        "| alpha | 100,000 | theirs | 2 | **.5** |",
        "| beta |  | theirs | .0123 | could not run |",
    ]
    assert "alpha: the answers differ." in shown
    table = {"title": "Scores", "columns": ["design", "a", "b"], "rows": [["x", 0.9, 0.1], ["y", 0.97, None]]}
    found = {**table, "note": "20 corpora", "summary": {"ours": ["a"]}}
    shown = results.tables({**ABOUT, "rows": [], "tables": [found]})
    assert "| Scores (20 corpora) | 2 | ours | .900 | .970 |" in shown
    assert shown.endswith("Measured today at 8f811ff+, load 3.")


def test_a_question_replaces_what_was_known_of_it_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "RESULTS", tmp_path / "results.json")
    other = {**ABOUT, "rows": [ROW | {"ours": 1.0, "theirs": None}], "tables": []}
    results.write({"machine": "", "versions": {}, "questions": {"startup": other, "agreement": other}})
    results.keep("agreement", [Row("alpha", 1.0, 10, "theirs", 2.0), Table("T", ["a"], [["x"]])])
    known = json.loads((tmp_path / "results.json").read_text("utf-8"))["questions"]
    assert known["startup"] == other
    assert [row["theirs"] for row in known["agreement"]["rows"]] == [2.0]
    assert [table["rows"] for table in known["agreement"]["tables"]] == [[["x"]]]


def test_coverage_counts_the_intervals_that_hold_and_leaves_out_those_withheld() -> None:
    nan = float("nan")
    found = [Interval(0.5, 0.4, 0.6), Interval(0.2, 0.1, 0.3), Interval(0.5, nan, nan, "two essays")]
    corpora = [{"recall": each, "rejects": coverage.rejects(each)} for each in found]
    assert coverage.cell(corpora, {"recall": 0.5}) == {"recall": 0.5, "rejects": 1.0}
    assert coverage.rejects(Interval(0.1, -0.1, 0.3)) == 0


def test_a_corpus_of_the_worlds_has_the_numbers_of_the_public_functions() -> None:
    world = coverage.ESSAYS["20 x 25, half of the labels missing"]
    found, corpus = coverage.judged(world, np.random.default_rng(0)), world.draw(np.random.default_rng(0))
    tables, items = (corpus.decisions(), corpus.judgments()), corpus.items()
    evaluation = grater.evaluate(*tables, items=items)
    public = {name: evaluation.systems[0][name] for name in coverage.SCORES}
    public |= {"weighted recall": evaluation.whole.weighted[0]["recall"]}
    agreement = grater.agreement(tables[1], items=items)
    public |= {
        "alpha": agreement.alpha,
        "mean kappa": agreement.kappa,
        coverage.INDEPENDENT: grater.agreement(tables[1]).alpha,
    }
    for name, each in public.items():
        own: Any = found[name]
        assert [own.value, own.low, own.high] == pytest.approx([each.value, each.low, each.high], rel=1e-12), name
    [pair] = grater.compare(*tables, items=items).pairs
    assert found["F0.5 of equal systems differs"] == coverage.rejects(pair.test.difference)


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_the_code_that_ran_is_marked_where_a_program_changed_not_where_results_did(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("program.py", "results.json"):
        (tmp_path / name).write_text("1")
    for asked in ("init -q", "add .", "-c user.name=n -c user.email=e commit -q -m first"):
        subprocess.run(["git", *asked.split()], cwd=tmp_path, check=True)
    monkeypatch.setattr(results, "ROOT", tmp_path)
    (tmp_path / "results.json").write_text("2")
    unchanged = results.commit()
    assert re.fullmatch("[0-9a-f]{7,}", unchanged)
    (tmp_path / "program.py").write_text("2")
    assert results.commit() == f"{unchanged}+"


def test_the_cost_of_a_process_has_its_output_and_a_failure_its_words() -> None:
    assert cost(["cat"], given="hello").output == "hello"
    with pytest.raises(RuntimeError, match=r"exit status 1\n.*no-such-file"):
        cost(["cat", "no-such-file"])


def test_an_environment_that_was_linked_in_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own" / "bin").mkdir(parents=True)
    (tmp_path / ".peers").mkdir()
    (tmp_path / ".peers" / "errant").symlink_to(tmp_path / "own")
    monkeypatch.setattr(install, "ROOT", tmp_path)
    install.install(ROOT / "benchmarks" / "peers" / "errant.txt")
    assert [path.name for path in (tmp_path / "own").iterdir()] == ["bin"]


def test_a_peer_that_cannot_be_installed_does_not_stop_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "benchmarks" / "peers").mkdir(parents=True)
    for name in ("one", "two"):
        (tmp_path / "benchmarks" / "peers" / f"{name}.txt").touch()

    def refuse(home: Path, **_: bool) -> None:
        raise OSError(f"no room for {home.name}")

    monkeypatch.setattr(install, "ROOT", tmp_path)
    monkeypatch.setattr("venv.create", refuse)
    assert install.main() == 1
    assert [line.split()[0] for line in capsys.readouterr().err.splitlines()] == ["one", "two"]
