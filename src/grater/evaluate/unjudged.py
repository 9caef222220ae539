"""Items that nobody judged: how far precision and recall could move if all of them, or none, were errors.

No assumption, no interval: with u flagged and v passed-over items without a truth, precision lies between H / (F + u)
and (H + u) / (F + u), recall between H / (H + M + v) (no unjudged flag is an error, every unjudged item passed over
is one) and (H + u) / (H + u + M).  Manski 2003, Partial Identification of Probability Distributions, calls them
worst-case bounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan

from grater.evaluate.counts import Counts
from grater.model import Json
from grater.sheet import Sheet, count, number


@dataclass(frozen=True, slots=True)
class Bounds:
    """One system: what it flagged and passed over unjudged, and the counts of the judged items."""

    system: str
    n_flagged: int
    n_passed: int
    counts: Counts

    @property
    def none(self) -> Counts:
        """The counts if no unjudged item were an error."""
        return self.counts + Counts(false_alarm=self.n_flagged, correct_rejection=self.n_passed)

    @property
    def all(self) -> Counts:
        """The counts if every unjudged item were an error."""
        return self.counts + Counts(hit=self.n_flagged, miss=self.n_passed)

    @property
    def worst(self) -> Counts:
        return self.counts + Counts(false_alarm=self.n_flagged, miss=self.n_passed)

    @property
    def best(self) -> Counts:
        return self.counts + Counts(hit=self.n_flagged, correct_rejection=self.n_passed)

    def to_dict(self) -> dict[str, Json]:
        return {
            "none_errors": {name: _known(self.none.score(name)) for name in ("precision", "recall")},
            "all_errors": {name: _known(self.all.score(name)) for name in ("precision", "recall")},
            "recall_lowest": _known(self.worst.score("recall")),
            "recall_highest": _known(self.best.score("recall")),
        }


def _known(value: float) -> float | None:
    return None if value != value else value


def bounds_sheet(bounds: Sequence[Bounds]) -> Sheet:
    """The table of all systems."""
    rows = [
        (
            bound.system,
            count(bound.n_flagged),
            count(bound.n_passed),
            *(_range(bound.none.score(name), bound.all.score(name)) for name in ("precision", "recall")),
            _range(bound.worst.score("recall"), bound.best.score("recall")),
        )
        for bound in bounds
    ]
    columns = ("", "flags", "passed over", "precision: none, all", "recall: none, all", "recall: lowest, highest")
    title = "If none of the items that nobody judged were errors, or all of them"
    return Sheet(title, columns, tuple(rows), name="bounds")


def _range(low: float, high: float = nan) -> str:
    return f"{number(low)}, {number(high)}"
