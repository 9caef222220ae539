"""Paired tests, Holm and rank groups, held to enumeration, to scipy and to each other."""

from __future__ import annotations

from itertools import product
from math import isnan, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtri, stdtr

from grater.errors import UsageError
from grater.uncertainty.bootstrap import (
    Drawn,
    by_document,
    by_sentence,
    holm,
    paired_tests,
    rank_groups,
    resampled_sums,
    resamples_needed,
    swapped_sums,
)
from grater.uncertainty.intervals import (
    Numbers,
    contracted_tail,
    expanded_tail,
    percentile_interval,
    student_quantile,
)
from tests.examples import examples


def share(sums: Numbers) -> Numbers:
    """Hits over cases: a score of two columns."""
    return np.asarray(sums[..., 0] / sums[..., 1])


def drawn(rows: Numbers, *, n: int = 4000, names: tuple[str, ...] = ("a", "b")) -> Drawn:
    """Both kinds of draws for rows (units, systems, 2)."""
    n_units, n_systems, k = rows.shape
    design, flat = by_sentence(n_units), rows.reshape(n_units, n_systems * k)
    again = resampled_sums(flat[:, None], design, n_resamples=n, rng=np.random.default_rng(1))
    swapped = swapped_sums(flat, design, n_resamples=n, rng=np.random.default_rng(2))
    sums = rows.sum(axis=0)
    scores = share(again.reshape(-1, n_systems, k))
    return Drawn(names, n_units, share(sums), scores, sums, swapped.reshape(-1, n_systems, k))


def hits(*columns: list[int]) -> Numbers:
    """Rows of systems that were right (1) or wrong (0) on each unit."""
    return np.stack([np.stack([column, np.ones(len(column))], axis=1) for column in columns], axis=1).astype(float)


FIRST, SECOND = [1, 1, 1, 0, 1, 1, 0, 1], [0, 1, 0, 0, 1, 0, 0, 0]


def test_randomisation_comes_near_to_all_swaps_enumerated() -> None:
    # Discordant: 4 units, all in favour of the first.  |d| >= 4/8 in 2 of the 16 ways to swap them: p = .125.
    difference = np.array(FIRST) - np.array(SECOND)
    ways = [abs(sum(s * d for s, d in zip(signs, difference, strict=True))) for signs in product((1, -1), repeat=8)]
    exact = np.mean([way >= abs(difference.sum()) for way in ways])
    assert exact == 0.125
    [test] = paired_tests(drawn(hits(FIRST, SECOND)), share)
    assert test.p["randomisation"] == pytest.approx(exact, abs=0.02)


def test_randomisation_agrees_with_scipy_on_a_ratio() -> None:
    from scipy.stats import permutation_test  # a second that few tests need

    rng = np.random.default_rng(5)
    cases = rng.integers(1, 6, size=(40, 2))
    right = rng.binomial(cases, [0.75, 0.6])
    rows = np.stack([right, cases], axis=2).astype(float)
    both, places = np.concatenate([rows[:, 0], rows[:, 1]]), np.arange(40)

    def difference(first: Numbers, second: Numbers) -> float:
        """What scipy swaps are places: those below 40 are rows of the first system, the others of the second."""
        one, other = (share(both[side.astype(int)].sum(axis=0)) for side in (first, second))
        return float(one - other)

    theirs = permutation_test(
        (places, places + 40), difference, permutation_type="samples", vectorized=False, n_resamples=3000, rng=3
    )
    [test] = paired_tests(drawn(rows), share)
    assert test.p["randomisation"] == pytest.approx(theirs.pvalue, abs=0.03)


def test_bootstrap_comes_near_to_all_resamples_enumerated() -> None:
    first, second = [1, 1, 0, 1], [0, 1, 1, 0]
    difference = np.array(first) - np.array(second)
    means = np.array([difference[list(way)].sum() for way in product(range(4), repeat=4)])
    below = (means < 0).mean() + (means == 0).mean() / 2
    # on the scale of Student's t of three degrees of freedom, whose spread is sqrt(4 / 3) of that of the resamples
    expected = 2 * stdtr(3, ndtri(below) * sqrt(3 / 4))
    [test] = paired_tests(drawn(hits(first, second)), share)
    assert test.difference.value == 0.25
    assert test.p["bootstrap"] == pytest.approx(expected, abs=0.05)


def test_p_of_a_difference_in_the_middle_of_its_resamples_says_so_whatever_the_number_of_units() -> None:
    # .27 of the resamples lie beyond 0: p was 1.00 with 12 units and .54 with many
    for n_units, expected in ((12, 2 * stdtr(11, ndtri(0.27) * sqrt(11 / 12))), (5000, 0.54)):
        assert 2 * contracted_tail(0.27, n_units) == pytest.approx(expected, abs=0.005)
    assert contracted_tail(expanded_tail(12), 12) == pytest.approx(0.025)


def test_p_of_the_bootstrap_is_below_five_percent_just_where_the_limits_leave_zero_out() -> None:
    rng = np.random.default_rng(0)
    verdicts = set()
    for chance in np.linspace(0.5, 0.85, 30):
        rows = hits(*(rng.binomial(1, p, size=60).tolist() for p in (chance, 0.5)))
        [test] = paired_tests(drawn(rows, n=1000), share)
        if abs(test.p["bootstrap"] - 0.05) > 0.01:
            is_clear = test.difference.low > 0 or test.difference.high < 0
            assert is_clear == (test.p["bootstrap"] < 0.05)
            verdicts.add(is_clear)
    assert verdicts == {True, False}


