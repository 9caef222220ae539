"""The package in examples/, installed, adds to what the commands know."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from tests.test_docs import ROOT
from tests.test_release import build, pip

PACKAGE = ROOT / "examples" / "house-style"


@pytest.fixture(scope="module")
def grater(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., str]:
    """The command line with the package installed, in a folder of its own."""
    folder = tmp_path_factory.mktemp("extension")
    placed = pip(
        sys.executable, "install", "--no-deps", "--target", str(folder / "packages"), str(build(PACKAGE, folder))
    )
    assert placed.returncode == 0, placed.stderr
    path = os.pathsep.join([str(folder / "packages"), *os.environ.get("PYTHONPATH", "").split(os.pathsep)])

    def run(*arguments: object, status: int = 0) -> str:
        command = [sys.executable, "-m", "grater", *map(str, arguments)]
        environment = {**os.environ, "PYTHONPATH": path}
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == status, done.stderr
        return done.stdout

    return run


M2 = "S She go .\nA 1 2|||V|||goes|||REQUIRED|||-NONE-|||0\n\nS Fine .\nA 1 2|||P|||!|||REQUIRED|||-NONE-|||0\n\n"


def test_a_format_and_a_tag_set(grater: Callable[..., str], tmp_path: Path) -> None:
    (tmp_path / "two.m2").write_text(M2)
    grater("corpus", "convert", tmp_path / "two.m2", tmp_path / "two.braces")
    assert (tmp_path / "two.braces").read_text() == "She {go=>goes} .\nFine {.=>!}\n"
    found = grater("corpus", "lint", tmp_path / "two.m2", "--tagset", "house", status=1)
    assert "'P' of 1 edit, here first, is not in house" in found
    assert "'V'" not in found


def test_a_method_of_aggregation(grater: Callable[..., str], tmp_path: Path) -> None:
    rows = [("a", "Ann", "error"), ("a", "Bob", "error"), ("b", "Ann", "ok"), ("b", "Bob", "ok")]
    pl.DataFrame(rows, schema=["item", "rater", "label"], orient="row").write_csv(tmp_path / "judgments.csv")
    grater("aggregate", tmp_path / "judgments.csv", "--method", "laplace", "--out", tmp_path / "out.csv")
    answers = pl.read_csv(tmp_path / "out.csv")
    assert answers["label"].to_list() == ["error", "ok"]
    assert answers["p:error"].to_list() == pytest.approx([0.75, 0.25])  # (2 + 1) / (2 + 2)


def test_a_metric(grater: Callable[..., str], tmp_path: Path) -> None:
    (tmp_path / "two.m2").write_text(M2)
    (tmp_path / "mine.txt").write_text("She goes .\nFine .\n")
    out = grater("score", tmp_path / "two.m2", f"mine={tmp_path}/mine.txt", "--metric", "exact", "--json")
    assert json.loads(out)["systems"][0]["exact"]["value"] == 0.5


def test_a_detector_and_a_task(grater: Callable[..., str], tmp_path: Path) -> None:
    (tmp_path / "essay.txt").write_text("I read alot.")
    study = tmp_path / "study.db"
    grater("study", "new", study, "--name", "House style")
    grater("study", "import", study, tmp_path / "essay.txt")
    grater("study", "decide", study, "--system", "alot")
    assert json.loads(grater("job", "new", study, "--task", "register", "--kind", "spelling", "--json"))["units"] == 1
