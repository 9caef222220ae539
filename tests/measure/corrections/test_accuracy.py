"""Sentence accuracy, and its ceiling with one and with several references."""

from __future__ import annotations

import pytest

from grater.measure.corrections.accuracy import METRIC
from grater.measure.corrections.ceiling import ceiling
from grater.measure.corrections.scores import Hypothesis, MetricOptions, References, rewritten, score_systems

SOURCE = ["a b", "c d", "e f", "g h"]
TEXTS = {"x": ["a B", "c d", "e F", "g h"], "y": ["a B", "c D", "e f", "g H"]}


def references() -> References:
    return References("ref", rewritten(SOURCE, TEXTS, source_name="source"))


def test_any_annotator_will_do() -> None:
    hypothesis = Hypothesis("s", "s", texts=["a  B", "c D", "e f", "G h"])
    scores = score_systems(METRIC, references(), [hypothesis])
    assert scores.systems[0].overall.scores["accuracy"].value == pytest.approx(3 / 4)


def test_people_are_held_against_each_other() -> None:
    people = ceiling(METRIC, references(), options=MetricOptions(), sizes=[1])
    assert people.rows[0].scores["accuracy"].value == pytest.approx(1 / 4)
