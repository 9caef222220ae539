"""How often limits of weighted scores hold: `python -m tests.measure.evaluation.coverage` prints a table of
docs/evaluating.md.

Items have a place theta on a line, raters a bent b: a rater calls an item an error with chance 1 / (1 + exp(-theta -
b)).  Every rater judges every item.  The system flags what is likely to be an error.  Three questions, each with a
truth of its own: other items with these raters, other raters with these items, other items and other raters.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from grater.measure.evaluation.cases import SCORES, Cases, cases_of, scores, truth_of
from grater.measure.evaluation.standard import against
from grater.tables import read_decisions, read_judgments
from grater.uncertainty.bootstrap import Chance, Cluster
from grater.uncertainty.intervals import Numbers, generator

CLUSTERS: tuple[Cluster, ...] = ("item", "rater", "item+rater")
QUESTIONS = ("other items", "other raters", "both")
SHOWN = ("precision", "recall", "f0.5")
MEAN, SPREAD, BENT = -1.5, 1.5, 0.7
N_WIDE = 40_000
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(21)


@dataclass(frozen=True, slots=True, eq=False)
class World:
    """One draw of items and raters, as cases, with the true scores for each question."""

    cases: Cases
    truths: dict[str, Numbers]


def _flags(theta: Numbers, rng: np.random.Generator) -> Numbers:
    return (theta + rng.normal(0, 1, theta.size) > 0).astype(np.float64)


def _chance(theta: Numbers, bent: Numbers) -> Numbers:
    """Items x raters: the chance that a rater calls an item an error."""
    return np.asarray(1 / (1 + np.exp(-theta[:, None] - bent[None, :])), np.float64)


def _scores(flags: Numbers, share: Numbers) -> Numbers:
    hit, miss = (flags * share).sum(), ((1 - flags) * share).sum()
    sums = np.array([hit, flags.sum() - hit, miss, (1 - flags).sum() - miss])
    return scores(sums)[[SCORES.index(name) for name in SHOWN]]


def world(n_items: int, n_raters: int, rng: np.random.Generator) -> World:
    theta, bent = rng.normal(MEAN, SPREAD, n_items), rng.normal(0, BENT, n_raters)
    flags = _flags(theta, rng)
    is_error = rng.random((n_items, n_raters)) < _chance(theta, bent)
    wide = rng.normal(MEAN, SPREAD, N_WIDE)
    wide_flags = _flags(wide, rng)
    crowd = WEIGHTS / WEIGHTS.sum()
    truths = {
        "other items": _scores(wide_flags, _chance(wide, bent).mean(axis=1)),
        "other raters": _scores(flags, _chance(theta, BENT * NODES) @ crowd),
        "both": _scores(wide_flags, _chance(wide, BENT * NODES) @ crowd),
    }
    return World(_cases(flags, is_error), truths)


def _cases(flags: Numbers, is_error: np.ndarray[tuple[int, int], np.dtype[np.bool_]]) -> Cases:
    n_items, n_raters = is_error.shape
    items = [f"i{place:04}" for place in range(n_items)]
    decided = pl.DataFrame({"item": items, "system": ["S"] * n_items, "flagged": flags.astype(np.int8)})
    rows = {"item": np.repeat(items, n_raters), "rater": [f"r{place}" for place in range(n_raters)] * n_items}
    labels = np.where(is_error.ravel(), "error", "ok")
    return cases_of(read_decisions(decided), read_judgments(pl.DataFrame({**rows, "label": labels})))


def coverage(
    n_items: int, n_raters: int, *, n_worlds: int, n_resamples: int = 400, clusters: Sequence[Cluster] = CLUSTERS
) -> dict[Cluster, Numbers]:
    """By what is drawn: questions x scores, the share of worlds whose limits hold the truth."""
    rng = generator(0, "coverage", f"{n_items} {n_raters}")
    held = {cluster: np.zeros((len(QUESTIONS), len(SHOWN))) for cluster in clusters}
    for seed in range(n_worlds):
        drawn = world(n_items, n_raters, rng)
        share = truth_of(drawn.cases, "share")
        for cluster in clusters:
            (found,) = against(drawn.cases, share, chance=Chance(cluster, n_resamples, seed))
            low, high = (np.array([getattr(found[name], end) for name in SHOWN]) for end in ("low", "high"))
            for place, question in enumerate(QUESTIONS):
                held[cluster][place] += (low <= drawn.truths[question]) & (drawn.truths[question] <= high)
    return {cluster: counts / n_worlds for cluster, counts in held.items()}


def main() -> None:
    n_worlds = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    for n_items, n_raters in ((400, 5), (400, 20)):
        for cluster, shares in coverage(n_items, n_raters, n_worlds=n_worlds).items():
            cells = " | ".join(" ".join(f"{share:.3f}" for share in row) for row in shares)
            sys.stdout.write(f"| {n_items:,} items, {n_raters} raters | `{cluster}` | {cells} |\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
