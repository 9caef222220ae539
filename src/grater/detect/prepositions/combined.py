"""Several engines as one: their scores added up, each with the same weight.

Madnani et al. 2011 compare a classifier and a language model on extraneous prepositions.  The two err in different
places: one weighs features of the heads around, the other counts the words as they stand.  The sum of log-
probabilities (a product of experts, Hinton 2002) is high only where no engine objects.  No weight is fitted; as for
the language model, the score of none is lowered by what the written preposition costs in well-formed text
(`training.tuned`).

The model file is small: the names and hashes of the parts, the costs, and thresholds in its card.  Thresholds fit the
parts that they were chosen with, so a part with another hash is refused.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

import numpy as np

from grater.detect.linear import Scores
from grater.detect.prepositions.candidates import ANSWERS, NONE, Candidate, Engine, answer_of
from grater.detect.prepositions.detector import PrepositionDetector, Thresholds, Words
from grater.detect.systems import load_system
from grater.errors import BadInput, Problem, UsageError
from grater.model import Json
from grater.models import expecting, read_model, shipped, write_model

KIND = "combined"


@dataclass(frozen=True, slots=True, eq=False)
class CombinedEngine:
    """Engines whose scores are added up; `costs` has the mean cost of each preposition, and, last, that of a gap."""

    engines: tuple[Engine, ...]
    costs: Scores = field(default_factory=lambda: np.zeros(len(ANSWERS)))

    def with_costs(self, costs: Scores) -> CombinedEngine:
        """The same with other costs."""
        return replace(self, costs=costs)

    def scores(self, candidates: Sequence[Candidate]) -> Scores:
        """(candidates, 35): the mean of the engines' rows."""
        total = np.zeros((len(candidates), len(ANSWERS)))
        for engine in self.engines:
            total += engine.scores(candidates)
        total /= len(self.engines)
        total[:, NONE] -= self.costs[[answer_of(candidate) for candidate in candidates]]
        return total


@dataclass(frozen=True, slots=True)
class KnownToAny:
    """The words that at least one of the engines knows."""

    parts: Collection[Words]

    def __contains__(self, word: str) -> bool:
        return any(word in part for part in self.parts)


def parts_of(names: Sequence[str]) -> tuple[PrepositionDetector, ...]:
    """The detectors to combine."""
    detectors = tuple(map(load_system, names))
    for name, part in zip(names, detectors, strict=True):
        if not isinstance(part, PrepositionDetector):
            raise UsageError(f"{name}: expected one of grater's own preposition detectors, whose scores can be added")
    return detectors  # type: ignore[return-value]


def save(engine: CombinedEngine, names: Sequence[str], path: Path, card: Mapping[str, Json]) -> None:
    """Write the combination of the systems with these names."""
    hashes = [str(part.card.get("hash", "")) for part in parts_of(names)]
    strings = {"parts": list(names), "hashes": hashes}
    write_model(path, kind=KIND, card=card, arrays={"costs": engine.costs}, strings=strings)


def from_file(path: Path) -> PrepositionDetector:
    """The detector of a model file with a combination, under the file's name."""
    model = read_model(path, kind=KIND)
    with expecting("a combination", path):
        names, hashes, costs = model.strings["parts"], model.strings["hashes"], model.arrays["costs"]
        thresholds = Thresholds.of(model.card.get("thresholds"))
        if costs.shape != (len(ANSWERS),):
            raise ValueError("costs and answers differ in number")
        if not names or len(names) != len(hashes):
            raise ValueError("systems and hashes differ in number")
    parts = parts_of(names)
    for name, part, expected in zip(names, parts, hashes, strict=True):
        if part.card.get("hash") != expected:
            message = f"made for {name} {expected}, found {name} {part.card.get('hash')}; train the combination anew"
            raise BadInput(Problem(str(path), message))
    engine = CombinedEngine(tuple(part.engine for part in parts), costs)
    return PrepositionDetector(
        name=path.stem,
        engine=engine,
        thresholds=thresholds,
        card=model.card,
        known=KnownToAny([part.known for part in parts]),
    )


@cache
def load() -> PrepositionDetector:
    """The combination that comes with grater."""
    return from_file(shipped("prep-both"))
