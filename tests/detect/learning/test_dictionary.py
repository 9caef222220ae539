from __future__ import annotations

import numpy as np

from grater.detect.learning.dictionary import looked_up, numbered
from tests.detect.learning.made_events import N_FEATURES, made_events

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
