"""Intervals of totals and ratios from strata, against closed forms and their coverage in simulations."""

from math import inf, isnan, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grater.model import Interval
from grater.uncertainty import wilson
from grater.uncertainty.stratified import (
    Part,
    Stratum,
    mover_ratio,
    mover_sum,
    normal_scores,
    scores,
    stratified_total,
)

Z = 1.959963984540054

PARTS = st.lists(
    st.tuples(st.floats(0.01, 1000), st.integers(1, 60), st.floats(0, 1)).map(
        lambda each: Part(each[0], float(round(each[1] * each[2])), float(each[1]))
    ),
    min_size=1,
    max_size=6,
)


@given(st.integers(1, 400), st.floats(0, 1), st.floats(0.1, 1e6))
def test_one_stratum_has_wilsons_limits(n: int, share: float, size: float) -> None:
    hits = round(share * n)
    found, known = stratified_total([Part(size, hits, n)]), wilson(hits, n)
    expected = (size * known.value, size * known.low, size * known.high)
    assert (found.value, found.low, found.high) == pytest.approx(expected, rel=1e-9, abs=1e-9 * size)


def test_strata_of_one_rate_and_one_sampling_fraction_are_one_stratum() -> None:
    # 2 of 10 in each of two strata of 5: Wilson for 4 of 20, times 10
    found, known = stratified_total([Part(5, 2, 10), Part(5, 2, 10)]), wilson(4, 20)
    assert (found.low, found.high) == pytest.approx((10 * known.low, 10 * known.high))


@given(PARTS)
def test_limits_hold_the_total_and_stay_inside(parts: list[Part]) -> None:
    found = stratified_total(parts)
    most = sum(part.size for part in parts)
    assert 0 <= found.low <= found.value <= found.high <= most * (1 + 1e-12)


@given(PARTS)
def test_what_is_no_hit_has_the_mirrored_limits(parts: list[Part]) -> None:
    most = sum(part.size for part in parts)
    found, rest = (
        stratified_total(parts),
        stratified_total([part._replace(hits=part.n - part.hits) for part in parts]),
    )
    assert (rest.low, rest.high) == pytest.approx((most - found.high, most - found.low), abs=1e-6 * most)


@given(PARTS)
def test_a_limit_is_z_standard_deviations_away_at_the_rates_of_the_limit(parts: list[Part]) -> None:
    found = stratified_total(parts)
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
    alone, beside = stratified_total(seen), stratified_total([*seen, Part(1000, 0, 60)])
    assert beside.low == pytest.approx(alone.low)
    assert beside.high > alone.high + 20


def test_no_stratum_is_nothing_for_sure() -> None:
    assert stratified_total([]) == Interval(0, 0, 0)


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


SUMMANDS = st.tuples(st.integers(0, 200), st.integers(1, 200)).map(lambda each: wilson(min(each), max(each)))


@given(SUMMANDS, SUMMANDS)
def test_limits_of_a_ratio_hold_its_value(over: Interval, under: Interval) -> None:
    found = mover_ratio(over, under)
    if not isnan(found.value):
        assert 0 <= found.low <= found.value * (1 + 1e-9)
        assert found.value <= found.high * (1 + 1e-9)


# T&C 2008, Table 5: the Error sub-corpus is a tenth, 600 errors in 750; the OK sub-corpus the rest, 450 in 1,500
TABLE_5 = [Stratum("flagged", True, 0.1, 750, 600), Stratum("unflagged", False, 0.9, 1500, 450)]


def limits(interval: Interval) -> tuple[float, float]:
    return interval.low, interval.high


def test_rates_and_scores_of_the_paper() -> None:
    found = scores(TABLE_5, fpc=False)
    assert (found.hit.value, found.false_alarm.value, found.miss.value) == pytest.approx((0.08, 0.02, 0.27))
    numbers = (found.precision.value, found.recall.value, found.f[0.5].value)
    assert numbers == pytest.approx((0.8, 0.228571, 0.533333), abs=1e-6)


