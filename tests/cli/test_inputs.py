"""Commands that read tables and corpora take them from standard input."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from grater.demo import sample_path
from tests.cli.running import Capture, grater

JUDGMENTS = "item,rater,label\n" + "".join(
    f"n{item},{rater},{'error' if (item + skew) % 3 else 'ok'}\n"
    for item in range(12)
    for skew, rater in enumerate(("Ada", "Bo"))
)
DECISIONS = "item,system,flagged\n" + "".join(f"n{item},mine,{item % 2}\n" for item in range(12))


def send(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))


@pytest.mark.parametrize(
    "command",
    [["agree", "-"], ["raters", "-"], ["aggregate", "-", "--method", "majority"], ["agree", "--hardest", "-"]],
    ids=lambda command: command[0],
)
def test_judgments_come_from_standard_input(
    command: list[str], capsys: Capture, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    send(monkeypatch, JUDGMENTS.encode())
    piped = grater(capsys, *command, "--json")
    path = tmp_path / "judgments.csv"
    path.write_text(JUDGMENTS)
    named = grater(capsys, *[path if part == "-" else part for part in command], "--json")
    assert (piped.status, piped.out) == (0, named.out)


def test_decisions_come_from_standard_input_and_no_table_goes_to_standard_output(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "judgments.csv"
    path.write_text(JUDGMENTS)
    send(monkeypatch, DECISIONS.encode())
    ran = grater(capsys, "evaluate", "--decisions", "-", "--judgments", path, "--json")
    assert ran.status == 0
    assert '"mine"' in ran.out
    send(monkeypatch, JUDGMENTS.encode())
    ran = grater(capsys, "aggregate", "-", "--method", "majority", "--out", "-")
    assert ran.status == 2


@pytest.mark.parametrize("command", ["stats", "lint"])
def test_corpora_come_from_standard_input_with_their_format(
    command: str, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    send(monkeypatch, sample_path().read_bytes())
    ran = grater(capsys, "corpus", command, "-", "--format", "jsonl", "--json")
    assert ran.status == 0
    ran = grater(capsys, "corpus", command, "-")
    assert "expected a format for standard input, which has no file name; name the format" in ran.err
