"""The averaged perceptron (Freund & Schapire 1999; Collins 2002), one column of weights for each class.

Madnani et al. 2011, section 2.1, evaluate such a system (PERC) beside the language model.  Where the best answer to
an event is not what stood there, the weights of its features go up by one for what stood there and down by one for
the answer.  The weights of all moments are averaged, by Daumé's trick: the sum of moment times change is kept beside
the weights.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from grater.detect.learning.compiling import compiled
from grater.detect.learning.dictionary import Places
from grater.detect.learning.events import Labels
from grater.detect.learning.maxent import Matrix


def fit_perceptron(
    features: Places,
    labels: Labels,
    n_features: int,
    n_classes: int,
    *,
    rng: np.random.Generator,
    epochs: int = 5,
    tell: Callable[[int], None] | None = None,
) -> Matrix:
    """(features + 1, classes) averaged weights; the last row is zero."""
    weights, moments = (np.zeros((n_features + 1, n_classes), np.float32) for _ in range(2))
    run = compiled(_run)
    for epoch in range(epochs):
        order = rng.permutation(len(labels)).astype(np.int32)
        run(weights, moments, features, labels, order, float(epoch), float(epochs))
        if tell:
            tell(epoch + 1)
    weights -= moments
    weights[-1] = 0
    return weights


def _run(
    weights: Matrix, moments: Matrix, features: Places, labels: Labels, order: Any, epoch: float, epochs: float
) -> None:
    """One pass over the events (compiled); moments are shares of the whole training, from 0 to 1."""
    n_classes = weights.shape[1]
    scores = np.zeros(n_classes, np.float32)
    for done in range(len(order)):
        event = order[done]
        scores[:] = 0
        for feature in features[event]:
            for column in range(n_classes):
                scores[column] += weights[feature, column]
        best, right = scores.argmax(), labels[event]
        if best != right:
            moment = np.float32((epoch + done / len(order)) / epochs)
            for feature in features[event]:
                if feature < weights.shape[0] - 1:
                    weights[feature, right] += 1
                    weights[feature, best] -= 1
                    moments[feature, right] += moment
                    moments[feature, best] -= moment
