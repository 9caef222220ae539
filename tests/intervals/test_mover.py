from math import inf, isnan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grater.intervals.mover import mover_ratio, mover_sum
from grater.intervals.wilson import wilson
from grater.model import Interval


def scaled(interval: Interval, by: float) -> Interval:
    return Interval(by * interval.value, by * interval.low, by * interval.high)


def test_a_sum_adds_squares_of_the_distances_to_each_limit() -> None:
    # below: sqrt(3² + 4²) = 5, above: sqrt(5² + 12²) = 13
    assert mover_sum([Interval(10, 7, 15), Interval(20, 16, 32)]) == Interval(30, 25, 43)


def test_a_sum_of_nothing_is_nothing_for_sure() -> None:
    assert mover_sum([]) == Interval(0, 0, 0)


def test_a_certain_number_below_the_line_only_scales_the_limits() -> None:
    assert mover_ratio(Interval(6, 4, 9), Interval(2, 2, 2)) == Interval(3, 2, 4.5)


@pytest.mark.parametrize(
    ("misses", "low", "high"), [(10, 0.708860, 0.890874), (1, 0.887607, 0.996044), (0, 0.920923, 1.0)]
)
def test_recall_from_two_strata_as_in_the_design_notes(misses: int, low: float, high: float) -> None:
    # statistics.md: a tenth flagged, 400 hits of 500 there, so many errors in 500 of the rest
    ratio = mover_ratio(scaled(wilson(misses, 500), 0.9), scaled(wilson(400, 500), 0.1))
    assert (1 / (1 + ratio.high), 1 / (1 + ratio.low)) == pytest.approx((low, high), abs=1e-6)


def test_the_lower_limit_is_the_published_formula() -> None:
    t1, l1, u1, t2, l2, u2 = 5.0, 3.0, 8.0, 4.0, 2.5, 7.0
    low = (t1 * t2 - ((t1 * t2) ** 2 - l2 * u1 * (2 * t1 - u1) * (2 * t2 - l2)) ** 0.5) / (u1 * (2 * t1 - u1))
    high = (t1 * t2 + ((t1 * t2) ** 2 - u2 * l1 * (2 * t1 - l1) * (2 * t2 - u2)) ** 0.5) / (l1 * (2 * t1 - l1))
    found = mover_ratio(Interval(t2, l2, u2), Interval(t1, l1, u1))
    assert (found.low, found.high) == pytest.approx((low, high))


def test_an_upper_limit_of_twice_the_number_is_taken_in_its_stride() -> None:
    near, at = (mover_ratio(Interval(4, 3, 6), Interval(5, 3, u1)).low for u1 in (10 - 1e-9, 10))
    assert at == pytest.approx(near, rel=1e-6)


def test_a_number_below_the_line_that_may_be_0_leaves_no_upper_limit() -> None:
    assert mover_ratio(Interval(4, 3, 6), Interval(0, 0, 2)).high == inf


def test_0_by_0_is_undefined_and_says_so() -> None:
    found = mover_ratio(Interval(0, 0, 3), Interval(0, 0, 3))
    assert isnan(found.value)
    assert found.undefined_because


PARTS = st.tuples(st.integers(0, 200), st.integers(1, 200)).map(lambda each: wilson(min(each), max(each)))


@given(PARTS, PARTS)
def test_limits_of_a_ratio_hold_its_value(over: Interval, under: Interval) -> None:
    found = mover_ratio(over, under)
    if not isnan(found.value):
        assert 0 <= found.low <= found.value * (1 + 1e-9)
        assert found.value <= found.high * (1 + 1e-9)
