"""How long `grater --help` takes beside a bare typer program: `python benchmarks/startup.py`."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
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
    """The least wall-clock seconds that the command took."""
    times = []
    for _ in range(N_RUNS):
        started = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        times.append(time.perf_counter() - started)
    return min(times)


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "bare.py"
        program.write_text(BARE)
        bare = best_of([sys.executable, str(program), "--help"])
    ours = best_of([sys.executable, "-m", "grater", "--help"])
    record(job="grater --help", peer="a bare typer program", ours=ours, theirs=bare, unit="s")
    print(f"bare typer {bare * 1000:.0f} ms, grater {ours * 1000:.0f} ms: {ours / bare:.2f} times; wanted {WANTED}")
    return 0 if ours / bare <= WANTED else 1


if __name__ == "__main__":
    sys.exit(main())
