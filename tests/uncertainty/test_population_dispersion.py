"""Edits that fall by chance, and essays that draw many."""

from __future__ import annotations

from math import isnan

import numpy as np
import pytest

from grater.uncertainty.named import dispersion


def test_index_by_hand() -> None:
    from scipy.stats import chi2

    # 2, 4 and 12 events on equal exposure, 6 expected each: (16 + 4 + 36) / 6 = 9.333 with two degrees of freedom
    result = dispersion(np.array([2.0, 4, 12]), np.array([10.0, 10, 10]))
    assert result.index == pytest.approx(9.3333 / 2, abs=1e-4)
    assert result.p == pytest.approx(chi2.sf(9.3333, 2), abs=1e-3)


@pytest.mark.parametrize("n_units", [10, 40, 200])
def test_p_is_that_of_chi_squared(n_units: int) -> None:
    from scipy.stats import chi2

    rng = np.random.default_rng(n_units)
    tokens = rng.integers(50, 800, n_units).astype(float)
    result = dispersion(rng.poisson(0.04 * tokens).astype(float), tokens)
    assert result.p == pytest.approx(chi2.sf(result.index * (n_units - 1), n_units - 1), abs=2e-3)


def test_chance_is_rejected_as_often_as_it_should_be_and_richness_nearly_always() -> None:
    rng = np.random.default_rng(3)
    tokens = rng.integers(100, 500, 50).astype(float)
    by_chance = [dispersion(rng.poisson(0.04 * tokens).astype(float), tokens).p < 0.05 for _ in range(600)]
    rates = [0.04 * rng.gamma(2, 0.5, 50) for _ in range(100)]
    rich = [dispersion(rng.poisson(rate * tokens).astype(float), tokens).p < 0.05 for rate in rates]
    assert np.mean(by_chance) == pytest.approx(0.05, abs=0.03)
    assert np.mean(rich) > 0.99


def test_nothing_to_compare_is_undefined() -> None:
    assert isnan(dispersion(np.array([3.0]), np.array([10.0])).index)
    assert isnan(dispersion(np.zeros(3), np.ones(3)).p)
