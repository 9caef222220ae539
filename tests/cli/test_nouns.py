"""`grater nouns` from the outside; all sentences our own."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from grater.detect.articles.constructions import CONSTRUCTIONS
from grater.tables import read_items
from tests.cli.running import Capture, grater

TEXT = (
    "The farmer bought a cow and a dog. The dog barked at the cow. Dogs like bones, and the bone was big. "
    "A farmer needs dogs. The farmers met. Water is good, and the water of the lake is cold."
)


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text(TEXT, encoding="utf-8")
    return path


def test_entropy_counts_constructions_and_shows_the_nouns_that_are_asked_for(capsys: Capture, text: Path) -> None:
    ran = grater(capsys, "lab", "nouns", text, "--min-phrases", "2", "--json")
    found = json.loads(ran.out)
    assert ran.status == 0
    assert [each["construction"] for each in found["constructions"]] == list(CONSTRUCTIONS)
    assert found["phrases"] == sum(each["n"] for each in found["constructions"])
    dog = next(each for each in found["nouns"] if each["noun"] == "dog")
    # a dog, the dog, dogs, dogs: one half and two quarters
    assert (dog["n"], dog["dominant"], dog["entropy"]) == (4, "null-plural", 1.5)
    ran = grater(capsys, "lab", "nouns", text, "--noun", "bone")
    assert ran.status == 0
    assert "bone" in ran.out
    assert "farmer" not in ran.out


def test_select_writes_items_for_a_study_or_refuses_in_one_line(capsys: Capture, text: Path, tmp_path: Path) -> None:
    out = tmp_path / "items.csv"
    ran = grater(capsys, "lab", "nouns", text, "--out", out, "--min-phrases", "99")
    assert ran.status == 2
    assert "expected nouns with 99 phrases or more" in ran.err
    assert not out.exists()
    out = tmp_path / "items.csv"
    ran = grater(
        capsys, "lab", "nouns", text, "--out", out, "--nouns", "1", "--sentences", "1", "--min-phrases", "2", "--json"
    )
    found = json.loads(ran.out)
    assert ran.status == 0
    assert found["wanted"] == 2 * 5 * 7
    assert found["n_items"] == 10 * found["places"]
    assert found["shortfalls"]
    frame = read_items(out).frame
    assert {"group", "original", "anaphoric", "entropy", "dominant", "words"} <= set(frame.columns)
    assert all(kind.split("/")[2] in CONSTRUCTIONS for kind in frame["kind"].cast(pl.String))
    first = frame.row(0, named=True)
    assert TEXT[int(first["start"]) : int(first["end"])].split()[-1].startswith(str(first["noun"])[:3])
