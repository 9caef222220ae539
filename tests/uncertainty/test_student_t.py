"""Limits of few raters: Student's t by hand, inside its ends, in step with its p."""

from __future__ import annotations

from math import log, sqrt

import numpy as np
import pytest

from grater.measure.evaluation.cases import Cases, cases_of, truth_of
from grater.measure.evaluation.comparison import compare_systems
from grater.uncertainty.bootstrap import Chance, Drawn, PairTest, paired_tests, student_tests
from grater.uncertainty.intervals import SHARE, Numbers, percentile_interval, student_interval
from tests.measure.evaluation.coverage import coverage
from tests.measure.evaluation.worlds import decisions, items, votes


def test_limits_are_those_of_students_t_by_hand() -> None:
    # Five raters, resamples with a standard deviation of .1: t(4) = 2.776, times .1 sqrt(5 / 4)
    drawn = np.array([-0.1, 0.1] * 50)
    found = student_interval(0.3, drawn, n_units=5, level=0.95)
    half = 2.7764451 * 0.1 * sqrt(5 / 4)
    assert (found.low, found.high) == pytest.approx((0.3 - half, 0.3 + half))


def test_shares_go_by_their_logit_and_stay_inside() -> None:
    from scipy.stats import t as student  # a second that few tests need

    drawn = 1 / (1 + np.exp(-(log(9) + np.array([-0.4, 0.4] * 50))))
    found = student_interval(0.9, drawn, n_units=3, level=0.95, ends=SHARE)
    half = student.ppf(0.975, 2) * 0.4 * sqrt(3 / 2)
    assert log(found.low / (1 - found.low)) == pytest.approx(log(9) - half)
    assert 0 < found.low < 0.9 < found.high < 1
    # where a resample reaches the end the logit is infinite, and limits are cut off at the end
    at_end = student_interval(0.9, np.array([1.0, 0.8] * 50), n_units=3, level=0.95, ends=SHARE)
    assert (at_end.low > 0, at_end.high) == (True, 1.0)


def test_few_raters_give_wider_limits_than_percentiles_and_many_the_same() -> None:
    rng = np.random.default_rng(0)
    for n, more in ((5, 1.1), (200, 0.95)):
        drawn = rng.choice(rng.normal(0, 0.1, n), size=(4000, n)).mean(axis=1)
        ours, theirs = student_interval(0.0, drawn, n_units=n, level=0.95), percentile_interval(0.0, drawn, n_units=n)
        ratio = (ours.high - ours.low) / (theirs.high - theirs.low)
        assert more < ratio < more + 0.5 * (n == 5) + 0.1


def test_one_rater_or_no_resample_says_why() -> None:
    assert (
        student_interval(0.5, np.ones(3), n_units=1, level=0.95).undefined_because
        == "a single unit cannot be resampled"
    )
    assert student_interval(0.5, np.zeros(0), n_units=5, level=0.95).undefined_because == "no resample was drawn"


def pair(values: list[float], drawn: Numbers) -> PairTest:
    systems = Drawn(["a", "b"], 5, np.array(values), drawn, np.zeros((2, 2)), np.zeros((0, 2, 2)))
    [found] = student_tests(paired_tests(systems, lambda sums: sums[..., 0]), systems)
    return found


def test_p_is_below_five_percent_just_where_the_limits_leave_zero_out() -> None:
    rng = np.random.default_rng(1)
    drawn = np.stack([rng.normal(0.5, 0.05, 500), np.full(500, 0.4)], axis=1)
    verdicts = set()
    for value in np.linspace(0.4, 0.8, 21):
        found = pair([value, 0.4], drawn)
        is_clear = found.difference.low > 0 or found.difference.high < 0
        assert is_clear == (found.p["bootstrap"] < 0.05)
        verdicts.add(is_clear)
    assert verdicts == {True, False}


def test_five_raters_who_agree_wholly_are_a_sign_test() -> None:
    same = np.full((50, 2), 0.5)
    assert pair([0.5, 0.5], same).p["bootstrap"] == 1
    assert pair([0.6, 0.5], same).p["bootstrap"] == 2 * 0.5**5


def two_systems() -> Cases:
    flagged = ([1, 0, 1, 1, 0, 1, 0] * 5)[:33]
    return cases_of(decisions({"S": flagged, "T": flagged[::-1]}), votes(([5, 1, 3, 4, 2, 2, 3] * 5)[:33], 5))


def test_comparisons_by_rater_use_it() -> None:
    cases = two_systems()
    share = truth_of(cases, "share")
    by_rater, by_item = (
        compare_systems(cases, share, chance=Chance(cluster, 300)).pairs[0].test for cluster in ("rater", "item")
    )
    assert by_rater.difference.value == by_item.difference.value
    assert by_rater.difference.high - by_rater.difference.value == pytest.approx(
        by_rater.difference.value - by_rater.difference.low
    )
    assert by_rater.p != by_item.p


@pytest.mark.parametrize("cluster", ["rater", "document"])
def test_two_raters_or_two_documents_can_be_compared(cluster: str) -> None:
    flagged = ([1, 0, 1, 1, 0, 1, 0] * 5)[:33]
    table = items(["0" if place < 16 else "1" for place in range(33)])
    cases = cases_of(decisions({"S": flagged, "T": flagged[::-1]}), votes(([2, 1, 0] * 11), 2), items=table)
    found = compare_systems(cases, truth_of(cases, "share"), chance=Chance(cluster, 100))  # type: ignore[arg-type]
    p = found.pairs[0].test.p["bootstrap"]
    assert 0 < p < 1


@pytest.mark.slow
def test_limits_by_rater_hold_with_five_raters() -> None:
    # docs/evaluating.md; percentiles held in .84 to .87.  200 worlds know a share to about .018
    held = coverage(400, 5, n_worlds=200, clusters=("rater",))["rater"][1]
    assert (held > 0.88).all()
