"""How much agreement costs: alpha beside krippendorff and NLTK.

The judgments are 20 of each item by 5,000 raters, with two labels.  In memory every tool starts from the same frame
with names as categories, and its time includes making its own input: for krippendorff the counts by item that
polars makes, its fastest way; for NLTK triples.  From file to answer, ours is `grater agree`, which gives every
coefficient with its interval, beside a script that reads the same CSV for krippendorff's one number.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
from benchmarks.harness import ABSENT, GRATER, WORK, Row, Size, by_turns, peer, timed_in

N_RATERS, N_EACH = 5000, 20
SIZES: dict[Size, tuple[int, ...]] = {
    "short": (10_000,),
    "usual": (10_000, 100_000, 1_000_000),
    "large": (10_000, 100_000, 1_000_000, 10_000_000),
}
MOST_TEXT = 1_000_000
GOALS = {"krippendorff": {1_000_000: 5.0, 10_000_000: 5.0}, "nltk": {}}

FRAME = """
import polars as pl
frame = pl.read_parquet(sys.argv[1]) if sys.argv[1].endswith("parquet") else pl.read_csv(sys.argv[1])
"""
OURS = """
import sys
from grater.measure.agreement.coefficients import alpha
from grater.measure.units import tally
from grater.tables import Judgments
judgments = Judgments(frame, "frame")
def ours():
    counts = tally(judgments)
    found = alpha("nominal", counts.labels)
    return float(found.score(counts.n_items @ found.rows(counts.patterns)))
tell("alpha", ours, 9)
"""
THEIRS = {
    "krippendorff": """
import krippendorff
def theirs():
    wide = frame.group_by("item", "label").len().pivot(on="label", index="item", values="len").fill_null(0)
    return krippendorff.alpha(value_counts=wide.drop("item").to_numpy(), level_of_measurement="nominal")
tell("alpha", theirs, 5)
""",
    "nltk": """
from nltk.metrics.agreement import AnnotationTask
tell("alpha", lambda: AnnotationTask(data=list(frame.select("rater", "item", "label").iter_rows())).alpha(), 1)
""",
}
FROM_FILE = "import json, sys\ndef tell(job, work, n):\n    print(json.dumps(work()))\n"


def judgments(n: int) -> tuple[Path, Path]:
    """The same table as Parquet with categories and as CSV; made by seed on the first run."""
    binary, text = WORK / f"agreement-{n}.parquet", WORK / f"agreement-{n}.csv"
    if not binary.exists():
        WORK.mkdir(exist_ok=True)
        rng, n_items = np.random.default_rng(2008), n // N_EACH
        is_error = np.repeat(rng.random(n_items) < 0.2, N_EACH)
        labels = np.where(rng.random(n) < 0.85, is_error, ~is_error)
        # Twenty different raters for each item: a random start, then every 97th.
        raters = (rng.integers(0, N_RATERS, size=(n_items, 1)) + 97 * np.arange(N_EACH)) % N_RATERS
        codes = {"item": np.repeat(np.arange(n_items), N_EACH), "rater": raters.ravel(), "label": labels.astype(int)}
        names = [pl.format(f"{name[0]}{{}}", name).alias(name) for name in codes]
        frame = pl.DataFrame(codes).select(names)
        frame.with_columns(pl.all().cast(pl.Categorical)).write_parquet(binary)
        if n <= MOST_TEXT:
            frame.write_csv(text)
    return binary, text


def measure(size: Size) -> Iterator[Row]:
    for n in SIZES[size]:
        binary, text = judgments(n)
        ours = timed_in(GRATER[0], FRAME + OURS, binary)["alpha"]
        for name, code in THEIRS.items():
            found = timed_in(peer(name), FRAME + code, binary)
            theirs = found["alpha"]["cpu"] if found else None
            agrees = abs(found["alpha"]["value"] - ours["value"]) <= 1e-9 if found else None
            goal, note = GOALS[name].get(n), "" if found else ABSENT
            yield Row("alpha, in memory", ours["cpu"], n, name, theirs, goal, agrees, note=note)
        if n <= MOST_TEXT and (python := peer("krippendorff")):
            script = [python, "-c", FROM_FILE + FRAME + THEIRS["krippendorff"], text]
            own, other = by_turns([*GRATER, "agree", text, "--json"], script, runs=3)
            alpha = json.loads(own.output)["alpha"]["value"]
            agrees = abs(alpha - json.loads(other.output)) <= 1e-9
            note = "ours gives every coefficient with its interval, theirs alpha alone"
            yield Row("agreement, CSV to numbers", own.cpu, n, "krippendorff", other.cpu, None, agrees, note=note)
