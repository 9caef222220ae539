"""Scores and ceilings as people read them."""

from __future__ import annotations

import polars as pl

from grater.measure.corrections.ceiling import ceiling
from grater.measure.corrections.scores import METRICS, MetricOptions, score_systems, score_title
from grater.sheet import as_markdown
from tests.measure.corrections.essays import SOURCE, references, text_system


def test_titles_are_those_of_the_field() -> None:
    assert [score_title(name) for name in ("precision", "recall", "f0.5", "gleu")] == ["P", "R", "F0.5", "GLEU"]


def test_a_table_of_scores_has_a_row_for_each_system_in_per_cent() -> None:
    scores = score_systems(METRICS["m2"], references(), [text_system("s"), text_system("b", SOURCE)])
    systems, pairs = scores.sheets()
    assert systems.columns == ("", "P", "R", "F0.5", "TP", "FP", "FN", "group")
    assert systems.rows[0][:2] == ("s", systems.rows[0][1])
    assert systems.rows[0][1].startswith("66.67 [")
    assert pairs.signature == str(scores.signature)
    assert as_markdown(systems).startswith("**M2 (MaxMatch), ")


def test_a_frame_of_scores_has_one_number_per_row() -> None:
    options = MetricOptions(tier="full")
    scores = score_systems(METRICS["m2"], references(), [text_system("s")], options=options)
    frame = scores.to_frame().filter(pl.col("type") == "")
    assert frame["score"].to_list() == ["precision", "recall", "f0.5"]
    assert frame["value"].to_list() == [score.value for score in scores.systems[0].overall.scores.values()]


def test_a_table_of_a_ceiling_has_people_and_systems() -> None:
    people = ceiling(METRICS["m2"], references(), [text_system("s")])
    (sheet,) = people.sheets()
    assert [row[0] for row in sheet.rows] == ["human", "0", "1", "s"]
    assert sheet.rules == (3,)
    assert set(people.to_frame()["score"]) == {"precision", "recall", "f0.5", "of_human"}
