"""Precision alone, from judgments of what a system flagged.

T&C 2008, Table 7, "verification": raters check the system's flags, nothing else.  Cheap, and enough for precision;
recall needs errors that the system missed, so it is undefined here and says so, whatever else happens to be judged.
Items that a system flagged and nobody judged are counted.  `fpc`: the corpus is all there is, so that intervals
shrink as the judged flags come near to all flags (they have no width where all are judged); by default it stands for
a wider one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import nan

import numpy as np
import polars as pl

from grater.errors import UsageError
from grater.evaluate.cases import Cases, Truths, cases_of
from grater.evaluate.counts import interval_rows
from grater.evaluate.draws import resampling_note
from grater.evaluate.evaluation import EvaluationOptions, parts_by, signature_of
from grater.evaluate.standard import Scored, against
from grater.evaluate.truth import Truth, truth_of
from grater.model import Interval, Json
from grater.result import Result
from grater.sheet import Sheet, count, interval
from grater.signature import Signature
from grater.statistics.bootstrap import Chance
from grater.statistics.proportions import finite_wilson
from grater.tables import Judgments, Table

NO_RECALL = "only flagged items were judged: misses are unknown, so recall is undefined; estimate it from a sample"


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

    def to_dict(self) -> dict[str, Json]:
        return {
            "system": self.system,
            "flagged": self.n_flagged,
            "judged": self.n_judged,
            "precision": self.precision.as_json(),
            "recall": self.recall.as_json(),
            "counts": {"hit": self.hit, "false_alarm": self.false_alarm},
        }


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Verification(Result):
    """The precision of every system, on all items and on parts of them."""

    systems: tuple[Verified, ...]
    signature: Signature
    parts: Mapping[str, Sequence[Verified]] = field(default_factory=dict)

    @property
    def warnings(self) -> tuple[str, ...]:
        """The systems of which not every flag was judged."""
        return tuple(
            f"{system.system}: {system.n_flagged - system.n_judged} of {system.n_flagged} flags are not judged"
            for system in self.systems
            if system.n_judged < system.n_flagged
        )

    def to_dict(self) -> dict[str, Json]:
        parts = {name: [verified.to_dict() for verified in part] for name, part in self.parts.items()}
        return {
            "systems": [verified.to_dict() for verified in self.systems],
            "signature": str(self.signature),
            **({"parts": parts} if parts else {}),
        }

    def to_frame(self) -> pl.DataFrame:
        """One precision per row: part, system."""
        rows = [
            row
            for name, part in {"": self.systems, **self.parts}.items()
            for verified in part
            for row in interval_rows({"precision": verified.precision}, part=name, system=verified.system)
        ]
        return pl.DataFrame(rows)

    def sheets(self) -> list[Sheet]:
        parts = {"Flags that raters call errors": self.systems, **self.parts}
        *sheets, last = (_sheet(title, part) for title, part in parts.items())
        notes = (f"{NO_RECALL}.", resampling_note(self.signature))
        return [*sheets, replace(last, notes=notes, signature=str(self.signature))]


def _sheet(title: str, part: Sequence[Verified]) -> Sheet:
    rows = [
        (
            verified.system,
            count(verified.n_flagged),
            count(verified.n_judged),
            count(verified.hit),
            interval(verified.precision),
        )
        for verified in part
    ]
    return Sheet(title, ("", "flags", "judged", "right", "precision"), tuple(rows), name="verified")


def verify(
    decisions: Table,
    judgments: Judgments,
    *,
    items: Table | None = None,
    gold: Table | None = None,
    options: EvaluationOptions | None = None,
    fpc: bool = False,
) -> Verification:
    """The precision of every system from judged flags; `gold` is the truth where that is adjudicated."""
    options = options or EvaluationOptions()
    cases = cases_of(decisions, judgments, items=items, unknown=options.unknown)
    truth = truth_of(cases, options.truth, gold=gold, seed=options.chance.seed)
    parts = {
        name: verified(cases, truth, chance=options.chance, fpc=fpc, where=where)
        for name, where in parts_by(cases, options.by).items()
    }
    systems = verified(cases, truth, chance=options.chance, fpc=fpc)
    return Verification(
        tuple(systems), signature_of(cases, options, what="verify", fpc="yes" if fpc else "no"), parts
    )


def verified(
    cases: Cases, truth: Truth, *, chance: Chance, fpc: bool = False, where: Truths | None = None
) -> list[Verified]:
    """The precision of every system on the items that it flagged itself."""
    if fpc and (chance.cluster != "item" or truth.is_graded):
        raise UsageError("the correction for a finite corpus is for items drawn one by one and a truth of yes or no")
    systems = []
    for column in range(len(cases.systems)):
        is_flagged = (cases.flagged[:, column] == 1) & (True if where is None else where)
        is_known = is_flagged & ~np.isnan(truth.values)
        scored = against(cases, truth, chance=chance, where=is_known)[column]
        systems.append(_verified(scored, int(is_flagged.sum()), int(is_known.sum()), fpc=fpc, level=chance.level))
    return systems


def _verified(scored: Scored, n_flagged: int, n_judged: int, *, fpc: bool, level: float) -> Verified:
    counts = scored.counts
    precision = scored["precision"]
    if fpc and n_judged:
        precision = finite_wilson(counts.hit, n_judged, size=n_flagged, level=level)
    return Verified(scored.system, n_flagged, n_judged, counts.hit, counts.false_alarm, precision)
