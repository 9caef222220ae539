"""Systems from outside on the command line."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from tests.cli.running import grater

TEXT = "She depends of her sister. They discussed about it.\n"
ESSAY = '{"format":"grater-corpus","version":1}\n{"id":"e1","text":"The brother lives in town."}\n'


def test_corrected_text_is_decided_beside_our_own_systems(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "essays.txt").write_text(TEXT, encoding="utf-8")
    (tmp_path / "mine.txt").write_text("She depends on her sister. They discussed it.\n", encoding="utf-8")
    out = tmp_path / "decisions.csv"
    systems = ["--system", f"mine=corrected:{tmp_path / 'mine.txt'}", "--system", "prep-maxent"]
    ran = grater(capsys, "decide", str(tmp_path / "essays.txt"), *systems, "--out", str(out))
    found = pl.read_csv(out)
    assert ran.status == 0
    assert set(found["system"]) == {"mine", "prep-maxent"}
    both = found.group_by("item").len()
    assert set(both["len"]) == {2}
    mine = found.filter((pl.col("system") == "mine") & pl.col("flagged").cast(pl.Boolean))
    assert sorted(mine["suggestion"]) == ["-NONE-", "on"]


def test_an_unknown_scheme_is_an_unknown_system(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "essays.txt").write_text(TEXT, encoding="utf-8")
    arguments = ["decide", str(tmp_path / "essays.txt"), "--system", "magic:wand", "--out", str(tmp_path / "d.csv")]
    ran = grater(capsys, *arguments)
    assert ran.status == 2
    assert "unknown system 'magic:wand'" in ran.err


def test_places_of_a_table_are_decided_on_by_its_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "essays.jsonl").write_text(ESSAY, encoding="utf-8")
    (tmp_path / "mine.txt").write_text("The sister lives in town.\n", encoding="utf-8")
    rows = "item,essay,start,end,kind\nfirst,e1,0,3,article\nsecond,e1,4,11,noun\n"
    (tmp_path / "places.csv").write_text(rows, encoding="utf-8")
    out = tmp_path / "decisions.csv"
    fixed = ["decide", str(tmp_path / "essays.jsonl"), "--places", str(tmp_path / "places.csv"), "--out", str(out)]
    ran = grater(capsys, *fixed, "--system", f"mine=corrected:{tmp_path / 'mine.txt'}")
    assert (ran.status, ran.err.count("\n")) == (0, 1), ran.err
    found = pl.read_csv(out)
    assert dict(zip(found["item"], found["flagged"].cast(pl.Boolean), strict=True)) == {
        "first": False,
        "second": True,
    }
    refused = grater(capsys, *fixed, "--system", "prep-maxent")
    assert (refused.status, refused.err.count("\n")) == (2, 1)
    assert "--places is for external systems" in refused.err


def test_the_first_word_of_a_system_from_outside_asks_for_the_rest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "essays.txt").write_text(TEXT, encoding="utf-8")
    ran = grater(capsys, "decide", tmp_path / "essays.txt", "--system", "corrected", "--out", tmp_path / "d.csv")
    assert (ran.status, ran.err) == (2, "expected corrected:SOMETHING, found 'corrected' alone\n")


def test_a_command_must_say_which_edits_it_makes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "essays.txt").write_text(TEXT, encoding="utf-8")
    ran = grater(capsys, "decide", tmp_path / "essays.txt", "--system", "command:cat", "--out", tmp_path / "d.csv")
    assert (ran.status, ran.err.count("\n")) == (2, 1)
    assert 'expected a JSON line {"essay": ID, "edits": [...]}' in ran.err


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ("one,e2,0,3,article\n", "1 item in essays that"),
        ("one,e1,20,99,noun\n", "expected places within its 26 characters, found 20-99"),
        (
            "one,e1,0,3,article\ntwo,e1,0,3,article\n",
            "places.csv:3: expected one item at a place, found 'two' where 'one' is",
        ),
    ],
)
def test_places_that_cannot_be_decided_on_are_told_and_nothing_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], rows: str, words: str
) -> None:
    (tmp_path / "essays.jsonl").write_text(ESSAY, encoding="utf-8")
    (tmp_path / "mine.txt").write_text("The sister lives in town.\n", encoding="utf-8")
    (tmp_path / "places.csv").write_text(f"item,essay,start,end,kind\n{rows}", encoding="utf-8")
    fixed = ["--places", tmp_path / "places.csv", "--out", tmp_path / "d.csv"]
    ran = grater(
        capsys, "decide", tmp_path / "essays.jsonl", "--system", f"corrected:{tmp_path / 'mine.txt'}", *fixed
    )
    assert (ran.status, ran.err.count("\n")) == (2, 1)
    assert words in ran.err
    assert not (tmp_path / "d.csv").exists()


def test_places_in_essays_that_are_not_here_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "essays.jsonl").write_text(ESSAY, encoding="utf-8")
    (tmp_path / "mine.txt").write_text("The sister lives in town.\n", encoding="utf-8")
    rows = "item,essay,start,end,kind\none,e1,0,3,article\ntwo,e2,0,3,article\n"
    (tmp_path / "places.csv").write_text(rows, encoding="utf-8")
    fixed = ["--places", tmp_path / "places.csv", "--out", tmp_path / "d.csv"]
    ran = grater(
        capsys, "decide", tmp_path / "essays.jsonl", "--system", f"corrected:{tmp_path / 'mine.txt'}", *fixed
    )
    assert ran.status == 0
    assert "places.csv: 1 item in essays that" in ran.err
