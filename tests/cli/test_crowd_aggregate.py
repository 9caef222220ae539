from functools import partial
from pathlib import Path

import polars as pl
import pytest

from grater.errors import GraterError
from grater.tables import write_table
from tests.cli.running import as_json, invoked, widest
from tests.measure.crowd.tables import mixed_crowd
from tests.measure.crowd.test_aggregate import THREE

run = partial(invoked, "aggregate")
found = partial(as_json, "aggregate")


@pytest.fixture
def three(tmp_path: Path) -> Path:
    write_table(THREE, tmp_path / "three.csv")
    return tmp_path / "three.csv"


@pytest.fixture
def crowd(tmp_path: Path) -> tuple[Path, Path]:
    made = mixed_crowd()
    write_table(made.judgments, tmp_path / "crowd.parquet")
    write_table(made.truth, tmp_path / "truth.csv")
    return tmp_path / "crowd.parquet", tmp_path / "truth.csv"


def test_answers_accuracy_and_skills_are_shown_with_limits(crowd: tuple[Path, Path]) -> None:
    shown = run(crowd[0], "--true-labels", crowd[1]).stdout
    for text in ("Answers of 2,100 judgments by dawid-skene", "Skill of 30 raters", "Accuracy .", "Log-likelihood"):
        assert text in shown
    assert widest(shown) <= 80
    assert "did not converge in 2 iterations" in run(crowd[0], "--iterations", 2).stderr


def test_gold_is_held_fixed_and_posteriors_are_written_as_a_table(three: Path, tmp_path: Path) -> None:
    known = tmp_path / "gold.csv"
    known.write_text("item,label\n1,y\n", encoding="utf-8")
    value = found(three, "--gold", known, "--method", "one-coin", "--iterations", 3)
    assert value["gold"] == 1
    assert value["answers"][0]["label"] == "y"
    assert len(value["log_likelihood"]) == value["iterations"] <= 3
    run(three, "--method", "glad", "--out", tmp_path / "answers.csv")
    frame = pl.read_csv(tmp_path / "answers.csv")
    assert frame.columns == ["item", "label", "p:x", "p:y", "tied", "ease"]
    assert frame["label"].to_list() == ["x", "y", "x"]


def test_unknown_raters_have_no_skills(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text("item,label\n1,x\n1,x\n1,y\n", encoding="utf-8")
    assert "raters" not in found(tmp_path / "table.csv", "--method", "majority")
    with pytest.raises(GraterError, match="answers by mace need rater ids"):
        run(tmp_path / "table.csv", "--method", "mace")
