from __future__ import annotations

import numpy as np
import pytest

from grater_train.fitting import STEPS, Dictionary, Size, pruned

KEYS = np.array([30, 10, 20], np.uint32)
COUNTS = np.array([100, 25, 4])
WEIGHTS = np.array(
    [[0.0, 0.0, 0.0, 0.5, 0.0], [0.0, 0.0, 0.0, 0.0, -1.0], [0.0, 2.0, 0.0, 0.0, 0.3], [0.0, 0.0, 0.0, 0.0, 0.0]],
    np.float32,
)


def made(**wishes: float) -> dict[int, list[int]]:
    """Rows by key, in hundredths of the unit of weights."""
    found = pruned(WEIGHTS, Dictionary(KEYS, COUNTS), Size(highest=STEPS / 100, **wishes))  # type: ignore[arg-type]
    assert not found.table[-1].any()
    assert found.step == pytest.approx(0.01)
    return dict(zip(found.keys.tolist(), found.table[:-1].tolist(), strict=True))


def test_all_is_kept_where_there_is_room_and_the_highest_are_cut_off() -> None:
    assert made() == {10: [0, 0, 0, 0, -100], 20: [0, STEPS, 0, 0, 30], 30: [0, 0, 0, 50, 0]}


def test_small_weights_are_dropped_and_with_them_empty_features() -> None:
    assert made(smallest=60) == {10: [0, 0, 0, 0, -100], 20: [0, STEPS, 0, 0, 0]}


def test_features_that_are_rare_or_weak_go_first() -> None:
    # size times the root of the count: 50 x 10, 100 x 5, 130 x 2
    assert set(made(n_features=2)) == {10, 30}


def test_weights_go_by_themselves_and_those_against_an_answer_count_a_third() -> None:
    # 50 x 10 = 500, 127 x 2 = 254, 100 / 3 x 5 = 167, 30 x 2 = 60; what is left is rounded to levels
    assert made(n_weights=3) == {10: [0, 0, 0, 0, -96], 20: [0, STEPS, 0, 0, 0], 30: [0, 0, 0, 48, 0]}
    assert set(made(n_weights=2)) == {20, 30}


def test_a_constant_in_a_row_counts_for_nothing() -> None:
    shifted = WEIGHTS + np.array([[3.0], [-2.0], [0.5], [0.0]], np.float32)
    size = Size(highest=STEPS / 100)
    plain, moved = (pruned(weights, Dictionary(KEYS, COUNTS), size) for weights in (WEIGHTS, shifted))
    assert np.abs(plain.table.astype(int) - moved.table).max() <= 1  # rounding of the sum
