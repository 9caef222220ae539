"""Run the command line in this process and see what a person would see."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
import typer
from typer.testing import CliRunner, Result

from grater.cli import run

RUNNER = CliRunner()


@dataclass(frozen=True, slots=True)
class Ran:
    status: int
    out: str
    err: str


def grater(capsys: pytest.CaptureFixture[str], *args: object) -> Ran:
    """One command, its exit status and its two outputs."""
    capsys.readouterr()
    status = run([str(arg) for arg in args])
    captured = capsys.readouterr()
    return Ran(status, captured.out, captured.err)


def invoked(app: typer.Typer, *args: object) -> Result:
    """One command of an application; what it raises is raised here."""
    result = RUNNER.invoke(app, [str(arg) for arg in args])
    if result.exception:
        raise result.exception
    return result


def widest(shown: str) -> int:
    """The longest line of a table; a signature is for pasting and stays whole, as do sentences, which wrap."""
    return max(len(line) for line in shown.splitlines() if "|grater:" not in line and "95 % intervals" not in line)
