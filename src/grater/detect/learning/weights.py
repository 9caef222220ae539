"""A fitted linear model at work: a table of 8-bit weights, scores, and the temperature that calibrates them.

The table has one row per sorted key, and a last row of zeros for unknown features.  Weights are whole numbers from
-127 to 127 times one step, so a score is a sum of whole numbers: it does not depend on the order of addition, on the
size of the batch or on the machine.  Scores have one row per place and one column per answer.

Temperature (Guo et al. 2017, "On Calibration of Modern Neural Networks"): all scores are multiplied by one factor,
chosen by the likelihood of text that training did not see.  The order of answers does not change.  It is found by
golden section, since the likelihood has one peak.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from grater.detect.learning.features import Keys

Scores: TypeAlias = npt.NDArray[np.float64]

Weights: TypeAlias = npt.NDArray[np.int8]
Sums: TypeAlias = npt.NDArray[np.int32]

GOLDEN = (sqrt(5) - 1) / 2
N_STEPS = 40


def log_softmax(scores: Scores) -> Scores:
    """Scores as log-probabilities, row by row."""
    shifted = scores - scores.max(axis=1, keepdims=True)
    out: Scores = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    return out


def sums_of(keys: Keys, known: Keys, table: Weights) -> Sums:
    """The weights of each row's features, added up."""
    if not len(known):
        return np.zeros((len(keys), table.shape[1]), np.int32)
    indices = np.searchsorted(known, keys)
    is_known = np.take(known, indices, mode="clip") == keys
    sums: Sums = table[np.where(is_known, indices, len(known))].sum(axis=1, dtype=np.int32)
    return sums


def packed(keys: Keys, table: Weights) -> dict[str, npt.NDArray[Any]]:
    """Keys as differences, of each row only the weights that are not zero; the last row is left out."""
    rows, classes = np.nonzero(table[:-1])
    return {
        "keys": np.diff(keys, prepend=np.uint32(0)).astype("<u4").view(np.uint8).reshape(-1, 4).T,
        "counts": np.bincount(rows, minlength=len(table) - 1).astype(np.uint8),
        "classes": classes.astype(np.uint8),
        "weights": table[rows, classes],
    }


def unpacked(arrays: Mapping[str, npt.NDArray[Any]], n_classes: int) -> tuple[Keys, Weights]:
    """Keys and table again; what does not fit together is a `KeyError`, `ValueError` or `IndexError`."""
    planes, counts = arrays["keys"], arrays["counts"]
    keys = np.cumsum(np.ascontiguousarray(planes.T).view("<u4").ravel(), dtype=np.uint32)
    table = np.zeros((len(counts) + 1, n_classes), np.int8)
    table[np.repeat(np.arange(len(counts)), counts), arrays["classes"]] = arrays["weights"]
    if len(keys) != len(counts):
        raise ValueError("keys and rows differ in number")
    return keys, table


def temperature(sums: Scores, labels: npt.NDArray[np.int8], *, low: float = 1e-4, high: float = 0.3) -> float:
    """The factor between `low` and `high` that makes the labels likeliest."""
    left, right = np.log(low), np.log(high)
    for _ in range(N_STEPS):
        one, other = right - GOLDEN * (right - left), left + GOLDEN * (right - left)
        if likelihood(sums * np.exp(one), labels) > likelihood(sums * np.exp(other), labels):
            right = other
        else:
            left = one
    return float(np.exp((left + right) / 2))


def likelihood(scores: Scores, labels: npt.NDArray[np.int8]) -> float:
    """The mean log-probability of the labels."""
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
