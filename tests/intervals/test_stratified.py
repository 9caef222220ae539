from math import sqrt

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grater.intervals.stratified import Part, stratified
from grater.intervals.wilson import wilson
from grater.model import Interval

Z = 1.959963984540054

PARTS = st.lists(
    st.tuples(st.floats(0.01, 1000), st.integers(1, 60), st.floats(0, 1)).map(
        lambda each: Part(each[0], float(round(each[1] * each[2])), float(each[1]))
    ),
    min_size=1,
    max_size=6,
)


@settings(deadline=None)
@given(st.integers(1, 400), st.floats(0, 1), st.floats(0.1, 1e6))
def test_one_stratum_has_wilsons_limits(n: int, share: float, size: float) -> None:
    hits = round(share * n)
    found, known = stratified([Part(size, hits, n)]), wilson(hits, n)
    expected = (size * known.value, size * known.low, size * known.high)
    assert (found.value, found.low, found.high) == pytest.approx(expected, rel=1e-9, abs=1e-9 * size)


def test_strata_of_one_rate_and_one_sampling_fraction_are_one_stratum() -> None:
    # 2 of 10 in each of two strata of 5: Wilson for 4 of 20, times 10
    found, known = stratified([Part(5, 2, 10), Part(5, 2, 10)]), wilson(4, 20)
    assert (found.low, found.high) == pytest.approx((10 * known.low, 10 * known.high))


@settings(deadline=None)
@given(PARTS)
def test_limits_hold_the_total_and_stay_inside(parts: list[Part]) -> None:
    found = stratified(parts)
    most = sum(part.size for part in parts)
    assert 0 <= found.low <= found.value <= found.high <= most * (1 + 1e-12)


@settings(deadline=None)
@given(PARTS)
def test_what_is_no_hit_has_the_mirrored_limits(parts: list[Part]) -> None:
    most = sum(part.size for part in parts)
    found, rest = stratified(parts), stratified([part._replace(hits=part.n - part.hits) for part in parts])
    assert (rest.low, rest.high) == pytest.approx((most - found.high, most - found.low), abs=1e-6 * most)


@settings(deadline=None)
@given(PARTS)
def test_a_limit_is_z_standard_deviations_away_at_the_rates_of_the_limit(parts: list[Part]) -> None:
    found = stratified(parts)
    if 0 < found.low < found.value:
        # the likeliest rates with this total, found by halving on the pull
        low, high = -1e9, 0.0
        for _ in range(300):
            middle = (low + high) / 2
            total = sum(part.size * part.rate(middle) for part in parts)
            low, high = (middle, high) if total < found.low else (low, middle)
        deviation = sqrt(sum(part.variance(high) for part in parts))
        assert (found.value - found.low) / deviation == pytest.approx(Z, rel=1e-3)


def test_a_heavy_stratum_without_a_hit_raises_the_high_limit_only() -> None:
    seen = [Part(100, 30, 60)]
    alone, beside = stratified(seen), stratified([*seen, Part(1000, 0, 60)])
    assert beside.low == pytest.approx(alone.low)
    assert beside.high > alone.high + 20


def test_no_stratum_is_nothing_for_sure() -> None:
    assert stratified([]) == Interval(0, 0, 0)
