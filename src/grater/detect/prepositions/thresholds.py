"""When a difference of scores is large enough to flag.

T,C&M 2013, section 3.2: the model knows no errors, only good text, so thresholds decide: the writer's preposition is
flagged if another is more probable by a certain amount.  Here the amount is a margin of log-odds: log p(best other)
- log p(written) for a wrong choice, log p(none) - log p(written) for an extraneous one, and log p(best) - log p(none)
for a missing one, each with a threshold of its own.  A margin must be above its threshold: equal is OK.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import inf
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from grater.detect.learning.weights import Scores
from grater.detect.prepositions.candidates import ANSWERS, COLUMN_OF, NONE
from grater.errors import UsageError
from grater.model import Json

CHOICE, EXTRANEOUS, MISSING_TYPE = "choice", "extraneous", "missing"
TYPES = (CHOICE, EXTRANEOUS, MISSING_TYPE)
OWN = "by_preposition"
Answers: TypeAlias = npt.NDArray[np.int64]
Truths: TypeAlias = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Margins that a flag of each type must exceed; `by_preposition` has those of single prepositions, for choice.

    Prepositions that good writers choose freely (*among*, *across*) have large margins against them even where they
    are right; these would set a common threshold, and errors in *in*, *on* and *at* would be missed.
    """

    choice: float = inf
    extraneous: float = inf
    missing: float = inf
    by_preposition: Mapping[str, float] = field(default_factory=dict, hash=False)

    @staticmethod
    def of(numbers: object) -> Thresholds:
        """From the numbers on a model's card."""
        if not isinstance(numbers, Mapping) or not set(numbers) <= {*TYPES, OWN}:
            raise UsageError(f"expected thresholds for {', '.join(TYPES)}, found {numbers!r}")
        own = {word: float(value) for word, value in numbers.get(OWN, {}).items()}
        return Thresholds(**{name: float(numbers[name]) for name in TYPES if name in numbers}, by_preposition=own)

    def as_json(self) -> dict[str, Json]:
        return dict(asdict(self))

    def rows(self, written: Sequence[int]) -> Scores:
        """(candidates, types): the threshold that each margin must exceed."""
        choice = np.full(len(ANSWERS), self.choice)
        for word, value in self.by_preposition.items():
            choice[COLUMN_OF[word]] = value
        thresholds = np.empty((len(written), len(TYPES)))
        thresholds[:, 0] = choice[np.array(written, np.int64)]
        thresholds[:, 1:] = self.extraneous, self.missing
        return thresholds


@dataclass(frozen=True, slots=True, eq=False)
class Margins:
    """The margins of each candidate by type (-inf where a type is impossible), and the best preposition."""

    values: Scores
    best: Answers


def margins(scores: Scores, written: Sequence[int]) -> Margins:
    """The margins of what was written, which may be nothing (a gap)."""
    rows, own = np.arange(len(scores)), np.array(written, np.int64)
    is_gap = own == NONE
    of_own = scores[rows, own]
    others = scores[:, :NONE].copy()
    others[rows[~is_gap], own[~is_gap]] = -inf
    best = others.argmax(axis=1) if len(scores) else np.zeros(0, np.int64)
    over = others[rows, best] - of_own
    values = np.full((len(scores), len(TYPES)), -inf)
    values[:, 0] = np.where(is_gap, -inf, over)
    values[:, 1] = np.where(is_gap, -inf, scores[:, NONE] - of_own)
    values[:, 2] = np.where(is_gap, over, -inf)
    return Margins(values, best)


def lowest_threshold(
    wrong: npt.NDArray[np.float64], right: npt.NDArray[np.float64], *, false_alarms: float, least: float = 0.0
) -> float:
    """The lowest threshold that flags at most a share of the right uses; `wrong` only bounds it from above."""
    if not len(right):
        raise UsageError("expected right uses to choose a threshold from, found none")
    n_allowed = int(false_alarms * len(right))
    ordered = np.sort(right)[::-1]
    threshold = float(ordered[n_allowed]) if n_allowed < len(ordered) else least
    highest = float(wrong.max()) if len(wrong) else inf
    return round(min(max(threshold, least), highest), 3)
