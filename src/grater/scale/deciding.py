"""Detectors over a corpus: the decisions of several in one pass, and where their items stand.

Rows are in the order of essays, and within an essay in the order of the systems as they were named.  Systems from
outside that are files or programs see a corpus as a whole and are not run shard by shard (`is_external`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from grater.detect.decisions import ITEM, TYPES, DecisionRows, summary
from grater.detect.detector import Detector
from grater.detect.systems import at_precision, load_systems
from grater.model import Json
from grater.scale.jobs import JobTable, Partial
from grater.scale.parts import Parts
from grater.scale.shards import ShardEssay

DECISIONS, ITEMS = "decisions", "items"


@cache
def _detectors(systems: tuple[str, ...], precision: float | None) -> tuple[Detector, ...]:
    return tuple(at_precision(load_systems(systems), precision))


@dataclass(frozen=True, slots=True)
class DecideJob:
    """The systems by name or model file; with `items` their places go into a table of their own."""

    systems: tuple[str, ...]
    precision: float | None = None
    with_answers: bool = False
    items: bool = False
    name: str = "decide"
    version: int = 1

    @property
    def detectors(self) -> tuple[Detector, ...]:
        return _detectors(self.systems, self.precision)

    @property
    def options(self) -> Mapping[str, Json]:
        systems: list[Json] = [[detector.name, (detector.card or {}).get("hash")] for detector in self.detectors]
        return {
            "systems": systems,
            "precision": self.precision,
            "answers": self.with_answers,
            "items": self.items,
        }

    @property
    def tables(self) -> Mapping[str, JobTable]:
        decisions = {DECISIONS: JobTable(self._rows().schema)}
        return {**decisions, ITEMS: JobTable(ITEM)} if self.items else decisions

    def _rows(self) -> DecisionRows:
        return DecisionRows(with_places=not self.items, with_answers=self.with_answers)

    def partial(self, essays: Sequence[ShardEssay]) -> Partial:
        rows = self._rows()
        rows.add_together([each.essay for each in essays], self.detectors)
        decisions = rows.decisions()
        tables = {DECISIONS: decisions, **({ITEMS: rows.items()} if self.items else {})}
        totals = {
            f"{counts['system']}|{name}": int(counts[name])
            for counts in summary(decisions)
            for name in ("items", "flagged", *TYPES)
        }
        return Partial(tables=tables, totals=totals)


def summary_of(decisions: Parts) -> list[dict[str, Json]]:
    """The number of items, of flags and of each type for each system, as `grater.detect.decisions.summary`."""
    names, totals = ("items", "flagged", *TYPES), decisions.totals
    systems: list[list[str]] = decisions.about["options"]["systems"]  # type: ignore[index,call-overload,assignment]
    return [
        {"system": system, **{name: totals[f"{system}|{name}"] for name in names}}
        for system, _ in systems
        if f"{system}|items" in totals
    ]
