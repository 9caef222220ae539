from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from grater.errors import BadInput, GraterError, UnknownName, UsageError
from grater.measure.evaluation.cases import cases_of, graded, truth_of
from grater.tables import read_gold, read_judgments
from tests.measure.agreement.tables import judgments
from tests.measure.evaluation.worlds import decisions, votes


def test_share_and_majority_with_a_tie_half_to_each_side() -> None:
    cases = cases_of(decisions({"S": [1, 1, 1]}), votes([3, 2, 1], 4))
    assert truth_of(cases, "share").values.tolist() == [0.75, 0.5, 0.25]
    assert truth_of(cases, "majority").values.tolist() == [1, 0.5, 0]


def test_one_rater_is_silent_about_what_they_did_not_judge() -> None:
    table = judgments("i0 ann error", "i1 bob error", "i2 ann ok", "i2 bob error")
    cases = cases_of(decisions({"S": [1, 1, 1]}), table)
    np.testing.assert_array_equal(truth_of(cases, "rater:ann").values, [1, np.nan, 0])


def test_unknown_is_no_vote() -> None:
    table = judgments("i0 ann error", "i0 bob unknown", "i1 ann Unknown")
    cases = cases_of(decisions({"S": [1, 1]}), table)
    np.testing.assert_array_equal(truth_of(cases, "share").values, [1, np.nan])
    assert cases.has_unknown.tolist() == [True, True]
    assert cases.n_unknown == 2


def test_adjudicated_labels_come_from_gold_and_both_accepted_is_half() -> None:
    cases = cases_of(decisions({"S": [1, 1, 1]}), votes([1, 1, 1], 2))
    gold = read_gold(pl.DataFrame({"item": ["i0", "i1", "zz"], "label": ["error", "ok|error", "ok"]}))
    np.testing.assert_array_equal(truth_of(cases, "adjudicated", gold=gold).values, [1, 0.5, np.nan])
    with pytest.raises(UsageError, match="table of gold"):
        truth_of(cases, "adjudicated")


def test_dawid_skene_trusts_good_raters_more_than_one_who_guesses() -> None:
    rng = np.random.default_rng(7)
    truth = rng.random(120) < 0.4
    rows = []
    for place, is_error in enumerate(truth):
        for rater, skill in (("a", 0.95), ("b", 0.95), ("c", 0.5), ("d", 0.5), ("e", 0.5)):
            says = is_error if rng.random() < skill else not is_error
            rows.append((f"i{place}", rater, "error" if says else "ok"))
    table = read_judgments(pl.DataFrame(rows, schema=["item", "rater", "label"], orient="row"))
    cases = cases_of(decisions({"S": [1] * 120}), table)
    modelled = truth_of(cases, "dawid-skene")
    right, by_vote = ((each.values == truth).mean() for each in (modelled, truth_of(cases)))
    assert right > by_vote
    posterior = graded(cases, modelled)
    assert posterior.is_graded
    assert ((posterior.values > 0) & (posterior.values < 1)).any()


def test_names_that_nobody_bears_get_a_hint() -> None:
    cases = cases_of(decisions({"S": [1]}), votes([1], 2))
    with pytest.raises(UnknownName, match="Did you mean 'majority'"):
        truth_of(cases, "majorty")
    with pytest.raises(UnknownName, match="rater 'r9'"):
        truth_of(cases, "rater:r9")


def test_labels_that_are_no_verdicts_ask_for_a_merge() -> None:
    with pytest.raises(BadInput, match="merge them into these"):
        cases_of(decisions({"S": [1]}), judgments("i0 ann yes"))


def test_raters_without_names_cannot_be_the_truth() -> None:
    table = read_judgments(pl.DataFrame({"item": ["i0", "i0"], "label": ["error", "ok"]}))
    with pytest.raises(GraterError, match="rater ids"):
        truth_of(cases_of(decisions({"S": [1]}), table), "rater:1")
