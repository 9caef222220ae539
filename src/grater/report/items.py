"""From a number to the items behind it: hits, false alarms, misses, and the items that divide raters most.

The text round an item comes from the essays where they are there, else from the items' own `context` column.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from grater.evaluate.binned import agreement_of
from grater.evaluate.cases import Cases, Truths
from grater.evaluate.detectors import Evaluation
from grater.model import Essay
from grater.report.figure import ItemList, ItemView
from grater.tables import Table

AROUND = 90
CONTENTIOUS = "contentious"
TITLES = {"hit": "Hits of {}", "false_alarm": "False alarms of {}", "miss": "Misses of {}"}


def list_name(system: str, cell: str) -> str:
    """The anchor of a list in the page."""
    safe = "".join(character if character.isalnum() else "-" for character in system)
    return f"items-{safe}-{cell}"


@dataclass(frozen=True, eq=False)
class Places:
    """Where items stand and what was said of them."""

    cases: Cases
    items: pl.DataFrame
    essays: Mapping[str, Essay]

    @cached_property
    def by_id(self) -> dict[str, dict[str, object]]:
        return {str(row["item"]): row for row in self.items.iter_rows(named=True)} if len(self.items) else {}

    @cached_property
    def said(self) -> dict[str, list[tuple[str, str]]]:
        said: dict[str, list[tuple[str, str]]] = {}
        for item, rater, label in self.cases.judgments.frame.select("item", "rater", "label").iter_rows():
            said.setdefault(str(item), []).append((str(rater), str(label)))
        return said

    def view(self, place: int) -> ItemView:
        item_id = str(self.cases.items[place])
        before, target, after = self._text(item_id)
        return ItemView(
            item_id, before, target, after, tuple(sorted(self.said.get(item_id, ()))), self._decided(place)
        )

    def _decided(self, place: int) -> tuple[tuple[str, str], ...]:
        words = {1: "flags it", 0: "lets it pass"}
        flags = self.cases.flagged[place].tolist()
        return tuple(
            (system, words[flag]) for system, flag in zip(self.cases.systems, flags, strict=True) if flag in words
        )

    def _text(self, item_id: str) -> tuple[str, str, str]:
        row = self.by_id.get(item_id, {})
        essay = self.essays.get(str(row.get("essay")))
        start, end = row.get("start"), row.get("end")
        if essay is None or not isinstance(start, int) or not isinstance(end, int):
            return "", str(row.get("target") or item_id), f" {row['context']}" if row.get("context") else ""
        before = essay.text[max(0, start - AROUND) : start]
        after = essay.text[end : end + AROUND]
        cut = "…" if start > AROUND else ""
        return cut + before, essay.text[start:end], after + ("…" if end + AROUND < len(essay.text) else "")


def item_lists(found: Evaluation, *, items: Table | None, essays: Sequence[Essay], most: int) -> list[ItemList]:
    """Every list of the report; a list shows `most` items at the most, and says how many there are."""
    frame = items.frame if items is not None else pl.DataFrame()
    places = Places(found.cases, frame, {essay.essay_id: essay for essay in essays})
    lists = []
    for column, system in enumerate(found.cases.systems):
        for cell, where in _cells(found, column):
            lists.append(
                _list(places, list_name(system, cell), TITLES[cell].format(system), np.flatnonzero(where), most)
            )
    agreement = agreement_of(found.cases)
    split = np.flatnonzero(agreement < 1)
    ranked = split[np.argsort(agreement[split], kind="stable")]
    return [
        *lists,
        _list(places, CONTENTIOUS, "Items that divide the raters, the most contested first", ranked, most),
    ]


def _cells(found: Evaluation, column: int) -> Iterator[tuple[str, Truths]]:
    truth, flagged = found.truth.values, found.cases.flagged[:, column]
    yield "hit", (flagged == 1) & (truth > 0.5)
    yield "false_alarm", (flagged == 1) & (truth < 0.5)
    yield "miss", (flagged == 0) & (truth > 0.5)


def _list(
    places: Places, name: str, title: str, rows: np.ndarray[tuple[int], np.dtype[np.int64]], most: int
) -> ItemList:
    return ItemList(name, title, len(rows), tuple(places.view(int(row)) for row in rows[:most]))
