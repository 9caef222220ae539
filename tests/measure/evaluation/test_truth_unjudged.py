"""What is not known is said: unjudged items, ties, two raters, and how a number that is rounded to nothing looks."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import grater
from grater.sheet import number, p_value
from tests.measure.evaluation.worlds import decisions, votes


def test_bounds_say_how_far_scores_move_with_the_items_that_nobody_judged() -> None:
    # 3 hits, 1 false alarm, 1 miss, 3 right; 2 flags and 2 others not judged
    flags, errors = [1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 0, 0], [3, 3, 3, 0, 3, 0, 0, 0]
    evaluation = grater.evaluate(decisions({"S": flags}).frame, votes(errors, 3).frame, resamples=50)
    [bounds] = evaluation.whole.bounds
    assert bounds.to_dict() == {
        "none_errors": {"precision": 3 / 6, "recall": 3 / 4},
        "all_errors": {"precision": 5 / 6, "recall": 5 / 8},
        "recall_lowest": 3 / 6,
        "recall_highest": 5 / 6,
    }
    titles = [sheet.title for sheet in evaluation.sheets()]
    assert "If none of the items that nobody judged were errors, or all of them" in titles
    assert evaluation.to_dict()["systems"][0]["bounds"]["recall_lowest"] == 0.5  # type: ignore[index,call-overload]


def test_nothing_but_ties_is_warned_of() -> None:
    flags = decisions({"S": [place % 2 for place in range(100)]}).frame
    evaluation = grater.evaluate(flags, votes([1] * 100, 2).frame, resamples=50)
    assert evaluation.whole.standard[0]["precision"].value == 0.5
    assert any(warning.startswith("100 of 100 judged items are ties") for warning in evaluation.warnings)
    assert "100 items with as many votes for error as for ok" in str(evaluation)


def test_two_raters_have_no_bin_at_one_half() -> None:
    flags = decisions({"S": [1, 0, 1, 0] * 10}).frame
    judged = votes([2, 0, 1, 1] * 10, 2).frame
    evaluation = grater.evaluate(flags, judged, resamples=50, bins=[0.5, 0.75, 0.9, 1])
    [only] = evaluation.whole.bins
    assert (only.title, only.n) == ("100 %", 20)
    assert only.systems[0]["precision"].value == 1
    notes = [note for sheet in evaluation.sheets() for note in sheet.notes]
    assert "20 items on which two raters differ have no majority and are left out of the bins." in notes
    asked = grater.evaluate(flags, judged, resamples=50, bins=[0.5, 0.75, 1])
    tied, clear = asked.whole.bins
    assert tied.n == clear.n == 20
    assert tied.systems[0]["precision"].as_json()["value"] is None
    assert "no majority" in tied.systems[0]["kappa"].undefined_because


def test_raters_stand_in_the_order_in_which_people_count() -> None:
    flags = decisions({"S": [1, 0]}).frame
    rows = [
        {"item": item, "rater": rater, "label": "error"} for item in ("i0", "i1") for rater in ("A10", "A1", "A2")
    ]
    evaluation = grater.evaluate(flags, pl.DataFrame(rows), resamples=20)
    assert list(evaluation.whole.by_rater) == ["A1", "A2", "A10"]


def test_a_difference_that_is_rounded_to_nothing_has_no_sign() -> None:
    assert number(-0.00001) == ".000"
    assert number(-0.0, digits=4) == ".0000"
    assert p_value(-0.0) == "< .0001"
    assert number(-0.01) == "−.010"


def test_undefined_scores_are_null_with_the_reason() -> None:
    evaluation = grater.evaluate(decisions({"S": [1, 0, 0]}).frame, votes([3], 3).frame, resamples=20)
    made: dict[str, Any] = dict(evaluation.to_dict())
    [system] = made["systems"]
    recall = system["recall"]
    assert recall["value"] is None
    assert "no unflagged item was judged" in recall["reason"]
    assert system["precision"]["value"] == pytest.approx(1)
