"""Suggestions against those of raters and adjudicated ones; scores by type of error: choice, extraneous, missing."""

from __future__ import annotations

from math import isnan
from typing import Any

import polars as pl
import pytest

import grater
from grater.errors import UsageError
from grater.measure.evaluation.evaluation import Evaluation
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
    [found] = grater.evaluate(decided("on", "-NONE-", "at", "of"), judged(), suggestions=True).suggestions
    assert (found.n, found.n_blank, found.n_unjudged) == (3, 0, 1)
    assert found.any_rater == wilson(2, 3)
    # shares of raters: 2/3, 1/2, 0
    assert found.graded.value == pytest.approx((2 / 3 + 1 / 2) / 3, abs=1e-12)
    # of i0, i1 and i4, errors to most
    assert found.recall == wilson(2, 3)
    [blank] = suggestions(decided("upon", None), judged())
    assert (blank.n, blank.n_blank, blank.any_rater) == (1, 1, wilson(1, 1))


def test_adjudicated_corrections_come_from_gold() -> None:
    gold = read_gold(pl.DataFrame({"item": ["i0", "i1"], "label": ["on|upon", "to"]}))
    [found] = suggestions(decided("upon", "-NONE-", "at"), judged(), corrections=gold)
    assert (found.adjudicated, found.adjudicated_recall) == (wilson(1, 2), wilson(1, 2))
    bare = Judgments(judged().frame.drop("alternatives"), "bare")
    [alone] = suggestions(decided("upon"), bare, corrections=gold)
    assert (alone.adjudicated, alone.adjudicated_recall) == (wilson(1, 1), wilson(1, 2))
    assert alone.any_rater.undefined_because == "raters gave no alternatives"
    [without] = suggestions(decided("upon"), judged())
    assert isnan(without.adjudicated.value)
    with pytest.raises(UsageError, match="alternatives"):
        suggestions(decided("on"), bare)


# Types of error

FLAGS = {
    # item: (flagged, type of the flag, label of both raters)
    "c1": (1, "choice", "1"),
    "c2": (1, "choice", "1"),
    "c3": (0, None, "1"),
    "x1": (1, "extraneous", "0"),
    "x2": (1, "choice", "0"),
    "x3": (0, None, "0"),
    "x4": (0, None, "0"),
    "ok1": (1, "extraneous", "2"),
    "ok2": (0, None, "e"),
    "ok3": (0, None, "2"),
}
VERDICT = {"0": "error", "1": "error", "2": "ok", "e": "ok"}


def tables() -> tuple[pl.DataFrame, pl.DataFrame]:
    decisions = [{"item": item, "system": "S", "flagged": flag, "type": of} for item, (flag, of, _) in FLAGS.items()]
    said = [{"item": item, "rater": rater, "label": label} for item, (_, _, label) in FLAGS.items() for rater in "AB"]
    return pl.DataFrame(decisions), pl.DataFrame(said)


def by_type(evaluation: Evaluation) -> dict[str, Any]:
    made: Any = evaluation.to_dict()
    return {row["type"]: row for row in made["by_type"]}


def test_merged_ratings_keep_the_type_of_an_error() -> None:
    decisions, said = tables()
    evaluation = grater.evaluate(decisions, grater.read_judgments(said, merge=VERDICT))
    rows = by_type(evaluation)
    assert rows["choice"]["precision"]["value"] == pytest.approx(1)
    assert rows["choice"]["recall"] == pytest.approx(wilson(2, 3).as_json())
    assert rows["extraneous"]["precision"]["value"] == 0.5
    # One of them was flagged as a wrong choice: it is found all the same
    assert rows["extraneous"]["recall"] == pytest.approx(wilson(2, 4).as_json())
    sheet = next(sheet for sheet in evaluation.sheets() if sheet.name == "by-type")
    assert [row[1] for row in sheet.rows] == ["choice", "extraneous", "all types"]


def test_where_raters_name_no_type_recall_by_type_is_unknown() -> None:
    decisions, said = tables()
    rows = by_type(grater.evaluate(decisions, said.with_columns(pl.col("label").replace(VERDICT))))
    assert rows["choice"]["recall"]["value"] is None
    assert "did not state the types" in rows["choice"]["recall"]["reason"]
    assert rows["not said"]["errors"] == 7


def test_alternatives_and_gaps_tell_the_type_too() -> None:
    decisions, said = tables()
    words = pl.col("label").replace_strict({"0": "-NONE-", "1": "at|in"}, default=None, return_dtype=pl.String)
    verdicts = said.with_columns(pl.col("label").replace(VERDICT), alternatives=words)
    items = [
        {"item": item, "essay": f"e{at % 4}", "start": at, "end": at if item == "c3" else at + 1, "kind": "prep"}
        for at, item in enumerate(FLAGS)
    ]
    rows = by_type(grater.evaluate(decisions, verdicts, items=pl.DataFrame(items)))
    assert [rows[name]["errors"] for name in ("extraneous", "choice", "missing")] == [4, 2, 1]
    assert rows["missing"]["recall"]["value"] == 0
