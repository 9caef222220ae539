from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.running import Capture, grater
from tests.detect.prepositions.native_text import native_lines


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
