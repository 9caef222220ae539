from math import isnan

import numpy as np
import pytest

from grater.uncertainty import bootstrap
from grater.uncertainty.bootstrap import distinct, resample
from grater.uncertainty.intervals import Numbers, expanded_tail, generator, student_quantile


def test_ratio_of_sums_is_the_value() -> None:
    rows = np.array([[1.0, 10.0], [3.0, 30.0], [5.0, 10.0]] * 10)
    interval = resample(rows, n_resamples=200, rng=generator(1)).ratio([0], [1])
    assert interval.value == pytest.approx(9 / 50)
    assert 0.1 <= interval.low < interval.value < interval.high <= 0.5


def test_columns_above_the_line_are_added() -> None:
    rows = np.array([[1.0, 2.0, 10.0], [3.0, 0.0, 30.0]])
    assert resample(rows, n_resamples=10, rng=generator(1)).ratio([0, 1], [2]).value == pytest.approx(6 / 40)


def test_every_resample_has_as_many_units_as_the_data() -> None:
    resampled = resample(np.ones((7, 1)), n_resamples=50, rng=generator(1))
    assert resampled.draws.tolist() == [[7.0]] * 50


def test_same_seed_gives_the_same_limits_however_many_are_drawn_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = generator(3).poisson(5, size=(20, 2)).astype(np.float64)
    together = resample(rows, n_resamples=30, rng=generator(1))
    monkeypatch.setattr(bootstrap, "MOST_WEIGHTS", 70)  # three resamples of twenty units at a time
    apart = resample(rows, n_resamples=30, rng=generator(1))
    assert (together.draws == apart.draws).all()


def test_single_unit_keeps_its_value_and_has_no_limits() -> None:
    interval = resample(np.array([[2.0, 8.0]]), n_resamples=100, rng=generator(1)).ratio([0], [1])
    assert interval.value == 0.25
    assert isnan(interval.low)
    assert interval.undefined_because


@pytest.mark.parametrize("rows", [np.zeros((0, 2)), np.zeros((5, 2))])
def test_nothing_to_divide_by_is_undefined_and_says_so(rows: Numbers) -> None:
    interval = resample(rows, n_resamples=100, rng=generator(1)).ratio([0], [1])
    assert isnan(interval.value)
    assert interval.undefined_because


def test_no_resamples_give_no_limits() -> None:
    interval = resample(np.ones((3, 2)), n_resamples=0, rng=generator(1)).ratio([0], [1])
    assert interval.value == 1
    assert isnan(interval.high)


def test_limits_never_exclude_what_was_seen() -> None:
    # The middle of the resamples is not 8/29: limits as narrow as .1 % would miss it.
    rows = np.array([[0.0, 10.0], [1.0, 7.0], [5.0, 3.0], [2.0, 9.0]])
    interval = resample(rows, n_resamples=99, rng=generator(2)).ratio([0], [1], level=0.001)
    assert interval.low <= interval.value <= interval.high


@pytest.mark.parametrize(("freedom", "tolerance"), [(1.2, 1e-9), (2, 1e-9), (3, 0.01), (5, 0.002), (30, 1e-5)])
def test_student_quantile_is_close_to_scipy(freedom: float, tolerance: float) -> None:
    from scipy.stats import t  # a second that few tests need

    assert student_quantile(0.975, freedom) == pytest.approx(t.ppf(0.975, freedom), rel=tolerance)


def test_tail_of_many_units_is_the_plain_percentile_and_of_few_units_further_out() -> None:
    from scipy.stats import norm, t  # a second that few tests need

    assert expanded_tail(100_000) == pytest.approx(0.025, abs=1e-4)
    # Hesterberg 2015: Phi(-sqrt(n / (n - 1)) t), here with n = 10
    assert expanded_tail(10) == pytest.approx(norm.cdf(-((10 / 9) ** 0.5) * t.ppf(0.975, 9)), rel=1e-3)
    assert expanded_tail(10) < 0.01


@pytest.mark.parametrize("n_units", [8, 40])
def test_limits_of_few_units_cover_the_true_density_nearly_as_often_as_they_say(n_units: int) -> None:
    # Documents of unequal length and skill: 200 to 600 tokens, 4 edits per 100 on average, gamma with shape 2.
    rng, n_corpora, n_covered = generator(2013, str(n_units)), 400, 0
    for _ in range(n_corpora):
        tokens = rng.integers(200, 601, size=n_units)
        edits = rng.poisson(tokens * rng.gamma(2, 0.02, size=n_units))
        rows = np.column_stack([edits, tokens]).astype(np.float64)
        interval = resample(rows, n_resamples=400, rng=rng).ratio([0], [1])
        n_covered += interval.low <= 0.04 <= interval.high
    # Below .95 for skew (module docstring); these 400 corpora give .91 and .93, plain percentiles .87 and .92.
    assert 0.90 <= n_covered / n_corpora <= 0.98


def test_a_ratio_of_two_units_reaches_beyond_both_of_them() -> None:
    # Percentiles of two units cannot leave the two: they would hold the truth every second time.
    ratio = resample(np.array([[4.0, 100.0], [6.0, 100.0]]), n_resamples=500, rng=generator(1, "t")).ratio([0], [1])
    assert ratio.low == 0
    assert ratio.high > 0.1


def test_patterns_are_numbered_in_the_order_of_their_values() -> None:
    one, other = np.array([1, 0, 1, 0, 1], np.int8), np.array([0.5, np.nan, 0.25, np.nan, 0.5])
    first, pattern = distinct([one, other])
    assert pattern.tolist() == [2, 0, 1, 0, 2]
    assert pattern[first].tolist() == [0, 1, 2]


def test_patterns_of_pieces_are_those_of_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = np.array([1, 0, 1, 0, 1], np.int8), np.array([0.5, np.nan, 0.25, np.nan, 0.5])
    monkeypatch.setattr(bootstrap, "ROWS_AT_ONCE", 2)
    rows, times = bootstrap.patterns([one, other])
    np.testing.assert_array_equal(rows, [[0, np.nan], [1, 0.25], [1, 0.5]])
    assert times.tolist() == [2, 1, 2]
    assert bootstrap.patterns([one, other], np.array([0, 2]))[1].tolist() == [1, 1]
