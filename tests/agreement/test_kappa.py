from math import isnan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from statsmodels.stats.inter_rater import fleiss_kappa

from grater.agreement.alpha import alpha
from grater.agreement.coefficient import Coefficient, gradient
from grater.agreement.counts import Counts, Whole
from grater.agreement.kappa import bennett, fleiss, gwet, observed
from grater.agreement.limits import value
from grater.agreement.weights import SCALES, distances, weight_matrix
from grater.errors import GraterError
from tests.agreement.tables import counts_of

ROWS = arrays(np.int64, st.tuples(st.integers(3, 12), st.just(3)), elements=st.integers(0, 4))
EQUAL = st.lists(st.lists(st.integers(0, 2), min_size=5, max_size=5), min_size=3, max_size=20)


def every(n_labels: int) -> list[Coefficient]:
    weights = weight_matrix("identity", n_labels)
    labels = tuple(map(str, range(1, n_labels + 1)))
    return [*(make(weights) for make in (observed, fleiss, gwet, bennett)), *(alpha(each, labels) for each in SCALES)]


def number(coefficient: Coefficient, counts: Counts) -> float:
    return value(coefficient, counts.patterns, counts.n_items)


@given(EQUAL)
@settings(max_examples=40, deadline=None)
def test_fleiss_is_that_of_statsmodels(labels: list[list[int]]) -> None:
    rows = np.array([np.bincount(item, minlength=3) for item in labels])
    ours = number(fleiss(np.eye(3)), counts_of(rows))
    if not isnan(ours):
        assert ours == pytest.approx(fleiss_kappa(rows), abs=1e-12)


@pytest.mark.parametrize("coefficient", every(3), ids=lambda each: each.name)
@given(rows=ROWS)
@settings(max_examples=15, deadline=None)
def test_no_coefficient_knows_the_order_of_items(coefficient: Coefficient, rows: Whole) -> None:
    assert number(coefficient, counts_of(rows[::-1])) == pytest.approx(
        number(coefficient, counts_of(rows)), nan_ok=True
    )


@pytest.mark.parametrize("coefficient", every(3), ids=lambda each: each.name)
@given(rows=ROWS)
@settings(max_examples=15, deadline=None)
def test_no_coefficient_is_above_one(coefficient: Coefficient, rows: Whole) -> None:
    found = number(coefficient, counts_of(rows))
    assert isnan(found) or found <= 1 + 1e-12


@pytest.mark.parametrize("coefficient", every(2), ids=lambda each: each.name)
def test_unanimous_raters_agree_fully(coefficient: Coefficient) -> None:
    assert number(coefficient, counts_of([[3, 0], [0, 3], [2, 0]])) == pytest.approx(1)


@pytest.mark.parametrize("coefficient", every(2)[1:], ids=lambda each: each.name)
def test_one_label_only_is_undefined(coefficient: Coefficient) -> None:
    if coefficient.name in ("ac1", "s"):  # they know of the second label, and call it agreement beyond chance
        assert number(coefficient, counts_of([[3, 0], [2, 0]])) == pytest.approx(1)
    else:
        assert isnan(number(coefficient, counts_of([[3, 0], [2, 0]])))


def test_only_label_of_a_table_leaves_gwet_and_bennett_undefined_too() -> None:
    assert isnan(number(gwet(np.eye(1)), counts_of([[3], [2]])))
    assert isnan(number(bennett(np.eye(1)), counts_of([[3], [2]])))


def test_gaps_count_with_the_judgments_there_are() -> None:
    # by hand: pairs agree in 1/3 of item one (2-1), 1 of item two, 0 of item three; mean 4/9.
    # Shares of a: 2/3, 1, 1/2, mean 13/18; pe = (13/18)^2 + (5/18)^2 = 194/324.
    counts = counts_of([[2, 1], [2, 0], [1, 1], [1, 0]])
    assert counts.n_left_out == 1
    assert number(observed(np.eye(2)), counts) == pytest.approx(4 / 9)
    assert number(fleiss(np.eye(2)), counts) == pytest.approx((4 / 9 - 194 / 324) / (1 - 194 / 324))


def test_alpha_of_midranks_does_not_mind_stretching_the_scale() -> None:
    rows = [[3, 1, 0], [0, 2, 2], [1, 0, 3], [4, 0, 0]]
    near, far = counts_of(rows, ("1", "2", "3")), counts_of(rows, ("1", "50", "60"))
    assert number(alpha("ordinal", near.labels), near) == number(alpha("ordinal", far.labels), far)
    assert number(alpha("interval", near.labels), near) != number(alpha("interval", far.labels), far)


@pytest.mark.parametrize("coefficient", every(3), ids=lambda each: each.name)
def test_derivative_is_the_slope(coefficient: Coefficient) -> None:
    counts = counts_of([[3, 1, 0], [0, 2, 2], [1, 0, 3], [4, 0, 0]])
    sums = counts.n_items @ coefficient.rows(counts.patterns)
    slope = gradient(coefficient.score, sums)
    for place in range(sums.size):
        step = np.zeros(sums.size)
        step[place] = 1e-6
        rise = float(coefficient.score(sums + step) - coefficient.score(sums - step)) / 2e-6
        assert slope[place] == pytest.approx(rise, abs=1e-6)


def test_scale_that_needs_numbers_says_which_label_is_none() -> None:
    with pytest.raises(GraterError, match="found 'high'"):
        alpha("interval", ("1", "high"))
    with pytest.raises(GraterError, match="at least 0"):
        distances("ratio", ("-1", "1"))
    with pytest.raises(GraterError, match="unknown scale"):
        alpha("log", ("1", "2"))  # type: ignore[arg-type]


def test_ratio_distance_of_two_zeros_is_none() -> None:
    assert distances("ratio", ("0", "1")).tolist() == [[0, 1], [1, 0]]
