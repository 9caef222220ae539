from math import isnan, sqrt

import pytest

from grater.agreement import pairwise
from grater.agreement.coded import coded
from grater.agreement.cohen import kappa, standard_error
from grater.agreement.confusion import confusions
from grater.agreement.pairwise import MeanPairwise, mean_pairwise
from grater.intervals.bootstrap import student_quantile
from grater.rng import generator
from grater.tables import Judgments
from tests.agreement.tables import TABLE_3, judgments, of_confusion, of_matrix


def mean_of(table: Judgments) -> MeanPairwise:
    codes = coded(table)
    return mean_pairwise(codes, list(confusions(codes)), rng=generator(0))


@pytest.fixture
def by_delta(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairwise, "MOST_CELLS", 0)


@pytest.mark.usefixtures("by_delta")
def test_mean_of_two_raters_is_their_kappa_with_its_own_error() -> None:
    mean = mean_of(of_confusion(TABLE_3))
    assert mean.kappa.value == pytest.approx(kappa(TABLE_3))
    half = student_quantile(0.975, 1335) * standard_error(TABLE_3) * sqrt(1336 / 1335)
    assert mean.kappa.high - mean.kappa.value == pytest.approx(half)


def test_mean_is_over_pairs_that_have_a_kappa() -> None:
    rng = generator(5)
    rows = [[label, label if rng.random() < 0.8 else 1 - label, None] for label in rng.integers(0, 2, size=60)]
    rows.append([None, None, 1])
    mean = mean_of(of_matrix(rows))
    assert (mean.n_pairs, mean.n_undefined) == (1, 2)


@pytest.mark.usefixtures("by_delta")
def test_third_rater_who_copies_the_second_adds_nothing_to_certainty() -> None:
    rng = generator(6)
    two = [[label, label if rng.random() < 0.8 else 1 - label] for label in rng.integers(0, 2, size=80)]
    alone = mean_of(of_matrix(two)).kappa
    copied = mean_of(of_matrix([[first, second, second] for first, second in two])).kappa
    # the pair of copies has kappa 1 without any error; the other two pairs are the same pair twice
    assert copied.value == pytest.approx((2 * alone.value + 1) / 3)
    assert copied.high - copied.low == pytest.approx(2 / 3 * (alone.high - alone.low))


def test_no_pair_with_a_kappa_is_undefined() -> None:
    mean = mean_of(judgments("a 1 x", "b 2 y"))
    assert isnan(mean.kappa.value)
    assert mean.n_undefined == 1


def test_bootstrap_and_delta_agree_on_many_items(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = generator(7)
    rows = [[label if rng.random() < 0.85 else 1 - label for _ in range(4)] for label in rng.integers(0, 2, size=800)]
    drawn = mean_of(of_matrix(rows))
    monkeypatch.setattr(pairwise, "MOST_CELLS", 0)
    derived = mean_of(of_matrix(rows))
    assert (drawn.method, derived.method) == ("bootstrap", "delta")
    assert drawn.kappa.value == derived.kappa.value
    assert drawn.kappa.low == pytest.approx(derived.kappa.low, abs=0.01)
    assert drawn.kappa.high == pytest.approx(derived.kappa.high, abs=0.01)


def test_rare_label_leaves_room_for_doubt() -> None:
    interval = mean_of(of_matrix([[0, 0, 0]] * 48 + [[1, 1, 1]] * 2)).kappa
    assert interval.value == 1
    assert interval.low < 0.7
