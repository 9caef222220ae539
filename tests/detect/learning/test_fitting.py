"""Both ways of finding weights, on the same made-up events."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from grater.detect.learning.dictionary import looked_up, numbered
from grater.detect.learning.maxent import fit_maxent
from grater.detect.learning.perceptron import fit_perceptron
from tests.detect.learning.made_events import N_CLASSES, N_FEATURES, made_events

FITS = pytest.mark.parametrize("fit", [fit_maxent, fit_perceptron])


@FITS
def test_a_feature_that_decides_is_learnt(fit: Callable[..., np.ndarray]) -> None:
    keys, labels = made_events()
    dictionary, features = numbered(keys.copy(), min_count=2)
    weights = fit(features, labels, len(dictionary), N_CLASSES, rng=np.random.default_rng(0))
    answers = weights[looked_up(keys, dictionary)].sum(axis=1).argmax(axis=1)
    assert (answers == labels).all()
    assert not weights[-1].any()


@FITS
def test_training_twice_gives_the_same_weights(fit: Callable[..., np.ndarray]) -> None:
    keys, labels = made_events()
    dictionary, features = numbered(keys)
    one, other = (fit(features, labels, len(dictionary), N_CLASSES, rng=np.random.default_rng(5)) for _ in range(2))
    assert one.tobytes() == other.tobytes()


def test_maxent_gives_the_shares_of_classes_where_nothing_decides() -> None:
    labels = np.where(np.arange(4000) % 4 == 0, 3, 6).astype(np.int8)
    dictionary, features = numbered(np.ones((4000, N_FEATURES), np.uint32))
    weights = fit_maxent(features, labels, len(dictionary), N_CLASSES, rng=np.random.default_rng(0), epochs=10)
    scores = weights[features[0]].sum(axis=0)
    shares = np.exp(scores) / np.exp(scores).sum()
    assert shares[3] == pytest.approx(0.25, abs=0.03)
    assert shares[6] == pytest.approx(0.75, abs=0.03)
