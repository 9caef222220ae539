"""Randomisation, Holm and rank groups, held to enumeration, to scipy and to each other."""

from __future__ import annotations

from itertools import product
from math import isnan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grater.uncertainty import Numbers, Units, holm, rank_groups
from grater.uncertainty.named import randomisation
from tests.examples import examples


def share(sums: Numbers) -> Numbers:
    """Hits over cases: a score of two columns."""
    return np.asarray(sums[..., 0] / sums[..., 1])


def units(hits: list[int]) -> Units:
    """A system that was right (1) or wrong (0) on each unit."""
    return Units(np.stack([hits, np.ones(len(hits))], axis=1).astype(float))


FIRST, SECOND = [1, 1, 1, 0, 1, 1, 0, 1], [0, 1, 0, 0, 1, 0, 0, 0]


def test_randomisation_comes_near_to_all_swaps_enumerated() -> None:
    # Discordant: 4 units, all in favour of the first.  |d| >= 4/8 in 2 of the 16 ways to swap them: p = .125.
    difference = np.array(FIRST) - np.array(SECOND)
    ways = [abs(sum(s * d for s, d in zip(signs, difference, strict=True))) for signs in product((1, -1), repeat=8)]
    exact = np.mean([way >= abs(difference.sum()) for way in ways])
    assert exact == 0.125
    p = randomisation(units(FIRST), units(SECOND), share, n_swaps=4000, seed=1)
    assert p == pytest.approx(exact, abs=0.02)


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
