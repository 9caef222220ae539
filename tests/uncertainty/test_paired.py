"""Randomisation, Holm and rank groups, held to enumeration, to scipy and to each other."""

from __future__ import annotations

from itertools import product
from math import isnan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grater.measure.evaluation.cases import cases_of, truth_of
from grater.measure.evaluation.standard import discordant
from grater.uncertainty import (
    Numbers,
    Scope,
    Units,
    dispersion,
    holm,
    mcnemar,
    permanent_number,
    randomisation,
    rank_groups,
)
from tests.examples import examples
from tests.measure.evaluation.worlds import decisions, votes


def share(sums: Numbers) -> Numbers:
    """Hits over cases: a score of two columns."""
    return np.asarray(sums[..., 0] / sums[..., 1])


FIRST, SECOND = [1, 1, 1, 0, 1, 1, 0, 1], [0, 1, 0, 0, 1, 0, 0, 0]


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
    p = randomisation(Units(rows[:, 0]), Units(rows[:, 1]), share, n_swaps=4000, seed=1)
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
    from scipy.stats import chi2

    # 2, 4 and 12 events on equal exposure, 6 expected each: (16 + 4 + 36) / 6 = 9.333 with two degrees of freedom
    result = dispersion(np.array([2.0, 4, 12]), np.array([10.0, 10, 10]))
    assert result.index == pytest.approx(9.3333 / 2, abs=1e-4)
    assert result.p == pytest.approx(chi2.sf(9.3333, 2), abs=1e-3)


def test_chance_is_rejected_as_often_as_it_should_be_and_richness_nearly_always() -> None:
    rng = np.random.default_rng(3)
    tokens = rng.integers(100, 500, 50).astype(float)
    by_chance = [dispersion(rng.poisson(0.04 * tokens).astype(float), tokens).p < 0.05 for _ in range(600)]
    rates = [0.04 * rng.gamma(2, 0.5, 50) for _ in range(100)]
    rich = [dispersion(rng.poisson(rate * tokens).astype(float), tokens).p < 0.05 for rate in rates]
    assert np.mean(by_chance) == pytest.approx(0.05, abs=0.03)
    assert np.mean(rich) > 0.99


def test_nothing_to_compare_is_undefined() -> None:
    assert isnan(dispersion(np.array([3.0]), np.array([10.0])).index)
    assert isnan(dispersion(np.zeros(3), np.ones(3)).p)


def test_a_permanent_number_never_changes() -> None:
    # printf '0|item' | sha256sum  begins with these 16 digits; the first 53 bits count.
    assert permanent_number(0, "item") == (0xC3463D311438E1F2 >> 11) / 2**53


def test_few_essays_and_raters_are_warned_of() -> None:
    assert Scope("essay", 20).warnings == ()
    assert Scope("essay", 9).warnings == ("only 9 essays: intervals by essay are rough below 10",)
    assert len(Scope("essay", 11, is_agreement=True).warnings) == 1
    assert "only 5 raters" in Scope("essay", 30, n_raters=5).warnings[0]
    assert Scope("item", 3).warnings == ()
