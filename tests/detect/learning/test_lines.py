from __future__ import annotations

from grater.detect.learning.lines import FOLDS, HELD_OUT, distinct_lines, fold_of

LINES = [f"This is line {number} of many." for number in range(2000)]


def test_a_line_counts_once_and_blank_lines_not_at_all() -> None:
    assert list(distinct_lines(["a\n", " a", "", "  \n", "b"])) == ["a", "b"]


def test_a_line_is_always_in_the_same_fold_and_folds_are_even() -> None:
    folds = [fold_of(line) for line in LINES]
    assert folds == [fold_of(line) for line in LINES]
    assert set(folds) == set(range(FOLDS))
    assert 20 <= sum(fold < HELD_OUT for fold in folds) <= 65  # 40 are expected


def test_half_a_surrogate_pair_is_a_line_like_any_other() -> None:
    assert list(distinct_lines(["\ud83d", "\ud83d"])) == ["\ud83d"]
    assert 0 <= fold_of("\ud83d") < FOLDS
