"""Systems from outside on the command line."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from tests.cli.running import grater

TEXT = "She depends of her sister. They discussed about it.\n"


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
