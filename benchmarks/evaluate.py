"""Seconds and memory of `evaluate` on a million items: `python benchmarks/evaluate.py [--items N]`.

Three systems, 20 judgments of each item by 200 raters, 1,000 resamples: standard, each rater, weighted and binned
results together, from a frame with categorical columns (as parquet gives them), in a process of its own.  Wanted
(issue "Part 3", Must hold): within a minute and 2 GB on two cores.  There is no peer: nothing else does this job.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl

WORK = Path(__file__).parent / "work"
N_RATERS, N_EACH, SYSTEMS = 200, 20, ("A", "B", "C")
MOST_SECONDS, MOST_MEGABYTES = 60, 2048

JOB = """
import json, resource, sys, time
import polars as pl
from grater.evaluate.evaluation import Options, evaluate
from grater.tables import Judgments, Table
decisions = Table("decisions", pl.read_parquet(sys.argv[1]), "decisions")
judgments = Judgments(pl.read_parquet(sys.argv[2]), "judgments")
started = time.perf_counter()
found = evaluate(decisions, judgments, options=Options())
seconds = time.perf_counter() - started
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
precision = found.whole.standard[0]["precision"].value
print(json.dumps({"seconds": seconds, "megabytes": peak, "precision": precision}))
"""


def make(n_items: int) -> tuple[Path, Path]:
    """Decisions and judgments of a made-up crowd: errors are a tenth, raters right in nine cases of ten."""
    WORK.mkdir(exist_ok=True)
    paths = WORK / f"decisions-{n_items}.parquet", WORK / f"judgments-{n_items}.parquet"
    if all(path.exists() for path in paths):
        return paths
    rng = np.random.default_rng(0)
    names = pl.Series([f"{place:016x}" for place in range(n_items)], dtype=pl.Categorical)
    is_error = rng.random(n_items) < 0.1
    flags = [is_error ^ (rng.random(n_items) < noise) for noise in (0.05, 0.06, 0.2)]
    systems = pl.Series(SYSTEMS, dtype=pl.Categorical)
    decided = {
        "item": names.gather(np.tile(np.arange(n_items), len(SYSTEMS))),
        "system": systems.gather(np.repeat(np.arange(len(SYSTEMS)), n_items)),
        "flagged": np.concatenate(flags),
    }
    pl.DataFrame(decided).write_parquet(paths[0])
    raters = pl.Series([f"r{place}" for place in range(N_RATERS)], dtype=pl.Categorical)
    first = rng.integers(0, N_RATERS, n_items)
    who = (first[:, None] + np.arange(N_EACH)) % N_RATERS
    says = np.repeat(is_error, N_EACH) ^ (rng.random(n_items * N_EACH) < 0.1)
    judged = {
        "item": names.gather(np.repeat(np.arange(n_items), N_EACH)),
        "rater": raters.gather(who.ravel()),
        "label": pl.Series(["ok", "error"], dtype=pl.Categorical).gather(says.astype(np.int32)),
    }
    pl.DataFrame(judged).write_parquet(paths[1])
    return paths


def main() -> int:
    n_items = int(sys.argv[sys.argv.index("--items") + 1]) if "--items" in sys.argv else 1_000_000
    paths = make(n_items)
    done = subprocess.run([sys.executable, "-c", JOB, *map(str, paths)], capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    print(f"{n_items:,} items, {len(SYSTEMS)} systems, {N_EACH} judgments each, 1,000 resamples")
    seconds, megabytes = found["seconds"], found["megabytes"]
    print(f"{seconds:.1f} s (wanted {MOST_SECONDS}), {megabytes:,.0f} MB (wanted {MOST_MEGABYTES:,})")
    return int(seconds > MOST_SECONDS or megabytes > MOST_MEGABYTES)


if __name__ == "__main__":
    sys.exit(main())
