import json
from functools import partial
from pathlib import Path

import polars as pl
import pytest

from grater.corpora import write_corpus
from grater.errors import GraterError
from grater.model import Essay
from grater.tables import read_sample, write_table
from tests.cli.running import as_json, invoked
from tests.measure.sampling.corpora import decisions_of, oracle

run = partial(invoked, "sample")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    flags = {"A": [place < 100 for place in range(1000)], "B": [30 <= place < 130 for place in range(1000)]}
    write_table(decisions_of(flags, [1 - place / 1000 for place in range(1000)]), tmp_path / "decisions.csv")
    return tmp_path


def test_a_first_sample_has_its_design_next_to_it_and_a_warning_for_few_flags(folder: Path) -> None:
    done = run(folder / "decisions.csv", "--system", "A", "--n", 200, "--flagged", 50, "--out", folder / "sample.csv")
    assert "200 items, 200 still to judge" in done.stderr
    assert "A, flagged: 50 of 100" in done.stderr
    sample = read_sample(folder / "sample.csv")
    assert len(sample) == 200
    assert json.loads((folder / "sample.meta.json").read_text(encoding="utf-8"))["systems"] == ["A"]
    args = (folder / "decisions.csv", "--system", "A", "--n", 60, "--out", folder / "sample.csv")
    assert "warning: A has 12 flags there: below 20 precision is rough" in run(*args, "--flagged", 12).stderr
    assert "warning" not in run(*args, "--flagged", 20).stderr


def test_strata_come_from_rates_scores_or_a_cheap_rater(folder: Path) -> None:
    of_a = ("--system", "A", "--n", 100, "--allocation", "neyman")
    args = (folder / "decisions.csv", *of_a, "--out", folder / "s.csv")
    for rates in (("--rate", "flagged=.8", "--rate", "unflagged=.1"), ("--rate", "score")):
        assert as_json("sample", *args, *rates)
    scored = as_json("sample", *args, "--rate", "score", "--strata", "score:4")
    assert len(scored["draws"][0]["by_stratum"]) == 4
    write_table(oracle([place % 3 == 0 for place in range(1000)]), folder / "cheap.csv")
    args = ("--strata", "label", "--stratum-labels", folder / "cheap.csv", "--out", folder / "sample.csv")
    done = run(folder / "decisions.csv", "--system", "A", "--n", 80, *args).stderr
    assert "A, unflagged error: " in done


def test_a_worksheet_is_written_filled_and_estimated_from(tmp_path: Path) -> None:
    lines = [f"We met of Monday and spoke in June. Number {place}." for place in range(60)]
    corpus = tmp_path / "essays.jsonl"
    write_corpus([Essay(f"e{n}", line) for n, line in enumerate(lines)], corpus, print)
    places = [(f"e{n}", start, start + 2) for n in range(60) for start in (7, 27)]
    items = [
        {"item": f"i{n:03}", "essay": e, "start": s, "end": t, "kind": "prep"} for n, (e, s, t) in enumerate(places)
    ]
    frame = pl.DataFrame(items).with_columns(system=pl.lit("S"), flagged=pl.col("start") == 7)
    write_table(frame, tmp_path / "decisions.csv")
    args = ("--system", "S", "--n", 60, "--essays", corpus, "--out", tmp_path / "sample.csv")
    for name in ("sheet.csv", "sheet.xlsx"):
        done = run(tmp_path / "decisions.csv", *args, "--worksheet", tmp_path / name).stderr
        assert f"{name}: 60 items to judge" in done.replace("\n", "")
    sheet = pl.read_csv(tmp_path / "sheet.csv", infer_schema=False)
    assert sheet.filter(~pl.col("item").str.starts_with("#"))["sentence"].str.contains(r"\[\[(of|in)\]\]").all()
    is_wrong = pl.col("sentence").str.contains("[[of]]", literal=True)
    answered = sheet.with_columns(label=pl.when(is_wrong).then(pl.lit("error")).otherwise(pl.lit("ok")))
    answered.write_csv(tmp_path / "Ada.csv")
    paths = {"decisions": "decisions.csv", "sample": "sample.csv", "judgments": "Ada.csv"}
    paths_given = [part for key, name in paths.items() for part in (f"--{key}", tmp_path / name)]
    (system,) = as_json("evaluate", *paths_given)["systems"]
    assert (system["precision"]["value"], system["recall"]["value"]) == (1, 1)
    with pytest.raises(GraterError, match="expected different files"):
        run(tmp_path / "decisions.csv", *args, "--worksheet", tmp_path / "sample.csv")
    before = (tmp_path / "sample.csv").read_bytes()
    with pytest.raises(GraterError, match="has answers already"):
        run(tmp_path / "decisions.csv", *args, "--seed", 3, "--worksheet", tmp_path / "Ada.csv")
    assert (tmp_path / "sample.csv").read_bytes() == before


