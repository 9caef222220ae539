from math import isnan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grater.intervals.wilson import wilson


def test_half_of_ten_has_the_textbook_limits() -> None:
    # z = 1.959964: centre .5, half-width z/(1 + z²/10) sqrt(.025 + z²/400) = .263409
    interval = wilson(5, 10)
    assert (interval.value, interval.low, interval.high) == pytest.approx((0.5, 0.236593, 0.763407), abs=1e-6)


def test_no_hit_in_ten_still_leaves_room_above() -> None:
    # high = z² / (n + z²) = 3.841459 / 13.841459
    interval = wilson(0, 10)
    assert (interval.value, interval.low) == (0, 0)
    assert interval.high == pytest.approx(0.277533, abs=1e-6)


def test_no_case_is_undefined_and_says_so() -> None:
    interval = wilson(0, 0)
    assert isnan(interval.value)
    assert interval.undefined_because


@given(st.integers(1, 500), st.floats(0, 1), st.sampled_from([0.5, 0.9, 0.95, 0.99]))
def test_limits_hold_the_share_and_stay_between_0_and_1(n: int, share: float, level: float) -> None:
    interval = wilson(round(share * n), n, level=level)
    assert 0 <= interval.low <= interval.value <= interval.high <= 1
