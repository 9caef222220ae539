"""Run the command line in this process and see what a person would see."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from grater.cli import LazyCommand, app, run, typed
from grater.errors import GraterError

Capture = pytest.CaptureFixture[str]
RUNNER = CliRunner()
INTERVAL = re.compile(r"\[[-−]?\d*\.\d+, [-−]?\d*\.?\d+\]")
SPOKEN = re.compile(r"intervals (in each row )?(generalise to other|are for exactly these) ")


@dataclass(frozen=True, slots=True)
class Ran:
    status: int
    out: str
    err: str


def grater(capsys: Capture, *args: object, program: typer.Typer = app) -> Ran:
    """One command, its exit status and its two outputs."""
    capsys.readouterr()
    words = [str(arg) for arg in args]
    status = run(words, program)
    captured = capsys.readouterr()
    _check_intervals(words, captured.out + captured.err)
    return Ran(status, captured.out, captured.err)


def _check_intervals(words: list[str], printed: str) -> None:
    """Whatever command a test runs for people: where there is an interval, a sentence says what it speaks of."""
    if INTERVAL.search(printed) and "--json" not in words:
        assert SPOKEN.search(" ".join(printed.split())), printed


def invoked(command: str, *args: object) -> Result:
    """One command; what it raises is raised here, in the words that a person would read."""
    words = [str(arg) for arg in args]
    result = RUNNER.invoke(app, [*command.split(), *words], prog_name="grater", env={"COLUMNS": "100"})
    if isinstance(result.exception, GraterError):
        raise type(result.exception)(typed(str(result.exception))) from result.exception
    if result.exception:
        raise result.exception
    _check_intervals(words, result.output)
    return result


def refused(command: str, *args: object) -> str:
    """The one line with which a command refuses, at a person's door."""
    with redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()) as err:
        status = run([*command.split(), *(str(arg) for arg in args)])
    line = err.getvalue()
    assert (status, out.getvalue(), line.count("\n")) == (2, "", 1), line
    return line


def as_json(command: str, *args: object) -> Any:
    """What one command says to a program."""
    return json.loads(invoked(command, *args, "--json").stdout)


def widest(shown: str) -> int:
    """The longest line of a table; a signature is for pasting and stays whole, as do sentences, which wrap."""
    return max(len(line) for line in shown.splitlines() if "|grater:" not in line and "95 % intervals" not in line)


def require_known(words: Sequence[str]) -> None:
    """Fail where the words of a command line name a command or an option that grater does not have."""
    command: Any = typer.main.get_command(app)
    rest = list(words)
    while rest and getattr(command, "commands", None):
        command = command.commands[rest.pop(0)]
        command = command.load() if isinstance(command, LazyCommand) else command
    known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    assert {word.partition("=")[0] for word in rest if word.startswith("--")} <= known, words
