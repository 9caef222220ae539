import pytest
from hypothesis import given
from hypothesis import strategies as st

from grater.corpora.statistics.histograms import Histogram


def test_measures_by_hand() -> None:
    # 0, 0, 0, 1, 1, 4, 101, 102
    histogram = Histogram({0: 3, 1: 2, 4: 1, 101: 1, 102: 1})
    assert (histogram.n, histogram.mean, histogram.median) == (8, 209 / 8, 1)
    assert (histogram.mode, histogram.highest, histogram.above(100)) == (0, 102, 2)


def test_median_of_an_even_number_lies_between_the_two_in_the_middle() -> None:
    assert Histogram({1: 1, 4: 1}).median == 2.5


def test_tie_of_modes_goes_to_the_smallest() -> None:
    assert Histogram({7: 2, 3: 2, 1: 1}).mode == 3


def test_nothing_read_has_null_measures_with_a_reason() -> None:
    shown = Histogram({}).as_json()
    assert (shown["n"], shown["mean"], shown["max"]) == (0, None, None)
    assert shown["reason"]


@given(st.lists(st.integers(0, 30), min_size=1, max_size=40))
def test_median_is_that_of_the_list(numbers: list[int]) -> None:
    histogram = Histogram({number: numbers.count(number) for number in numbers})
    ranked = sorted(numbers)
    assert histogram.median == (ranked[(len(ranked) - 1) // 2] + ranked[len(ranked) // 2]) / 2
    assert histogram.mean == pytest.approx(sum(numbers) / len(numbers))
