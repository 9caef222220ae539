"""How well raters' skills predict, and what shrinking them is worth.

Six real crowds under $GRATER_DATA/crowd.  Half of a crowd's items, drawn with seed 0, give the skills, without
their truth; the true answers of the other half say how often each rater was right there.  *Loss* is minus the mean
log-probability of a judgment of the other half being right or wrong; *held* the share of raters whose number right
lies in the 95 % that a beta distribution with the skill's mean and interval, and then chance, would give.  The
bounds of the prior were chosen on the first three crowds.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
from benchmarks.harness import DATA, Size, Table
from scipy.stats import betabinom

from grater.measure.crowd.aggregate import Options
from grater.measure.crowd.aggregate.ballots import ballots_of
from grater.measure.crowd.aggregate.dawid_skene import fit
from grater.measure.crowd.raters import LEAST_PRIOR, MOST_PRIOR, shrunk_skills
from grater.tables import Judgments, read_gold, read_judgments

CROWDS = ("SP_amt", "dog", "snow2008-rte", "CF_amt", "sentiment", "snow2008-temp")
PRIORS = {"not shrunk": (1e-3, 1e-3), "ours": (LEAST_PRIOR, MOST_PRIOR)}
SNOW = {"item": "orig_id", "rater": "!amt_worker_ids", "label": "response"}


def measure(size: Size) -> Iterator[Table]:
    columns = ("crowd", "raters", *(f"{name}, {what}" for name in PRIORS for what in ("loss", "held")))
    yield Table("Skills", columns, [row(name) for name in (CROWDS[:1] if size == "short" else CROWDS)])


def row(name: str) -> list[str | int | float]:
    judgments, truth = crowd(DATA / "crowd", name)
    frame = judgments.frame.select(pl.col("item", "rater", "label").cast(pl.String))
    items = frame["item"].unique().sort().to_list()
    is_first = pl.col("item").is_in(np.random.default_rng(0).choice(items, len(items) // 2, replace=False).tolist())
    ballots = ballots_of(read_judgments(frame.filter(is_first), name=name))
    fitted = fit(ballots, Options())
    known = frame.filter(~is_first).join(truth, on="item").with_columns(right=pl.col("label") == pl.col("truth"))
    counts = {
        rater: (n, right) for rater, n, right in known.group_by("rater").agg(pl.len(), pl.sum("right")).iter_rows()
    }
    n, right = np.array([counts.get(rater, (0, 0)) for rater in ballots.raters], np.int64).T
    cells: list[float] = []
    for prior in PRIORS.values():
        found = shrunk_skills(ballots, fitted, prior=prior)
        value, low, high = np.array([(skill.value, skill.low, skill.high) for skill in found]).T
        skill = np.clip(value, 1e-4, 1 - 1e-4)
        loss = -float(right @ np.log(skill) + (n - right) @ np.log(1 - skill)) / int(n.sum())
        worth = np.maximum(value * (1 - value) / np.maximum((high - low) / 3.92, 1e-6) ** 2 - 1, 1e-3)
        below, above = (betabinom.ppf(tail, n, value * worth, (1 - value) * worth) for tail in (0.025, 0.975))
        cells += [round(loss, 4), round(float(np.mean(((below <= right) & (right <= above))[n > 0])), 3)]
    return [name, len(ballots.raters), *cells]


def crowd(folder: Path, name: str) -> tuple[Judgments, pl.DataFrame]:
    if name.startswith("snow"):
        path = folder / f"{name}.tsv"
        truth = read_gold(path, columns={"item": "orig_id", "label": "gold"}, duplicates="first")
        judgments = read_judgments(path, columns=SNOW)
    else:
        judgments = read_judgments(folder / name / "label.csv", duplicates="first")
        truth = read_gold(folder / name / "truth.csv")
    return judgments, truth.frame.select(pl.col("item").cast(pl.String), truth=pl.col("label").cast(pl.String))
