"""The engine against the figures of the design and against formulas written down here."""

from math import sqrt

import numpy as np
import pytest
from scipy.stats import t as student

from grater.model import Interval
from grater.uncertainty import (
    Basis,
    Rare,
    Units,
    coefficient,
    density,
    difference,
    from_left_out,
    influence,
    paired_tests,
    ratio,
    share,
    shares_by_unit,
    t_value,
    wilson,
    with_parameters,
    with_raters,
)
from grater.uncertainty.sampled import Strata, sample_scores

FLAGGED = np.array([True, False])


def precision(sums):
    return ratio(sums[..., 0], sums[..., 1])


def strata(sizes, judged, errors, **named):
    return Strata(np.array([sizes], float), np.array([judged], float), np.array([errors], float), **named)


def essays(seed=0, n=12):
    rng = np.random.default_rng(seed)
    flags = rng.integers(1, 9, n)
    return Units(np.stack([rng.binomial(flags, 0.6), flags], axis=1).astype(float), "essay")


@pytest.mark.parametrize("freedom", [1, 1.01, 1.7, 2, 3.3, 11, 75.4, 199.9, 200, 1293, 1e5, 1e9, float("inf")])
def test_students_quantile_is_scipys(freedom):
    assert t_value(freedom) == pytest.approx(student.ppf(0.975, freedom), rel=1e-12)


def test_a_share_of_items_is_wilsons():
    """4 of 5: the design's [.376, .964]; items that are not flagged change nothing."""
    units = Units(np.array([[1.0, 1], [0, 1], [0, 0]]), "item", np.array([4, 1, 995]))
    found = share(influence(units, precision, units.rows[:, 1]), n=5)
    assert (found.low, found.high) == pytest.approx((0.375535, 0.963776), abs=1e-6)
    assert found == wilson(4, 5)


def test_all_right_in_every_essay_keeps_a_width():
    """30 of 30 right in 15 essays: the design's [.867, 1]."""
    twos = np.full(15, 2.0)
    found = shares_by_unit(twos, twos, "essay")
    assert (found.low, found.high) == (pytest.approx(0.867, abs=5e-4), 1.0)


def test_influence_is_the_jackknife_written_out():
    units = essays()
    m, total = len(units.rows), units.rows.sum(axis=0)
    value = total[0] / total[1]
    left_out = [(total[0] - a) / (total[1] - b) for a, b in units.rows]
    moved = np.array([(m - 1) * (value - each) for each in left_out])
    moved -= moved.mean()
    it = influence(units, precision, units.rows[:, 1])
    assert it.variance == pytest.approx((moved**2).sum() / (m * (m - 1)), rel=1e-12)
    kish = units.rows[:, 1].sum() ** 2 / (units.rows[:, 1] ** 2).sum()
    spread = 2 / ((moved**4).sum() / (moved**2).sum() ** 2 - 1 / m)
    assert it.freedom == pytest.approx(min(kish - 1, spread, m - 1))


def test_p_and_interval_of_a_difference_are_one_fact():
    units, other = essays(1), essays(2)
    both = Units(np.concatenate([units.rows, other.rows], axis=1), "essay")
    first = influence(both, precision, both.rows[:, 1])
    second = influence(both, lambda sums: precision(sums[..., 2:]), both.rows[:, 3])
    found = difference(first - second)
    joint = influence(
        both, lambda sums: precision(sums) - precision(sums[..., 2:]), both.rows[:, 1] + both.rows[:, 3]
    )
    assert found == difference(joint)
    it = first - second
    assert found.p == pytest.approx(2 * student.sf(abs(it.value) / it.error, it.freedom))
    assert found.difference.high == pytest.approx(it.value + student.ppf(0.975, it.freedom) * it.error)


def test_identical_systems_have_p_one_and_systems_always_apart_differ():
    units = essays()
    it = influence(units, precision, units.rows[:, 1])
    assert (difference(it - it).p, difference(it - it).difference) == (1.0, Interval(0.0, 0.0, 0.0))
    ones, none = (
        Units(np.stack([hits, np.full(20, 3.0)], axis=1), "essay") for hits in (np.full(20, 3.0), np.zeros(20))
    )
    tests = paired_tests({"a": influence(ones, precision), "b": influence(none, precision)})
    assert tests[0].p < 0.05
    assert tests[0].difference.low > 0


def test_scales_of_coefficients_and_densities():
    units = essays()
    it = influence(units, precision, units.rows[:, 1])
    t = student.ppf(0.975, it.freedom)
    found = coefficient(it)
    assert found.high == pytest.approx(np.tanh(np.arctanh(it.value) + t * it.error / (1 - it.value**2)))
    assert density(it).low == pytest.approx(it.value * np.exp(-t * it.error / it.value))
    one_sided = Units(np.array([[1.0, 9], *[[5, 5]] * 8]), "essay")
    it, m = influence(one_sided, precision), 9
    away = (it.change - it.change.mean()) * (m - 1)
    skew = (away**3).mean() / (away**2).mean() ** 1.5
    t = student.ppf(0.975, it.freedom)
    below, above = ((np.arctanh(it.value) - np.arctanh(end)) * (1 - it.value**2) / it.error
        for end in (coefficient(it).low, coefficient(it).high))  # fmt: skip
    by_hall = [3 * sqrt(m) / skew * (np.cbrt(1 + skew / sqrt(m) * (end - skew / sqrt(m) / 6)) - 1) for end in (t, -t)]
    assert (below, -above) == pytest.approx([min(1.5 * t, max(t, end)) for end in (by_hall[0], -by_hall[1])])
    assert below == pytest.approx(1.5 * t)
    assert "rarer label has 4 cases" in coefficient(it, rare=Rare(4, 4)).undefined_because


def test_shares_of_an_endless_corpus_are_never_a_census():
    sample = strata([0.1, 0.9], [750, 1500], [600, 450])
    these = strata([0.1, 0.9], [750, 1500], [600, 450], population="these")
    assert sample_scores(these, FLAGGED).recall == sample_scores(sample, FLAGGED).recall


def test_random_raters_add_their_variance():
    units = essays()
    by_essay = influence(units, precision, units.rows[:, 1])
    by_rater = from_left_out(by_essay.value, by_essay.value + np.array([0.1, -0.1, 0.05, -0.05]))
    by_item = from_left_out(by_essay.value, np.full(100, by_essay.value), "item")
    both = with_raters(by_essay, by_rater, by_item)
    assert both.variance == pytest.approx(by_essay.variance + by_rater.variance)
    below = by_essay.variance**2 / by_essay.freedom + by_rater.variance**2 / by_rater.freedom
    assert both.freedom == pytest.approx(both.variance**2 / below)


def test_parameters_widen_in_quadrature():
    found = with_parameters(Interval(0.5, 0.4, 0.6), lambda at: at[0] - 0.3, [Interval(0.8, 0.7, 0.85)])
    assert found.low == pytest.approx(0.5 - sqrt(0.1**2 + 0.1**2))
    assert found.high == pytest.approx(0.5 + sqrt(0.1**2 + 0.05**2))


def test_the_bootstrap_is_a_choice_and_near_the_engine():
    units = essays(3, n=60)
    drawn = share(influence(units, precision, units.rows[:, 1], Basis(interval="bootstrap", n_resamples=4000)), n=270)
    ours = share(influence(units, precision, units.rows[:, 1]), n=270)
    assert (drawn.low, drawn.high) == pytest.approx((ours.low, ours.high), abs=0.02)
