from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import polars as pl
import pytest

from grater.cli import app_of
from grater.cli.evaluate import verify_flags
from grater.errors import UsageError
from grater.tables import write_table
from tests.cli.running import INTERVAL, RUNNER, SPOKEN, grater
from tests.measure.evaluation.worlds import decisions, items, votes

app = app_of(verify_flags)


def test_precision_alone_and_recall_says_why_not(tmp_path: Path) -> None:
    write_table(decisions({"S": [1, 1, 1, 1]}), tmp_path / "d.csv")
    write_table(votes([2, 2, 0], 2), tmp_path / "j.csv")
    write_table(items(list("aabb")), tmp_path / "i.csv")
    args = ["--decisions", str(tmp_path / "d.csv"), "--judgments", str(tmp_path / "j.csv")]
    result = RUNNER.invoke(app, [*args, "--json", "--items", str(tmp_path / "i.csv"), "--by", "essay"])
    value = json.loads(result.stdout)
    [system] = value["systems"]
    assert (system["flagged"], system["judged"]) == (4, 3)
    assert system["precision"]["value"] == 2 / 3
    assert system["recall"]["value"] is None
    assert "misses are unknown" in system["recall"]["reason"]
    assert value["parts"]["essay a"][0]["precision"]["value"] == 1
    shown = RUNNER.invoke(app, args).output
    assert ".667 [" in shown
    assert "misses are unknown" in shown
    assert "1 of 4 flags are not judged" in shown


def test_csv_has_cells_alone_and_what_intervals_speak_of_is_said_beside_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_table(decisions({"S": [1, 1, 1, 1]}), tmp_path / "d.csv")
    write_table(votes([2, 2, 0, 1], 2), tmp_path / "j.csv")
    ran = grater(
        capsys, "verify", "--decisions", tmp_path / "d.csv", "--judgments", tmp_path / "j.csv", "--table", "csv"
    )
    assert pl.read_csv(StringIO(ran.out), infer_schema=False).height == 1
    assert INTERVAL.search(ran.out)
    assert SPOKEN.search(ran.err)
    assert not SPOKEN.search(ran.out)


def test_gold_without_an_adjudicated_truth_is_refused() -> None:
    result = RUNNER.invoke(app, ["--decisions", "d", "--judgments", "j", "--gold", "g"])
    assert isinstance(result.exception, UsageError)
    assert "expected --truth adjudicated with --gold" in str(result.exception)
