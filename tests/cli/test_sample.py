import json
from pathlib import Path

import polars as pl
import pytest

from grater.corpora import write_corpus
from grater.model import Essay
from grater.tables import read_sample, write_table
from tests.cli.running import as_json, invoked, refused
from tests.measure.sampling.corpora import decisions_of, oracle


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def decisions() -> None:
    flags = {"A": [place < 100 for place in range(1000)], "B": [30 <= place < 130 for place in range(1000)]}
    write_table(decisions_of(flags, [1 - place / 1000 for place in range(1000)]), Path("d.csv"))


@pytest.mark.usefixtures("decisions")
def test_a_first_sample_has_its_design_next_to_it_and_a_warning_for_few_flags() -> None:
    said = invoked("sample d.csv --system A --n 200 --flagged 50 --out sample.csv").stderr
    assert "200 items, 200 still to judge" in said
    assert "A, flagged: 50 of 100" in said
    drawn = set(read_sample("sample.csv").frame["item"])
    assert len(drawn) == 200
    assert json.loads(Path("sample.meta.json").read_text(encoding="utf-8"))["systems"] == ["A"]
    value = as_json("sample d.csv --system B --add-to sample.csv --out both.csv --to-judge new.csv")
    assert len(value["draws"]) == 2
    assert not drawn & set(value["to_judge"]), "one more system lists only what is still to judge"
    assert value["items"] == len(drawn) + len(value["to_judge"])
    assert pl.read_csv("new.csv")["item"].to_list() == value["to_judge"]
    few = "sample d.csv --system A --n 60 --out few.csv --flagged"
    assert "warning: A has 12 flags there: below 20 precision is rough" in invoked(few, 12).stderr
    assert "warning" not in invoked(few, 20).stderr


@pytest.mark.usefixtures("decisions")
def test_strata_come_from_rates_scores_or_a_cheap_rater() -> None:
    command = "sample d.csv --system A --n 100 --allocation neyman --out s.csv"
    for rates in ("--rate flagged=.8 --rate unflagged=.1", "--rate score"):
        assert as_json(f"{command} {rates}")
    scored = as_json(f"{command} --rate score --strata score:4")
    assert len(scored["draws"][0]["by_stratum"]) == 4
    write_table(oracle([place % 3 == 0 for place in range(1000)]), Path("cheap.csv"))
    by_label = invoked("sample d.csv --system A --n 80 --strata label --stratum-labels cheap.csv --out sample.csv")
    assert "A, unflagged error: " in by_label.stderr


def test_a_worksheet_is_written_filled_and_estimated_from() -> None:
    lines = [f"We met of Monday and spoke in June. Number {place}." for place in range(60)]
    write_corpus([Essay(f"e{n}", line) for n, line in enumerate(lines)], Path("essays.jsonl"), print)
    places = [(f"e{n}", start, start + 2) for n in range(60) for start in (7, 27)]
    items = [
        {"item": f"i{n:03}", "essay": e, "start": s, "end": t, "kind": "prep"} for n, (e, s, t) in enumerate(places)
    ]
    frame = pl.DataFrame(items).with_columns(system=pl.lit("S"), flagged=pl.col("start") == 7)
    write_table(frame, Path("d.csv"))
    command = "sample d.csv --system S --n 60 --essays essays.jsonl --out sample.csv --worksheet"
    for name in ("sheet.csv", "sheet.xlsx"):
        assert f"{name}: 60 items to judge" in invoked(command, name).stderr
    sheet = pl.read_csv("sheet.csv", infer_schema=False)
    assert sheet.filter(~pl.col("item").str.starts_with("#"))["sentence"].str.contains(r"\[\[(of|in)\]\]").all()
    is_wrong = pl.col("sentence").str.contains("[[of]]", literal=True)
    answered = sheet.with_columns(label=pl.when(is_wrong).then(pl.lit("error")).otherwise(pl.lit("ok")))
    answered.write_csv("Ada.csv")
    (system,) = as_json("evaluate --decisions d.csv --sample sample.csv --judgments Ada.csv")["systems"]
    assert (system["precision"]["value"], system["recall"]["value"]) == (1, 1)
    assert "expected different files" in refused(command, "sample.csv")
    before = Path("sample.csv").read_bytes()
    assert "has answers already" in refused(command, "Ada.csv", "--seed", 3)
    assert Path("sample.csv").read_bytes() == before


def test_raters_per_item_multiply_the_hours_and_a_cheap_judge_saves_judgments() -> None:
    one, five = (as_json("plan --recall 0.4 --raters-per-item", n)["plans"] for n in (1, 5))
    assert [row["hours"] for row in five] == pytest.approx([5 * row["hours"] for row in one])
    plans = {row["method"]: row for row in as_json("plan --recall 0.4 --judge-skill 0.8,0.95")["plans"]}
    assert plans["ours, with a cheap judge"]["items"] < plans["ours"]["items"]
    useless = as_json("plan --recall 0.4 --judge-skill 0.5,0.5")["plans"]
    assert useless[-1]["items"] == plans["ours"]["items"]


def test_strata_of_the_score_are_a_row_of_their_own() -> None:
    scores = [(n % 1000) ** 3 / 1e9 for n in range(4000)]
    rows = [f"i{n},S,{int(score > 0.7)},{score}" for n, score in enumerate(scores)]
    Path("d.csv").write_text("\n".join(["item,system,flagged,score", *rows]) + "\n")
    value = as_json("plan --decisions d.csv")
    plans = {row["method"]: row for row in value["plans"]}
    assert plans["ours, 10 strata"]["items"] <= 1.01 * plans["ours"]["items"] < plans["sampling"]["items"]
    assert value["expected"]["items"] == 4000
    assert value["expected"]["assumed"] == ["error rates from scores"]
    assert "assumed to be probabilities" in value["warnings"][0]
    assert "found both" in refused("plan --decisions d.csv --corpus-size 500")


def test_scores_that_are_no_probabilities_need_a_guess() -> None:
    rows = [f"i{n},S,{int(n % 10 == 0)},{n % 10 - 12}" for n in range(4000)]
    Path("d.csv").write_text("\n".join(["item,system,flagged,score", *rows]) + "\n")
    command = "plan --decisions d.csv"
    assert "give precision and missed, or a rate for flagged" in refused(command)
    assert "expected one of rates, missed and recall" in refused(command, "--recall", 0.4, "--missed", 0.1)
    # a tenth is flagged, .8 of that are errors: recall .4 leaves .08 / .4 - .08 = .12 of the corpus missed
    guesses = [("--recall", 0.4), ("--missed", 0.12 / 0.9), ("--rate", "flagged=.8", "--rate", "unflagged=.133333")]
    plans = [as_json(command, *each)["plans"] for each in guesses]
    first, second, third = ([row["items"] for row in rows[1:]] for rows in plans)
    assert first == second == third
