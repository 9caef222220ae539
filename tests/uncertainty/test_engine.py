"""The engine against the figures of the design and formulas written here; randomisation, Holm and rank groups."""

from __future__ import annotations

from itertools import product
from math import isnan, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2
from scipy.stats import t as student

from grater.measure.evaluation.cases import cases_of, truth_of
from grater.measure.evaluation.standard import discordant
from grater.model import Interval
from grater.uncertainty import (
    Numbers,
    Rare,
    Scope,
    Units,
    coefficient,
    density,
    difference,
    dispersion,
    from_left_out,
    holm,
    influence,
    mcnemar,
    paired_tests,
    permanent_number,
    randomisation,
    rank_groups,
    ratio,
    share,
    shares_by_unit,
    t_value,
    wilson,
    with_parameters,
    with_raters,
)
from grater.uncertainty.sampled import Strata, sample_scores
from tests.examples import examples
from tests.measure.evaluation.worlds import decisions, votes


def precision(sums):
    return ratio(sums[..., 0], sums[..., 1])


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
    it = influence(essays(), precision)
    assert (difference(it - it).p, difference(it - it).difference) == (1.0, Interval(0.0, 0.0, 0.0))
    all_right, all_wrong = (Units(np.array([[hits, 3.0]] * 20), "essay") for hits in (3.0, 0.0))
    [test] = paired_tests({"a": influence(all_right, precision), "b": influence(all_wrong, precision)})
    assert test.p < 0.05
    assert test.difference.low > 0


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
    sizes, judged, errors = (np.array([column], float) for column in ([0.1, 0.9], [750, 1500], [600, 450]))
    wider, these = (Strata(sizes, judged, errors, population=each) for each in ("wider", "these"))
    flagged = np.array([True, False])
    assert sample_scores(these, flagged).recall == sample_scores(wider, flagged).recall


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


def test_randomisation_agrees_with_scipy_on_a_ratio() -> None:
    from scipy.stats import permutation_test  # a second that few tests need

    rng = np.random.default_rng(5)
    cases = rng.integers(1, 6, size=(40, 2))
    right = rng.binomial(cases, [0.75, 0.6])
    rows = np.stack([right, cases], axis=2).astype(float)
    both, places = np.concatenate([rows[:, 0], rows[:, 1]]), np.arange(40)

    def difference(first: Numbers, second: Numbers) -> float:
        """What scipy swaps are places: those below 40 are rows of the first system, the others of the second."""
        one, other = (precision(both[side.astype(int)].sum(axis=0)) for side in (first, second))
        return float(one - other)

    theirs = permutation_test(
        (places, places + 40), difference, permutation_type="samples", vectorized=False, n_resamples=3000, rng=3
    )
    p = randomisation(Units(rows[:, 0]), Units(rows[:, 1]), precision, n_swaps=4000, seed=1)
    assert p == pytest.approx(theirs.pvalue, abs=0.03)


def test_holm_agrees_with_the_numbers_of_the_textbook() -> None:
    # Sorted .01, .02, .03, .04 times 4, 3, 2, 1 give .04, .06, .06, .04; each is at least the one before.
    assert holm([0.04, 0.01, 0.03, 0.02]) == pytest.approx([0.06, 0.04, 0.06, 0.06])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


def test_systems_that_do_not_differ_share_a_letter() -> None:
    assert rank_groups(["x", "y", "z"], []) == {"x": "A", "y": "A", "z": "A"}
    assert rank_groups(["x", "y", "z"], [("z", "x")]) == {"x": "A", "y": "AB", "z": "B"}
    assert rank_groups(["x", "y", "z"], [("x", "y"), ("x", "z"), ("y", "z")]) == {"x": "A", "y": "B", "z": "C"}
    assert rank_groups([], []) == {}


@given(st.integers(1, 7).flatmap(lambda n: st.tuples(st.just(n), st.sets(st.tuples(*[st.integers(0, n - 1)] * 2)))))
@examples(60)
def test_two_systems_share_a_letter_if_and_only_if_they_do_not_differ(
    drawn_pairs: tuple[int, set[tuple[int, int]]],
) -> None:
    n, pairs = drawn_pairs
    names = [f"s{place}" for place in range(n)]
    apart = {(names[i], names[j]) for i, j in pairs if i != j}
    letters = rank_groups(names, apart)
    for one, other in product(names, repeat=2):
        if one != other:
            told_apart = (one, other) in apart or (other, one) in apart
            assert bool(set(letters[one]) & set(letters[other])) != told_apart
    assert letters[names[0]].startswith("A")


def test_forty_against_twenty_two() -> None:
    # statistics.md, golden
    found = mcnemar(40, 22)
    assert found.chi2 == pytest.approx(5.225806, abs=5e-7)
    assert found.p == pytest.approx(0.022254, abs=5e-7)
    assert found.exact == pytest.approx(0.030016, abs=5e-7)
    assert found.mid_p == pytest.approx(0.022575, abs=5e-7)


def test_only_items_that_both_decided_and_raters_settled_take_part() -> None:
    # i0 A right, i1 B right, i2 both right, i3 a tie of raters, i4 not decided by B, i5 A right
    table = decisions({"A": [1, 1, 1, 1, 1, 0], "B": [0, 0, 1, 0, None, 1]})
    cases = cases_of(table, votes([4, 0, 4, 2, 4, 1], 4))
    found = discordant(cases, truth_of(cases), 0, 1)
    assert (found.first, found.second) == (2, 1)


def test_index_by_hand() -> None:
    # 2, 4 and 12 events on equal exposure, 6 expected each: (16 + 4 + 36) / 6 = 9.333 with two degrees of freedom
    result = dispersion(np.array([2.0, 4, 12]), np.array([10.0, 10, 10]))
    assert result.index == pytest.approx(9.3333 / 2, abs=1e-4)
    assert result.p == pytest.approx(chi2.sf(9.3333, 2), abs=1e-3)
    assert isnan(dispersion(np.array([3.0]), np.array([10.0])).index)
    assert isnan(dispersion(np.zeros(3), np.ones(3)).p)


def test_chance_is_rejected_as_often_as_it_should_be_and_richness_nearly_always() -> None:
    rng = np.random.default_rng(3)
    tokens = rng.integers(100, 500, 50).astype(float)
    by_chance = [dispersion(rng.poisson(0.04 * tokens).astype(float), tokens).p < 0.05 for _ in range(600)]
    rates = [0.04 * rng.gamma(2, 0.5, 50) for _ in range(100)]
    rich = [dispersion(rng.poisson(rate * tokens).astype(float), tokens).p < 0.05 for rate in rates]
    assert np.mean(by_chance) == pytest.approx(0.05, abs=0.03)
    assert np.mean(rich) > 0.99


def test_a_permanent_number_never_changes() -> None:
    # printf '0|item' | sha256sum  begins with these 16 digits; the first 53 bits count.
    assert permanent_number(0, "item") == (0xC3463D311438E1F2 >> 11) / 2**53


def test_few_essays_and_raters_are_warned_of() -> None:
    assert Scope("essay", 20).warnings == ()
    assert Scope("essay", 9).warnings == ("only 9 essays: intervals by essay are rough below 10",)
    assert len(Scope("essay", 11, is_agreement=True).warnings) == 1
    assert "only 5 raters" in Scope("essay", 30, n_raters=5).warnings[0]
    assert Scope("item", 3).warnings == ()
