"""`--redundancy N`: shares of the first N judgments of each item."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.running import Ran, grater

DECISIONS = "item,system,flagged\na,one,1\nb,one,0\nc,one,1\na,two,0\nb,two,1\nc,two,1\n"
SAID = {"a": ("error", "error"), "b": ("ok", "error", "ok", "ok"), "c": ("error", "ok", "error", "error")}


def write(folder: Path, *, times: bool = True) -> tuple[Path, Path]:
    rows = [
        f"{item},r{n},{label},{f'2026-01-01T00:00:{n:02}Z' if times else ''}"
        for item, labels in SAID.items()
        for n, label in enumerate(labels)
    ]
    (folder / "d.csv").write_text(DECISIONS, encoding="utf-8")
    (folder / "j.csv").write_text("\n".join(("item,rater,label,at", *rows)) + "\n", encoding="utf-8")
    return folder / "d.csv", folder / "j.csv"


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path):  # type: ignore[no-untyped-def]
    def run(command: str, *args: object, times: bool = True) -> Ran:
        decisions, judgments = write(tmp_path, times=times)
        files = ("--decisions", decisions, "--judgments", judgments, "--resamples", 20)
        return grater(capsys, command, *files, *args)

    return run


def hits(ran: Ran) -> float:
    system = json.loads(ran.out)["systems"][0]
    assert system["system"] == "one"
    return float(system["weighted"]["counts"]["hit"])


def test_weighted_counts_are_of_the_first_two(run) -> None:  # type: ignore[no-untyped-def]
    assert hits(run("evaluate", "--json")) == 1 + 3 / 4
    equal = run("evaluate", "--json", "--redundancy", 2)
    assert hits(equal) == 1 + 1 / 2
    assert "redundancy:first-2" in json.loads(equal.out)["signature"]


def test_unequal_numbers_are_told_with_the_way_out(run) -> None:  # type: ignore[no-untyped-def]
    ran = run("evaluate")
    assert "items have 2 to 4 judgments" in ran.err
    assert "a redundancy of 2 takes the first 2 of each" in ran.err


def test_comparisons_keep_to_it_too(run) -> None:  # type: ignore[no-untyped-def]
    ran = run("compare", "--weighted", "--json", "--redundancy", 2)
    found = {each["system"]: each["counts"]["hit"] for each in json.loads(ran.out)["systems"]}
    assert found == {"one": 1.5, "two": 1.0}


def test_without_times_it_is_refused_in_one_line(run) -> None:  # type: ignore[no-untyped-def]
    ran = run("evaluate", "--redundancy", 2, times=False)
    assert ran.status == 2
    assert "10 judgments have no time" in ran.err
    assert ran.err.count("\n") == 1
