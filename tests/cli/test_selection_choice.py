import json
from pathlib import Path

import pytest

from tests.cli.running import Capture, grater, widest


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
