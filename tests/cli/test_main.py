"""The door of the house: help is quick, mistakes get one line and status 2, nobody sees a traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from grater import __version__
from grater.cli import PANELS, run
from tests.cli.running import Capture, grater, refused

HEAVY = ("numpy", "polars", "scipy", "spacy", "pandas", "pyarrow")


def imported_by(*commands: list[str]) -> set[str]:
    """The modules that commands have loaded by the time they end."""
    code = f"import sys; from grater.cli import run; [run(args) for args in {commands}]"
    code += "; print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stderr.split())


def test_quick_commands_load_nothing_heavy(tmp_path: Path) -> None:
    assert imported_by(["--help"], ["--version"]) & set(HEAVY) == set()
    loaded = imported_by(["score", "--help"], ["corpus", "stats", "--help"], ["check", "--help"])
    assert {"polars", "scipy", "ssl", "sqlalchemy", "urllib.request"} & loaded == set()
    (tmp_path / "a.txt").write_text("One essay.\n", "utf-8")
    loaded = imported_by(["corpus", "convert", str(tmp_path / "a.txt"), str(tmp_path / "a.jsonl")])
    assert (tmp_path / "a.jsonl").exists()
    assert "polars" not in loaded


def test_help_and_version_are_printed(capsys: Capture) -> None:
    ran = grater(capsys, "--help")
    assert ran.status == 0
    for panel, names in PANELS.items():
        assert {panel, *names} <= set(ran.out.split())
    assert grater(capsys, "--version").out == f"grater {__version__}\n"
    ran = grater(capsys)
    assert ran.status == 2
    assert "Usage: grater" in ran.out + ran.err
    assert "completion" not in grater(capsys, "corpus", "stats", "--help").out
    assert "--format" in refused("corpus stats --formt m2 x.m2")


def in_shell(command: str, folder: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """A command on its standard input and outputs as the shell gives them; GRATER stands for the program."""
    line = command.replace("GRATER", f"{sys.executable} -m grater")
    words, env = ["bash", "-c", line], {**os.environ, **env}
    return subprocess.run(words, cwd=folder, env=env, capture_output=True, text=True, check=False)


def test_bad_input_is_answered_in_plain_lines_without_a_traceback(tmp_path: Path) -> None:
    (tmp_path / "a.m2").write_bytes(b"S fine .\n\nX 1 2\n")
    done = in_shell("GRATER corpus stats a.m2", tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("a.m2:3: expected")
    assert "Traceback" not in done.stderr


def test_a_reader_of_our_output_may_leave_early(tmp_path: Path) -> None:
    (tmp_path / "a.m2").write_text("S a  b .\nA 0 1|||Mec|||a|||REQUIRED|||-NONE-|||0\n\n" * 5000)
    done = in_shell("GRATER corpus lint a.m2 | head -n 1", tmp_path)
    assert "Traceback" not in done.stderr
    assert "BrokenPipe" not in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device here")
def test_a_full_disk_is_answered_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "a.m2").write_text("S a b .\n\n")
    done = in_shell("GRATER corpus stats a.m2 > /dev/full", tmp_path)
    assert (done.returncode, done.stderr) == (2, "standard output: No space left on device\n")


def test_a_terminal_that_lacks_our_letters_is_no_reason_to_stop(tmp_path: Path) -> None:
    (tmp_path / "a.m2").write_text("S a b .\n\n")
    done = in_shell("GRATER corpus stats a.m2", tmp_path, PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, "")
    assert "\\u2013" in done.stdout


def test_a_closed_output_is_one_line(capsys: Capture, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    corpus = tmp_path / "essays.txt"
    corpus.write_text("We met on Monday.")
    monkeypatch.setattr("sys.stdout", None)  # as Python has it after >&-
    for args in (["corpus", "stats", str(corpus)], ["corpus", "convert", str(corpus), "-", "--to", "jsonl"]):
        assert run(args) == 2
        assert capsys.readouterr().err.endswith("Bad file descriptor\n")
        monkeypatch.setattr("sys.stdout", None)


def test_ctrl_c_while_a_command_is_imported_ends_quietly(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    def interrupted(_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("typer.main.get_command", interrupted)
    assert run(["check", "-"]) == 130
    assert capsys.readouterr() == ("", "")


def test_the_shell_completes_values(tmp_path: Path) -> None:
    for words, value in (("aggregate --method daw", "dawid-skene"), ("lab select --system prep-m", "prep-maxent")):
        asked = {"COMP_WORDS": f"grater {words}", "COMP_CWORD": str(len(words.split()))}
        done = in_shell("GRATER", tmp_path, _GRATER_COMPLETE="complete_bash", **asked)
        assert value in done.stdout.split()
