"""Multinomial logistic regression (maximum entropy), fitted by AdaGrad.

T&C 2008, section 3.1: p(preposition | context) = exp(sum of weights) / Z (Ratnaparkhi 1998).  The paper's trainer is
not named; ours goes through the events in a random order and moves the weights of an event's features against the
gradient of its log-likelihood, by a step that shrinks with the squared gradients a feature has seen (Duchi, Hazan &
Singer 2011; one number for each feature, not for each weight, which halves memory and costs no accuracy).  The steps
go down to a tenth by the last event, which does what averaging would.  The order comes from the seed and one thread
does the work, so training twice gives the same weights.
"""

from __future__ import annotations

from collections.abc import Callable
from math import exp, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from grater.detect.learning.compiling import compiled
from grater.detect.learning.dictionary import Places
from grater.detect.learning.events import Labels

Matrix = npt.NDArray[np.float32]

RATE = 0.35
"""Chosen on OneStopEnglish: a tenth learns too little in a few passes, 0.8 learns the training text by heart."""

DAMPING = 1.0
"""Added to the squared gradients, so that the first event of a rare feature does not decide its weights."""


def fit_maxent(
    features: Places,
    labels: Labels,
    n_features: int,
    n_classes: int,
    *,
    rng: np.random.Generator,
    epochs: int = 5,
    rate: float = RATE,
    penalty: float = 0.0,
    tell: Callable[[int], None] | None = None,
) -> Matrix:
    """(features + 1, classes) weights; the last row stays zero, for features that are not in the dictionary."""
    weights = np.zeros((n_features + 1, n_classes), np.float32)
    seen = np.full(n_features + 1, DAMPING, np.float32)
    run = compiled(_run)
    for epoch in range(epochs):
        order = rng.permutation(len(labels)).astype(np.int32)
        from_rate, to_rate = (rate * (1 - 0.9 * done / epochs) for done in (epoch, epoch + 1))
        run(weights, seen, features, labels, order, from_rate, to_rate, penalty)
        if tell:
            tell(epoch + 1)
    return weights


def _run(
    weights: Matrix,
    seen: Any,
    features: Places,
    labels: Labels,
    order: Any,
    from_rate: float,
    to_rate: float,
    penalty: float,
) -> None:
    """One pass over the events (compiled)."""
    n_none, n_classes = weights.shape[0] - 1, weights.shape[1]
    gradient = np.zeros(n_classes, np.float32)
    for done in range(len(order)):
        event = order[done]
        rate = from_rate + (to_rate - from_rate) * done / len(order)
        gradient[:] = 0
        for feature in features[event]:
            for column in range(n_classes):
                gradient[column] += weights[feature, column]
        highest, total = gradient.max(), np.float32(0)
        for column in range(n_classes):
            gradient[column] = exp(gradient[column] - highest)
            total += gradient[column]
        squared = np.float32(0)
        for column in range(n_classes):
            gradient[column] /= total
            if column == labels[event]:
                gradient[column] -= 1
            squared += gradient[column] * gradient[column]
        for feature in features[event]:
            if feature < n_none:
                seen[feature] += squared
                step = np.float32(rate / sqrt(seen[feature]))
                shrink = np.float32(1 - step * penalty)
                for column in range(n_classes):
                    weights[feature, column] = shrink * weights[feature, column] - step * gradient[column]
