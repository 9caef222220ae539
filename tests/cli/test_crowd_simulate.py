import json
from functools import partial
from pathlib import Path

import polars as pl

from grater.tables import read_gold, read_judgments
from tests.cli.running import invoked

run = partial(invoked, "lab simulate")


def test_a_crowd_is_written_with_truth_and_skills_and_shown(tmp_path: Path) -> None:
    out, truth, skills = (tmp_path / f"{name}.csv" for name in ("judgments", "truth", "skills"))
    sizes = ["--n-items", 40, "--n-raters", 10, "--judgments-per-item", 3, "--labels", "a,b,c", "--spammers", 0.2]
    result = run(*sizes, "--out", out, "--true-labels-out", truth, "--skills", skills, "--json")
    value = json.loads(result.stdout)
    assert (value["items"], value["raters"], value["judgments"]) == (40, 10, 120)
    assert value["kinds"] == {"skilled": 8, "spammer": 2}
    assert len(read_judgments(out)) == 120
    assert set(read_gold(truth).frame["label"]) <= {"a", "b", "c"}
    assert pl.read_csv(skills)["kind"].to_list().count("spammer") == 2
    result = run("--out", tmp_path / "a.csv", "--lazy", 0.5)
    assert "500 judgments of 100 items" in result.stdout


def test_the_same_seed_writes_the_same_file(tmp_path: Path) -> None:
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        run("--out", tmp_path / f"{name}.csv", "--seed", seed)
    first, second, other = ((tmp_path / f"{name}.csv").read_bytes() for name in "abc")
    assert first == second != other
