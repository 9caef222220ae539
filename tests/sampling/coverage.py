"""How often intervals hold: `python -m tests.sampling.coverage` prints the tables of docs/sampling.md.

Two strata are enumerated: every pair of outcomes with its probability, no chance at all.  More strata are simulated
with a seed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product

import numpy as np
from scipy.stats import binom, hypergeom

from grater.model import Interval
from grater.rng import generator
from grater.sampling.allocate import allocate, neyman_weights, with_rates
from grater.sampling.scores import Stratum, normal_scores, scores

NEGLIGIBLE = 1e-9


def two_strata(rate: float, missed: float, n_flagged: int, n_other: int, *, flagged: float = 0.1) -> list[Stratum]:
    """Strata of an endless corpus with exactly the expected errors judged."""
    return [
        Stratum("flagged", True, flagged, n_flagged, n_flagged * rate),
        Stratum("unflagged", False, 1 - flagged, n_other, n_other * missed),
    ]


def recall_of(strata: Sequence[Stratum]) -> float:
    hits = sum(each.size * each.rate for each in strata if each.is_flagged)
    return hits / sum(each.size * each.rate for each in strata)


def holds(interval: Interval, truth: float) -> bool:
    return bool(interval.low <= truth <= interval.high)


def exact(strata: Sequence[Stratum], *, is_finite: bool = False) -> dict[str, float]:
    """The coverage of both intervals of recall over all outcomes of two strata; an undefined recall does not hold."""
    truth = recall_of(strata)
    covered = {"paper": 0.0, "ours": 0.0}
    for found, chance in _outcomes(strata, is_finite=is_finite):
        covered["paper"] += chance * holds(normal_scores(found).recall, truth)
        covered["ours"] += chance * holds(scores(found, fpc=is_finite).recall, truth)
    return covered


def _outcomes(strata: Sequence[Stratum], *, is_finite: bool) -> list[tuple[list[Stratum], float]]:
    sides = []
    for each in strata:
        numbers = np.arange(int(each.n_judged) + 1)
        if is_finite:
            chances = hypergeom.pmf(numbers, int(each.size), round(each.size * each.rate), int(each.n_judged))
        else:
            chances = binom.pmf(numbers, int(each.n_judged), each.rate)
        sides.append([(int(x), float(p)) for x, p in zip(numbers, chances, strict=True) if p > NEGLIGIBLE])
    return [
        ([replace(each, errors=float(x)) for each, (x, _) in zip(strata, pair, strict=True)], pair[0][1] * pair[1][1])
        for pair in product(*sides)
    ]


def simulated(strata: Sequence[Stratum], *, n_draws: int, seed: int = 0) -> dict[str, float]:
    """The same by simulation, for any number of strata of an endless corpus."""
    rng, truth = generator(seed, "coverage"), recall_of(strata)
    numbers = [rng.binomial(int(each.n_judged), each.rate, n_draws) for each in strata]
    drawn = [
        [replace(each, errors=float(x)) for each, x in zip(strata, outcome, strict=True)]
        for outcome in zip(*numbers, strict=True)
    ]

    def share(score: Callable[[list[Stratum]], Interval]) -> float:
        return sum(holds(score(found), truth) for found in drawn) / n_draws

    return {
        "paper": share(lambda found: normal_scores(found).recall),
        "ours": share(lambda found: scores(found, fpc=False).recall),
    }


def score_strata(n: int, *, n_items: int = 10_000) -> list[Stratum]:
    """Ten strata of a score as `grater sample` cuts them, a tenth flagged, drawn by Neyman's allocation."""
    flagged = zip([0.02] * 5, [0.55, 0.7, 0.85, 0.93, 0.97], strict=True)
    other = zip([0.45, 0.225, 0.1125, 0.05625, 0.05625], [0.002, 0.004, 0.01, 0.03, 0.12], strict=True)
    given = [(True, *each) for each in flagged] + [(False, *each) for each in other]
    strata = [Stratum(f"{place:02}", side, n_items * size) for place, (side, size, _) in enumerate(given)]
    rates = {each.name: rate for each, (_, _, rate) in zip(strata, given, strict=True)}
    sizes = allocate(strata, n, method="neyman", rates=rates)
    return [
        replace(each, n_judged=sizes[each.name], errors=sizes[each.name] * each.rate)
        for each in with_rates(strata, rates)
    ]


