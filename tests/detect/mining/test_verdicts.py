from __future__ import annotations

from pathlib import Path

import pytest

from grater.detect.mining.ranking import Suspect
from grater.detect.mining.uses import Use
from grater.detect.mining.verdicts import far_of, suspects_table, verdicts_of
from grater.errors import BadInput
from grater.model import Span
from grater.tables import read_items, write_table

USE = Use(("marry", "with", "her"), "essay", "doc", Span(14, 18), "He will marry with her.", 14)
SUSPECT = Suspect(USE.trigram, 0, 12, 3.5, (USE,))


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "parquet"])
def test_a_list_comes_back_with_its_verdicts(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"list.{suffix}"
    write_table(suspects_table([SUSPECT], {"marry with her": "y"}), path)
    table = read_items(path)
    assert verdicts_of(table) == {"marry with her": "y"}
    assert table.frame["target"].to_list() == ["with"]


@pytest.mark.parametrize(("spoken", "verdict"), [("Yes", "y"), ("N", "n"), (" y ", "y"), ("", "")])
def test_people_may_write_verdicts_as_they_like(tmp_path: Path, spoken: str, verdict: str) -> None:
    path = tmp_path / "list.csv"
    write_table(suspects_table([SUSPECT], {"marry with her": spoken}), path)
    assert verdicts_of(read_items(path)) == {"marry with her": verdict}


def test_another_word_as_verdict_is_refused_with_its_row(tmp_path: Path) -> None:
    path = tmp_path / "list.csv"
    write_table(suspects_table([SUSPECT], {"marry with her": "perhaps"}), path)
    with pytest.raises(BadInput, match="row 1: expected y, n or nothing as the verdict on 'marry with her'"):
        verdicts_of(read_items(path))


def test_a_table_without_verdicts_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "list.csv"
    write_table(suspects_table([SUSPECT], {}).drop("verdict"), path)
    with pytest.raises(BadInput, match="expected a column 'verdict'"):
        verdicts_of(read_items(path))


def test_how_far_a_list_is_comes_from_its_verdicts() -> None:
    far = far_of(["y", "n", "", "", "y", "y"])
    assert far.as_json() == {"accepted": 3, "rejected": 1, "open": 2}
    assert (far.decided, far.all, far.words) == (4, 6, "3 accepted, 1 rejected, 2 to look at")
