"""Preposition detectors from model files: those that come with grater, and one's own."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from grater.detect.prepositions.detector import PrepositionDetector
from grater.detect.prepositions.linear import load
from grater.detect.prepositions.thresholds import Thresholds
from grater.errors import BadInput, Problem, UsageError
from grater.model import Json
from grater.models import shipped


@cache
def prep_maxent() -> PrepositionDetector:
    return from_file(shipped("prep-maxent"))


@cache
def prep_perceptron() -> PrepositionDetector:
    return from_file(shipped("prep-perceptron"))


def from_file(path: Path) -> PrepositionDetector:
    """The detector of a model file, under the file's name."""
    engine = load(path)
    return PrepositionDetector(
        path.stem, engine, _thresholds(engine.card, str(path)), engine.card, known=engine.vocabulary
    )


def _thresholds(card: Mapping[str, Json], name: str) -> Thresholds:
    try:
        return Thresholds.of(card.get("thresholds"))
    except UsageError as error:
        raise BadInput(Problem(name, f"{error} in the model's card; train the model anew")) from error
