"""What a large study costs: 10,000 essays, 300,000 items, 600,000 decisions, 500,000 judgments by 200 raters.

All made up, in a SQLite file.  Every step is its command, in a process of its own, one after the other.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator

import numpy as np
import polars as pl
from benchmarks.harness import GRATER, WORK, Row, Size, Table, cost

HERE = WORK / "study"
N_ESSAYS, N_EACH, N_JUDGED, N_RATERS, VOTES = 10_000, 30, 100_000, 200, 5
SENTENCE = "we went in the garden of the house with our friends and talked about music "
"""No item needs to be a preposition: the systems are tables."""
STEPS = {
    "new": "study new study.db",
    "import essays": "study import study.db essays.jsonl",
    "import items": "study import study.db --items items.parquet",
    "import decisions": "study import study.db --decisions decisions.parquet",
    "import judgments": "study import study.db --judgments judgments.parquet --job crowd",
    "status": "study status study.db",
    "sample": "study sample study.db --system A --n 3000",
    "evaluate": "study evaluate study.db --resamples 200",
    "evaluate from the sample": "study evaluate study.db --sample sample",
    "report": "study report study.db --out report --figures svg --resamples 200",
}


def make(n_essays: int, n_judged: int) -> None:
    """Essays as JSONL, and the tables as Parquet."""
    shutil.rmtree(HERE, ignore_errors=True)
    HERE.mkdir(parents=True)
    with (HERE / "essays.jsonl").open("w", encoding="utf-8") as stream:
        stream.write('{"format":"grater-corpus","version":1}\n')
        for number in range(n_essays):
            stream.write(json.dumps({"id": f"e{number}", "text": SENTENCE * 8 + str(number)}) + "\n")
    rng, n_items = np.random.default_rng(0), n_essays * N_EACH
    starts = np.tile(np.arange(N_EACH) * 15, n_essays)
    names = np.array([f"i{number}" for number in range(n_items)])
    essays = np.repeat([f"e{number}" for number in range(n_essays)], N_EACH)
    places = {"item": names, "essay": essays, "start": starts, "end": starts + 2, "kind": ["prep"] * n_items}
    pl.DataFrame(places).write_parquet(HERE / "items.parquet")
    is_error = rng.random(n_items) < 0.1
    flags = np.concatenate([is_error ^ (rng.random(n_items) < noise) for noise in (0.05, 0.1)])
    decided = {"item": np.tile(names, 2), "system": np.repeat(["A", "B"], n_items), "flagged": flags}
    pl.DataFrame({**decided, "score": rng.random(2 * n_items)}).write_parquet(HERE / "decisions.parquet")
    judged = rng.choice(n_items, n_judged, replace=False)
    who = ((rng.integers(0, N_RATERS, n_judged)[:, None] + np.arange(VOTES)) % N_RATERS).ravel()
    says = np.repeat(is_error[judged], VOTES) ^ (rng.random(n_judged * VOTES) < 0.1)
    columns = {
        "item": np.repeat(names[judged], VOTES),
        "rater": [f"r{number}" for number in who.tolist()],
        "label": np.where(says, "error", "ok"),
        "seconds": rng.gamma(3.0, 4.0, n_judged * VOTES).round(1),
    }
    pl.DataFrame(columns).write_parquet(HERE / "judgments.parquet")


def measure(size: Size) -> Iterator[Row | Table]:
    share = 100 if size == "short" else 1
    n_essays, n_judged = N_ESSAYS // share, N_JUDGED // share
    # elsewhere: the system counts what a parent holds in memory as its child's
    made = f"from benchmarks import study; study.make({n_essays}, {n_judged})"
    subprocess.run([sys.executable, "-c", made], check=True)
    found = {name: cost([*GRATER, *words.split()], cwd=HERE) for name, words in STEPS.items()}
    rows = [[name, round(each.cpu, 1), round(each.megabytes)] for name, each in found.items()]
    yield Table("Steps", ("step", "CPU seconds", "peak MB"), rows)
    yield Row("all steps", sum(each.cpu for each in found.values()), n_judged * VOTES)
    yield Row("the largest peak", max(each.megabytes for each in found.values()), goal=2048, unit="MB")
    yield Row("`study status`", found["status"].cpu, n_judged * VOTES, goal=1.0)
