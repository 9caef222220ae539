import pytest

from tests.measure.evaluation.halves import RULE, SYSTEM, exhaustive, from_sample, half


@pytest.mark.data
@pytest.mark.parametrize("n_samples", [2, pytest.param(5, marks=pytest.mark.slow)])
def test_a_sample_says_of_its_half_what_judging_all_of_it_says(n_samples: int) -> None:
    # docs/sampling.md, after T&C 2008, Table 6; of five samples each, at least four hold
    for system in (SYSTEM, RULE):
        known = exhaustive(0, system)
        found = [from_sample(0, system, seed=seed) for seed in range(n_samples)]
        for name in ("precision", "recall"):
            held = sum(each[name].low <= known[name].value <= each[name].high for each in found)
            assert held >= n_samples - 1


@pytest.mark.data
def test_two_halves_judged_whole_are_the_corpus_judged_whole() -> None:
    # docs/evaluating.md: A1 against the majority of the others on all 3,878 prepositions: 200 hits, 45 misses
    parts = [exhaustive(number, SYSTEM).counts for number in (0, 1)]
    assert sum(half(number)[0].frame["item"].n_unique() for number in (0, 1)) == 3878
    assert (sum(each.hit for each in parts), sum(each.miss for each in parts)) == pytest.approx((200, 45))
