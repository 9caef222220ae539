"""Seconds and memory of `grater corpus stats` on a corpus of the size of NUCLE: `python benchmarks/corpus_stats.py`.

The corpus is made on the first run (`make_nucle_sized.py`).  Every format is counted in a process of its own, from
the start of Python to the printed JSON; the counts must be NUCLE's, or the benchmark fails.  Wanted: under 500 MB
(issue "Part 1", Must hold).
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from grater.cli import run as grater
from make_nucle_sized import N_DOCUMENTS, N_EDITS, N_SENTENCES, N_TOKENS, WORK, make

MOST_MEGABYTES = 500


@dataclass(frozen=True, slots=True)
class Run:
    format_name: str
    seconds: float
    cpu_seconds: float
    megabytes: float

    def __str__(self) -> str:
        return f"{self.format_name:<8} {self.seconds:8.1f} {self.cpu_seconds:8.1f} {self.megabytes:8.0f}"


def run(format_name: str, path: Path) -> Run:
    """Count one file in a process of its own, which tells its peak memory: ours would be that of the largest yet."""
    command = [sys.executable, __file__, "--count", format_name, str(path)]
    started, cpu_started = time.perf_counter(), children_cpu()
    finished = subprocess.run(command, check=True, capture_output=True, text=True)
    seconds, cpu_seconds = time.perf_counter() - started, children_cpu() - cpu_started
    numbers, kilobytes = json.loads(finished.stdout), int(finished.stderr.splitlines()[-1])
    expected = [None if format_name == "m2" else N_DOCUMENTS, N_SENTENCES, N_TOKENS, N_EDITS]
    found = [numbers[key] for key in ("documents", "sentences", "tokens", "edits")]
    if found != expected:
        raise SystemExit(f"{path}: expected {expected}, found {found}")
    return Run(format_name, seconds, cpu_seconds, kilobytes / 1024)


def children_cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def count(format_name: str, path: str) -> int:
    """What the measured process does: the command itself, then its peak memory in kilobytes on standard error."""
    status = grater(["corpus", "stats", path, "--format", format_name, "--json"])
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)
    return status


def main() -> int:
    print(f"{'format':<8} {'seconds':>8} {'CPU s':>8} {'MB':>8}")
    runs = []
    for format_name, path in make(WORK).items():
        runs.append(run(format_name, path))
        print(runs[-1], flush=True)
    return int(max(run.megabytes for run in runs) > MOST_MEGABYTES)


if __name__ == "__main__":
    sys.exit(count(*sys.argv[2:]) if sys.argv[1:2] == ["--count"] else main())
