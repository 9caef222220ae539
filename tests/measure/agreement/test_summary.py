"""The whole of a table's agreement: JSON, warnings, pairs, labels, and how often intervals hold the truth."""

from dataclasses import replace
from math import isnan
from typing import Any

import numpy as np
import polars as pl
import pytest

from grater.measure.agreement.summary import agreement
from grater.tables import Judgments, read_judgments
from grater.uncertainty import Basis
from tests.measure.agreement.tables import TABLE_3, judgments, of_confusion, of_matrix


def test_json_is_that_of_the_contract_in_any_order_of_rows() -> None:
    # interfaces.md, "JSON, by example"
    table = of_confusion(TABLE_3)
    frame = table.frame.with_columns(rater=table.frame["rater"].replace({"r0": "R1", "r1": "R2"}))
    found: Any = agreement(read_judgments(frame)).to_dict()
    shuffled = read_judgments(frame.sample(fraction=1, shuffle=True, seed=3))
    assert repr(agreement(shuffled)) == repr(agreement(read_judgments(frame)))  # but for the last bit of sums
    assert found["items"] == 1336
    assert found["raters"] == ["R1", "R2"]
    assert found["labels"] == ["Extraneous", "OK", "Wrong-Choice"]
    assert found["observed"] == pytest.approx(0.952096, abs=5e-7)
    [pair] = found["pairs"]
    assert pair["raters"] == ["R1", "R2"]
    assert pair["n"] == 1336
    assert pair["kappa"]["value"] == pytest.approx(0.629717, abs=5e-7)
    assert (pair["kappa_fce"]["low"], pair["kappa_fce"]["high"]) == pytest.approx((0.546272, 0.713161), abs=5e-7)
    assert {"fleiss", "alpha", "ac1", "s", "signature"} <= found.keys()


def test_what_cannot_be_compared_says_why() -> None:
    # Single rater has no agreement and says why.
    found = agreement(judgments("a 1 x", "b 1 y"))
    assert all(isnan(each.value) for each in found.coefficients.values())
    assert {each.undefined_because for each in found.coefficients.values()} == {"no item has two judgments"}
    assert found.no_pairs == "only one rater, 1"
    assert found.counts.n_left_out == 2
    # One label only is full agreement and no kappa.
    found = agreement(judgments("a 1 x", "a 2 x", "b 1 x", "b 2 x"))
    assert found.coefficients["observed"].value == 1
    for name in ("fleiss", "alpha", "ac1", "s"):
        assert isnan(found.coefficients[name].value)
        assert "one label" in found.coefficients[name].undefined_because
    # Rater without a shared item has pairs without kappa.
    found = agreement(judgments("a 1 x", "a 2 x", "b 1 y", "b 2 y", "c 3 x"))
    assert found.pairs[0].kappa.value == 1
    assert [pair.kappa.undefined_because for pair in found.pairs[1:]] == ["the two raters share no item"] * 2
    assert found.mean is not None
    assert found.mean.n_undefined == 2
    # Positions are not compared as people.
    table = replace(judgments("a 1 x", "a 2 y", "b 1 y", "b 2 y"), anonymous_raters=True)
    found = agreement(table)
    assert found.pairs == ()
    assert "positions" in found.no_pairs
    assert not isnan(found.coefficients["alpha"].value)
    # Many raters are not compared in pairs unless asked.
    table = judgments(*(f"a{rater // 2} {rater} {'xy'[rater % 3 == 0]}" for rater in range(50)))
    assert agreement(table).no_pairs == "50 raters, more than 40"
    assert len(agreement(table, most_raters=50).pairs) == 1225


def test_rare_labels_are_warned_about_with_what_to_do() -> None:
    rows = [f"i{n} {rater} {'no' if n == rater else 'ok'}" for n in range(60) for rater in (1, 2)]
    found = agreement(judgments(*rows))
    assert any("rare: 1.0 items per rater" in text for text in found.warnings)
    assert "too few for an interval" in found.alpha.undefined_because
    assert found.coefficients["ac1"].low < found.coefficients["ac1"].value  # AC1 does not rest on the rarer label


def test_pair_is_judged_by_its_own_items() -> None:
    rows = [f"i{n} {rater} {n % 2}" for n in range(200) for rater in ("Ada", "Bo")]
    rows += [f"i{n} Cy {n % 2}" for n in range(12)]
    result = agreement(judgments(*rows))
    [warning] = [text for text in result.warnings if "share fewer than 50 items" in text]
    assert warning.startswith("2 of 3 pairs (Ada – Cy 12, Bo – Cy 12)")
    assert "biased low" in warning
    assert result.pairs[0].n_minor == 100


def test_formula_of_the_literature_is_next_to_ours_under_its_own_name() -> None:
    table = of_confusion(TABLE_3)
    essays = Judgments(table.frame.with_columns(essay=table.frame["item"].str.slice(-1)), "essays")
    for judged, named in ((table, ""), (essays, ", items taken as independent")):
        names = [row[0] for row in agreement(judged).tables()[0].rows]
        assert names[:3] == ["Krippendorff alpha", "Cohen kappa", f"  by Fleiss, Cohen & Everitt 1969{named}"]


