"""How well raters' skills predict, and what shrinking is worth: `python benchmarks/skills.py FOLDER`.

FOLDER has the real crowds (SP_amt, CF_amt, sentiment, dog: label.csv and truth.csv; snow2008-rte.tsv and
snow2008-temp.tsv).  Half of each crowd's items, drawn with seed 0, give the skills, without their truth; the true
answers of the other half say how often each rater was right there.  The bounds of the prior (`LEAST_PRIOR`,
`MOST_PRIOR` of `grater.crowd.raters`) are chosen on three crowds by the loss there, minus the mean log-probability
of a judgment of the other half being right or wrong, and reported on the other three, beside skills that are not
shrunk.  Held: the share of raters whose number right lies in the 95 % that a beta distribution with the skill's mean
and interval, and then chance, would give.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy.stats import betabinom

from grater.crowd.aggregate import Options
from grater.crowd.aggregate.ballots import Ballots, ballots_of
from grater.crowd.aggregate.dawid_skene import fit
from grater.crowd.aggregate.fit import Fit
from grater.crowd.raters import LEAST_PRIOR, MOST_PRIOR, shrunk_skills
from grater.tables import Judgments, read_gold, read_judgments

TUNED = ("SP_amt", "dog", "snow2008-rte")
REPORTED = ("CF_amt", "sentiment", "snow2008-temp")
LEAST, MOST = (1.0, 2.0, 5.0), (5.0, 10.0, 20.0, 50.0, 100.0)
NOT_SHRUNK = (1e-3, 1e-3)
SNOW = {"item": "orig_id", "rater": "!amt_worker_ids", "label": "response"}


class Half:
    """The model of half of a crowd's items; by rater, how many of the other half they judged and got right."""

    def __init__(self, folder: Path, name: str) -> None:
        judgments, truth = _crowd(folder, name)
        frame = judgments.frame.select(pl.col("item", "rater", "label").cast(pl.String))
        items = frame["item"].unique().sort().to_list()
        first = set(np.random.default_rng(0).choice(items, len(items) // 2, replace=False).tolist())
        is_first = pl.col("item").is_in(list(first))
        self.ballots: Ballots = ballots_of(read_judgments(frame.filter(is_first), name=name))
        self.fitted: Fit = fit(self.ballots, Options())
        known = frame.filter(~is_first).join(truth, on="item").with_columns(right=pl.col("label") == pl.col("truth"))
        later = known.group_by("rater").agg(n=pl.len(), right=pl.col("right").sum())
        counts = {rater: (n, right) for rater, n, right in later.iter_rows()}
        of_raters = [counts.get(rater, (0, 0)) for rater in self.ballots.raters]
        self.n, self.right = np.array(of_raters, np.int64).T

    def skills(self, prior: tuple[float, float]) -> npt.NDArray[np.float64]:
        """Value and bounds, by rater."""
        found = shrunk_skills(self.ballots, self.fitted, prior=prior)
        return np.array([(skill.value, skill.low, skill.high) for skill in found])

    def loss(self, prior: tuple[float, float]) -> float:
        skill = np.clip(self.skills(prior)[:, 0], 1e-4, 1 - 1e-4)
        return -float(self.right @ np.log(skill) + (self.n - self.right) @ np.log(1 - skill)) / int(self.n.sum())

    def held(self, prior: tuple[float, float]) -> float:
        """The share of raters whose number right in the other half is among the 95 % that their skill foretells."""
        value, low, high = self.skills(prior)[self.n > 0].T
        n, right = self.n[self.n > 0], self.right[self.n > 0]
        worth = np.maximum(value * (1 - value) / np.maximum((high - low) / 3.92, 1e-6) ** 2 - 1, 1e-3)
        below, above = (betabinom.ppf(tail, n, value * worth, (1 - value) * worth) for tail in (0.025, 0.975))
        return float(np.mean((below <= right) & (right <= above)))


def _crowd(folder: Path, name: str) -> tuple[Judgments, pl.DataFrame]:
    if name.startswith("snow"):
        path = folder / f"{name}.tsv"
        truth = read_gold(path, columns={"item": "orig_id", "label": "gold"}, duplicates="first")
        judgments = read_judgments(path, columns=SNOW)
    else:
        judgments = read_judgments(folder / name / "label.csv", duplicates="first")
        truth = read_gold(folder / name / "truth.csv")
    return judgments, truth.frame.select(pl.col("item").cast(pl.String), truth=pl.col("label").cast(pl.String))


def rows(folder: Path) -> Iterator[str]:
    tuned = [Half(folder, name) for name in TUNED]
    losses = {
        prior: sum(half.loss(prior) for half in tuned) / len(tuned)
        for prior in product(LEAST, MOST)
        if prior[0] <= prior[1]
    }
    for prior, loss in sorted(losses.items(), key=lambda pair: pair[1]):
        yield f"{prior[0]:g} to {prior[1]:g}: loss {loss:.4f} on {', '.join(TUNED)}"
    best = min(losses, key=lambda prior: losses[prior])
    yield "| crowd | raters | not shrunk: loss | held | best on the tuned: loss | held | ours: loss | held |"
    for name in (*TUNED, *REPORTED):
        half = Half(folder, name)
        cells = [f"{half.loss(prior):.4f} | {half.held(prior):.3f}" for prior in (NOT_SHRUNK, best, OURS)]
        yield f"| {name} | {len(half.ballots.raters)} | {' | '.join(cells)} |"


OURS = (LEAST_PRIOR, MOST_PRIOR)

if __name__ == "__main__":
    for line in rows(Path(sys.argv[1])):
        print(line, flush=True)
