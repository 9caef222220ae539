from __future__ import annotations

from math import isnan

import polars as pl
import pytest

from grater.errors import UsageError
from grater.measure.evaluation.suggestions import suggestions
from grater.tables import Judgments, Table, read_decisions, read_gold, read_judgments
from grater.uncertainty import wilson

# i0: two of three raters want `on`, one of them also `upon`; i1: delete it; i2: fine; i3: nobody judged; i4: missed
JUDGED = [
    ("i0", "a", "error", "on|upon"),
    ("i0", "b", "error", "On"),
    ("i0", "c", "ok", None),
    ("i1", "a", "error", "-NONE-"),
    ("i1", "b", "error", "to"),
    ("i1", "c", "unknown", None),
    ("i2", "a", "ok", None),
    ("i2", "b", "ok", None),
    ("i4", "a", "error", "in"),
]


def judged() -> Judgments:
    names = ["item", "rater", "label", "alternatives"]
    return read_judgments(pl.DataFrame(JUDGED, schema=names, orient="row"))


def decided(*words: str | None) -> Table:
    rows = [(f"i{place}", "S", True, word) for place, word in enumerate(words)]
    return read_decisions(pl.DataFrame(rows, schema=["item", "system", "flagged", "suggestion"], orient="row"))


def test_a_suggestion_is_right_where_some_rater_gave_it() -> None:
    [found] = suggestions(decided("on", "-NONE-", "at", "of"), judged(), n_resamples=50)
    assert (found.n, found.n_blank, found.n_unjudged) == (3, 0, 1)
    assert found.any_rater == wilson(2, 3)
    # shares of raters: 2/3, 1/2, 0
    assert found.graded.value == pytest.approx((2 / 3 + 1 / 2) / 3)
    # of i0, i1 and i4, errors to most
    assert found.recall == wilson(2, 3)


def test_flags_without_a_suggestion_are_counted_and_not_scored() -> None:
    [found] = suggestions(decided("upon", None), judged(), n_resamples=50)
    assert (found.n, found.n_blank) == (1, 1)
    assert found.any_rater == wilson(1, 1)


def test_adjudicated_corrections_come_from_gold() -> None:
    gold = read_gold(pl.DataFrame({"item": ["i0", "i1"], "label": ["on|upon", "to"]}))
    [found] = suggestions(decided("upon", "-NONE-", "at"), judged(), corrections=gold, n_resamples=50)
    assert found.adjudicated == wilson(1, 2)
    assert found.adjudicated_recall == wilson(1, 2)
    bare = Judgments(judged().frame.drop("alternatives"), "bare")
    [alone] = suggestions(decided("upon"), bare, corrections=gold, n_resamples=50)
    assert (alone.adjudicated, alone.adjudicated_recall) == (wilson(1, 1), wilson(1, 2))
    assert alone.any_rater.undefined_because == "raters gave no alternatives"
    [without] = suggestions(decided("upon"), judged(), n_resamples=50)
    assert isnan(without.adjudicated.value)


def test_columns_that_are_missing_are_named() -> None:
    bare = Judgments(judged().frame.drop("alternatives"), "bare")
    with pytest.raises(UsageError, match="alternatives"):
        suggestions(decided("on"), bare)
