"""Files that commands read and write: nothing is lost, and a bad file or place is answered in one line, early."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from grater.demo import sample_path
from tests.cli.running import Capture, grater, refused

JUDGMENTS = "item,rater,label\n" + "".join(
    f"i{item},{rater},{'error' if (item + number) % 3 else 'ok'}\n"
    for item in range(8)
    for number, rater in enumerate("ABC")
)
DECISIONS = "item,system,flagged\n" + "".join(f"i{item},S,{item % 2}\n" for item in range(8))


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("j.csv").write_text(JUDGMENTS)
    Path("experts.csv").write_text(JUDGMENTS)
    Path("d.csv").write_text(DECISIONS)
    return tmp_path


COMMANDS = [
    "aggregate j.csv --out",
    "agree j.csv --out",
    "raters j.csv --out",
    "agree --hardest j.csv --out",
    "raters --needed j.csv --experts experts.csv --out",
    "evaluate --decisions d.csv --judgments j.csv --curve",
    "sample d.csv --judgments j.csv --system S --n 4 --out",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_writes_neither_over_what_it_reads_nor_after_work_to_a_bad_place(command: str) -> None:
    assert "expected different files, found j.csv named twice" in refused(command, "j.csv")
    assert Path("j.csv").read_text() == JUDGMENTS
    Path("j.csv").write_text("no table\n")
    for out, why in (
        ("nowhere/o.csv", "there is no folder nowhere"),
        ("o.xlsx", "expected a table with extension"),
    ):
        line = refused(command, out)
        assert why in line
        assert "j.csv" not in line
    assert sorted(path.name for path in Path().iterdir()) == ["d.csv", "experts.csv", "j.csv"]


def test_folders_empty_files_and_tables_without_a_common_item_are_one_line() -> None:
    Path("o.csv").mkdir()
    assert refused("agree j.csv --out o.csv") == "o.csv: cannot be written: it is a folder\n"
    Path("other.csv").write_text(DECISIONS.replace("i", "x").replace("xtem", "item"))
    line = refused("evaluate --decisions other.csv --judgments j.csv --resamples 10")
    assert "no item is both decided on and judged" in line
    for name in ("empty.csv", "empty.jsonl"):
        Path(name).write_text("\n" if name.endswith("jsonl") else "")
        assert "found an empty file" in refused("raters", name)


def send(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))


def test_decisions_come_from_standard_input_and_no_table_goes_to_standard_output(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    send(monkeypatch, DECISIONS.encode())
    ran = grater(capsys, *["evaluate", "--decisions", "-", "--judgments", "j.csv", "--json"])
    assert (ran.status, '"system": "S"' in ran.out) == (0, True)
    send(monkeypatch, JUDGMENTS.encode())
    refused("aggregate - --method majority --out -")


def test_corpora_come_from_standard_input_with_their_format(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    for command in ("stats", "lint"):
        send(monkeypatch, sample_path().read_bytes())
        ran = grater(capsys, "corpus", command, "-", "--format", "jsonl", "--json")
        assert ran.status == 0
        line = refused("corpus", command, "-")
        assert "expected a format for standard input, which has no file name; name the format" in line


@pytest.mark.parametrize("command", ["agree", "raters", "aggregate --method majority", "agree --hardest"])
def test_judgments_come_from_standard_input(command: str, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    send(monkeypatch, JUDGMENTS.encode())
    piped, named = (grater(capsys, *command.split(), file, "--json") for file in ("-", "j.csv"))
    assert (piped.status, piped.out) == (0, named.out)
