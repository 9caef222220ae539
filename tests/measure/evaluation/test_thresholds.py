from __future__ import annotations

from collections.abc import Sequence
from random import Random

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grater.errors import UsageError
from grater.measure.evaluation.cases import Cases, cases_of, truth_of
from grater.measure.evaluation.evaluation import EvaluationOptions, signature_of
from grater.measure.evaluation.standard import against, weighted
from grater.measure.evaluation.thresholds import SHOWN, TOO_GOOD, Curve, curve_of_thresholds, frame_of_curve
from grater.tables import Judgments, Table, read_decisions, read_judgments
from grater.uncertainty import Basis
from tests.examples import examples
from tests.measure.evaluation.worlds import decisions, items, votes

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
    table = decisions({"S": [0] * 6}, score=SCORES)
    cases = cases_of(table, votes(N_ERROR, 3))
    signature = curve.signature(signature_of(cases, EvaluationOptions()))
    frame = frame_of_curve(curve, signature)
    assert frame["threshold"].to_list() == [0.9, 0.8, 0.7, 0.4, 0.2, None]
    assert frame["precision"].to_list() == pytest.approx([1, 1, 0.75, 0.6, 0.5, None])
    assert frame["operating"].to_list() == [False] * 5 + [True]
    assert frame["weighted_recall"][1] == pytest.approx(5 / 8)
    for name in ("precision", "recall", "f0.5", "weighted_precision", "weighted_recall", "weighted_f0.5"):
        assert frame.select(pl.col(f"{name}_low") <= pl.col(f"{name}_high")).to_series().drop_nulls().all()
    assert "higher:error" in frame["signature"][0]
    assert "truth:majority" in frame["signature"][0]
