"""Seconds and memory of a large study: `python benchmarks/study.py [--share 0.1] [--resamples N]`.

10,000 essays, 300,000 items, two systems (600,000 decisions), 500,000 judgments by 200 raters, all made up.  Every
step is its command, in a process of its own: import, sample, status, evaluate, report.  Wanted (issue "Part 9", Must
hold): minutes and 2 GB for all of it, and `status` within a second.  `--share` makes all of it smaller.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from grater.corpora import write_corpus
from grater.model import Essay

WORK = Path(__file__).parent / "work" / "study"
GRATER = str(Path(sys.executable).parent / "grater")
N_ESSAYS, N_EACH, N_JUDGED, N_RATERS, VOTES = 10_000, 30, 100_000, 200, 5
SENTENCE = "we went in the garden of the house with our friends and talked about music "
"""No item needs to be a preposition: the systems are tables."""
MOST_MEGABYTES, MOST_STATUS = 2048, 1.0


@dataclass(frozen=True, slots=True)
class Step:
    name: str
    args: tuple[str, ...]


def option(name: str, default: float) -> float:
    return float(sys.argv[sys.argv.index(name) + 1]) if name in sys.argv else default


def make(n_essays: int, n_judged: int) -> None:
    """Essays as JSONL, and the tables as Parquet."""
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    essays_of = (Essay(f"e{number}", SENTENCE * 8 + str(number)) for number in range(n_essays))
    write_corpus(essays_of, WORK / "essays.jsonl", lambda _: None)
    rng = np.random.default_rng(0)
    n_items = n_essays * N_EACH
    starts = np.tile(np.arange(N_EACH) * 15, n_essays)
    names = [f"i{number}" for number in range(n_items)]
    essays = np.repeat([f"e{number}" for number in range(n_essays)], N_EACH)
    places = {"item": names, "essay": essays, "start": starts, "end": starts + 2, "kind": ["prep"] * n_items}
    pl.DataFrame(places).write_parquet(WORK / "items.parquet")
    is_error = rng.random(n_items) < 0.1
    decided = [
        pl.DataFrame(
            {
                "item": names,
                "system": [system] * n_items,
                "flagged": is_error ^ (rng.random(n_items) < noise),
                "score": rng.random(n_items),
            }
        )
        for system, noise in (("A", 0.05), ("B", 0.1))
    ]
    pl.concat(decided).write_parquet(WORK / "decisions.parquet")
    judged = rng.choice(n_items, n_judged, replace=False)
    who = (rng.integers(0, N_RATERS, n_judged)[:, None] + np.arange(VOTES)) % N_RATERS
    says = np.repeat(is_error[judged], VOTES) ^ (rng.random(n_judged * VOTES) < 0.1)
    said = {
        "item": np.repeat(np.array(names)[judged], VOTES),
        "rater": [f"r{number}" for number in who.ravel().tolist()],
        "label": np.where(says, "error", "ok"),
        "seconds": rng.gamma(3.0, 4.0, n_judged * VOTES).round(1),
    }
    pl.DataFrame(said).write_parquet(WORK / "judgments.parquet")


def steps(resamples: int) -> list[Step]:
    study = "study.db"
    few = ("--resamples", str(resamples))
    return [
        Step("new", ("study", "new", study)),
        Step("import essays", ("study", "import", study, "essays.jsonl")),
        Step("import items", ("study", "import", study, "--items", "items.parquet")),
        Step("import decisions", ("study", "import", study, "--decisions", "decisions.parquet")),
        Step("import judgments", ("study", "import", study, "--judgments", "judgments.parquet", "--job", "crowd")),
        Step("status", ("study", "status", study)),
        Step("sample", ("study", "sample", study, "--system", "A", "--n", "3000")),
        Step("evaluate", ("study", "evaluate", study, *few)),
        Step("estimate", ("study", "evaluate", study, "--sample", "sample")),
        Step("report", ("study", "report", study, "--out", "report", "--figures", "svg", *few)),
    ]


def run(step: Step) -> tuple[float, float, float]:
    """Seconds, CPU seconds, peak megabytes."""
    started = time.perf_counter()
    process = subprocess.Popen([GRATER, *step.args], cwd=WORK, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    complaint = process.stderr.read() if process.stderr else b""
    _, status, used = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    if status:
        raise SystemExit(f"{step.name}: exit status {status}\n{complaint.decode()[-2000:]}")
    return seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def main() -> int:
    share = option("--share", 1.0)
    n_essays, n_judged = int(N_ESSAYS * share), int(N_JUDGED * share)
    if "--make" in sys.argv:
        make(n_essays, n_judged)
        return 0
    # elsewhere: the system counts what a parent holds in memory as its child's
    subprocess.run([sys.executable, __file__, *sys.argv[1:], "--make"], check=True)
    print(f"{n_essays:,} essays, {n_essays * N_EACH:,} items, {n_judged * VOTES:,} judgments, two systems")
    print("load of the machine before:", ", ".join(f"{load:.1f}" for load in os.getloadavg()))
    found: dict[str, tuple[float, float, float]] = {}
    for step in steps(int(option("--resamples", 1000))):
        found[step.name] = run(step)
        seconds, cpu, megabytes = found[step.name]
        print(f"{step.name:18} {seconds:8.1f} s  {cpu:8.1f} s CPU  {megabytes:7.0f} MB", flush=True)
    print(f"{'all':18} {sum(each[0] for each in found.values()):8.1f} s")
    most = max(each[2] for each in found.values())
    return int(most > MOST_MEGABYTES or found["status"][1] > MOST_STATUS)


if __name__ == "__main__":
    sys.exit(main())
