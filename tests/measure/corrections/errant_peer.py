"""`errant_compare` of the package errant, run in an environment of its own, and its printed tables read back."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

PEER = Path(__file__).parents[3] / ".peers" / "errant"

DRIVER = """
import contextlib, io, json, pathlib, runpy, sys
script, calls = sys.argv[1], json.loads(sys.argv[2])
outputs = []
for call in calls:
    sys.argv = ["errant_compare", *call]
    with contextlib.redirect_stdout(io.StringIO()) as output:
        runpy.run_path(script, run_name="__main__")
    outputs.append(output.getvalue())
print(json.dumps(outputs))
"""
"""Runs the script of the command itself, many times in one process, without the package's import of spaCy."""


@dataclass(frozen=True, slots=True)
class Printed:
    """What `errant_compare -cat N` says: for each type, and over all, tp, fp, fn, precision, recall, F."""

    types: dict[str, tuple[float, ...]]
    overall: tuple[float, ...]


def peer_python() -> Path:
    """The interpreter that has errant; the test is skipped, saying so, where it is missing."""
    python = PEER / "bin" / "python"
    if not python.exists():
        pytest.skip("the peer errant is missing: make peers")
    return python


def errant_compare(calls: Sequence[Sequence[str]]) -> list[Printed]:
    """The tables of several calls of the command."""
    python = peer_python()
    script = next(PEER.glob("lib/python*/site-packages/errant/commands/compare_m2.py"))
    command = [str(python), "-c", DRIVER, str(script), json.dumps(calls)]
    finished = subprocess.run(command, capture_output=True, text=True, check=True)
    return [read_printed(output) for output in json.loads(finished.stdout)]


def read_printed(output: str) -> Printed:
    lines = output.splitlines()
    head = next(number for number, line in enumerate(lines) if line.startswith("Category"))
    overall = next(number for number, line in enumerate(lines) if line.startswith("TP\t"))
    types = {}
    for line in lines[head + 1 : overall - 2]:
        # A type may be empty (the main tier of `Vt`): the six numbers are what can be counted on.
        fields = ["", *line.split()] if line.startswith(" ") else line.split()
        types[fields[0]] = tuple(float(number) for number in fields[1:])
    return Printed(types, tuple(float(number) for number in lines[overall + 1].split()))
