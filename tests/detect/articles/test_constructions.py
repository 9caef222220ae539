from __future__ import annotations

from math import log2

import pytest

from grater.detect.articles.constructions import CONSTRUCTIONS, Noun, entropy, habit_classes, nouns_of
from grater.measure.agreement.constructions import CONSTRUCTIONS as OF_THE_STUDY


def test_the_room_and_the_study_name_the_same_constructions() -> None:
    assert CONSTRUCTIONS == OF_THE_STUDY


def test_entropy_is_in_bits() -> None:
    assert entropy([5, 5, 0, 0, 0]) == 1.0
    assert entropy([1, 1, 1, 1, 1]) == pytest.approx(log2(5))
    assert entropy([7, 0, 0, 0, 0]) == 0.0
    # 0.5 * 1 + 0.25 * 2 + 0.25 * 2
    assert entropy([2, 1, 1, 0, 0]) == 1.5


def test_nouns_are_counted_by_construction_most_frequent_first() -> None:
    found = nouns_of([("dog", 3), ("milk", 0), ("dog", 1), ("dog", 3), ("dog", 5)])
    assert found == [Noun("dog", (0, 1, 0, 2, 0)), Noun("milk", (1, 0, 0, 0, 0))]
    assert CONSTRUCTIONS[found[0].dominant] == "a-singular"


def test_a_noun_without_a_and_without_plural_is_not_counted() -> None:
    assert not Noun("luck", (60, 40, 0, 0, 0)).is_count
    assert not Noun("information", (50, 30, 10, 5, 5)).is_count  # in the list of mass nouns
    assert Noun("stone", (20, 20, 20, 20, 20)).is_count


def test_classes_tell_dominance_and_entropy() -> None:
    sure, open_ = habit_classes((0, 1, 0, 0, 0)), habit_classes((0.2, 0.2, 0.2, 0.2, 0.2))
    # the-singular dominates (second of five sets of five levels), lowest level; null-singular, highest level
    assert (sure[1], open_[1]) == (1 + 1 * 5 + 0, 1 + 0 * 5 + 4)
    assert sure[0] != open_[0]
