"""Decisions matched with judgments: counts, truths, shares of the first judgments, and what nobody judged."""

from __future__ import annotations

from math import isnan

import numpy as np
import polars as pl
import pytest

import grater
from grater.errors import BadInput, GraterError, UnknownName, UsageError
from grater.measure.evaluation.cases import Counts, cases_of, graded, truth_of
from grater.tables import read_gold, read_judgments
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
