"""How often intervals of scores hold and tests reject: `python benchmarks/coverage_scores.py [N]` prints three tables.

The worlds know nothing of the methods.  An essay has two effects of its own, on its writer's errors (u) and on how
the system takes to it (v), both normal; an item's gravity is theta = normal(mean, spread) + u; each rater calls it
an error with chance 1 / (1 + exp(-slope theta)); a system flags it where theta + v + noise passes its threshold.
`sharp` worlds have essay effects of standard deviation 1, `mild` ones of .4.  True scores are those of 60,000
essays of the same world.  Everything goes through `grater.evaluate` and `grater.compare` with their defaults
(`resamples` apart) on data frames, as a user's does.

Null worlds of the second table have two systems that are alike in law, with effects of their own.  In the third, two
systems with different thresholds decide on different essays whose error rates differ (means -2 and -1); the truth is
computed at the standard that grater chose, from each system's true rates in each bin of a large world.

Seeds: world n of a design is numpy's default_rng((seed of the design, n)); see `DESIGNS`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl

import grater
from grater.statistics.intervals import Numbers

RESAMPLES = 400
SHAPES = ((12, 40), (20, 25), (50, 20))
EFFECTS = {"sharp": 1.0, "mild": 0.4}
SHOWN = ("precision", "recall", "f0.5")
N_WIDE, PORTION = 60_000, 6_000
SPREAD, SLOPE, NOISE = 1.8, 2.0, 1.5


@dataclass(frozen=True, slots=True)
class World:
    """A law of essays; `thresholds` has one entry per system."""

    seed: int
    n_essays: int
    n_items: int
    n_raters: int
    effect: float
    mean: float = -2.0
    thresholds: tuple[float, ...] = (0.3,)

    def draw(self, rng: np.random.Generator, n_essays: int = 0) -> tuple[Numbers, Numbers]:
        """Votes for error (essays x items) and flags (systems x essays x items)."""
        n = n_essays or self.n_essays
        gravity = rng.normal(self.mean, SPREAD, (n, self.n_items)) + rng.normal(0, self.effect, (n, 1))
        chance = 1 / (1 + np.exp(-SLOPE * gravity))
        votes = rng.binomial(self.n_raters, chance).astype(np.float64)
        flags = [
            gravity + rng.normal(0, 0.6 * self.effect, (n, 1)) + rng.normal(0, NOISE, gravity.shape) > threshold
            for threshold in self.thresholds
        ]
        return votes, np.array(flags, np.float64)

    def wide(self) -> Iterator[tuple[Numbers, Numbers]]:
        rng = np.random.default_rng((self.seed, 999_999))
        for _ in range(N_WIDE // PORTION):
            yield self.draw(rng, PORTION)


def majority(votes: Numbers, n_raters: int) -> Numbers:
    """1 above one half, 0 below, a half for a tie."""
    return (np.sign(2 * votes - n_raters) + 1) / 2


def true_scores(world: World) -> Numbers:
    """Precision, recall and F0.5 of the first system in a very large world."""
    hit = flagged = errors = 0.0
    for votes, flags in world.wide():
        truth = majority(votes, world.n_raters)
        hit, flagged, errors = hit + (flags[0] * truth).sum(), flagged + flags[0].sum(), errors + truth.sum()
    return np.array([hit / flagged, hit / errors, 1.25 * hit / (flagged + 0.25 * errors)])


def frames(votes: Numbers, flags: Numbers, n_raters: int, prefix: str = "e") -> tuple[pl.DataFrame, ...]:
    """Decisions, judgments and items as a user has them."""
    n_essays, n_items = votes.shape
    essay = np.repeat([f"{prefix}{at}" for at in range(n_essays)], n_items)
    item = np.array([f"{name}-{at}" for name, at in zip(essay, np.tile(np.arange(n_items), n_essays), strict=True)])
    decisions = pl.concat(
        pl.DataFrame({"item": item, "system": f"S{at}", "flagged": of.ravel().astype(np.int8)})
        for at, of in enumerate(flags)
    )
    labels = np.where(np.arange(n_raters) < votes.ravel()[:, None], "error", "ok").ravel()
    raters = np.tile([f"r{at}" for at in range(n_raters)], item.size)
    judgments = pl.DataFrame({"item": np.repeat(item, n_raters), "rater": raters, "label": labels})
    places = np.tile(np.arange(n_items), n_essays)
    items = pl.DataFrame({"item": item, "essay": essay, "start": places, "end": places + 1, "kind": "prep"})
    return decisions, judgments, items


def coverage(world: World, n_worlds: int) -> tuple[Numbers, Numbers]:
    """The share of worlds whose intervals of precision, recall and F0.5 hold the truth: by essay, and by item."""
    truth, held = true_scores(world), np.zeros((2, len(SHOWN)))
    for number in range(n_worlds):
        votes, flags = world.draw(np.random.default_rng((world.seed, number)))
        decisions, judgments, items = frames(votes, flags, world.n_raters)
        for row, known in enumerate((items, None)):
            [scored] = _standard(decisions, judgments, known, number)
            held[row] += [
                scored[name].low <= true <= scored[name].high for name, true in zip(SHOWN, truth, strict=True)
            ]
    by_essay, by_item = held / n_worlds
    return by_essay, by_item


def _standard(decisions: pl.DataFrame, judgments: pl.DataFrame, items: pl.DataFrame | None, seed: int):  # type: ignore[no-untyped-def]  # noqa: ANN202
    from grater.evaluate.evaluation import EvaluationOptions, evaluate
    from grater.statistics.bootstrap import Chance
    from grater.tables import as_decisions, as_judgments, read_items

    options = EvaluationOptions(chance=Chance(n_resamples=RESAMPLES, seed=seed), is_brief=True)
    known = read_items(items) if items is not None else None
    return evaluate(as_decisions(decisions), as_judgments(judgments), items=known, options=options).whole.standard


def rejections(world: World, n_worlds: int) -> Numbers:
    """The share of null worlds in which each test rejects at 5 %: bootstrap, randomisation, McNemar."""
    rejected = np.zeros(3)
    for number in range(n_worlds):
        votes, flags = world.draw(np.random.default_rng((world.seed, number)))
        decisions, judgments, items = frames(votes, flags, world.n_raters)
        compared = grater.compare(decisions, judgments, items=items, resamples=RESAMPLES, seed=number)
        [pair] = compared.pairs
        rejected += [
            pair.test.p["bootstrap"] <= 0.05,
            pair.test.p["randomisation"] <= 0.05,
            pair.mcnemar.mid_p <= 0.05,
        ]
    return rejected / n_worlds


def apart(first: World, second: World, n_worlds: int) -> Numbers:
    """Coverage of standardised precision, recall and F0.5, and of their differences, for systems on different data."""
    rates = [_rates(world) for world in (first, second)]
    held = np.zeros((2, len(SHOWN)))
    for number in range(n_worlds):
        rng = np.random.default_rng((first.seed, number))
        parts = [frames(*world.draw(rng), world.n_raters, prefix) for world, prefix in ((first, "a"), (second, "b"))]
        renamed = [part[0].with_columns(system=pl.lit(name)) for part, name in zip(parts, ("A", "B"), strict=True)]
        judgments, items = (pl.concat([part[at] for part in parts]) for at in (1, 2))
        different = grater.compare(
            pl.concat(renamed), judgments, items=items, resamples=RESAMPLES, seed=number
        ).different
        assert different is not None
        truths = [_standardised(rate, different.standard) for rate in rates]
        for at, name in enumerate(SHOWN):
            score, difference = different.systems[0].scores[name], different.pairs[0].differences[name]
            held[0, at] += score.low <= truths[0][at] <= score.high
            held[1, at] += difference.low <= truths[0][at] - truths[1][at] <= difference.high
    return held / n_worlds


def _rates(world: World) -> Numbers:
    """By number of votes for error: items, errors and flags, flagged errors, of a very large world."""
    sums = np.zeros((world.n_raters + 1, 4))
    for votes, flags in world.wide():
        truth, code = majority(votes, world.n_raters).ravel(), votes.ravel().astype(int)
        flag = flags[0].ravel()
        for column, values in enumerate((np.ones_like(truth), truth, flag, flag * truth)):
            sums[:, column] += np.bincount(code, weights=values, minlength=world.n_raters + 1)
    return sums


def _standardised(rates: Numbers, standard) -> tuple[float, float, float]:  # type: ignore[no-untyped-def]  # noqa: ANN001
    """The true scores of a system at the standard that grater chose."""
    n_raters = len(rates) - 1
    agreement = np.maximum(np.arange(n_raters + 1), n_raters - np.arange(n_raters + 1)) / n_raters
    hit = alarm = errors = 0.0
    for at, stratum in enumerate(standard):
        is_last = at == len(standard) - 1
        inside = (agreement >= stratum.low) & ((agreement <= stratum.high) if is_last else (agreement < stratum.high))
        n, n_errors, flags, hits = rates[inside].sum(axis=0)
        hit += stratum.n_errors * hits / n_errors
        alarm += (stratum.n - stratum.n_errors) * (flags - hits) / (n - n_errors)
        errors += stratum.n_errors
    return hit / (hit + alarm), hit / errors, 1.25 * hit / (hit + alarm + 0.25 * errors)


def _shown(values: Numbers) -> str:
    return " ".join(f"{value:.3f}" for value in values)


def main() -> None:
    n_worlds = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    wanted = sys.argv[2] if len(sys.argv) > 2 else "coverage tests apart"
    for at, (n_essays, n_items) in enumerate(SHAPES):
        for n_raters in (2, 3):
            for name, effect in EFFECTS.items():
                seed = 100 * at + 10 * n_raters + (name == "mild")
                one = World(seed, n_essays, n_items, n_raters, effect)
                row = f"| {n_essays} x {n_items} | {n_raters} | {name} | {seed} |"
                if "coverage" in wanted:
                    print("coverage", row, " | ".join(map(_shown, coverage(one, n_worlds))), "|", flush=True)
                if "tests" in wanted:
                    null = World(seed, n_essays, n_items, n_raters, effect, thresholds=(0.3, 0.3))
                    print("tests", row, _shown(rejections(null, n_worlds)), "|", flush=True)
                if "apart" in wanted:
                    other = World(seed + 5, n_essays, n_items, n_raters, effect, mean=-1.0, thresholds=(0.8,))
                    print("apart", row, " | ".join(map(_shown, apart(one, other, n_worlds))), "|", flush=True)


if __name__ == "__main__":
    main()