def test_intervals_of_the_paper() -> None:
    # statistics.md, from p ± 1.96 sqrt(p (1 - p) / n)
    found = normal_scores(TABLE_5)
    assert limits(found.hit) == pytest.approx((0.077137, 0.082863), abs=1e-6)
    assert limits(found.precision) == pytest.approx((0.771373, 0.828627), abs=1e-6)
    assert limits(found.miss) == pytest.approx((0.249128, 0.290872), abs=1e-6)


def test_our_interval_for_the_recall_of_the_paper() -> None:
    found = scores(TABLE_5, fpc=False)
    assert found.method == "mover-wilson"
    assert limits(found.recall) == pytest.approx((0.213896, 0.243938), abs=1e-6)


def test_a_finite_corpus_makes_limits_closer() -> None:
    strata = [Stratum("flagged", True, 1000, 750, 600), Stratum("unflagged", False, 9000, 1500, 450)]
    finite, endless = scores(strata), scores(strata, fpc=False)
    assert endless.recall.low < finite.recall.low < finite.recall.high < endless.recall.high
    assert finite.recall.value == endless.recall.value


def test_a_corpus_judged_whole_has_no_doubt_left() -> None:
    found = scores([Stratum("flagged", True, 10, 10, 8), Stratum("unflagged", False, 90, 90, 4)])
    assert limits(found.recall) == pytest.approx((8 / 12, 8 / 12))
    assert limits(found.precision) == (0.8, 0.8)


def test_strata_of_one_side_add_up() -> None:
    # 100 * .5 + 300 * .1 = 80 hits of 400 flagged
    strata = [Stratum("a", True, 100, 20, 10), Stratum("b", True, 300, 20, 2), Stratum("c", False, 600, 60, 2)]
    found = scores(strata)
    assert found.method == "mover-score"
    assert (found.hit.value, found.miss.value) == pytest.approx((80, 20))
    assert (found.precision.value, found.recall.value) == pytest.approx((0.2, 0.8))


def test_a_stratum_judged_whole_moves_limits_and_leaves_no_doubt_of_its_own() -> None:
    rest = [Stratum("a", True, 100, 20, 10), Stratum("b", False, 600, 60, 2)]
    alone, beside = scores(rest), scores([*rest, Stratum("c", True, 30, 30, 12)])
    assert limits(beside.hit) == pytest.approx((alone.hit.low + 12, alone.hit.high + 12))


def test_jeffreys_limits_stay_available_under_their_name() -> None:
    assert scores(TABLE_5, fpc=False, method="jeffreys").method == "mover-jeffreys"


def test_a_system_that_flags_nothing_has_no_precision_and_recall_0() -> None:
    found = scores([Stratum("unflagged", False, 100, 50, 5)])
    assert isnan(found.precision.value)
    assert found.precision.undefined_because == "the system flags nothing"
    assert (found.recall.value, *limits(found.recall)) == (0, 0, 0)


def test_no_error_anywhere_leaves_recall_undefined() -> None:
    found = scores([Stratum("flagged", True, 10, 5, 0), Stratum("unflagged", False, 90, 5, 0)])
    assert isnan(found.recall.value)
    assert found.recall.undefined_because
    assert found.precision.value == 0


def test_a_side_without_judgments_leaves_recall_undefined() -> None:
    found = scores([Stratum("flagged", True, 10, 5, 3), Stratum("unflagged", False, 90)])
    assert isnan(found.recall.value)
    assert "judged" in found.recall.undefined_because
    assert found.precision.value == pytest.approx(0.6)


def test_a_stratum_that_nobody_judged_widens_the_limits() -> None:
    judged = [Stratum("a", True, 100, 50, 40), Stratum("b", False, 800, 80, 8)]
    seen, unseen = scores([*judged, Stratum("c", False, 100, 10, 1)]), scores([*judged, Stratum("c", False, 100)])
    assert seen.recall.value == pytest.approx(unseen.recall.value)
    assert unseen.recall.low < seen.recall.low
