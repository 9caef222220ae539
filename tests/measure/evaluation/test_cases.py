"""Decisions matched with judgments: counts, truths, first judgments, what nobody judged, and every threshold."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from random import Random

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import grater
from grater.errors import BadInput, GraterError, UnknownName, UsageError
from grater.measure.evaluation.cases import Cases, Counts, cases_of, graded, truth_of
from grater.measure.evaluation.evaluation import EvaluationOptions, signature_of
from grater.measure.evaluation.standard import against, weighted
from grater.measure.evaluation.thresholds import SHOWN, TOO_GOOD, Curve, curve_of_thresholds, frame_of_curve
from grater.tables import Judgments, Table, read_decisions, read_gold, read_judgments
from grater.uncertainty import Basis
from tests.examples import examples
from tests.measure.agreement.tables import judgments
from tests.measure.evaluation.worlds import decisions, items, votes


def test_scores_by_hand() -> None:
    # 6 hits, 2 false alarms, 4 misses, 8 rejections: P 6/8, R 6/10, F1 12/18, F0.5 1.25*6/(8+2.5)
    counts = Counts(6, 2, 4, 8)
    assert (counts.score("precision"), counts.score("recall"), counts.score("error_rate")) == (0.75, 0.6, 0.5)
    assert counts.score("f1") == pytest.approx(12 / 18)
    assert counts.score("f0.5") == pytest.approx(7.5 / 10.5)
    assert counts.score("f2") == pytest.approx(5 * 6 / (8 + 40))
    assert counts.score("kappa") == pytest.approx(0.4)  # observed .7, by chance .4*.5 + .6*.5 = .5


# Truth


def test_one_rater_is_silent_about_what_they_did_not_judge_and_unknown_is_no_vote() -> None:
    table = judgments("i0 ann error", "i0 bob unknown", "i1 bob Unknown", "i2 ann ok", "i2 bob error")
    cases = cases_of(decisions({"S": [1, 1, 1]}), table)
    np.testing.assert_array_equal(truth_of(cases, "rater:ann").values, [1, np.nan, 0])
    np.testing.assert_array_equal(truth_of(cases, "share").values, [1, np.nan, 0.5])
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
    labels = truth[:, None] == (rng.random((120, 5)) < [0.95, 0.95, 0.5, 0.5, 0.5])
    rows = [f"i{item} r{rater} {'error' if labels[item, rater] else 'ok'}" for item, rater in np.ndindex(120, 5)]
    cases = cases_of(decisions({"S": [1] * 120}), judgments(*rows))
    modelled = truth_of(cases, "dawid-skene")
    right, by_vote = ((each.values == truth).mean() for each in (modelled, truth_of(cases)))
    assert right > by_vote
    posterior = graded(cases, modelled)
    assert posterior.is_graded
    assert ((posterior.values > 0) & (posterior.values < 1)).any()


def test_names_and_labels_that_are_not_known_get_a_hint() -> None:
    cases = cases_of(decisions({"S": [1]}), votes([1], 2))
    with pytest.raises(UnknownName, match="Did you mean 'majority'"):
        truth_of(cases, "majorty")
    with pytest.raises(UnknownName, match="rater 'r9'"):
        truth_of(cases, "rater:r9")
    with pytest.raises(BadInput, match="merge them into these"):
        cases_of(decisions({"S": [1]}), judgments("i0 ann yes"))
    nameless = read_judgments(pl.DataFrame({"item": ["i0", "i0"], "label": ["error", "ok"]}))
    with pytest.raises(GraterError, match="rater ids"):
        truth_of(cases_of(decisions({"S": [1]}), nameless), "rater:1")


def test_labels_spelled_in_two_ways_are_one_and_are_named() -> None:
    judged = judgments("i0 a Error", "i0 b error", "i1 a ok", "i1 b ok")
    evaluation = grater.evaluate(decisions({"S": [1, 0]}), judged)
    assert evaluation.systems[0]["precision"].value == 1
    assert any("taken as one: 'Error' / 'error'" in warning for warning in evaluation.warnings)


# Unequal numbers of judgments


def asked(share: float, rng: np.random.Generator) -> list[str]:
    """Three judgments and more, up to nine, until one side leads by three."""
    labels: list[str] = []
    while len(labels) < 3 or (len(labels) < 9 and abs(2 * labels.count("error") - len(labels)) < 3):
        labels.append("error" if rng.random() < share else "ok")
    return labels


def test_shares_of_all_votes_lean_where_asking_stops_early_and_those_of_the_first_do_not() -> None:
    n, rng = 4000, np.random.default_rng(1)
    share = rng.beta(1.2, 2.0, n)
    flagged = rng.random(n) < 0.15 + 0.6 * share
    rows = [
        (f"i{item}", f"r{place}", label, f"2026-01-01T00:00:{place:02}")
        for item in range(n)
        for place, label in enumerate(asked(share[item], rng))
    ]
    judged = pl.DataFrame(rows, ["item", "rater", "label", "at"], orient="row")
    table = decisions({"S": flagged.astype(int).tolist()})
    plain, equal = (grater.evaluate(table, judged, redundancy=first) for first in (0, 3))
    hit = share[flagged].sum()
    # The bias of early stopping is .02 and more here: recall is too good.
    [fair], [leaning] = equal.whole.weighted, plain.whole.weighted
    assert fair["recall"].value == pytest.approx(hit / share.sum(), abs=0.012)
    assert fair["precision"].value == pytest.approx(hit / flagged.sum(), abs=0.012)
    assert leaning["recall"].value - hit / share.sum() > 0.015
    assert plain.systems[0]["recall"].value == equal.systems[0]["recall"].value  # of all votes
    [words] = [each for each in plain.warnings if "judgments" in each]
    assert words.startswith("items have 3 to 9 judgments")
    assert "a redundancy of 3" in words
    assert "weighted scores and bins are of the first 3 judgments of each item" in equal.warnings
    assert "redundancy:first-3" in str(equal.signature)


def test_items_with_fewer_judgments_are_left_out_of_shares_and_counted() -> None:
    judged = judgments("i0 r1 error", "i0 r2 ok", "i0 r3 ok", "i1 r1 error", at=["1", "2", "3", "1"])
    found = grater.evaluate(decisions({"S": [1, 1]}), judged, redundancy=2)
    assert (found.whole.weighted[0].n, found.systems[0].n) == (1, 2)
    assert found.whole.weighted[0]["precision"].value == 0.5
    assert any("1 items with fewer judgments are left out" in each for each in found.warnings)
    compared = grater.compare(decisions({"S": [1, 1], "T": [1, 0]}), judged, redundancy=2, weighted=True)
    assert [scored["precision"].value for scored in compared.systems] == [0.5, 0.5]


# What is not known


def test_items_without_a_usable_judgment_are_counted_separately() -> None:
    found = grater.evaluate(decisions({"S": [1, 1, 0]}), judgments("i0 a error", "i1 a unknown", "zz a ok"))
    assert (found.whole.n_items, found.whole.n_unjudged, found.whole.flagged_unjudged) == (3, 2, {"S": 1})
    assert found.systems[0].n == 1
    assert any("no system decided" in warning for warning in found.warnings)
    none = grater.evaluate(decisions({"S": [1, 0]}), judgments("i0 a unknown"))
    for score in none.systems[0].scores.values():
        assert isnan(score.value)
        assert score.undefined_because


def test_bounds_say_how_far_scores_move_with_the_items_that_nobody_judged() -> None:
    # 3 hits, 1 false alarm, 1 miss, 3 right; 2 flags and 2 others not judged
    flags, errors = [1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 0, 0], [3, 3, 3, 0, 3, 0, 0, 0]
    evaluation = grater.evaluate(decisions({"S": flags}), votes(errors, 3))
    [bounds] = evaluation.whole.bounds
    assert bounds.to_dict() == {
        "none_errors": {"precision": 3 / 6, "recall": 3 / 4},
        "all_errors": {"precision": 5 / 6, "recall": 5 / 8},
        "recall_lowest": 3 / 6,
        "recall_highest": 5 / 6,
    }
    assert "bounds" in [sheet.name for sheet in evaluation.sheets()]


def test_unknown_can_be_a_vote_for_ok_or_shown_separately() -> None:
    table = judgments("i0 a error", "i0 b unknown", "i0 c unknown", "i1 a error", "i1 b error")
    flags = decisions({"S": [1, 1]})
    assert grater.evaluate(flags, table, unknown="ok").systems[0]["precision"].value == 0.5
    apart = grater.evaluate(flags, table, unknown="apart")
    assert {name: part.n_items for name, part in apart.parts.items()} == {"without unknown": 1, "with unknown": 1}


def test_nothing_but_ties_is_warned_of() -> None:
    flags = decisions({"S": [place % 2 for place in range(100)]})
    evaluation = grater.evaluate(flags, votes([1] * 100, 2))
    assert evaluation.systems[0]["precision"].value == 0.5
    assert any(warning.startswith("100 of 100 judged items are ties") for warning in evaluation.warnings)
    assert "100 items with as many votes for error as for ok" in str(evaluation)


# Some items


def test_kind_keeps_the_items_of_one_kind() -> None:
    flags, errors = [1, 1, 0, 0, 1, 0], [3, 0, 3, 0, 3, 0]
    known = items(list("aabbcc")).frame.with_columns(kind=pl.Series(["prep", "prep", "article"] * 2))
    table = decisions({"S": flags, "T": flags[::-1]})
    found = grater.evaluate(table, votes(errors, 3), items=known, kind="article")
    assert found.systems[0].counts == Counts(0, 0, 1, 1)
    assert "kind:article" in str(found.signature)
    compared = grater.compare(table, votes(errors, 3), items=known, kind="article")
    assert compared.n_items == 2
    with pytest.raises(UnknownName, match="Did you mean 'prep'"):
        grater.evaluate(table, votes(errors, 3), items=known, kind="perp")
    with pytest.raises(UsageError, match="has the kinds of items"):
        grater.evaluate(table, votes(errors, 3), kind="prep")


def test_parts_by_a_column_add_up_to_the_whole() -> None:
    flags = decisions({"S": [1, 0, 1, 1]}, target=["in", "on", "in", "on"])
    found = grater.evaluate(flags, votes([3, 3, 0, 2], 3), by="target")
    parts = [part.standard[0].counts for part in found.parts.values()]
    assert list(found.parts) == ["target in", "target on"]
    assert parts[0] + parts[1] == found.systems[0].counts
    with pytest.raises(UnknownName, match="targt"):
        grater.evaluate(flags, votes([3, 3, 0, 2], 3), by="targt")


# Every threshold on a system's scores


# Six items, three raters. Majority: 1 1 0 1 0 0; shares: 1, 2/3, 0, 2/3, 1/3, 0.
SCORES = (0.9, 0.8, 0.7, 0.7, 0.4, 0.2)
N_ERROR = (3, 2, 0, 2, 1, 0)
FLAGS = (1, 1, 1, 1, 0, 0)


def curve_of(
    scores: Sequence[float | None] = SCORES,
    flags: Sequence[int | None] = FLAGS,
    n_error: Sequence[int] = N_ERROR,
) -> Curve:
    return drawn(decisions({"S": flags}, score=scores), votes(n_error, 3))


def drawn(table: Table, judged: Judgments, *, n_points: int = 50) -> Curve:
    essays = items([str(place % 3) for place in range(len(table.frame))])
    cases = cases_of(table, judged, items=essays, basis=Basis("item"))
    return curve_of_thresholds(cases, "S", truth_of(cases), basis=Basis("item"), n_points=n_points)


def world(n: int, seed: int = 0) -> tuple[Table, Judgments, Cases]:
    """Scores that rise with the share of raters for error, with much noise, to two decimals."""
    rng = np.random.default_rng(seed)
    n_error = rng.integers(0, 4, n)
    scores = np.round(n_error / 3 + rng.normal(0, 0.5, n), 2)
    table = decisions({"S": (scores >= 0.8).astype(int).tolist()}, score=scores.tolist())
    judged = votes(n_error.tolist(), 3)
    return table, judged, cases_of(table, judged)


def test_every_distinct_score_is_a_point_from_the_strictest_on_and_the_best_are_marked() -> None:
    curve = curve_of()
    assert [point.threshold for point in curve.points] == [0.9, 0.8, 0.7, 0.4, 0.2]
    # hits, false alarms, misses, correct rejections of score >= threshold, counted by hand
    assert [point.standard.counts.row().tolist() for point in curve.points] == [
        [1, 0, 2, 3],
        [2, 0, 1, 3],
        [3, 1, 0, 2],
        [3, 2, 0, 1],
        [3, 3, 0, 0],
    ]
    assert [point.standard["precision"].value for point in curve.points] == pytest.approx([1, 1, 3 / 4, 3 / 5, 1 / 2])
    assert [point.standard["recall"].value for point in curve.points] == pytest.approx([1 / 3, 2 / 3, 1, 1, 1])
    # 1.25 H / (flagged + 0.25 errors): 1.25/1.75, 2.5/2.75, 3.75/4.75, 3.75/5.75, 3.75/6.75
    f = [point.standard["f0.5"].value for point in curve.points]
    assert f == pytest.approx([5 / 7, 10 / 11, 15 / 19, 15 / 23, 5 / 9])
    # Weighted: shares sum to 8/3; those at 0.8 or more are 1 and 2/3, those at 0.7 or more add 0 and 2/3
    weighted_scores = [[point.weighted[name].value for name in SHOWN] for point in curve.points[:3]]
    by_hand = [[1, 3 / 8, 0.75], [5 / 6, 5 / 8, 0.78125], [7 / 12, 7 / 8, 0.625]]
    assert weighted_scores == [pytest.approx(row) for row in by_hand]
    # The operating point and the best are marked, the best with a warning.
    assert curve.best_weighted is not None
    marked = (curve.operating.threshold, curve.best.threshold, curve.best_weighted.threshold)
    assert marked == (0.7, 0.8, 0.8)
    (warning,) = curve.warnings
    assert "best at the threshold 0.8" in warning
    assert TOO_GOOD in warning


def test_flags_that_no_threshold_gives_are_a_point_without_one() -> None:
    curve = curve_of(flags=(1, 0, 1, 0, 1, 0))
    assert curve.points[-1] is curve.operating
    assert curve.operating.threshold is None
    assert curve.operating.standard.counts.row().tolist() == [1, 2, 2, 1]
    assert any("no threshold gives its own flags" in warning for warning in curve.warnings)
    equal = curve_of(flags=(1, 1, 1, 0, 0, 0)).operating  # two items of one score
    assert (equal.threshold, equal.standard.counts.row().tolist()) == (None, [2, 1, 1, 2])
    nothing = curve_of(flags=[0] * 6)
    assert (nothing.higher, nothing.operating.threshold, nothing.best.threshold) == ("error", None, 0.8)
    assert nothing.operating.standard["precision"].undefined_because == "no judged item is flagged"


def test_low_scores_are_errors_where_the_flagged_ones_are_low() -> None:
    low = curve_of([-score for score in SCORES])
    assert low.higher == "ok"
    assert [point.threshold for point in low.points] == [-0.9, -0.8, -0.7, -0.4, -0.2]
    assert [point.standard.counts for point in low.points] == [point.standard.counts for point in curve_of().points]
    assert any("low scores mean errors" in warning for warning in low.warnings)


def test_items_without_a_score_are_counted_and_left_out() -> None:
    scores = [0.9, 0.8, None, 0.7, None, 0.2]
    curve = curve_of(scores)
    assert (curve.n_items, curve.n_unscored) == (4, 2)
    assert [point.standard.n for point in curve.points] == [4] * 4
    assert curve.operating.standard.counts.row().tolist() == [3, 0, 0, 1]
    assert any("2 judged items have no score" in warning for warning in curve.warnings)
    own = curve_of(scores, flags=(1, 0, 1, 1, 0, 0)).operating
    assert (own.threshold, own.standard.counts.row().tolist()) == (None, [2, 0, 1, 1])
    with pytest.raises(UsageError, match="no curve for S"):
        curve_of([None] * 6)
    with pytest.raises(UsageError, match="no curve for S: no item that it scored was judged"):
        curve_of((None, None, 0.5), (1, 0, 1), (3, 0))


@pytest.mark.parametrize("n_points", [6, 50])
def test_many_scores_are_thinned_and_the_marked_points_kept(n_points: int) -> None:
    table, judged, cases = world(400)
    full = drawn(table, judged, n_points=1000)
    thin = drawn(table, judged, n_points=n_points)
    assert n_points - 4 <= len(thin.points) <= n_points < len(full.points)
    for name in ("operating", "best", "best_weighted"):
        assert getattr(thin, name).threshold == getattr(full, name).threshold
    of_full = {point.threshold: point.standard.counts for point in full.points}
    assert all(of_full[point.threshold] == point.standard.counts for point in thin.points)
    assert thin.points[-1].standard["recall"].value == 1
    assert full.best.standard["f0.5"].value == max(point.standard["f0.5"].value for point in full.points)
    assert len(cases) == thin.n_items


def test_the_operating_point_has_the_numbers_of_the_evaluation() -> None:
    table, judged, cases = world(200)
    curve = drawn(table, judged, n_points=50)
    (standard,) = against(cases, truth_of(cases), basis=Basis())
    (shared,) = weighted(cases, truth_of(cases), basis=Basis())
    assert curve.operating.standard.counts == standard.counts
    assert curve.operating.weighted.counts.row() == pytest.approx(shared.counts.row())
    for name in ("precision", "recall", "f0.5"):
        assert curve.operating.standard[name] == standard[name]
        assert curve.operating.weighted[name].low == pytest.approx(shared[name].low, abs=1e-12)


@examples(10)
@given(
    st.lists(
        st.tuples(st.integers(-3, 3), st.integers(0, 3), st.integers(0, 1), st.booleans()), min_size=2, max_size=30
    ),
    st.randoms(use_true_random=False),
)
def test_recall_never_falls_and_the_order_of_rows_is_nothing(
    rows: list[tuple[int, int, int, bool]], random: Random
) -> None:
    scores = [score if has_score or place == 0 else None for place, (score, _, _, has_score) in enumerate(rows)]
    table = decisions({"S": [flag for _, _, flag, _ in rows]}, score=scores)
    judged = votes([n for _, n, _, _ in rows], 3)
    curve = drawn(table, judged, n_points=6)
    recalls = [point.standard.counts.hit for point in curve.points if point.threshold is not None]
    assert recalls == sorted(recalls)
    order = np.argsort([random.random() for _ in rows])
    other = read_decisions(table.frame[order])
    again = read_judgments(judged.frame.reverse())
    assert repr(drawn(other, again, n_points=6)) == repr(curve)


def test_the_table_has_a_row_for_each_point_and_null_for_undefined() -> None:
    curve = curve_of(flags=[0] * 6)
    cases = cases_of(decisions({"S": [0] * 6}, score=SCORES), votes(N_ERROR, 3))
    frame = frame_of_curve(curve, curve.signature(signature_of(cases, EvaluationOptions())))
    assert frame["threshold"].to_list() == [0.9, 0.8, 0.7, 0.4, 0.2, None]
    assert frame["precision"].to_list() == pytest.approx([1, 1, 0.75, 0.6, 0.5, None])
    assert frame["operating"].to_list() == [False] * 5 + [True]
    assert frame["weighted_recall"][1] == pytest.approx(5 / 8)
    for name in ("precision", "recall", "f0.5", "weighted_precision", "weighted_recall", "weighted_f0.5"):
        assert frame.select(pl.col(f"{name}_low") <= pl.col(f"{name}_high")).to_series().drop_nulls().all()
    assert all(part in frame["signature"][0] for part in ("higher:error", "truth:majority"))
