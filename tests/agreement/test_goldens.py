"""Numbers that follow from the papers' own tables (statistics.md), and those of other tools on seeded tables."""

import json
from pathlib import Path

import numpy as np
import pytest

from grater.agreement.alpha import alpha
from grater.agreement.coefficient import Coefficient
from grater.agreement.cohen import cohen_kappa, kappa, standard_error
from grater.agreement.confusion import disagreements
from grater.agreement.counts import Counts, tally
from grater.agreement.kappa import bennett, fleiss, gwet
from grater.agreement.limits import value
from grater.agreement.tests import independent
from grater.agreement.weights import SCALES, WEIGHTS, Scale, WeightName, weight_matrix
from grater.rng import generator
from tests.agreement.tables import (
    IN_CONTEXT,
    NO_CONTEXT,
    TABLE_3,
    counts_of,
    krippendorff_matrix,
    of_confusion,
    of_matrix,
    textbook_rows,
)

GOLDENS = Path(__file__).parent / "goldens"
SIX_DIGITS = 5e-7


def golden(name: str) -> dict[str, dict[str, dict[str, float]]]:
    found: dict[str, dict[str, dict[str, float]]] = json.loads((GOLDENS / name).read_text(encoding="utf-8"))
    return found


def table(name: str) -> Counts:
    return tally(of_matrix(json.loads((GOLDENS / "tables.json").read_text(encoding="utf-8"))[name]))


def number(coefficient: Coefficient, counts: Counts) -> float:
    return value(coefficient, counts.patterns, counts.n_items)


def test_kappa_of_two_preposition_raters() -> None:
    # Tetreault & Chodorow 2008, Table 3 and section 5.2: agreement .952, kappa .630
    assert TABLE_3.n == 1336
    assert TABLE_3.observed.value == pytest.approx(0.952096, abs=SIX_DIGITS)
    assert kappa(TABLE_3) == pytest.approx(0.629717, abs=SIX_DIGITS)


def test_expected_agreement_of_two_preposition_raters() -> None:
    # statistics.md: .870628; kappa = (po - pe) / (1 - pe), so pe = (po - kappa) / (1 - kappa)
    observed, number = TABLE_3.observed.value, kappa(TABLE_3)
    assert (observed - number) / (1 - number) == pytest.approx(0.870628, abs=SIX_DIGITS)


def test_standard_errors_of_two_preposition_raters() -> None:
    assert standard_error(TABLE_3) == pytest.approx(0.042574, abs=SIX_DIGITS)
    assert standard_error(TABLE_3, error="simple") == pytest.approx(0.045163, abs=SIX_DIGITS)
    interval = cohen_kappa(TABLE_3, rng=generator(0))
    assert (interval.low, interval.high) == pytest.approx((0.546272, 0.713161), abs=SIX_DIGITS)


def test_other_coefficients_of_two_preposition_raters() -> None:
    counts, weights = tally(of_confusion(TABLE_3)), np.eye(3)
    assert number(fleiss(weights), counts) == pytest.approx(0.629610, abs=SIX_DIGITS)  # Scott's pi
    assert number(alpha("nominal", counts.labels), counts) == pytest.approx(0.629749, abs=SIX_DIGITS)
    assert number(gwet(weights), counts) == pytest.approx(0.948784, abs=SIX_DIGITS)


def test_kappa_of_error_against_ok() -> None:
    merged = TABLE_3.merged(["Extraneous", "Wrong-Choice"], ["OK"], names=["error", "OK"])
    assert kappa(merged) == pytest.approx(0.630524, abs=SIX_DIGITS)


def test_disagreement_rates_of_two_preposition_raters() -> None:
    # Tetreault & Chodorow 2008, 5.2: .302 (26/86) and .381 (37/97)
    first, second = disagreements(TABLE_3, ok="OK")
    assert (first.n_ok, first.n, second.n_ok, second.n) == (26, 86, 37, 97)
    assert first.rate.value == pytest.approx(0.302326, abs=SIX_DIGITS)
    assert second.rate.value == pytest.approx(0.381443, abs=SIX_DIGITS)


def test_kappas_of_two_article_raters() -> None:
    # Lee et al. 2009, Table 5: agreement 78 % and 82 %, kappa .55 and .60
    assert kappa(NO_CONTEXT) == pytest.approx(0.550228, abs=SIX_DIGITS)
    assert kappa(IN_CONTEXT) == pytest.approx(0.597853, abs=SIX_DIGITS)
    assert NO_CONTEXT.observed.value == pytest.approx(0.777174, abs=SIX_DIGITS)
    assert IN_CONTEXT.observed.value == pytest.approx(0.816848, abs=SIX_DIGITS)


def test_yes_shares_of_two_article_raters() -> None:
    # Lee et al. 2009, Table 4 from Table 5
    for each, shares in ((NO_CONTEXT, (0.623913, 0.518478)), (IN_CONTEXT, (0.292935, 0.392391))):
        yes = each.cells[0].sum() / each.n, each.cells[:, 0].sum() / each.n
        assert yes == pytest.approx(shares, abs=SIX_DIGITS)


def test_z_of_the_paper_and_with_the_large_sample_error() -> None:
    # Lee et al. 2009, note 5: z = 1.71, p < .10
    simple = independent(IN_CONTEXT, NO_CONTEXT, error="simple")
    assert simple.z == pytest.approx(1.710226, abs=SIX_DIGITS)
    assert simple.p == pytest.approx(0.087224, abs=SIX_DIGITS)
    assert independent(IN_CONTEXT, NO_CONTEXT).z == pytest.approx(1.758089, abs=SIX_DIGITS)


@pytest.mark.parametrize(
    ("scale", "expected"),
    [("nominal", 0.743421), ("ordinal", 0.815388), ("interval", 0.849107), ("ratio", 0.797403)],
)
def test_alpha_of_krippendorffs_example(scale: Scale, expected: float) -> None:
    counts = tally(of_matrix(krippendorff_matrix()))
    assert number(alpha(scale, counts.labels), counts) == pytest.approx(expected, abs=SIX_DIGITS)


def test_fleiss_kappa_of_the_textbook_table() -> None:
    assert number(fleiss(np.eye(5)), counts_of(textbook_rows())) == pytest.approx(0.209931, abs=SIX_DIGITS)


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
