from __future__ import annotations

from math import isnan

import pytest

from grater.measure.evaluation.cases import Counts, cases_of, counts_of, truth_of
from grater.measure.evaluation.standard import against, weighted
from grater.uncertainty.bootstrap import Chance
from tests.measure.evaluation.coverage import CLUSTERS, coverage
from tests.measure.evaluation.worlds import FLAGGED, QUICK, SHARES, decisions, items, madnani, votes


def test_equations_1_to_3_on_the_worked_example() -> None:
    # statistics.md, golden: Madnani 2011, by hand
    counts = counts_of(FLAGGED, SHARES)
    assert (counts.hit, counts.miss, counts.false_alarm) == pytest.approx((2.8, 1.35, 1.2))
    assert counts.score("precision") == pytest.approx(0.7)
    assert counts.score("recall") == pytest.approx(0.674699, abs=5e-7)
    assert counts.score("f0.5") == pytest.approx(0.694789, abs=5e-7)


def test_the_same_numbers_come_from_tables() -> None:
    cases = madnani()
    [found] = weighted(cases, truth_of(cases), chance=QUICK)
    assert found["precision"].value == pytest.approx(0.7)
    assert found["recall"].value == pytest.approx(0.674699, abs=5e-7)
    assert found["recall"].low < 0.674699 < found["recall"].high
    assert found.n == 8


def test_with_unanimous_raters_weighted_and_unweighted_are_the_same() -> None:
    cases = cases_of(decisions({"S": [1, 1, 0, 0]}), votes([5, 0, 5, 0], 5))
    [plain] = against(cases, truth_of(cases), chance=QUICK)
    [graded] = weighted(cases, truth_of(cases), chance=QUICK)
    assert plain.counts == graded.counts == Counts(1, 1, 1, 1)


def test_one_rater_who_changes_sides_moves_the_weighted_score_less() -> None:
    # Madnani 2011, 4.1: 7 of 15 raters against 8 of 15, in a small set.
    shares = [14 / 15, 1 / 15, 13 / 15, 1.0, 0.0]
    flagged = [1, 0, 1, 1, 0, 1]
    before, after = (counts_of(flagged, [*shares, n / 15]) for n in (7, 8))
    majority = [(counts_of(flagged, [round(p) for p in [*shares, n / 15]])) for n in (7, 8)]
    for name in ("precision", "f0.5", "f1"):
        moved = abs(after.score(name) - before.score(name))
        jumped = abs(majority[1].score(name) - majority[0].score(name))
        assert 0 < moved < jumped / 3


def test_few_flags_that_raters_accept_do_not_prove_that_they_accept_all() -> None:
    cases = cases_of(decisions({"S": [1] * 8 + [0] * 22}), votes([5] * 6 + [4] * 2 + [0] * 22, 5))
    [plain] = against(cases, truth_of(cases), chance=QUICK)
    [graded] = weighted(cases, truth_of(cases), chance=QUICK)
    assert graded["precision"].value == pytest.approx(0.95)
    # Percentiles of resamples begin at .89; 8 of 8 have the Wilson interval from .676, 7.6 of 8 that from .612.
    assert 0.6 < graded["precision"].low < plain["precision"].low


def test_a_system_that_flags_nothing_has_no_weighted_precision_and_says_why() -> None:
    cases = cases_of(decisions({"S": [0, 0]}), votes([3, 1], 4))
    [found] = weighted(cases, truth_of(cases), chance=QUICK)
    assert isnan(found["precision"].value)
    assert "flagged" in found["precision"].undefined_because


@pytest.mark.parametrize("cluster", ["item", "essay", "document", "rater"])
def test_every_unit_of_resampling_gives_limits_around_the_value(cluster: str) -> None:
    flagged = ([1, 0, 1, 1, 0, 1, 0] * 5)[:33]
    errors = ([5, 1, 3, 4, 2, 2, 3] * 5)[:33]
    table = items([str(place // 4) for place in range(33)])
    cases = cases_of(decisions({"S": flagged}), votes(errors, 5), items=table)
    [found] = weighted(cases, truth_of(cases), chance=Chance(cluster, 200))  # type: ignore[arg-type]
    for name in ("precision", "recall", "f0.5", "f1"):
        assert found[name].low < found[name].value < found[name].high


def test_a_precision_of_one_still_has_a_width() -> None:
    cases = cases_of(decisions({"S": [1, 1, 1, 0]}), votes([4, 4, 4, 0], 4))
    [found] = weighted(cases, truth_of(cases), chance=QUICK)
    assert found["precision"].value == 1
    assert found["precision"].low < 0.6


@pytest.mark.slow
def test_limits_hold_for_the_question_that_was_drawn_for() -> None:
    # docs/evaluating.md; 150 worlds know a share to about .02
    found = coverage(400, 20, n_worlds=150)
    asked = {cluster: found[cluster][place] for place, cluster in enumerate(CLUSTERS)}
    assert (asked["item"] > 0.88).all()
    assert (asked["rater"] > 0.86).all()
    assert (asked["item+rater"] > 0.93).all()
    # items alone do not answer for other raters
    assert found["item"][2].min() < 0.85
