"""What raters get wrong on gold, and scores and differences corrected for it (Rogan & Gladen 1978)."""

from __future__ import annotations

from math import isnan
from typing import Any

import numpy as np
import polars as pl
import pytest

import grater
from grater.errors import BadInput, UsageError
from grater.measure.evaluation.cases import TRUTHS, error_shares
from grater.measure.evaluation.evaluation import Evaluation
from grater.measure.evaluation.gold import RaterError, Sides, as_many_votes, corrected, rater_error
from grater.measure.sampling.draw import draw_sample
from grater.tables import Judgments, Table, read_gold, read_judgments
from grater.uncertainty.sampled import SampleScores, Strata, sample_scores
from tests.measure.agreement.tables import judgments
from tests.measure.evaluation.worlds import decisions, items, votes, width
from tests.measure.sampling.corpora import decisions_of, item_ids

GOOD = RaterError(90, 100, 95, 100)
"""Sensitivity .90 and specificity .95."""


def gold_of(names: list[str], labels: list[str]) -> Table:
    return read_gold(pl.DataFrame({"item": names, "label": labels}))


def table_5(errors: float = 450.0, hits: float = 600.0) -> SampleScores:
    """T&C 2008, Table 5: 600 of 750 flagged items are errors, 450 of 1,500 others; a tenth is flagged."""
    sizes, judged, found = np.array([[1000.0, 9000]]), np.array([[750.0, 1500]]), np.array([[hits, errors]])
    return sample_scores(Strata(sizes, judged, found), np.array([True, False]))


def after(raters: RaterError, errors: float = 450.0) -> SampleScores:
    return corrected(table_5(errors), 9000, Sides(raters, raters))


# By hand


def test_precision_recall_and_f_of_table_5_are_corrected_by_hand() -> None:
    # flagged .75 / .85 = .882353 of 1,000; unflagged .25 / .85 = .294118 of 9,000; F1 = 2 H / (1000 + H + M)
    found, hits, misses = after(GOOD), 750 / 0.85, 2250 / 0.85
    assert (found.hit.value, found.miss.value) == pytest.approx((hits, misses), abs=1e-9)
    assert found.precision.value == pytest.approx(hits / 1000, abs=1e-12)
    assert found.recall.value == pytest.approx(0.25, abs=1e-12)
    assert found.f[1.0].value == pytest.approx(2 * hits / (1000 + hits + misses), abs=1e-12)
    for each in (found.precision, found.recall, found.f[0.5]):
        assert each.low < each.value < each.high


def test_perfect_raters_known_well_change_nothing() -> None:
    found = after(RaterError(1e6, 1_000_000, 1e6, 1_000_000))
    for name in ("precision", "recall"):
        ours, judged = getattr(found, name), getattr(table_5(), name)
        assert ours.value == pytest.approx(judged.value)
        assert (ours.low, ours.high) == pytest.approx((judged.low, judged.high), abs=0.003)


def test_few_gold_items_widen_the_limits_and_none_wrong_proves_nothing() -> None:
    few, many = (after(RaterError(0.9 * n, n, 0.95 * n, n)).recall for n in (40, 4000))
    assert width(few) > 1.5 * width(many)
    judged, found = table_5(30).recall, after(RaterError(30, 30, 30, 30), 30).recall
    assert found.value == pytest.approx(judged.value)
    assert found.high > judged.high + 0.02
    # 10/15 + 6/15 = 1.07: raters may have guessed, so even flags without one error may be right
    barely = RaterError(10, 15, 6, 15)
    guess = corrected(table_5(hits=0), 9000, Sides(barely, barely))
    assert (guess.precision.low, guess.precision.value, guess.precision.high) == (0.0, 0.0, 1.0)


def test_what_cannot_be_corrected_is_undefined_with_the_reason() -> None:
    for raters, reason in (
        (RaterError(9, 9, 95, 100), "expected 10 judged gold items with an error or more, found 9"),
        (RaterError(90, 100, 3, 4), "expected 10 judged gold items without an error or more, found 4"),
        (RaterError(50, 100, 50, 100), "add up to 1 or less"),
    ):
        found = after(raters)
        for each in (found.precision, found.recall, found.f[1.0], found.hit, found.miss):
            assert isnan(each.value)
            assert reason in each.undefined_because


# What raters make of gold


