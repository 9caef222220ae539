from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import polars as pl
import pytest

from grater.tables import read_gold, read_judgments, write_table
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


raters = partial(invoked, "raters")


def test_the_most_skilled_come_first_on_a_terminal(tmp_path: Path) -> None:
    made = mixed_crowd()
    write_table(made.judgments, tmp_path / "crowd.csv")
    write_table(made.truth, tmp_path / "truth.csv")
    shown = raters(tmp_path / "crowd.csv", "--gold", tmp_path / "truth.csv", "--out", tmp_path / "raters.csv").stdout
    rows = [line.split() for line in shown.splitlines() if line[:1] == "r" and line[1:3].isdigit()]
    skills = [float(row[8]) for row in rows]
    assert len(rows) == 30
    assert skills == sorted(skills, reverse=True)
    assert widest(shown) <= 100
    frame = pl.read_csv(tmp_path / "raters.csv")
    assert len(frame) == 30
    assert {"gold_low", "others_high", "seconds", "top_share"} <= set(frame.columns)


simulated = partial(invoked, "lab simulate")


def test_a_crowd_is_written_with_truth_and_skills_and_shown(tmp_path: Path) -> None:
    out, truth, skills = (tmp_path / f"{name}.csv" for name in ("judgments", "truth", "skills"))
    sizes = ["--n-items", 40, "--n-raters", 10, "--judgments-per-item", 3, "--labels", "a,b,c", "--spammers", 0.2]
    result = simulated(*sizes, "--out", out, "--true-labels-out", truth, "--skills", skills, "--json")
    value = json.loads(result.stdout)
    assert (value["items"], value["raters"], value["judgments"]) == (40, 10, 120)
    assert value["kinds"] == {"skilled": 8, "spammer": 2}
    assert len(read_judgments(out)) == 120
    assert set(read_gold(truth).frame["label"]) <= {"a", "b", "c"}
    assert pl.read_csv(skills)["kind"].to_list().count("spammer") == 2
    result = simulated("--out", tmp_path / "a.csv", "--lazy", 0.5)
    assert "500 judgments of 100 items" in result.stdout


def test_the_same_seed_writes_the_same_file(tmp_path: Path) -> None:
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        simulated("--out", tmp_path / f"{name}.csv", "--seed", seed)
    first, second, other = ((tmp_path / f"{name}.csv").read_bytes() for name in "abc")
    assert first == second != other