@pytest.mark.parametrize("how", ["named gold", "program", "adjudicated"])
def test_gold_and_programs_are_no_raters(how: str) -> None:
    rows = [[n % 3 == 0, n % 3 == (n % 7 == 0), n % 4 == 0] for n in range(60)]
    plain, frame = agreement(of_matrix(rows)), of_matrix([[*row, row[0]] for row in rows]).frame
    is_gold = pl.when(pl.col("rater").cast(pl.String) == "r3")
    if how == "named gold":
        frame = frame.with_columns(rater=is_gold.then(pl.lit("gold")).otherwise("rater"))
    else:
        frame = frame.with_columns(group=is_gold.then(pl.lit(how)).otherwise(pl.lit("expert")))
    found = agreement(Judgments(frame, "table"))
    assert (found.raters, found.alpha) == (plain.raters, plain.alpha)
    assert "60 judgments by programs or adjudicated are left out: they are not raters" in found.warnings
    assert found.to_dict()["warnings"] == list(found.warnings)
    assert "are left out: they are not raters" in repr(found)


def test_raters_who_never_differ_among_others_who_do_are_named() -> None:
    rows = [[n % 3 == 0, n % 3 == (n % 7 == 0), n % 3 == 0] for n in range(60)]
    [warning] = [text for text in agreement(of_matrix(rows)).warnings if "give the same label" in text]
    assert warning.startswith("r0 and r2 give the same label to all 60 items that they share")


def test_unknown_is_never_an_error() -> None:
    # B calls 20 items errors, 7 of them ok to A; of 3 more that B does not know, A accepts all
    pairs = [("ok", "error")] * 7 + [("error", "error")] * 12 + [("unknown", "error")] + [("ok", "unknown")] * 3
    [pair] = agreement(of_matrix([*pairs, *[("ok", "ok")] * 20])).pairs
    of_b = pair.disagreements[1]
    assert (of_b.rater, of_b.n_ok, of_b.n) == ("r1", 7, 20)


def test_specific_agreement_is_that_of_each_label() -> None:
    # by hand: two raters, 3 items error-error, 2 split, 5 ok-ok: 2 * 3 / (2 * 3 + 2) = .75 and 10 / 12
    table = of_matrix([["error", "error"]] * 3 + [["error", "ok"]] * 2 + [["ok", "ok"]] * 5)
    result = agreement(table)
    assert result.specific["error"].value == pytest.approx(0.75)
    assert result.specific["ok"].value == pytest.approx(10 / 12)
    assert result.specific["error"].low < 0.75 < result.specific["error"].high
    # three raters: an item with labels e, e, o has pairs ee, eo, eo; sum n(n - 1) = 2, sum n(m - 1) = 4
    three = agreement(of_matrix([["error", "error", "ok"], ["ok", "ok", "ok"]]))
    assert three.specific["error"].value == pytest.approx(0.5)
    assert three.specific["ok"].value == pytest.approx(6 / 8)


def test_congers_kappa_takes_chance_from_each_raters_own_labels() -> None:
    # by hand: shares of x are 1/2, 1/4 and 1; chance of the three pairs 1/2, 1/2 and 1/4, mean 5/12.  Agreeing pairs
    # per item 1, 1/3, 1/3, 1/3, mean 1/2.  (1/2 - 5/12) / (1 - 5/12) = 1/7
    table = of_matrix([["x", "x", "x"], ["x", "y", "x"], ["y", "y", "x"], ["y", "y", "x"]])
    conger = agreement(table).conger
    assert conger is not None
    assert conger.value == pytest.approx(1 / 7)


def test_sparse_pairs_are_warned_about_and_nothing_depends_on_a_seed_but_the_bootstrap() -> None:
    # Ten raters, two on each of 200 items; everyone is right in 85 of 100 cases, kappa .447 in truth.
    rng = np.random.default_rng(1)
    table = judgments(
        *(
            f"i{item} r{rater} {'error' if is_error == (rng.random() < 0.85) else 'ok'}"
            for item, is_error in enumerate(rng.random(200) < 0.3)
            for rater in rng.permutation(10)[:2]
        )
    )
    first, second, drawn, other = (
        agreement(table, basis=basis)
        for basis in (Basis(seed=1), Basis(seed=2), Basis(interval="bootstrap"), Basis(interval="bootstrap", seed=1))
    )
    assert any("read alpha instead" in text for text in first.warnings)
    assert first.tables()[0].rows[0][0] == "Krippendorff alpha"
    assert first.to_dict() == second.to_dict()
    assert "seed" not in str(first.signature)
    assert "interval:jackknife-t" in str(first.signature)
    assert (drawn.alpha.value, drawn.alpha != other.alpha) == (first.alpha.value, True)
    assert "resamples:1000" in str(drawn.signature)
