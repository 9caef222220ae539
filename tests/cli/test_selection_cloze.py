import json
from pathlib import Path

import pytest

from tests.cli.running import Capture, grater

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


def test_table_2_has_every_pair_with_limits(files: tuple[Path, Path], capsys: Capture) -> None:
    ran = grater(capsys, "lab", "cloze", files[0], "--decisions", files[1], "--json")
    value = json.loads(ran.out)
    found = {tuple(pair["pair"]): pair["agreement"]["value"] for pair in value["pairs"]}
    expected = {("writer", "ann"): 0.6, ("writer", "bob"): 0.8, ("writer", "sys"): 0.6, ("ann", "bob"): 0.4}
    assert found == pytest.approx(expected)
    for pair in value["pairs"]:
        assert pair["kappa"]["low"] < pair["kappa"]["value"] < pair["kappa"]["high"]
    assert value["mean_kappa"]["writer-system"] == value["pairs"][2]["kappa"]["value"]
    assert value["signature"].startswith("cloze|")


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