def judged_as(table: Judgments) -> pl.DataFrame:
    shares = error_shares(table)
    return pl.DataFrame({"item": list(shares), "error": list(shares.values())})


def one_rater(labels: list[str], names: list[str]) -> Judgments:
    return read_judgments(pl.DataFrame({"item": names, "rater": ["ann"] * len(names), "label": labels}))


def test_gold_that_accepts_both_or_was_not_judged_is_left_out_and_other_labels_are_merged_or_refused() -> None:
    ann, bob = ("a ann error", "b ann ok", "c ann ok"), ("a bob error", "b bob error", "c bob ok")
    halved = rater_error(judged_as(judgments(*ann, *bob)), gold_of(["a", "b"], ["error", "ok"]))
    assert (halved.n_caught, halved.n_errors, halved.n_passed, halved.n_ok) == (1, 1, 0.5, 1)
    judged = judged_as(judgments(*ann))
    found = rater_error(judged, gold_of(["a", "b", "c", "d"], ["error", "OK", "error|ok", "ok"]))
    assert (found.n_errors, found.n_ok, found.n_left_out) == (1, 1, 2)
    typed = gold_of(["a", "b"], ["wrong|extra", "ok"])
    assert rater_error(judged, typed, merge={"wrong": "error", "extra": "error"}).n_errors == 1
    with pytest.raises(BadInput, match="merge extra into error or ok"):
        rater_error(judged, typed)
    with pytest.raises(BadInput, match="are these the same items"):
        rater_error(judged, gold_of(["z"], ["error"]))


def test_a_majority_on_gold_is_of_as_many_raters_as_elsewhere() -> None:
    many = judgments(*(f"g{n % 4} r{n} error" for n in range(40)))
    work = judgments(*(f"i{n % 5} r{n} ok" for n in range(15)))
    assert as_many_votes(many, work).frame.group_by("item").len()["len"].to_list() == [3] * 4
    # Gold with fewer answers says nothing of the majority of three.
    on_gold = judgments("g0 A error", "g0 B error", "g0 C error", "g1 A ok", "g1 B ok")
    kept = {truth: as_many_votes(on_gold, work, truth=truth).frame["item"].to_list() for truth in TRUTHS}
    assert set(kept["majority"]) == set(kept["dawid-skene"]) == {"g0"}
    assert len(kept["share"]) == len(kept["rater:NAME"]) == 5


# In an evaluation


def world() -> tuple[Table, Judgments]:
    """Two systems on 400 items; one vote each, 100 called errors."""
    called = [1] * 80 + [0] * 20 + [1] * 20 + [0] * 280
    first, second = ([1] * n + [0] * (400 - n) for n in (100, 80))
    return decisions({"first": first, "second": second}), votes(called, 1)


def test_what_a_system_flags_is_corrected_by_the_gold_that_it_flags() -> None:
    table, judged = world()
    # Of gold that the first flags, raters catch all 10 errors and pass 20 of 30 good items; of the rest they get all
    # right.  By side: (80 - 100 / 3) / (2 / 3) = 70 hits, 20 misses; all gold together would give 75 hits.
    places = [*range(10), *range(70, 100), *range(100, 110), *range(200, 220)]
    labels = ["error"] * 10 + ["ok"] * 30 + ["error"] * 10 + ["ok"] * 20
    gold = gold_of([f"i{place}" for place in places], labels)
    found = grater.evaluate(table, judged, gold=gold)
    assert found.corrected["first"].precision.value == pytest.approx(0.7, abs=1e-12)
    assert found.corrected["first"].recall.value == pytest.approx(70 / 90, abs=1e-12)
    assert any(line.endswith("each side is corrected by itself") for line in found.warnings)
    assert "errors:by-flag" in str(found.signature)


def test_gold_corrects_where_it_is_not_the_truth_itself() -> None:
    table, judged = world()
    names = [f"i{place}" for place in range(40)]
    # 20 of 20 gold errors are called errors, 0 of 20 others good: raters who call all of these errors know nothing
    useless = grater.evaluate(table, judged, gold=gold_of(names, ["error"] * 20 + ["ok"] * 20))
    assert isnan(useless.corrected["first"].recall.value)
    assert any("nothing is corrected" in each for each in useless.warnings)
    informed = gold_of([*names[:20], *(f"i{place}" for place in range(380, 400))], ["error"] * 20 + ["ok"] * 20)
    found = grater.evaluate(table, judged, gold=informed)
    made: Any = found.to_dict()
    assert found.corrected["first"].recall.value == pytest.approx(found.systems[0]["recall"].value)
    assert made["rater_error"]["gold"] == {"error": 20, "ok": 20, "left_out": 0}
    assert "correction:rogan-gladen" in str(found.signature)
    assert grater.evaluate(table, judged, gold=informed, truth="adjudicated").correction is None


