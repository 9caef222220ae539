from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from tests.cli.running import Capture, as_json, grater, invoked, refused

M2 = """S The girl waited on the bus .
A 3 4|||Prep|||for|||REQUIRED|||-NONE-|||0

S The boy listened the music .
A 3 3|||Prep|||to|||REQUIRED|||-NONE-|||0
"""


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tiny_model: Path) -> None:
    monkeypatch.chdir(tmp_path)
    Path("tiny.model").symlink_to(tiny_model)
    Path("essays.m2").write_text(M2, encoding="utf-8")


DECIDE = "decide essays.m2 --system tiny.model"
JUDGE = "corpus judgments essays.m2 --decisions d.csv --tags Prep --out j.csv"
EVALUATE = "evaluate --decisions d.csv --judgments j.csv"


def test_decisions_are_rows_or_a_table_of_items_and_meet_annotations_in_judgments() -> None:
    result = as_json(f"{DECIDE} --out d.parquet --items-out items.jsonl")
    assert result["systems"][0]["flagged"] == 2
    decided, places = pl.read_parquet("d.parquet"), pl.read_ndjson("items.jsonl")
    assert "essay" not in decided.columns
    assert set(places["item"]) == set(decided["item"])
    assert "on" in places["target"].to_list()
    assert "The girl waited on the bus ." in places["context"].to_list()
    # The walk of the house: corpus, decisions, judgments, evaluation.
    invoked(f"{DECIDE} --out d.csv")
    frame = pl.read_csv("d.csv")
    assert frame.columns[:6] == ["item", "system", "flagged", "score", "type", "suggestion"]
    flagged = frame.filter(pl.col("flagged"))
    assert flagged["suggestion"].to_list() == ["for", "to"]
    assert flagged["type"].to_list() == ["choice", "missing"]
    assert set(frame["system"]) == {"tiny"}
    invoked(JUDGE)
    (system,) = as_json(EVALUATE)["systems"]
    assert [system["counts"][cell] for cell in ("hit", "false_alarm", "miss")] == [2, 0, 0]


def test_documents_go_with_decisions_into_judgments() -> None:
    said = invoked(f"{DECIDE} --out d.csv").stderr
    assert "does not name the documents of its sentences; pass --documents FILE" in said
    invoked(JUDGE)
    for command in (EVALUATE, "agree j.csv", "agree j.csv --units essay"):
        shown = " ".join(invoked(command).stdout.split())
        known = command.endswith("essay")
        assert f"to other {'essays' if known else 'sentences'} like these 2" in shown
        assert ("sentences taken as independent: their documents are not known" in shown) is not known
    Path("docs.txt").write_text("first\nsecond\n")
    invoked(f"{DECIDE} --documents docs.txt --out d.csv")
    assert set(pl.read_csv("d.csv")["document"]) == {"first", "second"}
    invoked(JUDGE)
    assert "to other essays like these 2" in invoked(EVALUATE).stdout
    judged = pl.read_csv("j.csv")
    assert set(judged["document"]) == {"first", "second"}
    assert judged["essay"].n_unique() == 2


def test_a_corpus_without_places_is_reported_and_stays() -> None:
    refused(f"{DECIDE} --out essays.m2")
    assert Path("essays.m2").read_text(encoding="utf-8") == M2
    Path("empty.m2").touch()
    assert "d.csv: no decisions: " in invoked("decide empty.m2 --system tiny.model --out d.csv").stderr


def test_files_of_a_folder_that_are_not_read_are_named(capsys: Capture) -> None:
    Path("essays").mkdir()
    Path("essays/a.txt").write_text("The girl waited on the bus.\n")
    Path("essays/b.odt").write_bytes(b"PK")
    for command in (
        "decide essays --system tiny.model --out d.csv",
        "corpus stats essays",
        "corpus convert essays c.jsonl",
    ):
        said = grater(capsys, *command.split()).err
        assert "essays: left out 1 file of another format than text: b.odt\n" in said


def test_with_all_every_place_has_the_systems_best_word_and_its_answers() -> None:
    invoked(f"{DECIDE} --all --out d.csv")
    frame = pl.read_csv("d.csv")
    assert frame["best"].null_count() == 0
    for best, probability, cell in frame.select("best", "probability", "answers").iter_rows():
        answers = json.loads(cell)
        assert (next(iter(answers)), answers[best]) == (best, probability)
    unflagged = frame.filter(~pl.col("flagged"))
    assert unflagged["suggestion"].null_count() == len(unflagged), "a suggestion is still for flags alone"


def test_all_systems_are_named_and_a_file_that_is_no_model_is_refused_with_the_reason() -> None:
    names = [each["system"] for each in as_json("systems")["systems"]]
    assert {"prep-maxent", "prep-perceptron", "prep-lm"} <= set(names)
    Path("odd.model").write_bytes(b"nothing of the kind")
    assert "expected a model file of grater" in refused("systems odd.model")