def test_equal_systems_differ_by_nothing_and_never_significantly() -> None:
    [test] = paired_tests(drawn(hits(FIRST, FIRST)), share)
    n, t_value = len(FIRST), student_quantile(0.975, len(FIRST) - 1)
    # Wilson's limit for what none of n units shows, for each of the two
    unseen = sqrt(2) * t_value**2 / (n + t_value**2)
    assert (test.difference.low, test.difference.value, test.difference.high) == pytest.approx((-unseen, 0, unseen))
    assert test.p == {"bootstrap": 1.0, "randomisation": 1.0}


def test_a_single_unit_tells_nothing() -> None:
    [test] = paired_tests(drawn(hits([1], [0]), n=10), share)
    assert test.difference.undefined_because == "a single unit cannot be resampled"
    assert isnan(test.p["bootstrap"])
    assert isnan(test.p["randomisation"])
    assert test.to_dict()["bootstrap"] == {"p": None, "p_holm": None}


def test_holm_agrees_with_the_numbers_of_the_textbook() -> None:
    # Sorted .01, .02, .03, .04 times 4, 3, 2, 1 give .04, .06, .06, .04; each is at least the one before.
    assert holm([0.04, 0.01, 0.03, 0.02]) == pytest.approx([0.06, 0.04, 0.06, 0.06])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


def test_holm_leaves_the_undefined_out_of_its_count() -> None:
    adjusted = holm([0.01, float("nan"), 0.03])
    assert adjusted[0] == 0.02
    assert isnan(adjusted[1])


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
@examples(50)
def test_holm_is_never_below_p_nor_milder_than_the_false_discovery_rate(values: list[float]) -> None:
    from scipy.stats import false_discovery_control  # a second that few tests need

    adjusted = holm(values)
    assert all(p <= high <= 1 for p, high in zip(values, adjusted, strict=True))
    assert all(high >= fdr - 1e-12 for high, fdr in zip(adjusted, false_discovery_control(values), strict=True))


def test_limits_widen_to_what_was_seen() -> None:
    assert percentile_interval(0.9, np.full(10, 0.5), n_units=50).high == 0.9
    assert percentile_interval(0.9, np.zeros(0), n_units=50).undefined_because == "no resample was drawn"


def test_draws_of_a_system_do_not_depend_on_who_stands_beside_it() -> None:
    rows = hits(FIRST, SECOND)
    alone = resampled_sums(rows[:, None, 0], by_sentence(8), n_resamples=20, rng=np.random.default_rng(0))
    both = resampled_sums(rows.reshape(8, 1, 4), by_sentence(8), n_resamples=20, rng=np.random.default_rng(0))
    assert (both[:, :2] == alone).all()


def test_documents_are_drawn_whole() -> None:
    cells = np.eye(6)[:, None, :]
    sums = resampled_sums(cells, by_document(list("aaabbc")), n_resamples=50, rng=np.random.default_rng(0))
    assert (sums[:, 0] == sums[:, 1]).all()
    assert (sums[:, 3] == sums[:, 4]).all()
    assert (sums[:, 0] + sums[:, 3] + sums[:, 5] == 3).all()
    assert (sums[:, 0] != sums[:, 3]).any()


def test_one_of_several_rows_is_drawn_for_each_copy_of_a_sentence() -> None:
    cells = np.eye(6).reshape(3, 2, 6)
    shares = np.array([[0.5, 0.5], [1.0, 0.0], [0.5, 0.5]])
    design = by_sentence(3, shares=shares)
    sums = resampled_sums(cells, design, n_resamples=400, rng=np.random.default_rng(0))
    assert (sums.sum(axis=1) == 3).all()
    assert not sums[:, 3].any()
    assert sums[:, 0].mean() == pytest.approx(0.5, abs=0.1)


def test_units_swap_sides_one_time_in_two() -> None:
    sums = swapped_sums(np.eye(4), by_document(list("aabc")), n_resamples=400, rng=np.random.default_rng(0))
    assert (sums[:, 0] == sums[:, 1]).all()
    assert sums.mean(axis=0) == pytest.approx([0.5] * 4, abs=0.08)


def test_counts_of_another_number_of_sentences_are_refused() -> None:
    with pytest.raises(UsageError, match="counts of 3 sentences, found 2"):
        resampled_sums(np.zeros((2, 1, 1)), by_sentence(3), n_resamples=1, rng=np.random.default_rng(0))


def test_resamples_needed_grow_with_pairs() -> None:
    assert resamples_needed(1) == 0
    assert resamples_needed(12) == 2640  # 66 pairs: 2 * 66 / .05


def test_systems_that_are_not_told_apart_share_a_letter() -> None:
    assert rank_groups(["x", "y", "z"], []) == {"x": "A", "y": "A", "z": "A"}
    assert rank_groups(["x", "y", "z"], [("z", "x")]) == {"x": "A", "y": "AB", "z": "B"}
    assert rank_groups(["x", "y", "z"], [("x", "y"), ("x", "z"), ("y", "z")]) == {"x": "A", "y": "B", "z": "C"}
    assert rank_groups([], []) == {}


@given(st.integers(1, 7).flatmap(lambda n: st.tuples(st.just(n), st.sets(st.tuples(*[st.integers(0, n - 1)] * 2)))))
@examples(60)
def test_two_systems_share_a_letter_if_and_only_if_they_were_not_told_apart(
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
