"""Cohen's kappa, its standard errors and intervals, and its mean over pairs of raters."""

from dataclasses import replace
from math import isnan, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.special import stdtrit

from grater.errors import GraterError
from grater.measure.agreement import cohen
from grater.measure.agreement.coded import Coded, coded
from grater.measure.agreement.coefficients import WeightName, weight_matrix
from grater.measure.agreement.cohen import (
    ONE_LABEL,
    Confusion,
    MeanPairwise,
    cohen_kappa,
    confusion,
    confusions,
    kappa,
    mean_pairwise,
    standard_error,
)
from grater.tables import Judgments
from grater.uncertainty.intervals import Ints, generator, student_quantile
from tests.examples import examples
from tests.measure.agreement.tables import TABLE_3, judgments, of_confusion, of_matrix

CELLS = arrays(np.int64, (3, 3), elements=st.integers(0, 30))
SKLEARN = {"identity": None, "linear": "linear", "quadratic": "quadratic"}
STATSMODELS = {"identity": None, "linear": "linear", "quadratic": "quadratic"}


def table_of(cells: Ints) -> Confusion:
    return confusion(cells, ("a", "b", "c"))


@pytest.mark.parametrize("name", list(SKLEARN))
@given(CELLS)
@examples(30)
def test_kappa_is_that_of_scikit_learn(name: WeightName, cells: Ints) -> None:
    from sklearn.metrics import cohen_kappa_score

    ours = kappa(table_of(cells), weights=weight_matrix(name, 3))
    if isnan(ours):
        return
    pairs = [(row, column) for row in range(3) for column in range(3) for _ in range(int(cells[row, column]))]
    first, second = zip(*pairs, strict=True)
    assert ours == pytest.approx(cohen_kappa_score(first, second, labels=[0, 1, 2], weights=SKLEARN[name]), abs=1e-12)


@pytest.mark.parametrize("name", list(STATSMODELS))
@given(CELLS)
@examples(30)
def test_standard_error_is_that_of_statsmodels(name: WeightName, cells: Ints) -> None:
    from statsmodels.stats.inter_rater import cohens_kappa  # a second that few tests need

    cells = cells + 1  # without any disagreement statsmodels takes the root of a rounding error
    weights = weight_matrix(name, 3)
    theirs = cohens_kappa(cells, wt=STATSMODELS[name], return_results=True)
    ours = table_of(cells)
    assert kappa(ours, weights=weights) == pytest.approx(theirs.kappa, abs=1e-12)
    assert standard_error(ours, weights=weights) ** 2 == pytest.approx(theirs.var_kappa, abs=1e-12)


@given(CELLS)
@examples(30)
def test_raters_and_labels_may_change_places(cells: Ints) -> None:
    number = kappa(table_of(cells))
    assert kappa(table_of(cells.T)) == pytest.approx(number, nan_ok=True)
    assert kappa(table_of(cells[::-1, ::-1])) == pytest.approx(number, nan_ok=True)


def test_own_weights_count_what_they_say() -> None:
    # by hand: half agreement between a and b. po = (4 + 4 + (1 + 1) / 2) / 10 = .9; margins are .5 and .5, so
    # pe = .5 + .5 * .5 = .75; kappa = .15 / .25 = .6
    table = confusion([[4, 1], [1, 4]], ("a", "b"))
    assert kappa(table, weights=weight_matrix(np.array([[1, 0.5], [0.5, 1]]), 2)) == pytest.approx(0.6)


@pytest.mark.parametrize("weight", [float("inf"), float("nan"), 1.5])
def test_weight_that_cannot_be_is_refused(weight: float) -> None:
    with pytest.raises(GraterError, match="expected"):
        weight_matrix(np.array([[1, weight], [0, 1]]), 2)


def test_one_label_only_is_undefined_and_says_so() -> None:
    interval = cohen_kappa(confusion([[9, 0], [0, 0]], ("a", "b")), rng=generator(0))
    assert isnan(interval.value)
    assert interval.undefined_because == ONE_LABEL


def test_no_shared_item_is_undefined_and_says_so() -> None:
    interval = cohen_kappa(confusion([[0, 0], [0, 0]], ("a", "b")), rng=generator(0))
    assert isnan(interval.value)
    assert "no item" in interval.undefined_because


@pytest.mark.parametrize("method", ["fce", "simple", "bootstrap"])
def test_raters_who_never_disagree_are_not_certain_to_go_on(method: str) -> None:
    table = confusion([[25, 0], [0, 25]], ("a", "b"))
    interval = cohen_kappa(table, rng=generator(0), method=method)  # type: ignore[arg-type]
    assert interval.value == 1
    assert 0.7 < interval.low < 0.98
    assert interval.high == 1


def test_single_item_has_no_limits() -> None:
    interval = cohen_kappa(confusion([[0, 1], [0, 0]], ("a", "b")), rng=generator(0))
    assert interval.value == 0
    assert isnan(interval.low)


