"""Precision alone, from judgments of what a system flagged.

T&C 2008, Table 7, "verification": raters check the system's flags, nothing else.  Cheap, and enough for precision;
recall needs errors that the system missed, so it is undefined here and says so, whatever else happens to be judged.
Items that a system flagged and nobody judged are counted.  `fpc`: the corpus is all there is, so that limits shrink
as the judged flags come near to all flags (none is left where all are judged); by default it stands for a wider one.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import nan

import numpy as np

from grater.errors import UsageError
from grater.evaluate.cases import Cases, Truths
from grater.evaluate.standard import Scored, against
from grater.evaluate.truth import Truth
from grater.model import Interval
from grater.statistics.bootstrap import Chance
from grater.statistics.proportions import finite_wilson

NO_RECALL = "only flagged items were judged: misses are unknown, so recall is undefined; use grater estimate"


@dataclass(frozen=True, slots=True, eq=False)
class Verified:
    """One system's flags: how many, how many judged, and the share that are right."""

    system: str
    n_flagged: int
    n_judged: int
    hit: float
    false_alarm: float
    precision: Interval

    @property
    def recall(self) -> Interval:
        return Interval(nan, nan, nan, NO_RECALL)


def verified(
    cases: Cases, truth: Truth, *, chance: Chance, fpc: bool = False, where: Truths | None = None
) -> list[Verified]:
    """The precision of every system on the items that it flagged itself."""
    if fpc and (chance.cluster != "item" or truth.is_graded):
        raise UsageError("the correction for a finite corpus is for items drawn one by one and a truth of yes or no")
    found = []
    for place in range(len(cases.systems)):
        is_flagged = (cases.flagged[:, place] == 1) & (True if where is None else where)
        is_known = is_flagged & ~np.isnan(truth.values)
        scored = against(cases, truth, chance=chance, where=is_known)[place]
        found.append(_verified(scored, int(is_flagged.sum()), int(is_known.sum()), fpc=fpc, level=chance.level))
    return found


def _verified(scored: Scored, n_flagged: int, n_judged: int, *, fpc: bool, level: float) -> Verified:
    counts = scored.counts
    precision = scored["precision"]
    if fpc and n_judged:
        precision = finite_wilson(counts.hit, n_judged, size=n_flagged, level=level)
    return Verified(scored.system, n_flagged, n_judged, counts.hit, counts.false_alarm, precision)
