"""Systems against each other: one fact for interval and p, rank groups, tests by name, warnings in every way out."""

from __future__ import annotations

import json
from collections import Counter
from math import isnan
from typing import Any

import numpy as np
import polars as pl
import pytest

import grater
from grater.errors import UnknownName, UsageError
from grater.tables import Judgments, Table
from tests.measure.evaluation.worlds import decisions, items, votes, width

ESSAYS = [str(place // 10) for place in range(240)]


def world(seed: int, n_raters: int = 3) -> tuple[Table, Judgments]:
    """Four systems of slightly different quality on 240 items in 24 essays."""
    rng = np.random.default_rng(seed)
    place = rng.normal(-0.5, 1.2, 240) + np.repeat(rng.normal(0, 0.8, 24), 10)
    n_error = rng.binomial(n_raters, 1 / (1 + np.exp(-1.5 * place)))
    systems = {
        name: (place + rng.normal(0, noise, 240) > 0).astype(int).tolist()
        for name, noise in (("a", 0.4), ("b", 0.7), ("c", 1.1), ("d", 1.2))
    }
    return decisions(systems), votes(n_error.tolist(), n_raters)


def test_far_systems_are_distinguished_and_near_ones_share_a_letter() -> None:
    truth = [place % 2 for place in range(200)]
    good = [1 - mark if place % 20 == 0 else mark for place, mark in enumerate(truth)]
    near = [1 - mark if place % 19 == 0 else mark for place, mark in enumerate(truth)]
    bad = [(place // 2) % 2 for place in range(200)]
    table, judged = decisions({"good": good, "near": near, "bad": bad}), votes([3 * mark for mark in truth], 3)
    found = grater.compare(table, judged, score="f1", test="randomisation", resamples=500)
    assert found.systems[-1].system == "bad"
    assert found.groups == {"good": "A", "near": "A", "bad": "B"}
    for pair in found.pairs:
        is_far = "bad" in pair.test.systems
        assert (pair.test.p_holm < 0.05, pair.randomisation_holm < 0.05, pair.mcnemar_holm < 0.05) == (is_far,) * 3
        assert pair.test.p_holm >= pair.test.p


@pytest.mark.parametrize("score", ["precision", "recall", "f0.5", "f1", "kappa"])
@pytest.mark.parametrize(
    "options", [{}, {"weighted": True}, {"items": items(ESSAYS)}], ids=["items", "shares", "essays"]
)
def test_p_below_05_and_an_interval_without_0_are_one_fact(score: Any, options: dict[str, Any]) -> None:
    sides = set()
    for seed in range(4):
        table, judged = world(seed)
        compared = grater.compare(table, judged, score=score, **options)
        by_name = {scored.system: scored[score].value for scored in compared.systems}
        for pair in compared.pairs:
            test = pair.test
            assert test.difference.value == pytest.approx(by_name[test.first] - by_name[test.second], abs=1e-12)
            assert (test.p < 0.05) == (test.difference.low > 0 or test.difference.high < 0)
            sides.add(test.p < 0.05)
    assert sides == {True, False}


def test_a_paired_test_by_essay_does_not_take_items_for_independent() -> None:
    # Two systems that differ in whole essays: 7 essays for one, 5 for the other
    sides = np.random.default_rng(0).permutation(["A"] * 7 + ["B"] * 5 + [""] * 12)
    right = {name: [int(sides[int(essay)] in (name, "")) for essay in ESSAYS] for name in "AB"}
    errors = [3 * (place % 2) for place in range(240)]
    flags = {name: [ok if place % 2 else 1 - ok for place, ok in enumerate(right[name])] for name in "AB"}
    tables = decisions(flags), votes(errors, 3)
    compared = grater.compare(*tables, items=items(ESSAYS), score="f1", test="randomisation", resamples=500)
    [pair] = compared.pairs
    assert 0.03 < pair.mcnemar.mid_p < 0.1  # 70 against 50 items
    assert pair.test.p > 0.3
    assert pair.randomisation > 0.3
    assert "McNemar's test takes items as independent" in compared.sheets()[1].notes[0]
    assert compared.scope is not None
    assert (compared.scope.unit, compared.scope.n_units) == ("essay", 24)


@pytest.mark.parametrize("options", [{"interval": "bootstrap"}, {"test": "randomisation"}])
def test_draws_too_few_for_any_significant_difference_are_warned_of(options: dict[str, Any]) -> None:
    table, judged = world(1)
    few, enough = (grater.compare(table, judged, resamples=n, **options) for n in (100, 300))
    assert "cannot show any difference" in few.warnings[0]
    assert not enough.warnings


def test_cases_from_two_essays_have_neither_interval_nor_p_nor_letters() -> None:
    table, judged = world(0)
    compared = grater.compare(table, judged, items=items(["a", "b"] * 120))
    assert compared.groups == {}
    assert all(isnan(pair.test.p) and isnan(pair.test.difference.low) for pair in compared.pairs)
    assert "its cases come from 2 essays; an interval needs 3" in str(compared.sheets()[1])


def test_other_raters_widen_differences_and_there_must_be_three() -> None:
    table, judged = world(1, n_raters=5)
    these, others = (grater.compare(table, judged, weighted=True, raters=raters) for raters in ("these", "random"))
    widths = [[width(pair.test.difference) for pair in each.pairs] for each in (these, others)]
    assert all(after >= before for before, after in zip(*widths, strict=True))
    assert sum(widths[1]) > sum(widths[0])
    for pair in others.pairs:
        assert (pair.test.p < 0.05) == (pair.test.difference.low * pair.test.difference.high > 0)
    two = grater.compare(*world(1, n_raters=2), weighted=True, raters="random")
    assert two.groups == {}
    assert two.pairs[0].test.difference.undefined_because == "an interval for other raters needs 3 raters"


def test_parts_are_compared_by_themselves() -> None:
    table, judged = world(3)
    known = items(ESSAYS).frame.with_columns(level=items([str(place % 2) for place in range(240)]).frame["essay"])
    compared = grater.compare(table, judged, items=known, by="level")
    assert [part.n_items for part in compared.parts.values()] == [120, 120]
    discordant: Counter[frozenset[str]] = Counter()
    for pair in (pair for part in compared.parts.values() for pair in part.pairs):
        discordant[frozenset(pair.test.systems)] += pair.mcnemar.first + pair.mcnemar.second
    whole = {frozenset(pair.test.systems): pair.mcnemar.first + pair.mcnemar.second for pair in compared.pairs}
    assert discordant == whole


def test_a_pair_with_an_undefined_score_has_the_reason_and_its_decisions_are_still_compared() -> None:
    truth = [place % 2 for place in range(40)]
    table = decisions({"all": truth, "none": [0] * 40, "some": [place % 4 == 1 for place in range(40)]})
    compared = grater.compare(table, votes([3 * mark for mark in truth], 3), score="precision")
    assert [pair.test.systems for pair in compared.pairs] == [("all", "some"), ("all", "none"), ("some", "none")]
    assert compared.pairs[1].test.difference.undefined_because == "no judged item is flagged"
    assert (compared.pairs[1].mcnemar.first, compared.pairs[1].mcnemar.second) == (20, 0)
    assert compared.groups == {}


def test_two_systems_and_a_known_score_are_needed() -> None:
    with pytest.raises(UsageError, match="two systems"):
        grater.compare(decisions({"S": [1]}), votes([1], 2))
    with pytest.raises(UnknownName, match="Did you mean 'f1'"):
        grater.compare(*world(0), score="f11")  # type: ignore[arg-type]


def test_warnings_are_in_every_way_out_the_gravest_first() -> None:
    # Flags of system a were judged, and a tenth of the rest; in eight essays.
    table, judged = world(0)
    of_a = table.frame.filter(pl.col("system").cast(pl.String) == "a")
    chosen = of_a.filter(pl.col("flagged") | pl.col("item").str.ends_with("3"))
    seen = judged.frame.join(chosen, on="item", how="semi")
    known = items([str(place // 30) for place in range(240)])
    for run, gravest in ((grater.evaluate, "withheld"), (grater.compare, "not ranked")):
        result = run(table, seen, items=known)
        assert gravest in result.warnings[0]
        assert "only 8 essays: intervals by essay are rough below 10" in result.warnings
        made = json.loads(json.dumps(result.to_dict(), allow_nan=False))
        assert made["warnings"] == list(result.warnings)
        for warning in result.warnings:
            assert f"warning: {warning}" in repr(result)
            assert f"warning: {warning}".replace("'", "&#x27;") in result._repr_html_()
        reason = "pass `sample` if they were drawn, or judge items at random"
        for system in made["systems"]:
            assert system["recall"]["value"] is None
            assert system["recall"]["reason"].endswith(reason)
        assert reason in str(result.sheets()[0])


def halves() -> dict[str, Any]:
    """A on 200 items, half of them errors, B on 200, a tenth of them; both flag 8 of 10 errors and 1 of 10 others."""
    is_error = [place % 2 == 1 for place in range(200)] + [place % 10 == 0 for place in range(200)]
    nth_error = [place // 2 for place in range(200)] + [place // 10 for place in range(200, 400)]
    flags = [
        int(nth % 10 < 8 if error else place // 2 % 10 == 3)
        for place, (error, nth) in enumerate(zip(is_error, nth_error, strict=True))
    ]
    table = decisions({"A": [*flags[:200], *[None] * 200], "B": [*[None] * 200, *flags[200:]]})
    judged = votes([3 * error for error in is_error], 3)
    return {"decisions": table, "judgments": judged, "items": items([str(n // 10) for n in range(400)])}


def test_systems_without_a_common_item_are_standardised_and_not_ranked() -> None:
    compared = grater.compare(**halves())
    assert (compared.pairs, compared.groups) == ((), {})
    made: Any = compared.to_dict()
    assert [system["group"] for system in made["systems"]] == [None, None]
    different = compared.different
    assert different is not None
    assert [each.own.n for each in different.systems] == [200, 200]
    raw = [each.own["precision"].value for each in different.systems]
    same = [each.scores["precision"].value for each in different.systems]
    assert raw[0] > raw[1] + 0.3  # the error rate alone
    assert same[0] == pytest.approx(same[1], abs=0.05)
    [pair] = different.pairs
    assert pair.n_common == 0
    assert pair.differences["precision"].low < 0 < pair.differences["precision"].high
    assert "not ranked" in repr(compared)
    assert "best" not in str(compared)
    assert compared.sheets()[1].title == "Kappa by agreement of raters"


def test_no_system_is_reported_to_have_the_essays_of_the_other() -> None:
    compared, evaluation = grater.compare(**halves()), grater.evaluate(**halves())
    made: Any = evaluation.to_dict()
    assert [[within["n"] for within in system["bins"]] for system in made["systems"]] == [[0, 0, 200]] * 2
    assert "they are not ranked" in " ".join(evaluation.warnings)
    for result in (compared, evaluation):
        notes = " ".join(result.sheets()[-1].notes)
        assert "generalise to other essays like these" in notes
        assert "like these 40" not in notes
    own = compared.sheets()[0]
    assert own.columns[:3] == ("", "items", "essays")
    assert [row[:3] for row in own.rows] == [("A", "200", "20"), ("B", "200", "20")]
    known = items([str(place // (50 if place < 200 else 10)) for place in range(400)])
    few = grater.compare(**{**halves(), "items": known})
    assert "A: only 4 essays: intervals by essay are rough below 10" in few.warnings
    assert not any(warning.startswith("B: only") for warning in few.warnings)


def test_standardised_scores_by_hand() -> None:
    # A: 8 of 10 errors caught, 2 of 10 others flagged; B: 5 of 10 and 1 of 10, on twice as many good items
    errors = [3] * 10 + [0] * 10 + [3] * 10 + [0] * 20
    first = [1] * 8 + [0] * 2 + [1] * 2 + [0] * 8
    second = [1] * 5 + [0] * 5 + [1] * 2 + [0] * 18
    table = decisions({"A": [*first, *[None] * 30], "B": [*[None] * 20, *second]})
    different = grater.compare(table, votes(errors, 3)).different
    assert different is not None
    # The standard: 20 errors, 30 good items
    assert different.prevalence == pytest.approx(0.4)
    a, b = (each.scores for each in different.systems)
    assert (a["recall"].value, a["precision"].value) == pytest.approx((0.8, 16 / (16 + 0.2 * 30)), abs=1e-12)
    assert (b["recall"].value, b["precision"].value) == pytest.approx((0.5, 10 / (10 + 0.1 * 30)), abs=1e-12)


def test_partly_common_items_are_compared_in_pairs_and_all_items_apart() -> None:
    flags = [int(place % 3 == 0) for place in range(120)]
    table = decisions({"A": [*flags[:80], *[None] * 40], "B": [*[None] * 40, *flags[40:]]})
    compared = grater.compare(table, votes([3 * (place % 2) for place in range(120)], 3))
    assert (compared.n_items, compared.n_left_out) == (40, 80)
    assert set(compared.groups) == {"A", "B"}  # on the 40 common items
    assert compared.different is not None
    assert compared.different.pairs[0].n_common == 40


def test_rank_groups_are_only_among_systems_that_share_their_items() -> None:
    errors = [3 * (place % 2) for place in range(80)]
    good, bad = [place % 2 for place in range(40)], [1 - place % 2 for place in range(40)]
    table = decisions({"A": [*good, *[None] * 40], "B": [*bad, *[None] * 40], "C": [*[None] * 40, *good]})
    compared = grater.compare(table, votes(errors, 3))
    assert compared.groups == {}
    assert dict(compared.parts["A, B"].groups) == {"A": "A", "B": "B"}
    same = grater.compare(decisions({"A": good, "B": good[::-1]}), votes(errors[:40], 3))
    assert same.different is None
    assert set(same.groups) == {"A", "B"}