def test_methods_agree_on_a_large_table() -> None:
    limits = [cohen_kappa(TABLE_3, rng=generator(0), method=each) for each in ("fce", "bootstrap")]
    assert limits[1].low == pytest.approx(limits[0].low, abs=0.02)
    assert limits[1].high == pytest.approx(limits[0].high, abs=0.02)


def test_limits_stay_possible() -> None:
    interval = cohen_kappa(confusion([[9, 1], [0, 9]], ("a", "b")), rng=generator(0))
    assert interval.high == 1


def test_simple_error_is_for_plain_kappa_only() -> None:
    with pytest.raises(GraterError, match="without weights"):
        standard_error(TABLE_3, error="simple", weights=weight_matrix("linear", 3))


def mean_of(table: Judgments) -> MeanPairwise:
    codes = coded(table)
    return mean_pairwise(codes, list(confusions(codes)), rng=generator(0))


@pytest.fixture
def by_delta(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cohen, "MOST_PAIR_CELLS", 0)


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


def unequal_essays() -> Coded:
    """Two raters; two essays of 100 items and twenty of four are worth 280² / (2 · 100² + 20 · 4²) = 3.858 essays."""
    rng = generator(8)
    essay = np.repeat(np.arange(22), [100, 100, *[4] * 20])
    labels = rng.integers(0, 2, size=len(essay))
    rows = [[label, label if rng.random() < 0.8 else 1 - label] for label in labels]
    return replace(coded(of_matrix(rows)), unit=essay)


WORTH = 280**2 / (2 * 100**2 + 20 * 4**2)
AS_WORTH = float(stdtrit(WORTH - 1, 0.975)) * sqrt(WORTH / (WORTH - 1) * 21 / 22)
"""Student's t times what few units miss of the spread, over what 22 miss, which the errors below have in them."""


def test_essays_of_unequal_lengths_count_as_what_they_are_worth_in_the_jackknife() -> None:
    codes = unequal_essays()
    assert codes.unit is not None
    rows = cohen.compared_rows(codes)
    units = cohen.row_units(rows, 2)
    parts = [rows.matrix[codes.unit != essay] for essay in range(22)]
    tables = [np.bincount(2 * part[:, 0] + part[:, 1], minlength=4).reshape(2, 2) for part in parts]
    without = np.array([kappa(confusion(table.tolist(), ("a", "b"))) for table in tables])
    error = sqrt(21 / 22 * float(((without - without.mean()) ** 2).sum()))
    value = kappa(next(iter(confusions(codes))))
    interval = cohen.jackknife(cohen.mean_kappa(2, np.eye(2)), value, units)
    assert interval.high - interval.low == pytest.approx(2 * AS_WORTH * error, rel=0.01)


def test_tables_too_large_for_the_bootstrap_have_the_same_jackknife(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = generator(9)
    rows = [[label if rng.random() < 0.85 else 1 - label for _ in range(4)] for label in rng.integers(0, 2, size=120)]
    codes = replace(coded(of_matrix(rows)), unit=np.arange(120) // 8)
    tables = list(confusions(codes))
    monkeypatch.setattr(cohen, "MOST_PAIR_CELLS", 0)
    mean = mean_pairwise(codes, tables, rng=generator(0))
    assert mean.method == "jackknife"
    units = cohen.row_units(cohen.compared_rows(codes), 2)
    alike = cohen.jackknife(cohen.mean_kappa(4, np.eye(2)), mean.kappa.value, units)
    assert (mean.kappa.low, mean.kappa.high) == pytest.approx((alike.low, alike.high))


def test_no_pair_with_a_kappa_is_undefined() -> None:
    mean = mean_of(judgments("a 1 x", "b 2 y"))
    assert isnan(mean.kappa.value)
    assert mean.n_undefined == 1


def test_bootstrap_and_delta_agree_on_many_items(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = generator(7)
    rows = [[label if rng.random() < 0.85 else 1 - label for _ in range(4)] for label in rng.integers(0, 2, size=800)]
    drawn = mean_of(of_matrix(rows))
    monkeypatch.setattr(cohen, "MOST_PAIR_CELLS", 0)
    derived = mean_of(of_matrix(rows))
    assert (drawn.method, derived.method) == ("bootstrap", "delta")
    assert drawn.kappa.value == derived.kappa.value
    assert drawn.kappa.low == pytest.approx(derived.kappa.low, abs=0.01)
    assert drawn.kappa.high == pytest.approx(derived.kappa.high, abs=0.01)


def test_rare_label_leaves_room_for_doubt() -> None:
    interval = mean_of(of_matrix([[0, 0, 0]] * 48 + [[1, 1, 1]] * 2)).kappa
    assert interval.value == 1
    assert interval.low < 0.7