def cheap_strata(n_each: int, *, sensitivity: float = 0.8, specificity: float = 0.97) -> list[Stratum]:
    """Decision by the label of a cheap rater; flagged rate .8, missed 1 %, a tenth flagged."""
    strata = []
    for is_flagged, size, rate in ((True, 0.1, 0.8), (False, 0.9, 0.01)):
        called = rate * sensitivity + (1 - rate) * (1 - specificity)
        inside = {"error": (called, rate * sensitivity / called)}
        inside["ok"] = (1 - called, rate * (1 - sensitivity) / (1 - called))
        for label, (share, share_of_errors) in inside.items():
            strata.append(
                Stratum(f"{is_flagged} {label}", is_flagged, size * share, n_each, n_each * share_of_errors)
            )
    return strata


def variance_of_recall(strata: Sequence[Stratum]) -> float:
    """The linearised variance, for comparing designs."""
    recall, total = recall_of(strata), sum(each.size * each.rate for each in strata)
    terms = [
        (each.size * (each.is_flagged - recall) / total) ** 2 * each.rate * (1 - each.rate) / each.n_judged
        for each in strata
    ]
    return sum(terms)


def merged(strata: Sequence[Stratum]) -> list[Stratum]:
    """The same corpus in two strata, by decision alone, nothing judged but rates known."""
    found = []
    for is_flagged in (True, False):
        side = [each for each in strata if each.is_flagged == is_flagged]
        size = sum(each.size for each in side)
        rate = sum(each.size * each.rate for each in side) / size
        found.append(Stratum("flagged" if is_flagged else "unflagged", is_flagged, size, 1.0, rate))
    return found


def saving(n: int = 1000) -> dict[str, float]:
    """The share of labels that ten score strata with Neyman's allocation save, for the same variance of recall."""
    fine = score_strata(n)
    coarse = merged(fine)
    found = {}
    for name, weights in {"paper": np.array([1.0, 2.0]), "neyman": neyman_weights(coarse)}.items():
        shares = n * weights / weights.sum()
        judged = [replace(each, n_judged=k, errors=k * each.rate) for each, k in zip(coarse, shares, strict=True)]
        found[name] = 1 - variance_of_recall(fine) / variance_of_recall(judged)
    return found


DESIGNS = {
    ".8 and 2 %, 500/500": two_strata(0.8, 0.02, 500, 500),
    ".8 and 1 %, 500/500": two_strata(0.8, 0.01, 500, 500),
    ".8 and .5 %, 500/500": two_strata(0.8, 0.005, 500, 500),
    ".8 and .2 %, 500/500": two_strata(0.8, 0.002, 500, 500),
    ".8 and 2 %, 200/200": two_strata(0.8, 0.02, 200, 200),
    ".8 and 1 %, 200/200": two_strata(0.8, 0.01, 200, 200),
    ".8 and 30 %, 750/1,500": two_strata(0.8, 0.3, 750, 1500),
    ".8 and 1 %, 750/1,500": two_strata(0.8, 0.01, 750, 1500),
}


def row(name: str, strata: Sequence[Stratum], found: dict[str, float]) -> str:
    misses = sum(each.errors for each in strata if not each.is_flagged)
    return f"| {name} | {misses:.3g} | {found['paper']:.3f} | {found['ours']:.3f} |\n"


def main() -> None:
    for name, strata in DESIGNS.items():
        sys.stdout.write(row(name, strata, exact(strata)))
    figure = [Stratum("flagged", True, 1000, 750, 600), Stratum("unflagged", False, 9000, 1500, 450)]
    sys.stdout.write(row("T&C Figure 1: 750 of 1,000, 1,500 of 9,000", figure, exact(figure, is_finite=True)))
    more = {f"ten score strata, {n:,} judged": score_strata(n) for n in (400, 1000, 2250)}
    more |= {f"four strata with a cheap rater, {n} each": cheap_strata(n) for n in (100, 250)}
    for name, strata in more.items():
        sys.stdout.write(row(name, strata, simulated(strata, n_draws=10_000)))
    sys.stdout.write(f"{saving()}\n")


if __name__ == "__main__":
    main()
