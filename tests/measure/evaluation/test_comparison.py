"""No interval for other items, essays or raters is a point: n cases cannot prove that nothing else is to be had."""

from __future__ import annotations

from collections.abc import Iterator
from math import hypot
from typing import Any

import polars as pl
import pytest

import grater
from grater.uncertainty.bootstrap import Cluster
from grater.uncertainty.intervals import student_quantile, unseen_share

N = 12
TRUTH = ["error" if place % 3 == 0 else "ok" for place in range(N)]
OTHER = {"error": "ok", "ok": "error"}


def judged(*, is_split: bool = False) -> pl.DataFrame:
    """Three raters who always agree, or two who never do."""
    raters = ("A", "B") if is_split else ("A", "B", "C")
    return pl.DataFrame(
        [
            {"item": f"i{place}", "rater": rater, "label": OTHER[label] if is_split and rater == "B" else label}
            for place, label in enumerate(TRUTH)
            for rater in raters
        ]
    )


def decided() -> pl.DataFrame:
    """One system that is always right, one that is always wrong, and a copy of the first."""
    return pl.DataFrame(
        [
            {"item": f"i{place}", "system": system, "flagged": int((label == "error") == (system != "wrong"))}
            for place, label in enumerate(TRUTH)
            for system in ("copy", "right", "wrong")
        ]
    )


def four_essays() -> pl.DataFrame:
    rows = [
        {"item": f"i{place}", "essay": f"e{place // 3}", "start": place, "end": place + 1, "kind": "prep"}
        for place in range(N)
    ]
    return pl.DataFrame(rows)


def points(value: Any) -> Iterator[dict[str, float]]:
    """Every interval of no width in a result."""
    if isinstance(value, dict):
        if "value" in value and value["low"] is not None and value["low"] == value["high"]:
            yield value
        value = list(value.values())
    for part in value if isinstance(value, list) else ():
        yield from points(part)


@pytest.mark.parametrize("items", [None, four_essays()], ids=["items", "essays"])
@pytest.mark.parametrize("cluster", ["auto", "rater", "item+rater"])
def test_systems_that_are_always_right_or_wrong_are_not_certain(cluster: Cluster, items: pl.DataFrame | None) -> None:
    for votes in (judged(), judged(is_split=True)):
        scored = grater.evaluate(decided(), votes, items=items, weighted=True, cluster=cluster, resamples=60)
        assert not list(points(scored.to_dict()))
        for score in ("f0.5", "kappa"):
            compared = grater.compare(decided(), votes, items=items, cluster=cluster, score=score, resamples=60)
            assert not list(points(compared.to_dict()))


def test_the_difference_of_right_and_wrong_squares_and_adds_what_each_may_yet_do() -> None:
    compared = grater.compare(decided(), judged(), resamples=60)
    by_pair = {(pair.test.first, pair.test.second): pair.test for pair in compared.pairs}
    t = student_quantile(0.975, N - 1)
    # F0.5 rests on (flags + errors / 4) / 1.25 cases: 4 flags and 4 errors, or 8 and 4, of 12 items
    right, wrong = unseen_share(4.0, t), unseen_share(7.2, t)
    difference = by_pair["right", "wrong"].difference
    assert (difference.value, difference.high) == (1.0, 1.0)
    assert difference.low == pytest.approx(1 - hypot(right, wrong))
    same = by_pair["copy", "right"].difference
    assert (same.low, same.value, same.high) == pytest.approx((-hypot(right, right), 0.0, hypot(right, right)))


def test_four_essays_that_all_say_the_same_are_a_sign_test() -> None:
    compared = grater.compare(decided(), judged(), items=four_essays(), resamples=60)
    p = {(pair.test.first, pair.test.second): pair.test.p["bootstrap"] for pair in compared.pairs}
    assert p["right", "wrong"] == 2 * 0.5**4
    assert p["copy", "right"] == 1.0


def test_of_exactly_these_items_nothing_is_unknown() -> None:
    compared = grater.compare(decided(), judged(), population="these", resamples=60)
    [right_wrong] = [pair.test for pair in compared.pairs if pair.test.first == "right"]
    assert (right_wrong.difference.low, right_wrong.difference.high) == (1.0, 1.0)


def test_an_estimate_for_other_raters_who_never_differed_has_a_width() -> None:
    drawn = grater.sample(decided(), system="right", n=8, seed=1)
    estimates = grater.estimate(decided(), drawn, judged(), cluster="rater", resamples=60)
    systems: Any = estimates.to_dict()["systems"]
    assert not [point for system in systems for point in points(system["totals"])]
