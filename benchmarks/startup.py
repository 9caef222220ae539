"""How long until something happens: `import grater`, `grater --help`, the help of a command.

The peers are an empty Python and the smallest typer program.  CPU seconds of a process, the best of ten.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.harness import GRATER, Row, Size, by_turns

BARE = """
import typer
app = typer.Typer()
@app.command()
def one() -> None:
    "First."
@app.command()
def two() -> None:
    "Second."
app()
"""


def measure(size: Size) -> Iterator[Row]:
    runs = 2 if size == "short" else 10
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "bare.py"
        program.write_text(BARE)
        empty, library, bare, help_, of_command = by_turns(
            [sys.executable, "-c", ""],
            [sys.executable, "-c", "import grater"],
            [sys.executable, program, "--help"],
            [*GRATER, "--help"],
            [*GRATER, "agree", "--help"],
            runs=runs,
        )
    yield Row("`import grater`, beyond an empty Python", max(0.0, library.cpu - empty.cpu), goal=0.02)
    yield Row("`grater --help`", help_.cpu, goal=0.35)
    for job, own in (("`grater --help`", help_), ("`grater agree --help`", of_command)):
        yield Row(job, own.cpu, peer="a bare typer program", theirs=bare.cpu)
