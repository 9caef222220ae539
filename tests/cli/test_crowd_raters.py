from functools import partial
from pathlib import Path

import polars as pl
import pytest

from grater.errors import GraterError
from grater.tables import write_table
from tests.cli.running import as_json, invoked, widest
from tests.measure.crowd.tables import mixed_crowd
from tests.measure.crowd.test_aggregate import THREE

run = partial(invoked, "raters")


@pytest.fixture
def three(tmp_path: Path) -> Path:
    write_table(THREE, tmp_path / "three.csv")
    return tmp_path / "three.csv"


def test_json_has_a_row_for_each_rater_with_reasons(three: Path, tmp_path: Path) -> None:
    (tmp_path / "gold.csv").write_text("item,label\n1,x\n", encoding="utf-8")
    value = as_json("raters", three, "--gold", tmp_path / "gold.csv")
    ada, _, cy = value["raters"]
    assert (ada["rater"], ada["n"], ada["gold"]["value"], ada["gold"]["n"]) == ("Ada", 3, 1, 1)
    assert cy["others"]["value"] == pytest.approx(1 / 3)
    assert cy["seconds"] is None
    assert "raters|" in value["signature"]
    [ada, *_] = as_json("raters", three)["raters"]
    assert ada["gold"] == {"value": None, "low": None, "high": None, "reason": "no gold item was judged", "n": 0}
    (tmp_path / "table.csv").write_text("item,label\n1,x\n1,x\n", encoding="utf-8")
    with pytest.raises(GraterError, match="need rater ids"):
        run(tmp_path / "table.csv")


def test_the_most_skilled_come_first_on_a_terminal(tmp_path: Path) -> None:
    made = mixed_crowd()
    write_table(made.judgments, tmp_path / "crowd.csv")
    write_table(made.truth, tmp_path / "truth.csv")
    shown = run(tmp_path / "crowd.csv", "--gold", tmp_path / "truth.csv", "--out", tmp_path / "raters.csv").stdout
    rows = [line.split() for line in shown.splitlines() if line[:1] == "r" and line[1:3].isdigit()]
    skills = [float(row[8]) for row in rows]
    assert len(rows) == 30
    assert skills == sorted(skills, reverse=True)
    assert widest(shown) <= 100
    frame = pl.read_csv(tmp_path / "raters.csv")
    assert len(frame) == 30
    assert {"gold_low", "others_high", "seconds", "top_share"} <= set(frame.columns)
