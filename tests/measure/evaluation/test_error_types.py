"""Scores by type of error: choice, extraneous and missing, apart and together."""

from __future__ import annotations

import polars as pl
import pytest

import grater
from grater.uncertainty import wilson

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


def tables() -> tuple[pl.DataFrame, pl.DataFrame]:
    decisions = [{"item": item, "system": "S", "flagged": flag, "type": of} for item, (flag, of, _) in FLAGS.items()]
    judged = [{"item": item, "rater": rater, "label": said} for item, (_, _, said) in FLAGS.items() for rater in "AB"]
    return pl.DataFrame(decisions), pl.DataFrame(judged)


def by_type(evaluation: object) -> dict[str, dict[str, object]]:
    return {row["type"]: row for row in evaluation.to_dict()["by_type"]}  # type: ignore[attr-defined]


def test_merged_ratings_keep_the_type_of_an_error() -> None:
    decisions, judged = tables()
    merged = grater.read_judgments(judged, merge={"0": "error", "1": "error", "2": "ok", "e": "ok"})
    evaluation = grater.evaluate(decisions, merged, resamples=100)
    rows = by_type(evaluation)
    assert rows["choice"]["precision"]["value"] == 1  # type: ignore[index]
    assert rows["choice"]["recall"] == wilson(2, 3).as_json()
    assert rows["extraneous"]["precision"]["value"] == 0.5  # type: ignore[index]
    # One of them was flagged as a wrong choice: it is found all the same
    assert rows["extraneous"]["recall"] == wilson(2, 4).as_json()
    sheet = next(sheet for sheet in evaluation.sheets() if sheet.name == "by-type")
    assert [row[1] for row in sheet.rows] == ["choice", "extraneous", "all types"]
    assert any("95 % intervals generalise to" in note for note in sheet.notes)


def test_where_raters_name_no_type_recall_by_type_is_unknown() -> None:
    decisions, judged = tables()
    verdicts = judged.with_columns(label=pl.col("label").replace({"0": "error", "1": "error", "2": "ok", "e": "ok"}))
    rows = by_type(grater.evaluate(decisions, verdicts, resamples=50))
    assert rows["choice"]["recall"]["value"] is None  # type: ignore[index]
    assert "did not state the types" in rows["choice"]["recall"]["reason"]  # type: ignore[index]
    assert rows["not said"]["errors"] == 7


def test_alternatives_and_gaps_tell_the_type_too() -> None:
    decisions, judged = tables()
    verdicts = judged.with_columns(
        label=pl.col("label").replace({"0": "error", "1": "error", "2": "ok", "e": "ok"}),
        alternatives=pl.col("label").replace_strict(
            {"0": "-NONE-", "1": "at|in"}, default=None, return_dtype=pl.String
        ),
    )
    items = [
        {"item": item, "essay": f"e{at % 4}", "start": at, "end": at if item == "c3" else at + 1, "kind": "prep"}
        for at, item in enumerate(FLAGS)
    ]
    rows = by_type(grater.evaluate(decisions, verdicts, items=pl.DataFrame(items), resamples=50))
    assert rows["extraneous"]["errors"] == 4
    assert rows["choice"]["errors"] == 2
    assert rows["missing"]["errors"] == 1
    assert rows["missing"]["recall"]["value"] == pytest.approx(0)  # type: ignore[index]
