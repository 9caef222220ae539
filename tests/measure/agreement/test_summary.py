"""The whole of a table's agreement: JSON, warnings, pairs, labels, and how often intervals hold the truth."""

from dataclasses import replace
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from grater.errors import GraterError
from grater.measure.agreement.cohen import FEW_SHARED
from grater.measure.agreement.summary import FEW_MINOR, FEW_MINOR_OF_TWO, Options, agreement, n_minor
from grater.tables import Judgments, read_judgments
from tests.measure.agreement.coverage import WORLDS, World, coverage, truths
from tests.measure.agreement.real_tables import DATA, DataSet, row
from tests.measure.agreement.tables import TABLE_3, counts_of, judgments, of_confusion, of_matrix

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
    assert pair["kappa"]["value"] == pytest.approx(0.629717, abs=5e-7)
    kappa = pair["kappa_fce"]
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
    warnings = " ".join(agreement(judgments(*rows), replace(FAST, interval="fce")).warnings)
    assert "to only 1.0 items" in warnings
    assert "use bootstrap intervals" in warnings
    assert "use bootstrap" not in " ".join(agreement(judgments(*rows), FAST).warnings)


def test_pair_is_judged_by_its_own_items() -> None:
    rows = [f"i{n} {rater} {n % 2}" for n in range(200) for rater in ("Ada", "Bo")]
    rows += [f"i{n} Cy {n % 2}" for n in range(12)]
    result = agreement(judgments(*rows), FAST)
    [warning] = [text for text in result.warnings if "share fewer than 50 items" in text]
    assert warning.startswith("2 of 3 pairs (Ada – Cy 12, Bo – Cy 12)")
    assert "biased low" in warning
    assert result.pairs[0].n_minor == 100


def test_formula_stands_beside_the_bootstrap_under_its_own_name() -> None:
    [pair] = agreement(of_confusion(TABLE_3), FAST).pairs
    assert (pair.fce.low, pair.fce.high) == pytest.approx((0.546272, 0.713161), abs=5e-7)
    assert pair.kappa.low != pair.fce.low
    [asked] = agreement(of_confusion(TABLE_3), replace(FAST, interval="fce")).pairs
    assert asked.kappa == asked.fce == pair.fce


def test_specific_agreement_is_that_of_each_label() -> None:
    # by hand: two raters, 3 items error-error, 2 split, 5 ok-ok: 2 * 3 / (2 * 3 + 2) = .75 and 10 / 12
    table = of_matrix([["error", "error"]] * 3 + [["error", "ok"]] * 2 + [["ok", "ok"]] * 5)
    result = agreement(table, FAST)
    assert result.specific["error"].value == pytest.approx(0.75)
    assert result.specific["ok"].value == pytest.approx(10 / 12)
    assert result.specific["error"].low < 0.75 < result.specific["error"].high
    # three raters: an item with labels e, e, o has pairs ee, eo, eo; sum n(n - 1) = 2, sum n(m - 1) = 4
    three = agreement(of_matrix([["error", "error", "ok"], ["ok", "ok", "ok"]]), FAST)
    assert three.specific["error"].value == pytest.approx(0.5)
    assert three.specific["ok"].value == pytest.approx(6 / 8)


def test_congers_kappa_of_two_raters_is_cohens() -> None:
    result = agreement(of_confusion(TABLE_3), FAST)
    assert result.conger is not None
    assert result.conger.value == pytest.approx(0.629717, abs=5e-7)


def test_congers_kappa_takes_chance_from_each_raters_own_labels() -> None:
    # by hand: shares of x are 1/2, 1/4 and 1; chance of the three pairs 1/2, 1/2 and 1/4, mean 5/12.  Agreeing pairs
    # per item 1, 1/3, 1/3, 1/3, mean 1/2.  (1/2 - 5/12) / (1 - 5/12) = 1/7
    table = of_matrix([["x", "x", "x"], ["x", "y", "x"], ["y", "y", "x"], ["y", "y", "x"]])
    conger = agreement(table, FAST).conger
    assert conger is not None
    assert conger.value == pytest.approx(1 / 7)


