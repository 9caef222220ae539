"""What `grater --help` and one command cost beside a bare typer program: `python benchmarks/startup.py`.

CPU seconds, best of ten, and where valgrind is installed the instructions of one run, which no other program on the
machine changes.  (Valgrind 3.19 gives up on a program that loads numpy on ARM; there is no row then.)
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from race import record

WANTED = 1.5
N_RUNS = 10
PEER = "a bare typer program"
COMMANDS = {
    "grater --help": [sys.executable, "-m", "grater", "--help"],
    "grater agree --help": [sys.executable, "-m", "grater", "agree", "--help"],
}

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


VALGRIND = ("valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null")
INSTRUCTIONS = re.compile(r"I\s+refs:\s+([\d,]+)")


def instructions_of(command: list[str]) -> float | None:
    """Millions of instructions; None where they cannot be counted."""
    if shutil.which("valgrind") is None:
        return None
    ran = subprocess.run([*VALGRIND, *command], capture_output=True, text=True, check=False)
    counted = INSTRUCTIONS.search(ran.stderr)
    return int(counted.group(1).replace(",", "")) / 1e6 if counted and ran.returncode == 0 else None


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "bare.py"
        program.write_text(BARE)
        bare = best_of([sys.executable, str(program), "--help"])
        bare_instructions = instructions_of([sys.executable, str(program), "--help"])
    ours, of_command = (best_of(command) for command in COMMANDS.values())
    for (job, command), seconds in zip(COMMANDS.items(), (ours, of_command), strict=True):
        record(job=job, peer=PEER, ours=seconds, theirs=bare)
        counted = instructions_of(command)
        if counted and bare_instructions:
            record(job=job, peer=PEER, ours=counted, theirs=bare_instructions, unit="M instructions")
            print(f"{job}: {counted:,.0f} M instructions, bare typer {bare_instructions:,.0f}")
    print(f"bare typer {bare * 1000:.0f} ms, grater {ours * 1000:.0f} ms: {ours / bare:.2f} times; wanted {WANTED}")
    return 0 if ours / bare <= WANTED else 1


if __name__ == "__main__":
    sys.exit(main())
