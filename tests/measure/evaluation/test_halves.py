import pytest

import grater
from grater.measure.evaluation.standard import spread
from tests.measure.evaluation.halves import RULE, SYSTEM, corpus, half, held, scored


@pytest.mark.data
@pytest.mark.parametrize("n_samples", [2, pytest.param(5, marks=pytest.mark.slow)])
def test_a_sample_says_of_its_half_what_judging_all_of_it_says(n_samples: int) -> None:
    # docs/sampling.md, after T&C 2008, Table 6; of five samples each, at least four hold
    for system in (SYSTEM, RULE):
        assert min(held(0, system, n_seeds=n_samples)) * n_samples >= n_samples - 1


@pytest.mark.data
def test_ten_annotators_of_conll_2014_move_the_precision_of_one_of_them() -> None:
    # docs/evaluating.md: A1 against the nine others on all 3,878 prepositions, judged whole and in two halves
    decisions, others, _ = corpus()
    own = decisions.frame.filter(decisions.frame["system"].cast(str) == SYSTEM)
    found = grater.evaluate(own, others).whole
    assert found.n_items == sum(half(number)[0].frame["item"].n_unique() for number in (0, 1)) == 3878
    counts = [scored(number, SYSTEM).counts for number in (0, 1)]
    assert found.standard[0].counts.row().tolist() == (counts[0] + counts[1]).row().tolist() == [200, 360, 45, 3273]
    precisions = spread([each[0]["precision"] for each in found.by_rater.values()])
    assert (round(precisions.low, 3), round(precisions.high, 3)) == (0.211, 0.438)
    assert found.weighted[0]["recall"].value == pytest.approx(0.651, abs=5e-4)
    assert [each.n for each in found.bins] == [271, 596, 3011]
