"""Intervals of a proportion: textbook limits, finite populations, cases in clusters."""

from math import inf, isnan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grater.uncertainty.intervals import (
    cluster_wilson,
    degrees_of_freedom,
    effective_n,
    finite_jeffreys,
    graded_wilson,
    jeffreys,
    wilson,
)


def test_half_of_ten_has_the_textbook_limits() -> None:
    # z = 1.959964: centre .5, half-width z/(1 + z²/10) sqrt(.025 + z²/400) = .263409
    interval = wilson(5, 10)
    assert (interval.value, interval.low, interval.high) == pytest.approx((0.5, 0.236593, 0.763407), abs=1e-6)


def test_no_hit_in_ten_still_leaves_room_above() -> None:
    # high = z² / (n + z²) = 3.841459 / 13.841459
    interval = wilson(0, 10)
    assert (interval.value, interval.low) == (0, 0)
    assert interval.high == pytest.approx(0.277533, abs=1e-6)


def test_no_case_is_undefined_and_says_so() -> None:
    interval = wilson(0, 0)
    assert isnan(interval.value)
    assert interval.undefined_because


@given(st.integers(1, 500), st.floats(0, 1), st.sampled_from([0.5, 0.9, 0.95, 0.99]))
def test_limits_hold_the_share_and_stay_between_0_and_1(n: int, share: float, level: float) -> None:
    interval = wilson(round(share * n), n, level=level)
    assert 0 <= interval.low <= interval.value <= interval.high <= 1


def test_limits_are_quantiles_of_the_posterior() -> None:
    from scipy.stats import beta  # a second that few tests need

    interval = jeffreys(3, 20)
    expected = beta(3.5, 17.5).ppf([0.025, 0.975])
    assert (interval.low, interval.high) == pytest.approx(tuple(expected))


def test_no_hit_in_ten_has_the_published_limit() -> None:
    # Brown, Cai & DasGupta 2001, Table 5: n = 10, x = 0 gives [0, .217]
    interval = jeffreys(0, 10)
    assert interval.low == 0
    assert interval.high == pytest.approx(0.217, abs=5e-4)


def test_nothing_but_hits_mirrors_no_hit() -> None:
    none, every = jeffreys(0, 10), jeffreys(10, 10)
    assert (every.low, every.high) == pytest.approx((1 - none.high, 1))


@given(st.integers(1, 300), st.floats(0, 1))
def test_limits_hold_the_share(n: int, share: float) -> None:
    for limits in (jeffreys, finite_jeffreys):
        interval = limits(round(share * n), n)
        assert 0 <= interval.low <= interval.value <= interval.high <= 1


def test_jeffreys_without_a_case_is_undefined_and_says_so() -> None:
    for limits in (jeffreys, finite_jeffreys):
        assert isnan(limits(0, 0).value)
        assert limits(0, 0).undefined_because


def test_half_of_a_population_counts_nearly_twice() -> None:
    # 50 (100 - 1) / (100 - 50) = 99
    assert effective_n(50, 100) == 99
    assert effective_n(50, inf) == 50
    assert finite_jeffreys(10, 50, size=100) == jeffreys(0.2 * 99, 99)


def test_a_population_seen_whole_leaves_no_doubt() -> None:
    interval = finite_jeffreys(10, 50, size=50)
    assert (interval.low, interval.high) == (0.2, 0.2)


def test_shares_of_raters_allow_for_a_case_that_was_not_seen() -> None:
    # 12 shares with mean .9: standard error .02; a thirteenth at 0 would add (.9 / 12)² = .005625 to .0004, and the
    # variance of hits is .9 · .1 / 12 = .0075: .09 / .006025 = 14.94 cases
    by_hand = wilson(0.9 * 14.938, 14.938)
    graded = graded_wilson(0.9, 0.02, 12)
    assert (graded.low, graded.high) == pytest.approx((by_hand.low, by_hand.high), abs=1e-4)
    assert graded_wilson(0.9, 0.08, 12) == wilson(10.8, 12)  # no wider than hits and misses
    assert graded_wilson(1.0, 0.0, 12) == wilson(12, 12)


def test_cases_in_clusters_are_worth_fewer() -> None:
    """Twenty essays of ten cases each, all alike inside an essay: 200 cases are worth about twenty."""
    n = np.full(20, 10.0)
    alike = cluster_wilson(np.where(np.arange(20) < 14, 10.0, 0.0), n)
    spread = cluster_wilson(np.full(20, 7.0), n)
    assert alike.value == spread.value == 0.7
    # n effective = 19 (z / t)^2 with t of 19 degrees of freedom 2.093: 19 x (1.96 / 2.093)^2 = 16.66
    by_hand = wilson(0.7 * 16.66, 16.66)
    assert (alike.low, alike.high) == pytest.approx((by_hand.low, by_hand.high), abs=2e-3)
    plain = wilson(140, 200)
    assert spread.low <= plain.low
    assert spread.high >= plain.high


def test_clusters_of_unequal_sizes_are_worth_fewer() -> None:
    """Two essays of 100 cases and twenty of four: the jackknife, with few degrees of freedom."""
    n = np.array([100.0, 100.0, *[4.0] * 20])
    hits = np.array([80.0, 60.0, *[3.0] * 20])
    # share 200/280; the jackknife's sum of ((hits - share n) / (1 - n / 280))² is (8.571 / .6429)² +
    # (11.429 / .6429)² + 20 · (.1429 / .9857)² = 494.2; t of 1.8626 degrees of freedom is 4.6215
    worth = 0.20408 / (494.2 * 21 / 22 / 280**2) * (1.96 / 4.6215) ** 2
    by_hand = wilson(200 / 280 * worth, worth)
    interval = cluster_wilson(hits, n)
    assert (interval.low, interval.high) == pytest.approx((by_hand.low, by_hand.high), abs=1e-3)


def test_degrees_of_freedom_are_those_of_the_quadratic_form() -> None:
    """By the matrices of Bell & McCaffrey: residuals M u of cluster means u, weighed by D; tr(A)² / tr(A²)."""
    weights = np.array([1.0, 2, 3, 4, 5, 6, 9]) / 30
    residuals = np.eye(7) - np.outer(np.ones(7), weights)
    form = np.diag(weights / (1 - weights)) @ residuals
    square = form @ form.T
    satterthwaite = np.trace(square) ** 2 / np.trace(square @ square)
    kish = 1 / np.sum(weights**2)
    assert degrees_of_freedom(weights) == pytest.approx(np.sqrt(satterthwaite * (kish - 1)))
    assert satterthwaite < kish - 1 < 6
    assert degrees_of_freedom(np.full(20, 1 / 20)) == pytest.approx(19)
    assert degrees_of_freedom(np.array([0.9, 0.1])) == 1


def test_one_cluster_has_no_interval_and_none_no_value() -> None:
    one = cluster_wilson(np.array([3.0]), np.array([10.0]))
    assert (one.value, isnan(one.low)) == (0.3, True)
    assert isnan(cluster_wilson(np.zeros(2), np.zeros(2)).value)
