"""`grater lab cloze --system`, `lab choice --system` and `job new --design choice`: T&C 2008, section 4."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import polars as pl
import pytest

from grater.corpora import read_corpus
from grater.detect.decisions import best_word, filled, is_mismatch, written_word
from grater.detect.detector import Finding
from grater.detect.prepositions.engines import linear_from_file
from tests.annotate.study.files import write_essays
from tests.cli.running import Capture, grater


@pytest.fixture(scope="module")
def folder(tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three essays, a system of one small model, and what Ann filled into every blank: always *at*."""
    path = tmp_path_factory.mktemp("words")
    write_essays(path)
    shutil.copy(tiny_model, path)
    rows = [(place.item.item_id, "Ann", "at") for place in places(path)]
    pl.DataFrame(rows, schema=["item", "rater", "label"], orient="row").write_csv(path / "cloze.csv")
    return path


def places(folder: Path) -> list[Finding]:
    essays = list(read_corpus(folder / "essays.jsonl"))
    return list(filled(linear_from_file(folder / "tiny.model"), essays).findings)


def of_system(folder: Path) -> tuple[object, ...]:
    return "--system", folder / "tiny.model", "--essays", folder / "essays.jsonl"


def test_a_system_fills_the_blanks_that_people_filled(folder: Path, capsys: Capture) -> None:
    ran = grater(capsys, "lab", "cloze", folder / "cloze.csv", *of_system(folder), "--json")
    assert ran.status == 0, ran.err
    pairs = {tuple(pair["pair"]): pair for pair in json.loads(ran.out)["pairs"]}
    blanks = places(folder)
    agreed = sum(best_word(place) == written_word(place) for place in blanks) / len(blanks)
    assert pairs["writer", "tiny"]["n"] == len(blanks)
    assert pairs["writer", "tiny"]["agreement"]["value"] == pytest.approx(agreed)
    of_ann = sum(written_word(place) == "at" for place in blanks) / len(blanks)
    assert pairs["writer", "Ann"]["agreement"]["value"] == pytest.approx(of_ann)


def test_a_system_lists_the_places_of_a_choice_test_and_its_accuracy_is_corrected(
    folder: Path, capsys: Capture
) -> None:
    out = folder / "mismatches.csv"
    assert grater(capsys, "lab", "choice", *of_system(folder), "--answers-out", out).status == 0
    listed = pl.read_csv(out)
    assert len(listed) == sum(is_mismatch(place) for place in places(folder))
    assert (listed["suggestion"] != listed["target"]).all()
    chosen = folder / "choice.csv"
    chosen.write_text("item,rater,label\na,R1,system\nb,R1,writer\nc,R1,writer\nd,R1,equally good\n", "utf-8")
    result = json.loads(grater(capsys, "lab", "choice", chosen, *of_system(folder), "--json").out)
    blanks = places(folder)
    accuracy = 1 - sum(is_mismatch(place) for place in blanks) / len(blanks)
    assert result["accuracy"]["value"] == pytest.approx(accuracy)
    assert result["corrected"]["R1"]["value"] == pytest.approx(accuracy + 0.5 * (1 - accuracy))  # T&C 2008, 4.2


def test_without_judgments_and_without_a_file_there_is_nothing_to_do(folder: Path, capsys: Capture) -> None:
    ran = grater(capsys, "lab", "cloze", *of_system(folder))
    assert (ran.status, ran.out) == (2, "")
    assert "--answers-out" in ran.err
    ran = grater(capsys, "lab", "cloze", folder / "cloze.csv", "--system", folder / "tiny.model")
    assert (ran.status, ran.err.count("\n")) == (2, 1)
    assert "expected --essays with --system" in ran.err


def test_the_design_choice_asks_where_the_best_word_differs_and_a_sample_without_a_size_has_the_papers(
    folder: Path, capsys: Capture
) -> None:
    study = folder / "study.db"
    grater(capsys, "study", "new", study)
    grater(capsys, "study", "import", study, folder / "essays.jsonl")
    assert grater(capsys, "study", "decide", study, "--system", folder / "tiny.model").status == 0
    made = json.loads(grater(capsys, "job", "new", study, "--design", "choice", "--json").out)
    blanks = places(folder)
    n_mismatches = sum(is_mismatch(place) for place in blanks)
    n_flagged = sum(place.decision.flagged for place in blanks)
    assert n_flagged < n_mismatches < len(blanks)
    assert made["units"] == n_mismatches
    assert made["not_filled"] == [f"units: {n_mismatches} instead of 200"]  # the paper has 200
    made = json.loads(grater(capsys, "job", "new", study, "--design", "sampling", "--json").out)
    assert made["not_filled"] == [f"units: {made['units']} instead of 750"]  # T&C 2008, 6.2
