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
from tests.cli.running import Capture, grater, widest
from tests.detect.prepositions.native_text import native_lines


@pytest.fixture
def judgments(tmp_path: Path) -> Path:
    """T&C 2008, 4.2: on 200 mismatches both raters find the system's word equal or better in 28 %."""
    rows = []
    for n in range(200):
        labels = ("system", "equally good") if n < 56 else ("writer", "system") if n < 70 else ("writer", "writer")
        rows += [f"m{n},{rater},{label}" for rater, label in zip(("ann", "bob"), labels, strict=True)]
    path = tmp_path / "choice.csv"
    path.write_text("\n".join(["item,rater,label", *rows]) + "\n")
    return path


def test_the_corrected_accuracy_of_the_paper_or_shares_alone(judgments: Path, capsys: Capture) -> None:
    # .75 + .28 (1 - .75) = .82, statistics.md
    value = json.loads(grater(capsys, "lab", "choice", judgments, "--accuracy", 0.75, "--n-items", 200, "--json").out)
    assert value["all_raters"]["value"] == pytest.approx(0.28)
    assert value["by_rater"]["bob"]["value"] == pytest.approx(0.35)
    corrected = value["corrected"]["all_raters"]
    assert (corrected["value"], corrected["low"], corrected["high"]) == pytest.approx((0.82, 0.77, 0.86), abs=5e-3)
    assert value["signature"].startswith("choice|")
    ran = grater(capsys, "lab", "choice", judgments)
    assert "all raters: every rater of an item finds the system's word equal or better" in ran.out
    assert "corrected" not in ran.out
    assert widest(ran.out) <= 80


def test_the_accuracy_can_be_worked_out_from_words(judgments: Path, tmp_path: Path, capsys: Capture) -> None:
    decisions, words = tmp_path / "d.csv", tmp_path / "w.csv"
    decisions.write_text("item,system,flagged,suggestion\na,S,0,on\nb,S,0,in\nc,S,0,at\nd,S,0,of\nz,S,0,by\n")
    words.write_text("item,label\na,On\nb,in\nc,in|at\nd,for\n")
    ran = grater(capsys, "lab", "choice", judgments, "--decisions", decisions, "--words", words, "--json")
    assert json.loads(ran.out)["accuracy"]["value"] == pytest.approx(3 / 4)


# five blanks, four times: ann is with the writer on three of five, bob on four, the system on three
WORDS = {"writer": "on in of to in ", "ann": "on in for to at ", "bob": "On at of to in "}
SYSTEM = "on in for to at " * 4


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    rows = [f"b{n},{rater},{word}" for rater, words in WORDS.items() for n, word in enumerate((words * 4).split())]
    judgments, decisions = tmp_path / "cloze.csv", tmp_path / "d.csv"
    judgments.write_text("\n".join(["item,rater,label", *rows]) + "\n")
    filled = [f"b{n},sys,0,{word}" for n, word in enumerate(SYSTEM.split())]
    decisions.write_text("\n".join(["item,system,flagged,suggestion", *filled]) + "\n")
    return judgments, decisions


def test_essays_are_the_units_where_they_are_known(files: tuple[Path, Path], capsys: Capture) -> None:
    header, *rows = files[0].read_text().splitlines()
    files[0].write_text(
        "\n".join([f"{header},essay", *(f"{row},e{int(row.split(',')[0][1:]) % 5}" for row in rows)]) + "\n"
    )
    value = json.loads(grater(capsys, "lab", "cloze", files[0], "--decisions", files[1], "--json").out)
    assert (value["interval"]["unit"], value["interval"]["units"]) == ("essay", 5)
    assert "|units:essay|" in value["signature"]
    # Essays repeat one blank four times: 3 of 5 agree, each counted once, is wider than 12 of 20.
    agreement = value["pairs"][0]["agreement"]
    assert agreement["high"] - agreement["low"] > 0.6


def test_a_writer_of_another_name_is_asked_for(files: tuple[Path, Path], capsys: Capture) -> None:
    ran = grater(capsys, "lab", "cloze", files[0], "--writer", "anne")
    assert ran.status == 2
    assert "Did you mean 'ann'" in ran.err


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


def test_a_system_lists_places_of_a_choice_test_and_accuracy_is_corrected(folder: Path, capsys: Capture) -> None:
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


def test_the_design_choice_asks_where_words_differ_in_the_papers_sample(folder: Path, capsys: Capture) -> None:
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


@pytest.fixture
def text(tmp_path: Path) -> Path:
    (tmp_path / "native").mkdir()
    for number in range(4):
        lines = native_lines(80)[20 * number : 20 * number + 20]
        (tmp_path / "native" / f"{number}.txt").write_text("\n".join(lines), encoding="utf-8")
    return tmp_path / "native"


def test_select_gives_three_set_ups_within_limits(
    capsys: Capture, text: Path, tiny_model: Path, tmp_path: Path
) -> None:
    result = json.loads(grater(capsys, "lab", "select", text, "--system", tiny_model, "--json").out)
    assert [each["setup"] for each in result["setups"]] == ["34", "gamon", "felice"]
    for each in result["setups"]:
        accuracy = each["accuracy"]
        assert accuracy["low"] <= accuracy["value"] <= accuracy["high"]
    assert result["setups"][0]["n"] == sum(row["n"] for row in result["setups"][0]["by_preposition"])
    assert result["signature"].startswith("select|grater:")
    assert (result["scope"]["unit"], result["scope"]["units"]) == ("essay", 4)
    assert result["warnings"] == ["only 4 essays: intervals by essay are rough below 10"]
    ran = grater(capsys, "lab", "select", text / "0.txt", "--system", tiny_model)
    assert "its cases come from 1 essay; an interval needs 3" in ran.out
    (tmp_path / "none.txt").write_text("Rain fell.", encoding="utf-8")
    result = json.loads(grater(capsys, "lab", "select", tmp_path / "none.txt", "--system", tiny_model, "--json").out)
    assert result["setups"][0]["accuracy"]["value"] is None
    assert result["setups"][0]["accuracy"]["reason"]
