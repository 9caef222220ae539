"""Files that commands read and write: nothing is lost, and a bad file or place is answered in one line, early."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from grater.demo import sample_path
from tests.cli.running import Capture, grater

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
    ("aggregate", "j.csv", "--out"),
    ("agree", "j.csv", "--out"),
    ("raters", "j.csv", "--out"),
    ("agree", "--hardest", "j.csv", "--out"),
    ("raters", "--needed", "j.csv", "--experts", "experts.csv", "--out"),
    ("evaluate", "--decisions", "d.csv", "--judgments", "j.csv", "--curve"),
    ("sample", "d.csv", "--judgments", "j.csv", "--system", "S", "--n", "4", "--out"),
]
every_command = pytest.mark.parametrize("args", COMMANDS, ids=[args[0] for args in COMMANDS])


@every_command
def test_a_command_does_not_write_over_what_it_reads(capsys: Capture, args: tuple[str, ...]) -> None:
    ran = grater(capsys, *args, "j.csv")
    assert (ran.status, ran.out) == (2, "")
    assert "expected different files, found j.csv named twice" in ran.err
    assert Path("j.csv").read_text() == JUDGMENTS


@every_command
@pytest.mark.parametrize(
    ("out", "why"), [("nowhere/o.csv", "there is no folder nowhere"), ("o.xlsx", "expected a table with extension")]
)
def test_a_bad_place_is_refused_before_the_work(capsys: Capture, args: tuple[str, ...], out: str, why: str) -> None:
    Path("j.csv").write_text("no table\n")
    ran = grater(capsys, *args, out)
    assert (ran.status, ran.out) == (2, "")
    assert why in ran.err
    assert "j.csv" not in ran.err
    assert sorted(path.name for path in Path().iterdir()) == ["d.csv", "experts.csv", "j.csv"]


def test_folders_empty_files_and_tables_without_a_common_item_are_one_line(capsys: Capture) -> None:
    Path("o.csv").mkdir()
    ran = grater(capsys, "agree", "j.csv", "--out", "o.csv")
    assert (ran.status, ran.err) == (2, "o.csv: cannot be written: it is a folder\n")
    Path("other.csv").write_text(DECISIONS.replace("i", "x").replace("xtem", "item"))
    ran = grater(capsys, "evaluate", "--decisions", "other.csv", "--judgments", "j.csv", "--resamples", 10)
    assert (ran.status, ran.out) == (2, "")
    assert "no item is both decided on and judged" in ran.err
    for name in ("empty.csv", "empty.jsonl"):
        Path(name).write_text("\n" if name.endswith("jsonl") else "")
        ran = grater(capsys, "raters", name)
        assert (ran.status, ran.err.count("\n")) == (2, 1)
        assert "found an empty file" in ran.err


def test_the_same_table_twice_is_one_line(capsys: Capture) -> None:
    for args in (
        ("agree", "j.csv", "j.csv"),
        ("evaluate", "--decisions", "d.csv", "--decisions", "./d.csv", "--judgments", "j.csv"),
        ("evaluate", "--decisions", "d.csv", "--judgments", "j.csv", "--judgments", "j.csv"),
        ("raters", "--needed", "j.csv", "--experts", "j.csv"),
    ):
        ran = grater(capsys, *args)
        assert (ran.status, ran.err.count("\n")) == (2, 1)
        assert "named twice" in ran.err


def send(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))


def test_decisions_come_from_standard_input_and_no_table_goes_to_standard_output(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "judgments.csv"
    path.write_text(JUDGMENTS)
    send(monkeypatch, DECISIONS.encode())
    ran = grater(capsys, "evaluate", "--decisions", "-", "--judgments", path, "--json")
    assert ran.status == 0
    assert '"system": "S"' in ran.out
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
