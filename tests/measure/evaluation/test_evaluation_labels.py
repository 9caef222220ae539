"""Labels that are spelled in two ways."""

from __future__ import annotations

import polars as pl

import grater


def test_labels_spelled_in_two_ways_are_one_and_are_named() -> None:
    judged = pl.DataFrame(
        {"item": ["1", "1", "2", "2"], "rater": ["a", "b", "a", "b"], "label": ["Error", "error", "ok", "ok"]}
    )
    decided = pl.DataFrame({"item": ["1", "2"], "system": ["S", "S"], "flagged": [1, 0]})
    evaluation = grater.evaluate(decided, judged, resamples=20)
    assert evaluation.whole.standard[0]["precision"].value == 1
    assert any("taken as one: 'Error' / 'error'" in warning for warning in evaluation.warnings)
