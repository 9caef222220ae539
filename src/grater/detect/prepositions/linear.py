"""The linear models of prepositions as an engine and as detectors: `prep-maxent` and `prep-perceptron`.

A model is a pruned dictionary of features with 8-bit weights (`detect.linear`); the two differ in how the weights
were fitted.  `step` includes the temperature that calibrates the probabilities on held-out text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from grater.detect.linear import (
    Keys,
    Rows,
    Scores,
    Sums,
    Vocabulary,
    Weights,
    log_probabilities,
    packed,
    sums_of,
    unpacked,
)
from grater.detect.prepositions.candidates import ANSWERS, Candidate
from grater.detect.prepositions.detector import PrepositionDetector, Thresholds
from grater.detect.prepositions.features import HASHING, contexts, stemmed
from grater.errors import BadInput, Problem, UsageError
from grater.model import Json
from grater.models import expecting, read_model, shipped, write_model

KIND = "prepositions"
BLOCK = 4096
"""Candidates scored at once, so that memory stays flat; the scores do not depend on it."""


@dataclass(frozen=True, slots=True, eq=False)
class LinearEngine:
    """`table` has a row of weights for each of the sorted `keys`, and a last row of zeros for unknown features."""

    vocabulary: Vocabulary
    stems: Rows
    keys: Keys
    table: Weights
    step: float
    card: Mapping[str, Json]

    def scores(self, candidates: Sequence[Candidate]) -> Scores:
        blocks = [candidates[start : start + BLOCK] for start in range(0, len(candidates), BLOCK)]
        rows = (stemmed(contexts(block, self.vocabulary), self.stems) for block in blocks)
        return log_probabilities((HASHING.keys(part) for part in rows), self.keys, self.table, self.step)

    def sums(self, keys: Keys) -> Sums:
        return sums_of(keys, self.keys, self.table)


def save(engine: LinearEngine, path: Path) -> None:
    arrays = {**packed(engine.keys, engine.table), "stems": engine.stems, "step": np.array([engine.step], np.float64)}
    write_model(path, kind=KIND, card=engine.card, arrays=arrays, strings={"words": engine.vocabulary.words})


def load(path: Path) -> LinearEngine:
    """Read a model; other files, and parts that do not fit together, are refused."""
    model = read_model(path, kind=KIND)
    with expecting("a model of prepositions", path):
        keys, table = unpacked(model.arrays, len(ANSWERS))
        step, stems = float(model.arrays["step"][0]), model.arrays["stems"]
        vocabulary = Vocabulary(model.strings["words"])
        if stems.shape != (len(vocabulary),) or (len(stems) and not 0 <= stems.min() <= stems.max() < len(stems)):
            raise ValueError("words and stems differ in number")
    return LinearEngine(vocabulary=vocabulary, stems=stems, keys=keys, table=table, step=step, card=model.card)


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
        name=path.stem,
        engine=engine,
        thresholds=_thresholds(engine.card, str(path)),
        card=engine.card,
        known=engine.vocabulary,
    )


def _thresholds(card: Mapping[str, Json], name: str) -> Thresholds:
    try:
        return Thresholds.of(card.get("thresholds"))
    except UsageError as error:
        raise BadInput(Problem(name, f"{error} in the model's card; train the model anew")) from error