def test_a_comparison_after_the_correction_stays_paired_and_one_fact() -> None:
    table, judged = world()
    # All 20 gold errors are caught, 19 of 20 good items pass: (p + .95 - 1) / .95
    names = [*range(20), 100, *range(380, 399)]
    gold = gold_of([f"i{place}" for place in names], ["error"] * 20 + ["ok"] * 20)
    for score in ("precision", "recall", "f0.5"):
        plain, found = (grater.compare(table, judged, gold=each, score=score) for each in (None, gold))
        (before,), (now,) = plain.pairs, found.pairs
        assert now.mcnemar == before.mcnemar
        assert (now.test.p < 0.05) == (now.test.difference.low * now.test.difference.high > 0)
        assert width(now.test.difference) > width(before.test.difference)
        if score == "precision":  # as judged 1 and .8
            assert before.test.difference.value == pytest.approx(0.2, abs=1e-12)
            assert now.test.difference.value == pytest.approx(1 - 0.75 / 0.95, abs=1e-12)
    short = gold_of(["i0", "i399"], ["error", "ok"])
    with pytest.raises(UsageError, match="nothing can be corrected: expected 10 judged gold items"):
        grater.compare(table, judged, gold=short)


# From a sample


def sampled(labels: list[str], on_gold: list[str], known: list[str]) -> Evaluation:
    """S flags 100 of 1,000 items; what one rater called each item of a sample, and further items of known answers."""
    extra = [f"gold-{place}" for place in range(len(known))]
    table = decisions_of({"S": [place < 100 for place in range(1000)]})
    judged = one_rater([*labels, *on_gold], [*item_ids(1000), *extra])
    return grater.evaluate(table, judged, sample=draw_sample(table, "S", 600), gold=gold_of(extra, known))


def test_specificity_is_reported_to_limit_recall_where_misses_are_rare_and_gold_is_short() -> None:
    # no mistake on 100 good gold items: Wilson's low limit is 1 / (1 + 1.96² / 100) = .963
    known = ["error"] * 100 + ["ok"] * 100
    for every, is_reported in ((20, True), (2, False)):
        labels = ["error" if n < 80 or (n >= 100 and n % every == 0) else "ok" for n in range(1000)]
        warnings = sampled(labels, known, known).warnings
        assert any("specificity limits what can be known of recall" in each for each in warnings) == is_reported


def test_a_rate_below_what_false_calls_explain_is_set_to_0_and_reported() -> None:
    labels = ["error" if n < 80 or n % 50 == 0 else "ok" for n in range(1000)]
    # every fourth good gold item is called an error, far more than the 2 % of unflagged items
    on_gold = ["error" if n < 20 or n % 4 == 0 else "ok" for n in range(40)]
    found = sampled(labels, on_gold, ["error"] * 20 + ["ok"] * 20)
    assert found.correction is not None
    assert found.correction.raters.specificity.value == 0.75
    assert found.corrected["S"].recall.value == found.corrected["S"].recall.high == 1.0
    assert any("in unflagged items is -" in each and each.endswith("set to 0") for each in found.warnings)


def test_corrected_intervals_rest_on_essays_where_these_are_known() -> None:
    # Every other essay is all errors: twelve essays are twelve cases, not 240.
    labels = ["error" if place % 12 % 2 else "ok" for place in range(480)]
    known = ["error" if place % 2 else "ok" for place in range(400)]
    names, extra = ([f"{kind}{place}" for place in range(n)] for kind, n in (("i", 480), ("g", 400)))
    table = decisions({"S": [int(place < 240) for place in range(480)]})
    essays, judged = items([f"e{place % 12}" for place in range(480)]), one_rater([*labels, *known], [*names, *extra])
    found = grater.evaluate(table, judged, items=essays, gold=gold_of(extra, known))
    assert width(found.systems[0]["precision"]) > 0.5
    assert width(found.corrected["S"].precision) > 0.45  # .13 by item