def sparse_table(seed: int) -> Judgments:
    """Ten raters, two on each of 200 items; everyone is right in 85 of 100 cases, kappa .447 in truth."""
    rng = np.random.default_rng(seed)
    truth = rng.random(200) < 0.3
    return judgments(
        *(
            f"i{item} r{rater} {'error' if is_error == (rng.random() < 0.85) else 'ok'}"
            for item, is_error in enumerate(truth)
            for rater in rng.permutation(10)[:2]
        )
    )


def test_mean_kappa_of_sparse_pairs_has_an_interval_around_it_and_a_warning() -> None:
    for seed in range(3):
        result = agreement(sparse_table(seed), FAST)
        assert result.mean is not None
        kappa = result.mean.kappa
        # Version 0.1 gave limits like .339 [.308, .668]: the made-up item was judged by every rater.
        assert kappa.low < kappa.value - 0.05
        assert kappa.high < kappa.value + 0.35
        assert any("read alpha instead" in text for text in result.warnings)
        assert result.tables()[0].rows[0][0] == "Krippendorff alpha"


def test_rows_that_are_left_out_are_counted() -> None:
    tables = {sheet.name: sheet.rows for sheet in agreement(sparse_table(0), FAST).tables()}
    assert (len(tables["pairs"]), tables["pairs"][-1][0]) == (41, "and 5 more")  # of 45 pairs
    assert (len(tables["disagreement"]), tables["disagreement"][-1][0]) == (41, "and 50 more")  # two rates of each


def rare_table(seed: int) -> Judgments:
    """Five raters who miss 40 of 100 items; one item in ten is an error, everyone is right in 90 of 100 cases."""
    rng = np.random.default_rng(seed)
    truth = rng.random(50) < 0.1
    return judgments(
        *(
            f"i{item} r{rater} {'error' if is_error == (rng.random() < 0.9) else 'ok'}"
            for item, is_error in enumerate(truth)
            for rater in range(5)
            if rng.random() < 0.6
        )
    )


def test_mean_kappa_of_sparse_pairs_is_wide_enough_to_hold_congers() -> None:
    for seed in range(3):
        result = agreement(rare_table(seed), FAST)
        assert result.mean is not None
        assert result.conger is not None
        assert result.mean.kappa.low <= result.conger.low
        assert result.mean.kappa.high >= result.conger.high


def test_raters_are_in_the_order_in_which_people_count() -> None:
    table = judgments(*(f"i {rater} x" for rater in ("A10", "A2", "A1", "B")))
    assert agreement(table, FAST).raters == ("A1", "A2", "A10", "B")


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
    shared = n_items * (1 - world.missing) ** 2
    assert found
    for name, share in found.items():
        if name == "alpha, plain":
            continue  # there to show what the made-up item is for
        if name == "kappa, fce" and n_rare < FEW_MINOR_OF_TWO:
            continue  # the table shows them, and a warning names the bootstrap instead
        assert share >= 0.93 - SLACK, name
        is_warned = n_rare < FEW_MINOR or (name == "mean kappa" and shared < FEW_SHARED)
        assert share <= 0.97 + SLACK or is_warned, name


def test_coverage_is_counted_where_the_coefficient_is_defined() -> None:
    found = coverage(WORLDS[0], 40, n_samples=5)
    assert set(found) == {"observed", "fleiss", "ac1", "s", "alpha", "alpha, plain", "kappa, fce", "kappa, bootstrap"}
    assert all(0 <= share <= 1 for share in found.values())


PAGE = Path(__file__).parents[3] / "docs" / "agreement.md"


@pytest.mark.data
@pytest.mark.parametrize("data", DATA, ids=lambda data: data.name)
def test_page_has_the_numbers_that_come_out(data: DataSet) -> None:
    data.file()  # skips where the data is missing
    assert row(data) in PAGE.read_text(encoding="utf-8")