planned = partial(invoked, "plan")
as_plan = partial(as_json, "plan")


def test_raters_per_item_multiply_the_hours() -> None:
    one, five = (as_plan("--recall", 0.4, "--raters-per-item", n)["plans"] for n in (1, 5))
    assert [row["hours"] for row in five] == pytest.approx([5 * row["hours"] for row in one])


def test_strata_of_the_score_are_a_row_of_their_own(tmp_path: Path) -> None:
    scores = [(n % 1000) ** 3 / 1e9 for n in range(4000)]
    rows = [f"i{n},S,{int(score > 0.7)},{score}" for n, score in enumerate(scores)]
    (tmp_path / "d.csv").write_text("\n".join(["item,system,flagged,score", *rows]) + "\n")
    value = as_plan("--decisions", tmp_path / "d.csv")
    plans = {row["method"]: row for row in value["plans"]}
    assert plans["ours, 10 strata"]["items"] <= 1.01 * plans["ours"]["items"] < plans["sampling"]["items"]
    assert value["expected"]["items"] == 4000
    assert value["expected"]["assumed"] == ["error rates from scores"]
    assert "assumed to be probabilities" in value["warnings"][0]
    with pytest.raises(GraterError, match="found both"):
        planned("--decisions", tmp_path / "d.csv", "--corpus-size", 500)


def test_scores_that_are_no_probabilities_need_a_guess(tmp_path: Path) -> None:
    rows = [f"i{n},S,{int(n % 10 == 0)},{n % 10 - 12}" for n in range(4000)]
    (tmp_path / "d.csv").write_text("\n".join(["item,system,flagged,score", *rows]) + "\n")
    with pytest.raises(GraterError, match="give precision and missed, or a rate for flagged"):
        planned("--decisions", tmp_path / "d.csv")
    with pytest.raises(GraterError, match="expected one of rates, missed and recall"):
        planned("--decisions", tmp_path / "d.csv", "--recall", 0.4, "--missed", 0.1)
    # a tenth is flagged, .8 of that are errors: recall .4 leaves .08 / .4 - .08 = .12 of the corpus missed
    guesses = [("--recall", 0.4), ("--missed", 0.12 / 0.9), ("--rate", "flagged=.8", "--rate", "unflagged=.133333")]
    plans = [as_plan("--decisions", tmp_path / "d.csv", *each)["plans"] for each in guesses]
    first, second, third = ([row["items"] for row in rows[1:]] for rows in plans)
    assert first == second == third


def test_a_cheap_judge_saves_judgments() -> None:
    value = as_plan("--recall", 0.4, "--judge-skill", "0.8,0.95")
    plans = {row["method"]: row for row in value["plans"]}
    assert plans["ours, with a cheap judge"]["items"] < plans["ours"]["items"]
    useless = as_plan("--recall", 0.4, "--judge-skill", "0.5,0.5")["plans"]
    assert useless[-1]["items"] == plans["ours"]["items"]


def test_one_more_system_lists_only_what_is_still_to_judge(folder: Path) -> None:
    decisions, out = folder / "decisions.csv", folder / "sample.csv"
    run(decisions, "--system", "A", "--n", 200, "--flagged", 50, "--out", out)
    before = set(read_sample(out).frame["item"])
    args = ("--system", "B", "--add-to", out)
    value = as_json("sample", decisions, *args, "--out", folder / "both.csv", "--to-judge", folder / "new.csv")
    assert len(value["draws"]) == 2
    assert not before & set(value["to_judge"])
    assert value["items"] == len(before) + len(value["to_judge"])
    assert pl.read_csv(folder / "new.csv")["item"].to_list() == value["to_judge"]
