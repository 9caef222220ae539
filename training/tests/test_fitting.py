"""Both ways of finding weights, on the same made-up events."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from grater.detect.linear import log_softmax
from grater_train.fitting import fit_maxent, fit_perceptron, looked_up, miscalibration, numbered, temperature
from made_events import N_CLASSES, N_FEATURES, made_events

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


KEYS, _ = made_events()


def test_features_are_numbered_by_how_often_they_come() -> None:
    dictionary, features = numbered(KEYS.copy(), min_count=3)
    assert (np.diff(dictionary.counts) <= 0).all()
    assert dictionary.counts.min() >= 3
    counted = np.bincount(features.ravel(), minlength=len(dictionary) + 1)[:-1]
    assert np.array_equal(counted, dictionary.counts)


def test_contexts_get_the_numbers_that_training_gave_them() -> None:
    dictionary, features = numbered(KEYS.copy())
    assert np.array_equal(looked_up(KEYS.copy(), dictionary), features)


def test_a_feature_that_training_did_not_see_has_the_last_number() -> None:
    dictionary, _ = numbered(KEYS.copy())
    assert (looked_up(KEYS + np.uint32(5_000), dictionary) == len(dictionary)).all()


def test_templates_that_are_left_out_have_no_features() -> None:
    last = N_FEATURES - 1
    dictionary, features = numbered(KEYS.copy(), templates=(0, last))
    assert (features[:, 1:last] == len(dictionary)).all()
    assert (features[:, [0, last]] < len(dictionary)).any(axis=0).all()


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
