from __future__ import annotations

from math import isnan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grater.measure.evaluation.cases import SCORES, Counts, counts_of, scores
from tests.examples import examples

amounts = st.floats(0, 1000, allow_nan=False)
many_counts = st.builds(Counts, amounts, amounts, amounts, amounts)


def test_counts_of_whole_truths_are_those_everybody_knows() -> None:
    assert counts_of([1, 1, 0, 0, 1], [1, 0, 1, 0, 1]) == Counts(2, 1, 1, 1)


def test_counts_add_up() -> None:
    assert Counts(1, 2, 3, 4) + Counts(0.5, 0, 1, 1) == Counts(1.5, 2, 4, 5)


def test_scores_by_hand() -> None:
    # 6 hits, 2 false alarms, 4 misses, 8 rejections: P 6/8, R 6/10, F1 12/18, F0.5 1.25*6/(8+2.5)
    counts = Counts(6, 2, 4, 8)
    assert counts.score("precision") == 0.75
    assert counts.score("recall") == 0.6
    assert counts.score("f1") == pytest.approx(12 / 18)
    assert counts.score("f0.5") == pytest.approx(7.5 / 10.5)
    assert counts.f(2) == pytest.approx(5 * 6 / (8 + 40))
    assert counts.score("error_rate") == 0.5
    # observed .7, by chance .4*.5 + .6*.5 = .5
    assert counts.score("kappa") == pytest.approx(0.4)


def test_a_system_that_flags_nothing_has_no_precision_and_an_f_of_0() -> None:
    counts = Counts(0, 0, 3, 5)
    assert isnan(counts.score("precision"))
    assert counts.score("recall") == 0
    assert counts.score("f0.5") == 0


def test_nothing_at_all_leaves_every_score_undefined() -> None:
    assert np.isnan(scores(np.zeros(4))).all()


def test_an_absent_decision_counts_nowhere() -> None:
    assert counts_of([1, -1, 0], [1, 1, 1]) == Counts(1, 0, 1, 0)


@examples(50)
@given(many_counts)
def test_f_is_the_harmonic_mean_of_precision_and_recall(counts: Counts) -> None:
    precision, recall = counts.score("precision"), counts.score("recall")
    if precision > 1e-9 and recall > 1e-9:
        assert counts.score("f1") == pytest.approx(2 * precision * recall / (precision + recall))


@examples(50)
@given(st.lists(many_counts, min_size=1, max_size=4))
def test_scores_of_many_sums_are_those_of_each(several: list[Counts]) -> None:
    together = scores(np.stack([counts.row() for counts in several]))
    for row, counts in zip(together, several, strict=True):
        np.testing.assert_allclose(row, [counts.score(name) for name in SCORES])
