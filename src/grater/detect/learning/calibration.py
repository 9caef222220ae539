"""One number that makes probabilities honest: the temperature.

Guo et al. 2017: all scores times one factor, chosen for the likelihood of text that training did not see.  The order
of answers does not change.  Found by golden section; the likelihood has one peak.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
import numpy.typing as npt

from grater.detect.learning.scores import Scores, log_softmax

GOLDEN = (sqrt(5) - 1) / 2
N_STEPS = 40


def temperature(sums: Scores, labels: npt.NDArray[np.int8], *, low: float = 1e-4, high: float = 0.3) -> float:
    """The factor between `low` and `high` under which the labels are likeliest."""
    left, right = np.log(low), np.log(high)
    for _ in range(N_STEPS):
        one, other = right - GOLDEN * (right - left), left + GOLDEN * (right - left)
        if likelihood(sums * np.exp(one), labels) > likelihood(sums * np.exp(other), labels):
            right = other
        else:
            left = one
    return float(np.exp((left + right) / 2))


def likelihood(scores: Scores, labels: npt.NDArray[np.int8]) -> float:
    """The mean log-probability of what stood there."""
    return float(log_softmax(scores)[np.arange(len(labels)), labels].mean())


def miscalibration(scores: Scores, labels: npt.NDArray[np.int8], *, n_bins: int = 15) -> float:
    """Expected calibration error: how far the likeliest answer's probability is from how often it is right."""
    shares = np.exp(log_softmax(scores))
    answers = shares.argmax(axis=1)
    sure = shares[np.arange(len(shares)), answers]
    is_right = answers == labels
    bins = np.minimum((sure * n_bins).astype(np.int64), n_bins - 1)
    gaps = np.bincount(bins, weights=sure - is_right, minlength=n_bins)
    return float(np.abs(gaps).sum() / max(1, len(labels)))
