"""What every question shares: costs of processes, peers, data, and the rows of the results file.

A question is a module with a function `measure(size)` that yields `Row` and `Table` values; `size` is "short",
"usual" or "large".  Costs are CPU seconds, since the clock is at the mercy of whatever else runs on the machine.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, Literal, TypeAlias

ROOT = Path(__file__).resolve().parents[1]
WORK = ROOT / "benchmarks" / "work"
DATA = Path(os.environ.get("GRATER_DATA") or ROOT / ".." / "shared" / "data")
PEERS = ROOT / ".peers"
GRATER = [sys.executable, "-m", "grater"]
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
"""On a busy machine the threads of linear algebra only wait for each other; the same on both sides."""
ABSENT = "not installed: `make peers`"

Size: TypeAlias = Literal["short", "usual", "large"]
Text: TypeAlias = str | Path


@dataclass(frozen=True, slots=True)
class Row:
    """One cost, beside a peer's where there is one.

    `goal` is the least ratio to the peer, or the most that we may cost where there is none.  `theirs` is None where
    the peer could not run, and the note says why; `agrees` says whether both gave the same answer.
    """

    job: str
    ours: float
    size: int = 0
    peer: str = ""
    theirs: float | None = None
    goal: float | None = None
    agrees: bool | None = None
    unit: str = "CPU s"
    note: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """Figures that are no race: a title, what was done, the columns and the rows, each with its name first.

    `summary` names groups of columns whose lowest and highest value the page shows in place of the rows.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    note: str = ""
    summary: dict[str, Sequence[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Cost:
    cpu: float
    wall: float
    megabytes: float
    output: str


def cost(
    command: Sequence[Text], *, given: str | None = None, cwd: Path | None = None, statuses: Iterable[int] = (0,)
) -> Cost:
    """What one process takes from its start to its end, with all that it waited for."""
    environment = {**os.environ, **ONE_THREAD}
    if str(command[0]).startswith(str(PEERS)):
        environment["PYTHONPATH"] = ""
    with TemporaryFile("w+") as sent, TemporaryFile("w+") as out, TemporaryFile("w+") as err:
        sent.write(given or "")
        sent.seek(0)
        started = time.perf_counter()
        process = subprocess.Popen(command, env=environment, cwd=cwd, stdin=sent, stdout=out, stderr=err)
        _, status, used = os.wait4(process.pid, 0)
        wall, process.returncode = time.perf_counter() - started, os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        if process.returncode not in statuses:
            shown = " ".join(map(str, command))[:200]
            raise RuntimeError(f"{shown}: exit status {process.returncode}\n{err.read()[-2000:]}")
        return Cost(used.ru_utime + used.ru_stime, wall, used.ru_maxrss / 1024, out.read())


def by_turns(*commands: Sequence[Text], runs: int = 5, **options: Any) -> list[Cost]:
    """The cheapest of several runs of each command, by turns, so that a busy machine is busy for all of them."""
    found = [[cost(command, **options) for command in commands] for _ in range(runs)]
    return [min(own, key=lambda each: each.cpu) for own in zip(*found, strict=True)]


def peer(name: str, program: str = "python") -> Path | None:
    path = PEERS / name / "bin" / program
    return path if path.exists() else None


TIMER = """
import json, sys, time
def tell(job, work, n=3):
    costs = []
    for _ in range(n):
        began = time.process_time()
        value = work()
        costs.append(time.process_time() - began)
    print(json.dumps({"job": job, "cpu": min(costs), "value": value}), flush=True)
"""


def timed_in(python: Text | None, code: str, *args: Text, given: str | None = None) -> dict[str, dict[str, Any]]:
    """What a script reported with `tell(job, work, n)`, by job: CPU seconds of the best run, and its value."""
    if python is None:
        return {}
    done = cost([python, "-c", TIMER + code, *args], given=given)
    return {each["job"]: each for each in map(json.loads, done.output.splitlines())}


def best(work: Callable[[], object], runs: int = 5) -> float:
    """The least CPU seconds that work in this process took."""
    costs = []
    for _ in range(runs):
        began = time.process_time()
        work()
        costs.append(time.process_time() - began)
    return min(costs)
