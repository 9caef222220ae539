"""Decisions matched with judgments."""

from __future__ import annotations

import polars as pl

from grater.measure.evaluation.evaluation import evaluate
from grater.tables import read_decisions, read_judgments


def test_judgments_that_say_unknown_count_where_items_have_unequal_numbers() -> None:
    rows = [("a", "1", "error"), ("a", "2", "ok"), ("b", "1", "error"), ("b", "2", "unknown"), ("stray", "1", "ok")]
    judgments = read_judgments(pl.DataFrame(rows, ["item", "rater", "label"], orient="row"))
    decisions = read_decisions(pl.DataFrame({"item": ["b", "a", "nobody"], "system": "s", "flagged": [1, 0, 0]}))
    assert not any("too sure" in warning for warning in evaluate(decisions, judgments).warnings)
    more = read_judgments(pl.DataFrame([*rows, ("b", "3", "unknown")], ["item", "rater", "label"], orient="row"))
    assert any("items have 2 to 3 judgments" in warning for warning in evaluate(decisions, more).warnings)
