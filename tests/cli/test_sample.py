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
