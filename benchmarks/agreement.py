"""Seconds and memory of alpha and Fleiss kappa beside krippendorff and NLTK: `python benchmarks/agreement.py`.

One million judgments (50,000 items x 20 judgments from 5,000 raters, two labels), a tenth and a
hundredth of that, and ten million with `--large`.
Every tool starts from the same frame in memory, with categorical columns, in a process of its own; its time includes
making its own input, and is the best of several runs, in seconds of the processor, since polars works on all cores.
krippendorff is timed twice: on the counts of an item that polars makes for it (its fastest way), and on the raters x
items matrix that its documentation shows.  NLTK takes triples.
The values must agree, or the benchmark fails.  Wanted (issue "Part 2", Must hold): at least 10 x
krippendorff and 100 x NLTK, 1,000 resamples within a second beyond one alpha, under 1.5 GB at ten million rows.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from race import ABSENT, record

ROOT = Path(__file__).parent
WORK = ROOT / "work"
PEERS = ROOT.parent / ".peers"
N_RATERS, N_EACH = 5000, 20
SIZES = {"10k": 500, "100k": 5_000, "1M": 50_000, "10M": 500_000}
WANTED = {"krippendorff": 10.0, "nltk": 100.0}

TIMER = """
import json, resource, sys, time
import polars as pl
frame = pl.read_parquet(sys.argv[1])
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
def best(job, n):
    seconds = []
    for _ in range(n):
        started = time.process_time(); value = job(); seconds.append(time.process_time() - started)
    return min(seconds), float(value)
def tell(name, job, n=5):
    seconds, value = best(job, n)
    found = {"job": name, "seconds": seconds, "value": value, "megabytes": peak()}
    print(json.dumps(found), flush=True)
"""

OURS = """
import numpy as np
from grater.agreement import Options, bootstrap_intervals as bootstrap, fleiss, tally, weight_matrix
from grater.agreement.coefficients import alpha
from grater.statistics.bca import point_estimate as value
from grater.agreement.summary import agreement
from grater.rng import generator
from grater.tables import Judgments
judgments = Judgments(frame, "frame")
def one(make):
    counts = tally(judgments)
    return value(make(counts.labels), counts.patterns, counts.n_items)
nominal = lambda labels: alpha("nominal", labels)
def resampled():
    counts = tally(judgments)
    return bootstrap([nominal(counts.labels)], counts, rng=generator(0))[0].value
tell("alpha", lambda: one(nominal), 9)
tell("fleiss", lambda: one(lambda labels: fleiss(weight_matrix("identity", len(labels)))), 9)
tell("alpha, 1,000 resamples", resampled, 3)
tell("everything, with limits", lambda: agreement(judgments).coefficients["alpha"].value, 2)
"""

KRIPPENDORFF_COUNTS = """
import krippendorff
def counts():
    wide = frame.group_by("item", "label").len().pivot(on="label", index="item", values="len").fill_null(0)
    return krippendorff.alpha(value_counts=wide.drop("item").to_numpy(), level_of_measurement="nominal")
tell("alpha of counts", counts)
"""

KRIPPENDORFF_MATRIX = """
import krippendorff, numpy as np
def matrix():
    codes = [frame[name].rank("dense").to_numpy() - 1 for name in ("rater", "item", "label")]
    data = np.full((codes[0].max() + 1, codes[1].max() + 1), np.nan)
    data[codes[0], codes[1]] = codes[2]
    return krippendorff.alpha(reliability_data=data, level_of_measurement="nominal")
tell("alpha of the matrix", matrix, 1)
"""

NLTK = """
from nltk.metrics.agreement import AnnotationTask
def triples():
    return AnnotationTask(data=list(frame.select("rater", "item", "label").iter_rows())).alpha()
