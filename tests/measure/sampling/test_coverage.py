"""How often intervals of recall hold (rule 6): two strata enumerated, more strata simulated with a seed."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import binom

from grater.measure.sampling.plan import Allocation, Stratification, allocate, neyman_weights
from grater.model import Interval
from grater.uncertainty import Numbers
from grater.uncertainty.sampled import Strata, normal_scores, sample_scores

TWO = np.array([True, False])
TEN_SHARES = np.array([0.02] * 5 + [0.45, 0.225, 0.1125, 0.05625, 0.05625])
"""As `grater sample --strata score:10` cuts a corpus of which a tenth is flagged."""
FEW_MISSES = np.array([0.55, 0.7, 0.85, 0.93, 0.97, 0.002, 0.004, 0.01, 0.03, 0.12])
BLUNT_SCORE = np.array([0.65, 0.75, 0.82, 0.87, 0.91, 0.02, 0.03, 0.05, 0.08, 0.15])


def cut(sizes: Numbers, rates: Numbers, flagged: Numbers) -> Stratification:
    return Stratification(tuple(f"{place:02}" for place in range(len(sizes))), flagged.astype(bool), sizes, rates)


def ten_strata(rates: Numbers = FEW_MISSES) -> Stratification:
    return cut(10_000 * TEN_SHARES, rates, np.arange(10) < 5)


def cheap_strata(sensitivity: float = 0.8, specificity: float = 0.97) -> Stratification:
    """Decision by the label of a cheap rater; flagged rate .8, missed 1 %, a tenth flagged."""
    sizes, rates = [], []
    for size, rate in ((0.1, 0.8), (0.9, 0.01)):
        called = rate * sensitivity + (1 - rate) * (1 - specificity)
        sizes += [size * called, size * (1 - called)]
        rates += [rate * sensitivity / called, rate * (1 - sensitivity) / (1 - called)]
    return cut(np.array(sizes), np.array(rates), np.array([1, 1, 0, 0]))


def recall_of(strata: Stratification) -> float:
    errors = strata.sizes * strata.rates
    return float(errors[strata.flagged].sum() / errors.sum())


def recalls(strata: Stratification, n: Numbers, errors: Numbers) -> tuple[Interval, Interval]:
    """Ours and the paper's."""
    judged = Strata(strata.sizes[None], n[None], errors[None])
    return sample_scores(judged, strata.flagged).recall, normal_scores(judged, strata.flagged).recall


def exact(missed: float, n: int) -> list[float]:
    """The coverage over all outcomes of two strata, n judged in each, precision .8; undefined does not hold."""
    strata = cut(np.array([0.1, 0.9]), np.array([0.8, missed]), TWO)
    truth, numbers = recall_of(strata), np.arange(n + 1)
    chances = [[(x, p) for x, p in enumerate(binom.pmf(numbers, n, rate)) if p > 1e-7] for rate in strata.rates]
    held = np.zeros(2)
    for (hits, p_hits), (misses, p_misses) in product(*chances):
        found = recalls(strata, np.full(2, float(n)), np.array([hits, misses], float))
        held += [p_hits * p_misses * (each.low <= truth <= each.high) for each in found]
    return held.tolist()


def simulated(strata: Stratification, n: Numbers, *, n_draws: int) -> list[float]:
    rng, truth = np.random.default_rng(1), recall_of(strata)
    held = np.zeros(2)
    for _ in range(n_draws):
        found = recalls(strata, n, rng.binomial(n.astype(int), strata.rates).astype(float))
        held += [each.low <= truth <= each.high for each in found]
    return (held / n_draws).tolist()


def allocated(strata: Stratification, n: int, method: Allocation = "neyman") -> Numbers:
    rates = dict(zip(strata.names, strata.rates.tolist(), strict=True))
    return np.array(list(allocate(strata, n, method=method, rates=rates).values()), float)


@pytest.mark.parametrize(("missed", "n", "ours"), [(0.01, 500, 0.962), (0.02, 200, 0.944)])
def test_our_interval_holds_where_the_papers_does_not(missed: float, n: int, ours: float) -> None:
    # statistics.md: exact coverage .944 to .962, against .889
    found, paper = exact(missed, n)
    assert found == pytest.approx(ours, abs=1e-3)
    assert paper < 0.9


def test_four_strata_with_a_cheap_rater_hold() -> None:
    found, paper = simulated(cheap_strata(), np.full(4, 250.0), n_draws=1000)
    assert 0.93 < found < 0.995
    assert paper < 0.8


@pytest.mark.parametrize("method", ["neyman", "paper"])
@pytest.mark.parametrize("rates", [FEW_MISSES, BLUNT_SCORE], ids=["few", "blunt"])
def test_ten_score_strata_hold(rates: Numbers, method: Allocation) -> None:
    strata = ten_strata(rates)
    assert 0.93 < simulated(strata, allocated(strata, 400, method), n_draws=500)[0] < 0.995


def test_score_strata_save_labels() -> None:
    # statistics.md claims 37 to 57 %; this corpus, by the linearised variance
    def variance(strata: Stratification, n: Numbers) -> float:
        pull = strata.sizes * (strata.flagged - recall_of(strata)) / (strata.sizes @ strata.rates)
        return float((pull**2 * strata.rates * (1 - strata.rates) / n).sum())

    fine = ten_strata()
    (n_flagged, precision), (n_passed, missed) = fine.side(True), fine.side(False)
    coarse = cut(np.array([n_flagged, n_passed]), np.array([precision, missed]), TWO)
    saved = [
        1 - variance(fine, allocated(fine, 1000)) / variance(coarse, 1000 * weights / weights.sum())
        for weights in (neyman_weights(coarse), np.array([1.0, 2.0]))
    ]
    assert saved == pytest.approx([0.456, 0.598], abs=5e-3)
