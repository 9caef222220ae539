"""How often intervals hold: `python -m tests.measure.sampling.coverage` prints the tables of docs/sampling.md.

Two strata are enumerated: every pair of outcomes with its probability, no chance at all.  More strata are simulated
with a seed.  Our method for many strata was chosen on `score_strata` and `cheap_strata` alone; `unseen` and
`any_corpus` are corpora that had no part in the choice.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from itertools import product
from typing import TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from grater.measure.sampling.plan import Allocation, allocate, neyman_weights, with_rates
from grater.model import Interval
from grater.uncertainty.intervals import generator
from grater.uncertainty.stratified import Stratum, normal_scores, scores

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


METHODS: dict[str, Callable[..., Interval]] = {
    "paper": lambda strata, fpc: normal_scores(strata).recall,  # noqa: ARG005
    "jeffreys": lambda strata, fpc: scores(strata, fpc=fpc, method="jeffreys").recall,
    "ours": lambda strata, fpc: scores(strata, fpc=fpc).recall,
}
"""Recall with limits, from judged strata."""


def exact(strata: Sequence[Stratum], *, is_finite: bool = False) -> dict[str, float]:
    """The coverage of intervals of recall over all outcomes of two strata; an undefined recall does not hold."""
    truth = recall_of(strata)
    covered = dict.fromkeys(METHODS, 0.0)
    for found, chance in _outcomes(strata, is_finite=is_finite):
        for name, recall in METHODS.items():
            covered[name] += chance * holds(recall(found, is_finite), truth)
    return covered


def _outcomes(strata: Sequence[Stratum], *, is_finite: bool) -> list[tuple[list[Stratum], float]]:
    from scipy.stats import binom, hypergeom  # a second that few tests need

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


def simulated(
    strata: Sequence[Stratum],
    *,
    n_draws: int,
    seed: int = 0,
    is_finite: bool = False,
    methods: Collection[str] = tuple(METHODS),
) -> dict[str, float]:
    """The same by simulation, for any number of strata; a finite corpus holds its expected errors exactly."""
    rng, truth = generator(seed, "coverage"), recall_of(strata)
    numbers = [_drawn(each, n_draws, rng, is_finite=is_finite) for each in strata]
    drawn = [
        [replace(each, errors=float(x)) for each, x in zip(strata, outcome, strict=True)]
        for outcome in zip(*numbers, strict=True)
    ]
    return {
        name: sum(holds(recall(found, is_finite), truth) for found in drawn) / n_draws
        for name, recall in METHODS.items()
        if name in methods
    }


def _drawn(stratum: Stratum, n_draws: int, rng: np.random.Generator, *, is_finite: bool) -> npt.NDArray[np.int64]:
    n = int(stratum.n_judged)
    if not is_finite:
        return rng.binomial(n, stratum.rate, n_draws)
    n_errors = round(stratum.size * stratum.rate)
    return rng.hypergeometric(n_errors, round(stratum.size) - n_errors, n, n_draws)


FLAGGED_SHARES = [0.02] * 5
OTHER_SHARES = [0.45, 0.225, 0.1125, 0.05625, 0.05625]
FEW_MISSES = ([0.55, 0.7, 0.85, 0.93, 0.97], [0.002, 0.004, 0.01, 0.03, 0.12])
MORE_MISSES = ([0.55, 0.7, 0.85, 0.93, 0.97], [0.005, 0.02, 0.06, 0.15, 0.35])
BLUNT_SCORE = ([0.65, 0.75, 0.82, 0.87, 0.91], [0.02, 0.03, 0.05, 0.08, 0.15])
Rates: TypeAlias = tuple[Sequence[float], Sequence[float]]


def score_strata(
    n: int, rates: Rates = FEW_MISSES, *, n_items: float = 10_000, method: Allocation = "neyman"
) -> list[Stratum]:
    """Ten strata of a score as `grater sample` cuts them, a tenth flagged."""
    return _allocated((FLAGGED_SHARES, OTHER_SHARES), rates, n, n_items, method)


def _allocated(shares: Rates, rates: Rates, n: int, n_items: float, method: Allocation) -> list[Stratum]:
    """Strata of these shares and rates on the flagged and on the other side, n judged and errors as expected."""
    given = [
        (is_flagged, *each)
        for is_flagged, side in ((True, 0), (False, 1))
        for each in zip(shares[side], rates[side], strict=True)
    ]
    strata = [Stratum(f"{place:02}", side, n_items * size) for place, (side, size, _) in enumerate(given)]
    known = {each.name: rate for each, (_, _, rate) in zip(strata, given, strict=True)}
    sizes = allocate(strata, n, method=method, rates=known)
    return [
        replace(each, n_judged=sizes[each.name], errors=sizes[each.name] * each.rate)
        for each in with_rates(strata, known)
    ]


def any_corpus(rng: np.random.Generator) -> list[Stratum]:
    """Three to eighteen strata of any sizes and rates, 250 to 2,500 judged, by any allocation."""
    n_sides = (int(rng.integers(1, 8)), int(rng.integers(2, 12)))
    flagged = rng.uniform(0.03, 0.3)
    parts = [side * rng.dirichlet(np.ones(n)) for side, n in zip((flagged, 1 - flagged), n_sides, strict=True)]
    shares = (parts[0].tolist(), parts[1].tolist())
    rates = (rng.beta(6, 2, n_sides[0]).tolist(), (10 ** rng.uniform(-3, -0.5, n_sides[1])).tolist())
    n, method = int(10 ** rng.uniform(2.4, 3.4)), get_args(Allocation)[rng.integers(4)]
    return _allocated(shares, rates, n, 1e6, method)


def misses_of(strata: Sequence[Stratum]) -> float:
    return sum(each.errors for each in strata if not each.is_flagged)


def of_any_corpora(n_corpora: int, *, n_draws: int, seed: int = 0) -> list[float]:
    """The coverage of ours in many corpora with five or more expected misses, from lowest to highest."""
    rng = generator(seed, "coverage", "corpora")
    found: list[float] = []
    while len(found) < n_corpora:
        strata = any_corpus(rng)
        if misses_of(strata) >= 5:
            found.append(simulated(strata, n_draws=n_draws, methods=("ours",))["ours"])
    return sorted(found)


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


def chosen_on() -> dict[str, list[Stratum]]:
    designs = {f"ten score strata, Neyman, {n:,} judged": score_strata(n) for n in (400, 1000, 2250)}
    return designs | {f"four strata with a cheap rater, {n} each": cheap_strata(n) for n in (100, 250)}


def unseen() -> dict[str, list[Stratum]]:
    """Designs that had no part in the choice of the method."""
    kinds = {"more misses": MORE_MISSES, "a blunt score": BLUNT_SCORE}
    found = {f"the same, {name}, {n:,}": score_strata(n, rates) for name, rates in kinds.items() for n in (400, 1000)}
    methods: tuple[Allocation, ...] = ("paper", "equal", "proportional")
    return found | {f"the same, {method} allocation, 1,000": score_strata(1000, method=method) for method in methods}


def row(name: str, strata: Sequence[Stratum], found: dict[str, float]) -> str:
    shares = " | ".join(f"{found[method]:.3f}" for method in METHODS)
    return f"| {name} | {misses_of(strata):.3g} | {shares} |\n"


def main() -> None:
    for name, strata in DESIGNS.items():
        sys.stdout.write(row(name, strata, exact(strata)))
    figure = [Stratum("flagged", True, 1000, 750, 600), Stratum("unflagged", False, 9000, 1500, 450)]
    sys.stdout.write(row("T&C Figure 1: 750 of 1,000, 1,500 of 9,000", figure, exact(figure, is_finite=True)))
    for name, strata in (chosen_on() | unseen()).items():
        sys.stdout.write(row(name, strata, simulated(strata, n_draws=10_000)))
    finite = score_strata(1000)
    sys.stdout.write(
        row("ten score strata of 10,000 items", finite, simulated(finite, n_draws=10_000, is_finite=True))
    )
    shares = of_any_corpora(30, n_draws=1000)
    n_inside = sum(0.935 <= share <= 0.975 for share in shares)
    told = f"{shares[0]:.3f} to {shares[-1]:.3f}, median {shares[15]:.3f}, {n_inside} of 30 in .935 to .975"
    sys.stdout.write(f"any corpora: {told}\n")
    sys.stdout.write(f"{saving()}\n")


if __name__ == "__main__":
    main()
