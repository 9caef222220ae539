from __future__ import annotations

import numpy as np

from grater.detect.prepositions.contexts import FIELDS
from grater.detect.prepositions.features import ALL, HASHING, TEMPLATES


def test_there_are_25_features_and_the_prior() -> None:
    assert len(TEMPLATES) == 25
    assert len({template.name for template in TEMPLATES}) == 25
    assert len(ALL) == 26


def test_a_feature_changes_with_its_own_fields_and_no_other() -> None:
    row = np.arange(1, len(FIELDS) + 1, dtype=np.int32)[None, :]
    before = HASHING.keys(row)[0]
    for place, field in enumerate(FIELDS):
        changed = row.copy()
        changed[0, place] += 1
        is_other = HASHING.keys(changed)[0] != before
        assert is_other.tolist() == [field in template.fields for template in ALL]


def test_every_field_is_in_some_feature() -> None:
    used = {field for template in TEMPLATES for field in template.fields}
    assert used == set(FIELDS)


def test_swapped_words_make_another_feature() -> None:
    row = np.zeros((2, len(FIELDS)), np.int32)
    row[0, :2], row[1, :2] = (5, 9), (9, 5)
    pair = [template.name for template in ALL].index("l2+l1")
    keys = HASHING.keys(row)
    assert keys[0, pair] != keys[1, pair]


def test_two_features_rarely_share_a_key() -> None:
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 50_000, (20_000, len(FIELDS))).astype(np.int32)
    keys = HASHING.keys(rows)[:, ALL.index(TEMPLATES[9])]
    # of 20,000 random keys among 2**32, 0.05 pairs are expected to collide
    assert len(np.unique(keys)) >= 19_998
