"""How often 95 % intervals of `raters-needed` hold the truth where items are few.

`python -m benchmarks.coverage_raters_needed [REPETITIONS [WORLD]]` prints one row per world and number of items: how
often the intervals hold for agreement and kappa of one, three and seven raters with gold, for the smallest N that
agrees with gold on the share to be reached, and for the smallest N that matches two experts; then how often that last
one is not named at all ("no number of raters can be named").

An item is an error with some chance; every rater of the crowd is right on it with the item's own chance, logit-normal
around the crowd's skill (standard deviation .9), and each of two experts with another, around theirs.  Nine raters
judge each item.  The truth is computed from binomial majorities on 200,000 items, by numpy and scipy alone.

*plain*: a quarter of the items errors, raters right in about .78 of them, reach .85.
*good*: raters right in about .95, reach .97: in few samples does a majority err at all.
*rare*: a twelfth of the items errors, raters right in about .85, reach .9.
Sample n of a world has numpy's default_rng((seed, items, n)); 300 resamples.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from math import inf, isnan
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy.special import expit
from scipy.stats import binom

from grater.agreement.raters_needed import NeedOptions, RatersNeeded, raters_needed
from grater.model import Interval
from grater.tables import as_judgments

N_JUDGMENTS = 9
N_WIDE = 200_000
SIZES = (20, 50, 100)
SHOWN = (1, 3, 7)
Array: TypeAlias = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class World:
    """The share of errors, the skills of crowd and experts (logits), and the agreement with gold to be reached."""

    seed: int
    errors: float
    crowd: float
    experts: float
    reach: float

    def items(self, n: int, rng: np.random.Generator) -> tuple[Array, Array, Array]:
        """Whether each item is an error, and the chances that a rater of the crowd and an expert are right on it."""
        is_error = rng.random(n) < self.errors
        return is_error, expit(rng.normal(self.crowd, 0.9, n)), expit(rng.normal(self.experts, 0.9, n))


WORLDS = {
    "plain": World(91, 0.25, 1.5, 2.0, 0.85),
    "good": World(92, 0.25, 3.4, 3.0, 0.97),
    "rare": World(93, 1 / 12, 2.1, 2.3, 0.9),
}


@dataclass(frozen=True, slots=True, eq=False)
class Truth:
    """Agreement and kappa with gold for N = 1 ... 9, the smallest N that reaches, and that matches the experts."""

    agreement: Array
    kappa: Array
    reaching: float
    matching: float


def truth_of(world: World) -> Truth:
    is_error, crowd, expert = world.items(N_WIDE, np.random.default_rng((world.seed, 999_999)))
    right = [majority(crowd, n) for n in range(1, N_JUDGMENTS + 1)]
    with_gold = [agreed(chance, is_error, np.ones(N_WIDE)) for chance in right]
    with_expert = [agreed(chance, is_error, expert)[1] for chance in right]
    between = agreed(expert, is_error, expert)[1]
    reaching = next((n for n, (share, _) in enumerate(with_gold, 1) if share >= world.reach), inf)
    matching = next((n for n, value in enumerate(with_expert, 1) if value >= between), inf)
    agreement, kappa = np.array(with_gold).T
    return Truth(agreement=agreement, kappa=kappa, reaching=reaching, matching=matching)


def majority(chance: Array, n: int) -> Array:
    """The chance that the majority of n is right, ties by lot."""
    ties = binom.pmf(n // 2, n, chance) / 2 if n % 2 == 0 else 0.0
    return np.asarray(binom.sf(n // 2, n, chance) + ties)


def agreed(first: Array, is_error: Array, second: Array) -> tuple[float, float]:
    """Agreement and kappa of two who are right with these chances, independently given the item."""
    share = float(np.mean(first * second + (1 - first) * (1 - second)))
    of_errors = [float(np.mean(np.where(is_error, chance, 1 - chance))) for chance in (first, second)]
    chance = of_errors[0] * of_errors[1] + (1 - of_errors[0]) * (1 - of_errors[1])
    return share, (share - chance) / (1 - chance)


def drawn(world: World, n_items: int, number: int) -> tuple[RatersNeeded, RatersNeeded]:
    """One sample's answers: against gold, and against two experts."""
    rng = np.random.default_rng((world.seed, n_items, number))
    is_error, crowd, expert = world.items(n_items, rng)
    said = said_by(rng, is_error, crowd, N_JUDGMENTS, "c")
    experts = said_by(rng, is_error, expert, 2, "e")
    gold = said_by(rng, is_error, np.ones(n_items), 1, "g")
    options = NeedOptions(n_resamples=300, seed=number)
    reaching = NeedOptions(n_resamples=300, seed=number, reach=world.reach)
    tables = [as_judgments(frame) for frame in (said, gold, experts)]
    return raters_needed(tables[0], tables[1], reaching), raters_needed(tables[0], tables[2], options)


def said_by(rng: np.random.Generator, is_error: Array, chance: Array, n: int, prefix: str) -> pl.DataFrame:
    is_right = rng.random((len(is_error), n)) < chance[:, None]
    labels = np.where(is_right == is_error[:, None], "error", "ok").ravel()
    items = np.repeat([f"i{place}" for place in range(len(is_error))], n)
    return pl.DataFrame(
        {"item": items, "rater": [f"{prefix}{at}" for at in range(n)] * len(is_error), "label": labels}
    )


def holds(interval: Interval, truth: float) -> bool:
    """An interval without a lower bound, where no sample reaches the goal, says "more than there are"."""
    low, high = (inf if isnan(bound) else bound for bound in (interval.low, interval.high))
    return bool(low - 1e-9 <= truth <= high + 1e-9)


def row(world: World, truth: Truth, n_items: int, n_repetitions: int) -> str:
    rows = []
    for number in range(n_repetitions):
        by_gold, by_experts = drawn(world, n_items, number)
        points = [by_gold.headline.points[n - 1] for n in SHOWN]
        held = [holds(point.agreement, truth.agreement[point.n_raters - 1]) for point in points]
        held += [
            holds(point.kappa, truth.kappa[point.n_raters - 1]) for point in points if not isnan(point.kappa.low)
        ]
        held += [True] * (2 * len(SHOWN) - len(held))
        held += [holds(by_gold.smallest, truth.reaching), holds(by_experts.smallest, truth.matching)]
        rows.append([*held, isnan(by_experts.smallest.value)])
    return " | ".join(f"{share:.3f}".lstrip("0") for share in np.mean(rows, axis=0))


def main(n_repetitions: int = 400, which: str = "all") -> None:
    numbers = [f"{what} {n}" for what in ("agreement", "kappa") for n in SHOWN]
    print(f"| world | items | {' | '.join(numbers)} | N to reach | N to match | not named |", flush=True)
    print("|" + "---|" * (len(numbers) + 5), flush=True)
    for name, world in WORLDS.items():
        if which not in ("all", name):
            continue
        truth = truth_of(world)
        print(f"{name}: N to reach {truth.reaching}, to match {truth.matching}", file=sys.stderr)
        for n_items in SIZES:
            print(f"| {name} | {n_items} | {row(world, truth, n_items, n_repetitions)} |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else 400, *sys.argv[2:])
