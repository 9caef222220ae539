"""CPU seconds of `grater --help` and of one command beside a bare typer program: `python benchmarks/startup.py`."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from race import record

WANTED = 1.5
N_RUNS = 10

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


def best_of(command: list[str]) -> float:
    """The least CPU seconds that the command took."""
    times = []
    for _ in range(N_RUNS):
        before = os.times()
        subprocess.run(command, check=True, capture_output=True)
        after = os.times()
        user, system = after.children_user - before.children_user, after.children_system - before.children_system
        times.append(user + system)
    return min(times)


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "bare.py"
        program.write_text(BARE)
        bare = best_of([sys.executable, str(program), "--help"])
    ours = best_of([sys.executable, "-m", "grater", "--help"])
    of_command = best_of([sys.executable, "-m", "grater", "agree", "--help"])
    for job, seconds in (("grater --help", ours), ("grater agree --help", of_command)):
        record(job=job, peer="a bare typer program", ours=seconds, theirs=bare)
    print(f"bare typer {bare * 1000:.0f} ms, grater {ours * 1000:.0f} ms: {ours / bare:.2f} times; wanted {WANTED}")
    return 0 if ours / bare <= WANTED else 1


if __name__ == "__main__":
    sys.exit(main())
