from __future__ import annotations

import numpy as np
import pytest

from grater.detect.learning.weights import log_softmax, miscalibration, temperature


def drawn(factor: float, n: int = 4000) -> tuple[np.ndarray, np.ndarray]:
    """Sums, and labels drawn by the probabilities that they have under a factor."""
    rng = np.random.default_rng(1)
    sums = rng.normal(0, 60, (n, 5)).round()
    shares = np.exp(log_softmax(sums * factor))
    labels = np.array([rng.choice(5, p=row) for row in shares], np.int8)
    return sums, labels


@pytest.mark.parametrize("factor", [0.005, 0.03, 0.1])
def test_the_temperature_that_made_the_labels_is_found(factor: float) -> None:
    sums, labels = drawn(factor)
    assert temperature(sums, labels) == pytest.approx(factor, rel=0.08)


def test_probabilities_that_claim_too_much_are_miscalibrated() -> None:
    sums, labels = drawn(0.01)
    assert miscalibration(sums * 0.01, labels) < 0.03
    assert miscalibration(sums * 0.1, labels) > 0.2
