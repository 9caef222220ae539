"""Findings as rows of the tables of decisions and items (docs/tables.md)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import polars as pl

from grater.detect.detector import Detector, Finding
from grater.model import Essay

AROUND = 80
"""Characters of context on each side of an item."""

DECISION: dict[str, type[pl.DataType]] = {
    "item": pl.String,
    "system": pl.String,
    "flagged": pl.Boolean,
    "score": pl.Float64,
    "type": pl.String,
    "suggestion": pl.String,
}
PLACE: dict[str, type[pl.DataType]] = {"essay": pl.String, "start": pl.Int64, "end": pl.Int64, "kind": pl.String}
ITEM: dict[str, type[pl.DataType]] = {
    "item": pl.String,
    **PLACE,
    "document": pl.String,
    "target": pl.String,
    "context": pl.String,
}


class Rows:
    """Collects the findings of several systems; `with_places` puts the items' places into the decisions.

    `names` are what a table of places calls its items, by their ids.
    """

    def __init__(self, *, with_places: bool, names: Mapping[str, str] | None = None) -> None:
        self.with_places = with_places
        self.names = names or {}
        self._decisions: list[tuple[object, ...]] = []
        self._items: dict[str, tuple[object, ...]] = {}

    def add(self, essays: Iterable[Essay], detector: Detector) -> None:
        """All findings of a detector; essays are let go as soon as they are done with."""
        waiting: dict[str, Essay] = {}
        for finding in detector.find(_kept(essays, waiting)):
            self._add(finding, waiting)

    def _add(self, finding: Finding, waiting: dict[str, Essay]) -> None:
        item, decision = finding.item, finding.decision
        for done in list(_before(waiting, item.essay_id)):
            del waiting[done]
        place = (item.essay_id, item.span.start, item.span.end, item.kind)
        name = self.names.get(item.item_id, item.item_id)
        said = (name, decision.system, decision.flagged, decision.score, decision.type or None)
        self._decisions.append((*said, decision.suggestion, *(place if self.with_places else ())))
        if not self.with_places and name not in self._items:
            essay = waiting[item.essay_id]
            context = essay.text[max(0, item.span.start - AROUND) : item.span.end + AROUND]
            document = essay.metadata.get("document")
            told = (str(document) if document is not None else None, finding.target, " ".join(context.split()))
            self._items[name] = (name, *place, *told)

    def decisions(self) -> pl.DataFrame:
        schema = DECISION | (PLACE if self.with_places else {})
        return pl.DataFrame(self._decisions, schema=schema, orient="row")

    def items(self) -> pl.DataFrame:
        return pl.DataFrame(list(self._items.values()), schema=ITEM, orient="row")


def _kept(essays: Iterable[Essay], waiting: dict[str, Essay]) -> Iterator[Essay]:
    for essay in essays:
        waiting[essay.essay_id] = essay
        yield essay


def _before(waiting: dict[str, Essay], essay_id: str) -> Iterator[str]:
    """The essays that came before one: findings come in the order of essays, so these have no more."""
    for name in waiting:
        if name == essay_id:
            return
        yield name
