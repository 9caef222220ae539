"""Sufficient statistics of a detector against raters: four counts that add up, and the scores made of them.

Where raters disagree an item may count in parts: with truth t in [0, 1] a flagged item is t of a hit and 1 - t of a
false alarm, one that is not flagged t of a miss and 1 - t of a correct rejection (Madnani et al. 2011, eq. 1-3; with
t of 0 or 1 these are the counts that everybody knows).  Scores do not add; they are taken from sums.

0/0 is nan, and says why: precision where nothing was flagged, recall where nothing is an error.  F is (1 + b^2) H /
(flagged + b^2 errors), so it is 0, not undefined, for a system that flags nothing where there are errors.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from grater.model import Interval
from grater.result import Estimate
from grater.uncertainty.intervals import Numbers

Flags: TypeAlias = npt.NDArray[np.int8]

ABSENT = -1
"""In a matrix of flags: this system did not decide on this item."""

CELLS = ("hit", "false_alarm", "miss", "correct_rejection")
SCORES = ("precision", "recall", "f0.5", "f1", "kappa", "error_rate")
SHARES = ("precision", "recall", "error_rate")
"""Scores that are a share of items: Wilson's interval holds for them."""

REASONS = {
    "precision": "no judged item is flagged",
    "recall": "no judged item is an error",
    "f0.5": "nothing is flagged and no item is an error",
    "f1": "nothing is flagged and no item is an error",
    "kappa": "system and raters use only one label, so chance alone would agree as often",
    "error_rate": "no item was judged",
}
ALL_FLAGGED = "everything is flagged, so recall is 1 by definition, not an estimate"
ONE_DECISION = "everything is flagged, or nothing, so kappa is 0 by definition"
NO_PASSED = "no unflagged item was judged, so the misses are unknown"
NO_FLAGS = "no flagged item was judged, so the hits are unknown"


@dataclass(frozen=True, slots=True)
class Counts:
    """They add up; scores do not."""

    hit: float = 0.0
    false_alarm: float = 0.0
    miss: float = 0.0
    correct_rejection: float = 0.0

    @classmethod
    def of_row(cls, row: Numbers) -> Counts:
        """The counts in the order of `CELLS`."""
        return cls(**dict(zip(CELLS, row.tolist(), strict=True)))

    def __add__(self, other: Counts) -> Counts:
        return Counts.of_row(self.row() + other.row())

    @property
    def n(self) -> float:
        return float(self.row().sum())

    def row(self) -> Numbers:
        return np.array([self.hit, self.false_alarm, self.miss, self.correct_rejection])

    def score(self, name: str) -> float:
        """One of `SCORES`; nan where it is undefined."""
        return float(scores(self.row())[SCORES.index(name)])

    def f(self, beta: float) -> float:
        return float(f_score(self.row(), beta))

    def as_json(self) -> dict[str, float]:
        return {name: whole(float(value)) for name, value in zip(CELLS, self.row(), strict=True)}


def count(flagged: npt.ArrayLike, truth: npt.ArrayLike) -> Counts:
    """The counts of one system: whether each item is flagged, and how far it is an error."""
    marks = np.asarray(flagged, np.int8)
    return Counts.of_row(cells(marks[:, None], np.asarray(truth, np.float64)).sum(axis=(0, 1)))


def cells(flagged: Flags, truth: Numbers) -> Numbers:
    """Flags (items, systems) and truths (items) give (items, systems, 4); an absent decision counts nowhere."""
    is_error = truth[:, None]
    is_flagged, is_passed = flagged == 1, flagged == 0
    parts = [is_flagged * is_error, is_flagged * (1 - is_error), is_passed * is_error, is_passed * (1 - is_error)]
    return np.stack(parts, axis=-1)


def scores(sums: Numbers) -> Numbers:
    """All `SCORES` in place of the four counts of the last axis."""
    hit, false_alarm, miss, _ = np.moveaxis(sums, -1, 0)
    parts = [
        ratio(hit, hit + false_alarm),
        ratio(hit, hit + miss),
        f_score(sums, 0.5),
        f_score(sums, 1.0),
        kappa(sums),
        ratio(hit + miss, sums.sum(axis=-1)),
    ]
    return np.stack(parts, axis=-1)


def f_score(sums: Numbers, beta: float) -> Numbers:
    hit, false_alarm, miss, _ = np.moveaxis(sums, -1, 0)
    return ratio((1 + beta**2) * hit, hit + false_alarm + beta**2 * (hit + miss))


def kappa(sums: Numbers) -> Numbers:
    """Cohen's kappa of the system and the truth."""
    hit, false_alarm, miss, rejection = np.moveaxis(sums, -1, 0)
    n = sums.sum(axis=-1)
    by_chance = (hit + false_alarm) * (hit + miss) + (miss + rejection) * (false_alarm + rejection)
    return ratio(n * (hit + rejection) - by_chance, n * n - by_chance)


def below(name: str, counts: Counts) -> float:
    """What a share is a share of; for F the mean of flags and errors, weighted as F weighs them."""
    flags, errors = counts.hit + counts.false_alarm, counts.hit + counts.miss
    lines = {"precision": flags, "recall": errors, "error_rate": counts.n}
    return {**lines, "f0.5": (flags + errors / 4) / 1.25, "f1": (flags + errors) / 2}[name]


def ratio(above: Numbers, under: Numbers) -> Numbers:
    """above / under, nan where there is nothing to divide by."""
    out: Numbers = np.divide(above, under, out=np.full(np.shape(under), np.nan), where=np.asarray(under) != 0)
    return out


def each_score(scores: Mapping[str, Interval], **labels: str) -> Iterator[Estimate]:
    """The numbers of a tidy frame: the labels, the name of a score, and the score."""
    for name, score in scores.items():
        yield {**labels, "score": name}, score


def whole(value: float) -> float:
    """A whole number as such, for JSON."""
    return int(value) if value == int(value) else value
