"""Numbers that follow from the papers' own tables (statistics.md), and those of other tools on seeded tables."""

import json
from dataclasses import replace
from math import atanh, isnan, sqrt
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.special import stdtrit

from grater.errors import GraterError
from grater.measure.agreement.coefficients import (
    SCALES,
    WEIGHTS,
    Coefficient,
    Scale,
    WeightName,
    alpha,
    bennett,
    coefficient_json,
    fleiss,
    gwet,
    observed,
    weight_matrix,
    with_interval,
)
from grater.measure.agreement.cohen import (
    ONE_LABEL,
    Confusion,
    MeanPairwise,
    cohen_kappa,
    confusions,
    disagreements,
    fce_interval,
    kappa,
    mean_pairwise,
    standard_error,
)
from grater.measure.units import Counts, coded, tally
from grater.model import Interval
from grater.tables import Judgments
from grater.uncertainty import Basis, Ints, generator, wilson
from tests.examples import examples
from tests.measure.agreement.tables import (
    MERGED,
    TABLE_3,
    confusion,
    counts_of,
    of_confusion,
    of_matrix,
)


def number(coefficient: Coefficient, counts: Counts) -> float:
    return float(coefficient.score(counts.n_items @ coefficient.rows(counts.patterns)))


@pytest.mark.slow  # importing statsmodels takes two seconds; the table of a textbook is below
@given(st.lists(st.lists(st.integers(0, 2), min_size=5, max_size=5), min_size=3, max_size=20))
@examples(40)
def test_fleiss_is_that_of_statsmodels(labels: list[list[int]]) -> None:
    from statsmodels.stats.inter_rater import fleiss_kappa  # a second that few tests need

    rows = np.array([np.bincount(item, minlength=3) for item in labels])
    ours = number(fleiss(np.eye(3)), counts_of(rows))
    if not isnan(ours):
        assert ours == pytest.approx(fleiss_kappa(rows), abs=1e-12)


def test_gaps_count_with_the_judgments_there_are() -> None:
    # by hand: pairs agree in 1/3 of item one (2-1), 1 of item two, 0 of item three; mean 4/9.
    # Shares of a: 2/3, 1, 1/2, mean 13/18; pe = (13/18)^2 + (5/18)^2 = 194/324.
    counts = counts_of([[2, 1], [2, 0], [1, 1], [1, 0]])
    assert counts.n_left_out == 1
    assert number(observed(np.eye(2)), counts) == pytest.approx(4 / 9)
    assert number(fleiss(np.eye(2)), counts) == pytest.approx((4 / 9 - 194 / 324) / (1 - 194 / 324))


def interval_of(coefficient: Coefficient, rows: object) -> Interval:
    return with_interval(coefficient, counts_of(rows), Basis())


def test_observed_agreement_of_two_raters_is_a_share_with_wilsons_interval() -> None:
    assert interval_of(observed(np.eye(2)), [[2, 0]] * 4 + [[1, 1]]) == wilson(4, 5)
    assert interval_of(observed(np.eye(2)), [[5, 0]] * 30).low == pytest.approx(wilson(30, 30).low)


def test_a_kappa_has_the_bands_of_landis_and_koch_from_one_end_of_its_interval_to_the_other() -> None:
    for low, high, words in (
        (-0.833, -0.01, "poor"),
        (0.0, 0.2, "slight"),
        (0.21, 0.597853, "fair to moderate"),
        (0.62, 0.79, "substantial"),
        (0.81, 1.0, "almost perfect"),
        (float("nan"), float("nan"), ""),
    ):
        assert coefficient_json(Interval(0.5, low, high)).get("band", "") == words


GOLDENS = Path(__file__).parent / "goldens"
SIX_DIGITS = 5e-7


# `whole` has no gaps; in `gaps` every item keeps at least two judgments, in `thin` some have one or none.
def golden(name: str) -> dict[str, dict[str, dict[str, float]]]:
    found: dict[str, dict[str, dict[str, float]]] = json.loads((GOLDENS / name).read_text(encoding="utf-8"))
    return found


def table(name: str) -> Counts:
    return tally(of_matrix(json.loads((GOLDENS / "tables.json").read_text(encoding="utf-8"))[name]))


