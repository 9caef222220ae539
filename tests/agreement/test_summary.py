"""TODO: what this chapter is."""

from dataclasses import replace
from math import isnan
from pathlib import Path
from typing import Any

import pytest

from grater.agreement.summary import FEW_MINOR, FEW_MINOR_OF_TWO, Options, agreement, n_minor
from grater.errors import GraterError
from grater.tables import Judgments, read_judgments
from tests.agreement.coverage import WORLDS, World, coverage, truths
from tests.agreement.real_tables import DATA, DataSet, row
from tests.agreement.tables import TABLE_3, counts_of, judgments, of_confusion

FAST = Options(n_resamples=100)


def test_json_is_that_of_the_contract() -> None:
    # interfaces.md, "JSON, by example"
    table = of_confusion(TABLE_3)
    frame = table.frame.with_columns(rater=table.frame["rater"].replace({"r0": "R1", "r1": "R2"}))
    found: Any = agreement(read_judgments(frame), FAST).to_dict()
    assert found["items"] == 1336
    assert found["raters"] == ["R1", "R2"]
    assert found["labels"] == ["Extraneous", "OK", "Wrong-Choice"]
    assert found["observed"] == pytest.approx(0.952096, abs=5e-7)
    [pair] = found["pairs"]
    assert pair["raters"] == ["R1", "R2"]
    assert pair["n"] == 1336
    kappa = pair["kappa"]
    assert kappa["value"] == pytest.approx(0.629717, abs=5e-7)
    assert kappa["low"] == pytest.approx(0.546272, abs=5e-7)
    assert kappa["high"] == pytest.approx(0.713161, abs=5e-7)
    assert {"fleiss", "alpha", "ac1", "s", "signature"} <= found.keys()


def test_order_of_rows_changes_nothing() -> None:
    table = of_confusion(TABLE_3)
    shuffled = Judgments(table.frame.sample(fraction=1, shuffle=True, seed=3), table.name)
    assert agreement(shuffled, FAST).to_dict() == agreement(table, FAST).to_dict()


def test_single_rater_has_no_agreement_and_says_why() -> None:
    found = agreement(judgments("a 1 x", "b 1 y"), FAST)
    assert all(isnan(each.value) for each in found.coefficients.values())
    assert {each.undefined_because for each in found.coefficients.values()} == {"no item has two judgments"}
    assert found.no_pairs == "only one rater, 1"
    assert found.counts.n_left_out == 2


def test_one_label_only_is_full_agreement_and_no_kappa() -> None:
    found = agreement(judgments("a 1 x", "a 2 x", "b 1 x", "b 2 x"), FAST)
    assert found.coefficients["observed"].value == 1
    for name in ("fleiss", "alpha", "ac1", "s"):
        assert isnan(found.coefficients[name].value)
        assert "one label" in found.coefficients[name].undefined_because


def test_rater_without_a_shared_item_has_pairs_without_kappa() -> None:
    found = agreement(judgments("a 1 x", "a 2 x", "b 1 y", "b 2 y", "c 3 x"), FAST)
    assert [pair.kappa.undefined_because for pair in found.pairs] == ["", *["the two raters share no item"] * 2]
    assert found.mean is not None
    assert found.mean.n_undefined == 2


def test_positions_are_not_compared_as_people() -> None:
    table = replace(judgments("a 1 x", "a 2 y", "b 1 y", "b 2 y"), anonymous_raters=True)
    found = agreement(table, FAST)
    assert found.pairs == ()
    assert "positions" in found.no_pairs
    assert not isnan(found.coefficients["alpha"].value)


def test_many_raters_are_not_compared_in_pairs_unless_asked() -> None:
    table = judgments(*(f"a{rater // 2} {rater} {'xy'[rater % 3 == 0]}" for rater in range(50)))
    assert agreement(table, FAST).no_pairs == "50 raters, more than 40"
    assert len(agreement(table, replace(FAST, most_raters=50)).pairs) == 1225


def test_weights_turn_ac1_into_ac2_and_are_signed() -> None:
    table = judgments("a 1 1", "a 2 2", "b 1 3", "b 2 3", "c 1 1", "c 2 3")
    found = agreement(table, replace(FAST, weights="linear", scale="ordinal"))
    assert "ac2" in found.coefficients
    assert "weights:linear" in str(found.signature)
    assert "scale:ordinal" in str(found.signature)


def test_rare_labels_are_warned_about_with_what_to_do() -> None:
    rows = [f"i{n} {rater} {'no' if n == rater else 'ok'}" for n in range(60) for rater in (1, 2)]
    warnings = " ".join(agreement(judgments(*rows), FAST).warnings)
    assert "1.0 items per rater" in warnings
    assert "use bootstrap intervals" in warnings
    assert "--interval" not in " ".join(agreement(judgments(*rows), replace(FAST, interval="bootstrap")).warnings)


def test_balanced_table_of_many_items_is_not_warned_about() -> None:
    rows = [f"i{n} {rater} {n % 2}" for n in range(60) for rater in (1, 2)]
    assert agreement(judgments(*rows), FAST).warnings == ()


def test_minor_items_are_counted_per_rater() -> None:
    assert n_minor(counts_of([[2, 0]] * 8 + [[1, 1]] * 2)) == pytest.approx(1.0)


def test_unknown_interval_is_refused() -> None:
    with pytest.raises(GraterError, match="unknown interval"):
        agreement(judgments("a 1 x", "a 2 y"), Options(interval="exact"))  # type: ignore[arg-type]


N_SAMPLES = 400
SLACK = 0.022
"""Two standard errors of a share of .95 in 400 samples."""


@pytest.mark.slow
@pytest.mark.parametrize("n_items", [50, 200])
@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.name)
def test_limits_cover_the_truth_as_often_as_they_say(world: World, n_items: int) -> None:
    found = coverage(world, n_items, n_samples=N_SAMPLES)
    n_rare = truths(world)[1] * n_items
    is_warned = n_rare < FEW_MINOR
    assert found
    for name, share in found.items():
        if name == "alpha, plain":
            continue  # there to show what the made-up item is for
        if name == "kappa, fce" and n_rare < FEW_MINOR_OF_TWO:
            continue  # the table shows them, and a warning names the bootstrap instead
        assert share >= 0.93 - SLACK, name
        assert share <= 0.97 + SLACK or is_warned, name


def test_coverage_is_counted_where_the_coefficient_is_defined() -> None:
    found = coverage(WORLDS[0], 40, n_samples=5)
    assert set(found) == {"observed", "fleiss", "ac1", "s", "alpha", "alpha, plain", "kappa, fce", "kappa, bootstrap"}
    assert all(0 <= share <= 1 for share in found.values())


PAGE = Path(__file__).parents[2] / "docs" / "agreement.md"


@pytest.mark.data
@pytest.mark.parametrize("data", DATA, ids=lambda data: data.name)
def test_page_has_the_numbers_that_come_out(data: DataSet) -> None:
    data.file()  # skips where the data is missing
    assert row(data) in PAGE.read_text(encoding="utf-8")
