"""How often 95 % limits cover the truth: `python -m tests.measure.agreement.coverage` prints the table of
docs/agreement.md.

Items have a true label; a rater sees it with the skill of that label and otherwise gives another one; judgments go
missing at random.  The truth is the coefficient of 400,000 such items.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from grater.measure.agreement.coded import Coded, Counts, tally
from grater.measure.agreement.coefficients import (
    Coefficient,
    alpha,
    bennett,
    bootstrap_intervals,
    fleiss,
    gwet,
    observed,
)
from grater.measure.agreement.cohen import NOBODY, cohen_kappa, confusions, kappa, mean_pairwise
from grater.model import Interval
from grater.uncertainty.bootstrap import PatternUnits, bca_interval, point_estimate
from grater.uncertainty.intervals import generator

N_TRUTH = 400_000
N_RESAMPLES = 400


@dataclass(frozen=True, slots=True)
class World:
    """A way in which judgments come about; `n_minor` items of a hundred are not of the most frequent label."""

    name: str
    prevalence: tuple[float, ...]
    skill: tuple[float, ...]
    n_raters: int
    missing: float = 0.0

    def draw(self, n_items: int, rng: np.random.Generator) -> Coded:
        n_labels = len(self.prevalence)
        truth = rng.choice(n_labels, size=n_items, p=self.prevalence)[:, None]
        size = n_items, self.n_raters
        other = (truth + rng.integers(1, n_labels, size=size)) % n_labels
        matrix = np.where(rng.random(size) < np.array(self.skill)[truth], truth, other)
        matrix[rng.random(size) < self.missing] = NOBODY
        return of_matrix(matrix.astype(np.int32), n_labels)


WORLDS = [
    World("balanced, 2 raters", (0.5, 0.5), (0.85, 0.85), 2),
    World("balanced, 5 raters", (0.5, 0.5), (0.85, 0.85), 5),
    World("3 labels, 3 raters, 20 % missing", (0.4, 0.3, 0.3), (0.8, 0.8, 0.8), 3, 0.2),
    World("10 % errors, 2 raters", (0.9, 0.1), (0.95, 0.8), 2),
    World("10 % errors, 5 raters, 40 % missing", (0.9, 0.1), (0.95, 0.8), 5, 0.4),
    World("5 % errors, 2 raters", (0.95, 0.05), (0.97, 0.8), 2),
    World("5 % errors, 3 raters", (0.95, 0.05), (0.97, 0.8), 3),
    World("5 % errors, 3 good raters", (0.95, 0.05), (0.995, 0.95), 3),
    # The worlds above were looked at when the method was chosen, those below only afterwards.
    World("held out: 4 skewed labels, 4 raters, 30 % missing", (0.7, 0.15, 0.1, 0.05), (0.9, 0.8, 0.75, 0.7), 4, 0.3),
    World("held out: 3 % errors, 7 raters", (0.97, 0.03), (0.98, 0.7), 7),
    World("held out: 20 % errors, 2 raters", (0.8, 0.2), (0.9, 0.7), 2),
]
SIZES = (50, 100, 200, 500)


def of_matrix(matrix: npt.NDArray[np.int32], n_labels: int) -> Coded:
    item, rater = np.nonzero(matrix != NOBODY)
    labels, raters = (tuple(map(str, range(n))) for n in (n_labels, matrix.shape[1]))
    items = pl.Series(np.arange(len(matrix))).cast(pl.String)
    return Coded(item.astype(np.int32), rater.astype(np.int32), matrix[item, rater], items, raters, labels, "world")


def coefficients(n_labels: int) -> list[Coefficient]:
    weights, labels = np.eye(n_labels), tuple(map(str, range(n_labels)))
    return [*(make(weights) for make in (observed, fleiss, gwet, bennett)), alpha("nominal", labels)]


def minor(counts: Counts) -> float:
    judged = counts.n_items @ counts.patterns
    return float(1 - judged.max() / judged.sum())


def truths(world: World) -> tuple[dict[str, float], float]:
    """The coefficients of a large sample, and its share of labels other than the most frequent one."""
    codes = world.draw(N_TRUTH, generator(1, world.name))
    counts = tally(codes)
    chosen = coefficients(len(world.prevalence))
    numbers = {each.name: point_estimate(each, counts.patterns, counts.n_items) for each in chosen}
    pairs = [kappa(table) for table in confusions(codes)]
    numbers["alpha, plain"] = numbers["alpha"]
    kappas = {"kappa, fce": pairs[0], "kappa, bootstrap": pairs[0], "mean kappa": float(np.mean(pairs))}
    return numbers | kappas, minor(counts)


def intervals(codes: Coded, rng: np.random.Generator) -> Iterator[tuple[str, Interval]]:
    chosen = coefficients(len(codes.labels))
    found = bootstrap_intervals(chosen, tally(codes), rng=rng, n_resamples=N_RESAMPLES)
    yield from zip((each.name for each in chosen), found, strict=True)
    yield "alpha, plain", plain(chosen[-1], tally(codes), rng)
    tables = list(confusions(codes))
    if len(tables) == 1:
        yield "kappa, fce", cohen_kappa(tables[0], rng=rng, method="fce")
        yield (
            "kappa, bootstrap",
            cohen_kappa(tables[0], rng=rng, method="bootstrap", n_resamples=N_RESAMPLES),
        )
    else:
        yield "mean kappa", mean_pairwise(codes, tables, rng=rng, n_resamples=N_RESAMPLES).kappa


def plain(coefficient: Coefficient, counts: Counts, rng: np.random.Generator) -> Interval:
    """BCa limits without the made-up item, for comparison."""
    number = point_estimate(coefficient, counts.patterns, counts.n_items)
    only = PatternUnits(counts.patterns, counts.n_items, np.zeros(len(counts.n_items)))
    weights = rng.multinomial(only.n, only.n_items / only.n, size=N_RESAMPLES)
    draws = coefficient.score(weights @ coefficient.rows(counts.patterns))
    return bca_interval(coefficient, number, only, draws, level=0.95)


def coverage(world: World, n_items: int, *, n_samples: int) -> dict[str, float]:
    """The share of samples whose limits hold the truth, by coefficient, where it is defined."""
    truth, _ = truths(world)
    rng = generator(2, world.name, str(n_items))
    covered: dict[str, list[bool]] = defaultdict(list)
    for _ in range(n_samples):
        for name, limits in intervals(world.draw(n_items, rng), rng):
            if limits.value == limits.value:
                covered[name].append(bool(limits.low - 1e-9 <= truth[name] <= limits.high + 1e-9))
    return {name: float(np.mean(hits)) for name, hits in covered.items()}


NAMES = ("observed", "fleiss", "alpha", "alpha, plain", "ac1", "s", "kappa, fce", "kappa, bootstrap", "mean kappa")


def main(n_samples: int, sizes: Sequence[int] = SIZES) -> Iterator[str]:
    yield f"| world | items | rare | {' | '.join(NAMES)} |"
    yield "|" + "---|" * (3 + len(NAMES))
    for world in WORLDS:
        _, share = truths(world)
        for n_items in sizes:
            found = coverage(world, n_items, n_samples=n_samples)
            cells = [f"{100 * found[name]:.1f}" if name in found else "" for name in NAMES]
            yield f"| {world.name} | {n_items} | {share * n_items:.0f} | {' | '.join(cells)} |"


if __name__ == "__main__":
    for line in main(int(sys.argv[1]) if sys.argv[1:] else 1000):
        sys.stdout.write(line + "\n")
        sys.stdout.flush()
