"""How much aggregation costs: majority, Dawid-Skene, MACE and GLAD beside crowd-kit.

A simulated crowd, a tenth of it spammers: 20 judgments of each item by 5,000 raters, with two labels.  In memory ours
starts from categorical columns, as 0.2 was measured, and once more from columns of text; crowd-kit from text, in the
pandas frame that it asks for.  Equal
iterations on both sides: Dawid-Skene 10, MACE one start of 10, GLAD one outer iteration.  From CSV to CSV both are
processes with as many iterations, ours the command `grater aggregate`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import polars as pl
from benchmarks.harness import ABSENT, GRATER, WORK, Row, Size, by_turns, peer, timed_in

import grater

N_RATERS, N_EACH = 5000, 20
SIZES: dict[Size, tuple[int, ...]] = {
    "short": (10_000,),
    "usual": (100_000, 1_000_000),
    "large": (100_000, 1_000_000, 10_000_000),
}
MOST_GLAD = 100_000
"""crowd-kit takes two minutes for a million."""
GOALS = {"majority": 20.0, "dawid-skene": 20.0, "mace": 20.0, "glad": 20.0}
GOALS_FROM_FILES = {"majority": 1.9, "dawid-skene": 4.6}

OURS = """
import sys
import polars as pl
import grater
from grater.tables import Judgments
frame = pl.read_parquet(sys.argv[1])
coded, text = Judgments(frame, "frame"), grater.read_judgments(frame)
def share(method, iterations, judgments=coded):
    found = grater.aggregate(judgments, method=method, iterations=iterations, tolerance=float("-inf"), restarts=1)
    return [float((found.answer == 0).mean()), float(found.is_tied.mean())]
tell("majority", lambda: share("majority", 1), 9)
tell("dawid-skene", lambda: share("dawid-skene", 10), 5)
tell("mace", lambda: share("mace", 10), 5)
tell("majority of text", lambda: share("majority", 1, text), 9)
if sys.argv[2] == "glad":
    tell("glad", lambda: share("glad", 1), 2)
"""
THEIRS = """
import sys, warnings
import polars as pl
from crowdkit.aggregation import GLAD, MACE, DawidSkene, MajorityVote
warnings.simplefilter("ignore")
frame = pl.read_parquet(sys.argv[1])
NAMES = {"item": "task", "rater": "worker", "label": "label"}
def share(method):
    labels = method.fit(frame.rename(NAMES).with_columns(pl.all().cast(pl.String)).to_pandas()).labels_
    return float((labels == labels.min()).mean())
tell("majority", lambda: share(MajorityVote()), 3)
tell("dawid-skene", lambda: share(DawidSkene(n_iter=10, tol=-1e300)), 1)
tell("mace", lambda: share(MACE(n_restarts=1, n_iter=10)), 1)
if sys.argv[2] == "glad":
    tell("glad", lambda: share(GLAD(n_iter=1)), 1)
"""
FROM_FILES = """
import sys, warnings
import pandas as pd
from crowdkit.aggregation import MACE, DawidSkene, MajorityVote
warnings.simplefilter("ignore")
METHODS = {
    "majority": MajorityVote(),
    "dawid-skene": DawidSkene(n_iter=10),
    "mace": MACE(n_restarts=1, n_iter=10),
}
frame = pd.read_csv(sys.argv[2]).rename(columns={"item": "task", "rater": "worker"})
METHODS[sys.argv[1]].fit_predict(frame).to_csv(sys.argv[3])
"""


def judgments(n: int) -> tuple[Path, Path]:
    binary, text = WORK / f"aggregation-{n}.parquet", WORK / f"aggregation-{n}.csv"
    if not binary.exists():
        WORK.mkdir(exist_ok=True)
        crowd = grater.simulate(
            n_items=n // N_EACH,
            n_raters=N_RATERS,
            judgments_per_item=N_EACH,
            spammers=0.1,
            prevalence=(0.2, 0.8),
            seed=2013,
        )
        frame = crowd.judgments.frame.select(pl.col("item", "rater", "label").cast(pl.String))
        frame.write_csv(text)
        frame.with_columns(pl.all().cast(pl.Categorical)).write_parquet(binary)
    return binary, text


def measure(size: Size) -> Iterator[Row]:
    python = peer("crowdkit")
    for n in SIZES[size]:
        binary, text = judgments(n)
        with_glad = "glad" if n <= MOST_GLAD else ""
        ours = timed_in(sys.executable, OURS, binary, with_glad)
        theirs = timed_in(python, THEIRS, binary, with_glad)
        for method, own in ours.items():
            value, tied = own["value"]
            other = theirs.get(method.removesuffix(" of text"))
            # Ties are broken at random by us, towards the first label by crowd-kit; MACE and GLAD start at random.
            is_same = method not in ("mace", "glad") and other is not None
            agrees = abs(other["value"] - value) <= tied + 1e-9 if is_same and other else None
            cpu, note = (other["cpu"], "") if other else (None, ABSENT)
            goal = GOALS.get(method) if n > MOST_GLAD / 10 else None
            yield Row(f"{method}, in memory", own["cpu"], n, "crowd-kit", cpu, goal, agrees, note=note)
        if python is None or n > 1_000_000:
            continue
        for method, options in {"majority": [], "dawid-skene": ["10"], "mace": ["10", "1"]}.items():
            named = [word for pair in zip(("--iterations", "--restarts"), options, strict=False) for word in pair]
            command = [*GRATER, "aggregate", text, "--method", method, *named, "--out", WORK / "answers.csv"]
            own, other = by_turns(command, [python, "-c", FROM_FILES, method, text, WORK / "theirs.csv"], runs=3)
            goal = GOALS_FROM_FILES.get(method) if n == 1_000_000 else None
            yield Row(f"{method}, CSV to CSV", own.cpu, n, "crowd-kit", other.cpu, goal, _agree(method))


def _agree(method: str) -> bool | None:
    """Whether both files have the same answers, ties apart."""
    if method == "mace":
        return None
    ours = pl.read_csv(WORK / "answers.csv", columns=["item", "label", "tied"]).filter(~pl.col("tied"))
    theirs = pl.read_csv(WORK / "theirs.csv").select(item=pl.col("task"), theirs=pl.col("agg_label"))
    joined = ours.join(theirs, on="item", how="left")
    return bool((joined["label"] == joined["theirs"]).all())
