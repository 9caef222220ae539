from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from tests.cli.running import Capture, grater

M2 = """S The girl waited on the bus .
A 3 4|||Prep|||for|||REQUIRED|||-NONE-|||0

S The boy listened the music .
A 3 3|||Prep|||to|||REQUIRED|||-NONE-|||0
"""


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    (tmp_path / "essays.m2").write_text(M2, encoding="utf-8")
    return tmp_path / "essays.m2"


def test_decisions_are_rows_or_a_table_of_items_and_meet_annotations_in_judgments(
    capsys: Capture, tmp_path: Path, corpus: Path, tiny_model: Path
) -> None:
    ran = grater(capsys, "decide", corpus, "--system", tiny_model, "--out", tmp_path / "d.csv")
    assert ran.status == 0
    frame = pl.read_csv(tmp_path / "d.csv")
    assert frame.columns[:6] == ["item", "system", "flagged", "score", "type", "suggestion"]
    flagged = frame.filter(pl.col("flagged"))
    assert flagged["suggestion"].to_list() == ["for", "to"]
    assert flagged["type"].to_list() == ["choice", "missing"]
    assert set(frame["system"]) == {"tiny"}
    out, items = tmp_path / "d.parquet", tmp_path / "items.jsonl"
    ran = grater(capsys, "decide", corpus, "--system", tiny_model, "--out", out, "--items-out", items, "--json")
    assert json.loads(ran.out)["systems"][0]["flagged"] == 2
    decided, places = pl.read_parquet(out), pl.read_ndjson(items)
    assert "essay" not in decided.columns
    assert set(places["item"]) == set(decided["item"])
    assert "on" in places["target"].to_list()
    assert "The girl waited on the bus ." in places["context"].to_list()
    # The walk of the house: corpus, decisions, judgments, evaluation.
    decisions, judgments = tmp_path / "d.csv", tmp_path / "j.csv"
    grater(capsys, "decide", corpus, "--system", tiny_model, "--out", decisions)
    ran = grater(
        capsys, "corpus", "judgments", corpus, "--decisions", decisions, "--tags", "Prep", "--out", judgments
    )
    assert ran.status == 0
    ran = grater(capsys, "evaluate", "--decisions", decisions, "--judgments", judgments, "--json")
    (system,) = json.loads(ran.out)["systems"]
    assert system["counts"]["hit"] == 2
    assert system["counts"]["false_alarm"] == 0
    assert system["counts"]["miss"] == 0


def test_documents_go_with_decisions_into_judgments(
    capsys: Capture, tmp_path: Path, corpus: Path, tiny_model: Path
) -> None:
    decisions, judgments = tmp_path / "d.csv", tmp_path / "j.csv"
    tables = ("--decisions", decisions, "--tags", "Prep", "--out", judgments)
    evaluated = ("evaluate", "--decisions", decisions, "--judgments", judgments)
    ran = grater(capsys, "decide", corpus, "--system", tiny_model, "--out", decisions)
    assert "does not name the documents of its sentences; pass --documents FILE" in ran.err
    assert grater(capsys, "corpus", "judgments", corpus, *tables).status == 0
    for command in (evaluated, ("agree", judgments), ("agree", judgments, "--units", "essay")):
        shown = " ".join(grater(capsys, *command).out.split())
        known = command[-1] == "essay"
        assert f"to other {'essays' if known else 'sentences'} like these 2" in shown
        assert ("sentences taken as independent: their documents are not known" in shown) is not known
    (tmp_path / "docs.txt").write_text("first\nsecond\n")
    args = ("--system", tiny_model, "--documents", tmp_path / "docs.txt", "--out", decisions)
    assert grater(capsys, "decide", corpus, *args).status == 0
    assert set(pl.read_csv(decisions)["document"]) == {"first", "second"}
    assert grater(capsys, "corpus", "judgments", corpus, *tables).status == 0
    assert "to other essays like these 2" in grater(capsys, *evaluated).out
    judged = pl.read_csv(judgments)
    assert set(judged["document"]) == {"first", "second"}
    assert judged["essay"].n_unique() == 2


def test_a_corpus_without_places_is_reported_and_stays(
    capsys: Capture, corpus: Path, tiny_model: Path, tmp_path: Path
) -> None:
    ran = grater(capsys, "decide", corpus, "--system", tiny_model, "--out", corpus)
    assert ran.status == 2
    assert corpus.read_text(encoding="utf-8") == M2
    (tmp_path / "empty.m2").touch()
    ran = grater(capsys, "decide", tmp_path / "empty.m2", "--system", tiny_model, "--out", tmp_path / "d.csv")
    assert ran.status == 0
    assert "d.csv: no decisions: " in ran.err


def test_files_of_a_folder_that_are_not_read_are_named(capsys: Capture, tmp_path: Path, tiny_model: Path) -> None:
    folder = tmp_path / "essays"
    folder.mkdir()
    (folder / "a.txt").write_text("The girl waited on the bus.\n")
    (folder / "b.odt").write_bytes(b"PK")
    message = f"{folder}: left out 1 file of another format than text: b.odt\n"
    for args in (
        ("decide", folder, "--system", tiny_model, "--out", tmp_path / "d.csv"),
        ("corpus", "stats", folder),
        ("corpus", "convert", folder, tmp_path / "c.jsonl"),
    ):
        ran = grater(capsys, *args)
        assert ran.status == 0
        assert message in ran.err


def test_with_all_every_place_has_the_systems_best_word_and_its_answers(
    capsys: Capture, tmp_path: Path, corpus: Path, tiny_model: Path
) -> None:
    assert grater(capsys, "decide", corpus, "--system", tiny_model, "--all", "--out", tmp_path / "d.csv").status == 0
    frame = pl.read_csv(tmp_path / "d.csv")
    assert frame["best"].null_count() == 0
    for best, probability, cell in frame.select("best", "probability", "answers").iter_rows():
        answers = json.loads(cell)
        assert (next(iter(answers)), answers[best]) == (best, probability)
    unflagged = frame.filter(~pl.col("flagged"))
    assert unflagged["suggestion"].null_count() == len(unflagged), "a suggestion is still for flags alone"


def test_all_systems_are_named(capsys: Capture) -> None:
    ran = grater(capsys, "systems", "--json")
    assert ran.status == 0
    names = [each["system"] for each in json.loads(ran.out)["systems"]]
    assert {"prep-maxent", "prep-perceptron", "prep-lm"} <= set(names)


def test_a_file_that_is_no_model_is_refused_with_the_reason(capsys: Capture, tmp_path: Path) -> None:
    (tmp_path / "odd.model").write_bytes(b"nothing of the kind")
    ran = grater(capsys, "systems", tmp_path / "odd.model")
    assert ran.status == 2
    assert "expected a model file of grater" in ran.err
