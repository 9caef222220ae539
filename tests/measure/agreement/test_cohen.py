"""Cohen's kappa, its standard errors and intervals, and its mean over pairs of raters."""

from dataclasses import replace
from math import atanh, isnan, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.special import stdtrit

from grater.errors import GraterError
from grater.measure.agreement.coefficients import WeightName, weight_matrix
from grater.measure.agreement.cohen import (
    ONE_LABEL,
    Confusion,
    MeanPairwise,
    cohen_kappa,
    confusions,
    fce_interval,
    kappa,
    mean_pairwise,
    standard_error,
)
from grater.measure.units import coded
from grater.tables import Judgments
from grater.uncertainty import Basis, Ints, generator
from tests.examples import examples
from tests.measure.agreement.tables import TABLE_3, confusion, of_matrix

CELLS = arrays(np.int64, (3, 3), elements=st.integers(0, 30))
STATSMODELS = {"identity": None, "linear": "linear", "quadratic": "quadratic"}


def table_of(cells: Ints) -> Confusion:
    return confusion(cells, ("a", "b", "c"))


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


def test_what_has_no_kappa_or_no_interval_says_why() -> None:
    # One label only is undefined and says so.
    interval = cohen_kappa(confusion([[9, 0], [0, 0]], ("a", "b")))
    assert isnan(interval.value)
    assert interval.undefined_because == ONE_LABEL
    # No shared item is undefined and says so.
    interval = cohen_kappa(confusion([[0, 0], [0, 0]], ("a", "b")))
    assert isnan(interval.value)
    assert "no item" in interval.undefined_because
    # Raters who never disagree have no interval and the reason.
    table = confusion([[25, 0], [0, 25]], ("a", "b"))
    for interval in (cohen_kappa(table), fce_interval(table)):
        assert interval.value == 1
        assert isnan(interval.low)
        assert interval.undefined_because
    # Rarer label with fewer than five cases has no interval.
    few = cohen_kappa(confusion([[90, 2], [2, 2]], ("ok", "error")))
    assert isnan(few.low)
    assert "rarer label has 4 cases" in few.undefined_because
    assert cohen_kappa(confusion([[90, 2], [2, 3]], ("ok", "error"))).low < 0.6
    # Simple error is for plain kappa only.
    with pytest.raises(GraterError, match="without weights"):
        standard_error(TABLE_3, error="simple", weights=weight_matrix("linear", 3))


def mean_of(table: Judgments) -> MeanPairwise:
    codes = coded(table)
    return mean_pairwise(codes, list(confusions(codes)))


def test_third_rater_who_copies_the_second_adds_nothing_to_certainty() -> None:
    rng = generator(6)
    two = [[label, label if rng.random() < 0.8 else 1 - label] for label in rng.integers(0, 2, size=80)]
    alone = mean_of(of_matrix(two)).kappa
    copied = mean_of(of_matrix([[first, second, second] for first, second in two])).kappa
    # the pair of copies has kappa 1 without any error; the other two pairs are the same pair twice
    assert copied.value == pytest.approx((2 * alone.value + 1) / 3)
    half = [(atanh(each.high) - atanh(each.low)) * (1 - each.value**2) for each in (copied, alone)]
    assert half[0] == pytest.approx(2 / 3 * half[1], rel=1e-3)


@pytest.mark.parametrize("interval", ["jackknife", "bootstrap"])
def test_mean_kappa_by_essay_is_that_of_leaving_out_each_essay(interval: str) -> None:
    rng = generator(9)
    rows = [[label if rng.random() < 0.85 else 1 - label for _ in range(4)] for label in rng.integers(0, 2, size=160)]
    codes = replace(coded(of_matrix(rows)), unit_of=np.arange(160) // 8, unit="essay")
    basis = Basis(interval=interval)  # type: ignore[arg-type]
    mean = mean_pairwise(codes, list(confusions(codes)), basis=basis).kappa
    value = mean_of(of_matrix(rows)).kappa.value
    without = [
        mean_of(of_matrix([row for n, row in enumerate(rows) if n // 8 != essay])).kappa.value for essay in range(20)
    ]
    error = sqrt(19 / 20 * sum((each - np.mean(without)) ** 2 for each in without))
    assert mean.value == pytest.approx(value, abs=1e-12)
    wide = stdtrit(19, 0.975) * error
    assert mean.high - mean.low == pytest.approx(2 * wide, rel=0.15)