tell("alpha of triples", triples, 1)
"""


@dataclass(frozen=True, slots=True)
class Run:
    tool: str
    job: str
    seconds: float
    value: float
    megabytes: float

    def __str__(self) -> str:
        return f"{self.tool:<14} {self.job:<26} {self.seconds:10.4f} s {self.megabytes:8.0f} MB   {self.value:.6f}"


def make(size: str) -> Path:
    """The frame as a file; made by seed on the first run."""
    path = WORK / f"agreement-{size}.parquet"
    if not path.exists():
        import numpy as np
        import polars as pl

        WORK.mkdir(exist_ok=True)
        rng = np.random.default_rng(2008)
        n_items = SIZES[size]
        is_error = np.repeat(rng.random(n_items) < 0.2, N_EACH)
        labels = np.where(rng.random(n_items * N_EACH) < 0.85, is_error, ~is_error)
        # Twenty different raters for each item: a random start, then every 97th.
        starts = rng.integers(0, N_RATERS, size=n_items)
        raters = (starts[:, None] + 97 * np.arange(N_EACH)[None, :]) % N_RATERS
        frame = pl.DataFrame(
            {"item": np.repeat(np.arange(n_items), N_EACH), "rater": raters.ravel(), "label": labels.astype(int)}
        )
        kinds = [pl.format(f"{name[0]}{{}}", name).cast(pl.Categorical).alias(name) for name in frame.columns]
        frame.select(kinds).write_parquet(path)
    return path


def run(tool: str, script: str, path: Path) -> list[Run]:
    """One tool in its own interpreter; nothing, and loudly, where it is not installed."""
    python = Path(sys.executable) if tool == "grater" else PEERS / tool / "bin" / "python"
    if not python.exists():
        print(f"{tool}: MISSING, run `make peers`; no comparison made", file=sys.stderr)
        return []
    environment = dict(os.environ) if tool == "grater" else {**os.environ, "PYTHONPATH": ""}
    done = subprocess.run([python, "-c", TIMER + script, path], capture_output=True, text=True, env=environment)
    if done.returncode:
        print(f"{tool}: failed: {done.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    return [Run(tool, each["job"], each["seconds"], each["value"], each["megabytes"]) for each in found]


def compare(size: str) -> int:
    path = make(size)
    ours = run("grater", OURS, path)
    scripts = [("krippendorff", KRIPPENDORFF_COUNTS), ("nltk", NLTK)]
    if size not in ("1M", "10M"):  # at a million the matrix takes 2 GB, at ten 20
        scripts.insert(1, ("krippendorff", KRIPPENDORFF_MATRIX))
    runs = [(tool, run(tool, script, path)) for tool, script in scripts]
    peers = [each for _, of_tool in runs for each in of_tool]
    print(f"\n{size} judgments")
    for each in [*ours, *peers]:
        print(each)
    alpha = ours[0]
    n_judgments = SIZES[size] * N_EACH
    for tool in dict.fromkeys(tool for tool, of_tool in runs if not of_tool):
        record(job="alpha", peer=tool, size=n_judgments, ours=alpha.seconds, theirs=None, note=ABSENT)
    for peer in peers:
        record(
            job=f"alpha ({peer.job})",
            peer=peer.tool,
            size=n_judgments,
            ours=alpha.seconds,
            theirs=peer.seconds,
            wanted=WANTED[peer.tool],
            agrees=abs(peer.value - alpha.value) <= 1e-9,
        )
        print(f"grater's alpha is {peer.seconds / alpha.seconds:.1f} x as fast as {peer.tool}, {peer.job}")
    print(f"1,000 resamples take {ours[2].seconds - alpha.seconds:.3f} s beyond one alpha")
    return int(any(abs(peer.value - alpha.value) > 1e-9 for peer in peers))


def main() -> int:
    left_out = set() if "--large" in sys.argv else {"10M"}
    sizes = [size for size in SIZES if size not in left_out]
    return max(compare(size) for size in sizes)


if __name__ == "__main__":
    sys.exit(main())
