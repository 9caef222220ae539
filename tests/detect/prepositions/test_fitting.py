"""Both ways of finding weights, on the same made-up events."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from grater.detect.prepositions.contexts import FIELDS
from grater.detect.prepositions.dictionary import looked_up, numbered
from grater.detect.prepositions.maxent import fit_maxent
from grater.detect.prepositions.perceptron import fit_perceptron

FITS = pytest.mark.parametrize("fit", [fit_maxent, fit_perceptron])


def events(n: int = 400) -> tuple[np.ndarray, np.ndarray]:
    """Contexts in which the word before decides between two classes."""
    rng = np.random.default_rng(3)
    rows = rng.integers(1, 30, (n, len(FIELDS))).astype(np.int32)
    rows[:, 0] = rng.integers(1, 3, n)
    return rows, np.where(rows[:, 0] == 1, 7, 21).astype(np.int8)


@FITS
def test_a_word_that_decides_is_learnt(fit: Callable[..., np.ndarray]) -> None:
    rows, labels = events()
    dictionary, features = numbered(rows, min_count=2)
    weights = fit(features, labels, len(dictionary), rng=np.random.default_rng(0))
    answers = weights[looked_up(rows, dictionary)].sum(axis=1).argmax(axis=1)
    assert (answers == labels).all()
    assert not weights[-1].any()


@FITS
def test_training_twice_gives_the_same_weights(fit: Callable[..., np.ndarray]) -> None:
    rows, labels = events()
    dictionary, features = numbered(rows)
    one, other = (fit(features, labels, len(dictionary), rng=np.random.default_rng(5)) for _ in range(2))
    assert one.tobytes() == other.tobytes()


def test_maxent_gives_the_shares_of_classes_where_nothing_decides() -> None:
    rows = np.ones((4000, len(FIELDS)), np.int32)
    labels = np.where(np.arange(4000) % 4 == 0, 3, 9).astype(np.int8)
    dictionary, features = numbered(rows)
    weights = fit_maxent(features, labels, len(dictionary), rng=np.random.default_rng(0), epochs=10)
    scores = weights[features[0]].sum(axis=0)
    shares = np.exp(scores) / np.exp(scores).sum()
    assert shares[3] == pytest.approx(0.25, abs=0.03)
    assert shares[9] == pytest.approx(0.75, abs=0.03)


def test_features_are_numbered_by_how_often_they_come() -> None:
    rows, _ = events()
    dictionary, features = numbered(rows, min_count=3)
    assert (np.diff(dictionary.counts) <= 0).all()
    assert dictionary.counts.min() >= 3
    counted = np.bincount(features.ravel(), minlength=len(dictionary) + 1)[:-1]
    assert np.array_equal(counted, dictionary.counts)


def test_contexts_get_the_numbers_that_training_gave_them() -> None:
    rows, _ = events()
    dictionary, features = numbered(rows)
    assert np.array_equal(looked_up(rows, dictionary), features)


def test_templates_that_are_left_out_have_no_features() -> None:
    rows, _ = events()
    dictionary, features = numbered(rows, templates=(0, 25))
    assert (features[:, 1:25] == len(dictionary)).all()
    assert (features[:, [0, 25]] < len(dictionary)).all()
