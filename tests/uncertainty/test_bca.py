from dataclasses import replace
from math import isnan

import numpy as np
import pytest

from grater.measure.agreement.coefficients import alpha, bootstrap_intervals, fleiss, gwet, observed, pattern_units
from grater.uncertainty import bootstrap
from grater.uncertainty.bootstrap import bca_interval, group_interval, grouped, resampled_weights
from grater.uncertainty import generator
from tests.measure.agreement.tables import counts_of

COUNTS = counts_of(generator(1).multinomial(5, [0.5, 0.3, 0.2], size=200))


def test_every_resample_has_as_many_items_as_the_data() -> None:
    for weights in resampled_weights(pattern_units(COUNTS), rng=generator(0), n_resamples=20):
        assert (weights.sum(axis=1) == 200).all()


@pytest.mark.parametrize("cost", [0, 10**9])
def test_both_ways_to_draw_give_each_pattern_its_share(cost: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap, "CHEAP_MULTINOMIAL", cost)
    drawn = np.vstack(list(resampled_weights(pattern_units(COUNTS), rng=generator(0), n_resamples=4000)))
    expected = pattern_units(COUNTS).weights * 200 / 201
    assert np.abs(drawn.mean(axis=0) - expected).max() < 5 * np.sqrt(expected.max() / 4000)


def test_made_up_item_is_half_unanimous_and_half_split_with_the_most_frequent_label() -> None:
    drawn = pattern_units(counts_of([[4, 0], [4, 0], [3, 1]]))
    made_up = drawn.patterns[drawn.made_up > 0].tolist()
    assert made_up == [[4, 0], [0, 4], [2, 2]]
    assert drawn.made_up[drawn.made_up > 0].tolist() == [0.25, 0.25, 0.5]
    assert drawn.n == 3


def test_same_seed_gives_the_same_limits_and_another_seed_others() -> None:
    def of(seed: int) -> tuple[float, float]:
        [interval] = bootstrap_intervals([fleiss(np.eye(3))], COUNTS, rng=generator(seed), n_resamples=200)
        return interval.low, interval.high

    assert of(1) == of(1)
    assert of(1) != of(2)


def test_limits_do_not_depend_on_the_order_of_items() -> None:
    rows = generator(1).multinomial(5, [0.5, 0.3, 0.2], size=200)
    both = [
        bootstrap_intervals([gwet(np.eye(3))], counts_of(each), rng=generator(3), n_resamples=100)
        for each in (rows, rows[::-1])
    ]
    assert both[0] == both[1]


def test_limits_lie_around_the_value_and_are_narrow_for_many_items() -> None:
    counts = counts_of(generator(1).multinomial(5, [0.6, 0.4], size=20_000))
    for interval in bootstrap_intervals([observed(np.eye(2)), fleiss(np.eye(2))], counts, rng=generator(0)):
        assert interval.low < interval.value < interval.high
        assert interval.high - interval.low < 0.03


def test_single_item_has_a_value_and_no_limits() -> None:
    [interval] = bootstrap_intervals([fleiss(np.eye(2))], counts_of([[2, 1]]), rng=generator(0))
    assert interval.value == pytest.approx(-0.5)
    assert isnan(interval.low)
    assert "single item" in interval.undefined_because


def test_nothing_to_compare_says_so() -> None:
    [interval] = bootstrap_intervals([fleiss(np.eye(2))], counts_of([[1, 0], [0, 1]]), rng=generator(0))
    assert interval.undefined_because == "no item has two judgments"


def test_one_label_is_undefined_with_the_reason() -> None:
    [interval] = bootstrap_intervals([alpha("nominal", ("1", "2"))], counts_of([[3, 0]] * 9), rng=generator(0))
    assert isnan(interval.value)
    assert "one label" in interval.undefined_because


def test_no_resamples_give_no_limits() -> None:
    [interval] = bootstrap_intervals([gwet(np.eye(3))], COUNTS, rng=generator(0), n_resamples=0)
    assert interval.value > -1
    assert isnan(interval.low)


def test_rare_label_on_which_the_sample_agrees_by_luck_leaves_room_for_doubt() -> None:
    # 49 clean items and one on which all three see the error: alpha is 1, and nobody should believe it.
    [interval] = bootstrap_intervals(
        [alpha("nominal", ("1", "2"))], counts_of([[3, 0]] * 49 + [[0, 3]]), rng=generator(0)
    )
    assert interval.value == 1
    assert interval.low < 0.5


def test_essays_of_very_unequal_lengths_count_as_what_they_are_worth() -> None:
    lengths = [100, 100, *[5] * 18]  # 290 items; worth 290² / (2 x 100² + 18 x 5²) = 4.1 essays of twenty
    rows = generator(1).multinomial(3, [0.6, 0.4], size=sum(lengths))
    units = pattern_units(counts_of(rows))
    patterns = {tuple(pattern): place for place, pattern in enumerate(units.patterns.tolist())}
    pattern_of = np.array([patterns[tuple(row)] for row in rows.tolist()])
    groups = grouped(pattern_of, np.repeat(np.arange(20), lengths))
    assert groups.n_effective == pytest.approx(290**2 / 20_450)
    assert grouped(pattern_of[:100], np.arange(100) // 5).n_effective == 20
    draws = generator(2).normal(0.4, 0.05, 500)
    interval = bca_interval(fleiss(np.eye(2)), 0.4, replace(units, groups=groups), draws)
    assert interval == group_interval(0.4, draws, n_units=290**2 / 20_450)
    assert interval.high - interval.low > 1.3 * np.ptp(np.quantile(draws, [0.025, 0.975]))
