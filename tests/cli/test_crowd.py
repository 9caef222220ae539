from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from grater.tables import read_gold, read_judgments, write_table
from tests.cli.running import as_json, invoked, widest
from tests.measure.crowd.tables import mixed_crowd
from tests.measure.crowd.test_aggregate import THREE


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    made = mixed_crowd()
    write_table(made.judgments, Path("crowd.parquet"))
    write_table(made.truth, Path("truth.csv"))


def test_answers_accuracy_and_skills_are_shown_with_limits() -> None:
    shown = invoked("aggregate crowd.parquet --true-labels truth.csv").stdout
    for text in ("Answers of 2,100 judgments by dawid-skene", "Skill of 30 raters", "Accuracy .", "Log-likelihood"):
        assert text in shown
    assert widest(shown) <= 80
    assert "did not converge in 2 iterations" in invoked("aggregate crowd.parquet --iterations 2").stderr


def test_gold_is_held_fixed_and_posteriors_are_written_as_a_table() -> None:
    write_table(THREE, Path("three.csv"))
    Path("gold.csv").write_text("item,label\n1,y\n", encoding="utf-8")
    value = as_json("aggregate three.csv --gold gold.csv --method one-coin --iterations 3")
    assert value["gold"] == 1
    assert value["answers"][0]["label"] == "y"
    assert len(value["log_likelihood"]) == value["iterations"] <= 3
    invoked("aggregate three.csv --method glad --out answers.csv")
    frame = pl.read_csv("answers.csv")
    assert frame.columns == ["item", "label", "p:x", "p:y", "tied", "ease"]
    assert frame["label"].to_list() == ["x", "y", "x"]


def test_the_most_skilled_come_first_on_a_terminal() -> None:
    shown = invoked("raters crowd.parquet --gold truth.csv --out raters.csv").stdout
    rows = [line.split() for line in shown.splitlines() if line[:1] == "r" and line[1:3].isdigit()]
    skills = [float(row[8]) for row in rows]
    assert len(rows) == 30
    assert skills == sorted(skills, reverse=True)
    assert widest(shown) <= 100
    frame = pl.read_csv("raters.csv")
    assert len(frame) == 30
    assert {"gold_low", "others_high", "seconds", "top_share"} <= set(frame.columns)


def test_a_crowd_is_written_with_truth_and_skills_and_shown() -> None:
    sizes = "--n-items 40 --n-raters 10 --judgments-per-item 3 --labels a,b,c --spammers 0.2"
    value = as_json(f"lab simulate --out j.csv --true-labels-out t.csv --skills skills.csv {sizes}")
    assert (value["items"], value["raters"], value["judgments"]) == (40, 10, 120)
    assert value["kinds"] == {"skilled": 8, "spammer": 2}
    assert len(read_judgments("j.csv")) == 120
    assert set(read_gold("t.csv").frame["label"]) <= {"a", "b", "c"}
    assert pl.read_csv("skills.csv")["kind"].to_list().count("spammer") == 2
    assert "500 judgments of 100 items" in invoked("lab simulate --out a.csv --lazy 0.5").stdout


def test_the_same_seed_writes_the_same_file() -> None:
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        invoked(f"lab simulate --out {name}.csv --seed {seed}")
    first, second, other = (Path(f"{name}.csv").read_bytes() for name in "abc")
    assert first == second != other
