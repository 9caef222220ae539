"""Memory of large tables of judgments: `python benchmarks/large_judgments.py [MILLIONS ...]`.

Tables of so many million judgments (10 and 20 unless given), five of each item by 5,000 raters between two labels, in
one Parquet file each, made by seed.  Every job is a process of its own that reads the file, checks every row and
works; printed are its peak of memory in GiB and its CPU seconds.  From two sizes on a line through the last two says
what 100 million take.  Wanted: 4.

`--shuffled` puts the rows in random order, so that the judgments of an item do not stand together; `--csv` makes the
same table a file of text.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

WORK = Path(__file__).parent / "work"
N_RATERS, N_EACH = 5000, 5
ITEMS_AT_ONCE = 1 << 17
WANTED_GB, LARGEST = 4.0, 100
SIZES = (10, 20)

HEAD = """
import json, resource, sys
from grater.tables import read_judgments
judgments = read_judgments(sys.argv[1])
"""
TAIL = """
used = resource.getrusage(resource.RUSAGE_SELF)
print(json.dumps({"gb": used.ru_maxrss / 2**20, "cpu": used.ru_utime + used.ru_stime, "value": float(value)}))
"""
JOBS = {
    "read": "value = len(judgments)",
    "agreement": """
from grater.agreement.summary import agreement
value = agreement(judgments).coefficients["alpha"].value
""",
    "majority": """
from grater.crowd.aggregate import aggregate
value = (aggregate(judgments, "majority").answer == 0).mean()
""",
    "dawid-skene": """
from grater.crowd.aggregate import aggregate
value = (aggregate(judgments, "dawid-skene").answer == 0).mean()
""",
    "evaluate": """
from grater.evaluate.evaluation import evaluate
from grater.tables import read_decisions
value = evaluate(read_decisions(sys.argv[2], judgments=judgments), judgments).whole.standard[0]["precision"].value
""",
}


def make(millions: int, *, is_shuffled: bool) -> Path:
    """The table as a file, written a piece at a time; made on the first run."""
    path = WORK / f"judgments-{millions}M{'-shuffled' if is_shuffled else ''}.parquet"
    if not path.exists():
        import numpy as np
        import polars as pl

        WORK.mkdir(exist_ok=True)
        rng = np.random.default_rng(2011)
        n_items = millions * 1_000_000 // N_EACH
        pieces = path.with_suffix("")
        pieces.mkdir(exist_ok=True)
        for number, start in enumerate(range(0, n_items, ITEMS_AT_ONCE)):
            item = np.repeat(np.arange(start, min(start + ITEMS_AT_ONCE, n_items)), N_EACH)
            is_error = np.repeat(rng.random(item.size // N_EACH) < 0.2, N_EACH)
            says_so = np.where(rng.random(item.size) < 0.85, is_error, ~is_error)
            first = np.repeat(rng.integers(0, N_RATERS, item.size // N_EACH), N_EACH)
            rater = (first + 97 * np.tile(np.arange(N_EACH), item.size // N_EACH)) % N_RATERS
            labels = np.where(says_so, "error", "ok")
            frame = pl.DataFrame({"item": item, "rater": rater, "label": labels})
            names = frame.with_columns(pl.format("item-{}", "item"), pl.format("r{}", "rater"))
            names.write_parquet(pieces / f"{number:05}.parquet")
        rows = pl.scan_parquet(pieces)
        if is_shuffled:
            rows = rows.collect().sample(fraction=1, shuffle=True, seed=1).lazy()
        rows.sink_parquet(path, row_group_size=1 << 18)
        for piece in pieces.iterdir():
            piece.unlink()
        pieces.rmdir()
    return path


def make_decisions(judgments: Path) -> Path:
    """A system that flags an item of ten, for each item of a table of judgments whose items stand together."""
    path = judgments.with_name(f"{judgments.stem}-decisions.parquet")
    if not path.exists():
        import polars as pl

        number = pl.col("item").str.strip_prefix("item-").cast(pl.UInt32)
        decisions = pl.scan_parquet(judgments).select("item").gather_every(N_EACH)
        decisions = decisions.with_columns(system=pl.lit("made"), flagged=number.hash(seed=1) % 10 == 0)
        decisions.sink_parquet(path, row_group_size=1 << 18)
    return path


def as_text(path: Path) -> Path:
    """The same table as a `.csv`."""
    import polars as pl

    text = path.with_suffix(".csv")
    if not text.exists():
        pl.scan_parquet(path).sink_csv(text)
    return text


def run(job: str, path: Path, decisions: Path) -> dict[str, float]:
    command = [sys.executable, "-c", HEAD + JOBS[job] + TAIL, str(path), str(decisions)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    measured: dict[str, float] = json.loads(done.stdout)
    return measured


def at_largest(sizes: list[int], peaks: list[float]) -> float:
    """The peak at a hundred million, by a line through the last two sizes."""
    slope = (peaks[-1] - peaks[-2]) / (sizes[-1] - sizes[-2])
    return peaks[-1] + slope * (LARGEST - sizes[-1])


def main() -> int:
    sizes = sorted(int(size) for size in sys.argv[1:] if size.isdigit()) or list(SIZES)
    jobs = [job for job in JOBS if job in sys.argv] or list(JOBS)
    peaks: dict[str, list[float]] = {job: [] for job in jobs}
    for size in sizes:
        decisions = make_decisions(make(size, is_shuffled=False))
        path = make(size, is_shuffled="--shuffled" in sys.argv)
        path = as_text(path) if "--csv" in sys.argv else path
        for job in jobs:
            measured = run(job, path, decisions)
            peaks[job].append(measured["gb"])
            print(
                f"{size:4} M  {job:<12} {measured['gb']:6.2f} GB {measured['cpu']:7.1f} CPU s   {measured['value']}"
            )
    highest = 0.0
    for job, gigabytes in peaks.items():
        last = at_largest(sizes, gigabytes) if len(sizes) > 1 else gigabytes[-1]
        highest = max(highest, last)
        print(f"{job:<12} {last:6.2f} GB at {LARGEST if len(sizes) > 1 else sizes[-1]} M (wanted {WANTED_GB:g})")
    return int(highest > WANTED_GB)


if __name__ == "__main__":
    sys.exit(main())