def test_tables_of_two_preposition_raters() -> None:
    # Kappa of two preposition raters.
    # Tetreault & Chodorow 2008, Table 3 and section 5.2: agreement .952, kappa .630
    assert TABLE_3.n == 1336
    assert TABLE_3.observed.value == pytest.approx(0.952096, abs=SIX_DIGITS)
    assert kappa(TABLE_3) == pytest.approx(0.629717, abs=SIX_DIGITS)
    # Standard errors of two preposition raters.
    assert standard_error(TABLE_3) == pytest.approx(0.042574, abs=SIX_DIGITS)
    assert standard_error(TABLE_3, error="simple") == pytest.approx(0.045163, abs=SIX_DIGITS)
    interval = fce_interval(TABLE_3)
    assert (interval.low, interval.high) == pytest.approx((0.546272, 0.713161), abs=SIX_DIGITS)
    # Other coefficients of two preposition raters.
    counts, weights = tally(of_confusion(TABLE_3)), np.eye(3)
    assert number(fleiss(weights), counts) == pytest.approx(0.629610, abs=SIX_DIGITS)  # Scott's pi
    assert number(alpha("nominal", counts.labels), counts) == pytest.approx(0.629749, abs=SIX_DIGITS)
    assert number(gwet(weights), counts) == pytest.approx(0.948784, abs=SIX_DIGITS)
    # Kappa of error against ok.
    assert kappa(MERGED) == pytest.approx(0.630524, abs=SIX_DIGITS)
    # Disagreement rates of two preposition raters.
    # Tetreault & Chodorow 2008, 5.2: .302 (26/86) and .381 (37/97)
    first, second = disagreements(TABLE_3, ok="OK")
    assert (first.n_ok, first.n, second.n_ok, second.n) == (26, 86, 37, 97)
    assert first.rate.value == pytest.approx(0.302326, abs=SIX_DIGITS)
    assert second.rate.value == pytest.approx(0.381443, abs=SIX_DIGITS)


def test_alpha_of_krippendorffs_example() -> None:
    # Krippendorff 2011: four observers, twelve units, * is missing
    observers = (
        "1 2 3 3 2 1 4 1 2 * * *",
        "1 2 3 3 2 2 4 1 2 5 * 3",
        "* 3 3 3 2 3 4 2 2 5 1 *",
        "1 2 3 3 2 4 4 1 2 5 1 *",
    )
    units = zip(*(line.split() for line in observers), strict=True)
    counts = tally(of_matrix([[None if label == "*" else label for label in unit] for unit in units]))
    expected = {"nominal": 0.743421, "ordinal": 0.815388, "interval": 0.849107, "ratio": 0.797403}
    found = {scale: number(alpha(scale, counts.labels), counts) for scale in SCALES}
    assert found == pytest.approx(expected, abs=SIX_DIGITS)


def test_fleiss_kappa_of_the_textbook_table() -> None:
    # ten items, fourteen raters, five labels
    first = "0 0 0 0 14 / 0 2 6 4 2 / 0 0 3 5 6 / 0 3 9 2 0 / 2 2 8 1 1"
    last = "7 7 0 0 0 / 3 2 6 3 0 / 2 5 3 2 2 / 6 5 2 1 0 / 0 2 2 3 7"
    rows = [[int(cell) for cell in row.split()] for row in f"{first} / {last}".split("/")]
    assert number(fleiss(np.eye(5)), counts_of(rows)) == pytest.approx(0.209931, abs=SIX_DIGITS)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("name", ["whole", "gaps", "thin", "two"])
def test_alpha_is_that_of_krippendorff(name: str, scale: Scale) -> None:
    # krippendorff 0.9.0; goldens/ask_krippendorff.py says how
    counts = table(name)
    expected = golden("krippendorff.json")["alpha"][name][scale]
    assert number(alpha(scale, counts.labels), counts) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("name", ["whole", "gaps", "two"])
def test_kappas_are_those_of_irrcac(name: str, weights: WeightName) -> None:
    # irrCAC 0.4.4; goldens/ask_irrcac.py says how
    counts = table(name)
    matrix = weight_matrix(weights, len(counts.labels))
    expected: dict[str, float] = golden("irrcac.json")["coefficients"][name][weights]  # type: ignore[assignment]
    found = {"fleiss": fleiss(matrix), "gwet": gwet(matrix), "bp": bennett(matrix)}
    assert {key: number(each, counts) for key, each in found.items()} == pytest.approx(expected, abs=1e-11)


# Two raters, and the mean over pairs of raters


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
