"""From a number to the items behind it: hits, false alarms, misses, and the items that divide raters most."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from grater.evaluate.binned import agreement_of
from grater.evaluate.cases import Cases, Truths
from grater.evaluate.detectors import Evaluation
from grater.report.figure import ItemList, ItemView
from grater.report.texts import Texts
from grater.report.words import many

TIE = 0.5
CONTENTIOUS = "contentious"
TITLES = {"hit": "Hits of {}", "false_alarm": "False alarms of {}", "miss": "Misses of {}"}
HALF = "{} where raters are split evenly: each counts half as an error, half as correct."


def list_name(system: str, cell: str) -> str:
    """The anchor of a list in the page."""
    safe = "".join(character if character.isalnum() else "-" for character in system)
    return f"items-{safe}-{cell}"


@dataclass(frozen=True, eq=False)
class Places:
    """Where items stand and what was said of them."""

    cases: Cases
    texts: Texts

    @cached_property
    def said(self) -> dict[str, list[tuple[str, str]]]:
        said: dict[str, list[tuple[str, str]]] = {}
        for item, rater, label in self.cases.judgments.frame.select("item", "rater", "label").iter_rows():
            said.setdefault(str(item), []).append((str(rater), str(label)))
        return said

    def view(self, place: int) -> ItemView:
        item_id = str(self.cases.items[place])
        before, target, after = self.texts.around(item_id)
        return ItemView(
            item_id, before, target, after, tuple(sorted(self.said.get(item_id, ()))), self._decided(place)
        )

    def _decided(self, place: int) -> tuple[tuple[str, str], ...]:
        words = {1: "flags it", 0: "lets it pass"}
        flags = self.cases.flagged[place].tolist()
        return tuple(
            (system, words[flag]) for system, flag in zip(self.cases.systems, flags, strict=True) if flag in words
        )


def item_lists(found: Evaluation, texts: Texts, *, most: int) -> list[ItemList]:
    """Every list of the report; a list shows `most` items at the most, and says how many there are."""
    places = Places(found.cases, texts)
    ties = np.asarray(found.truth.values == TIE)
    lists = []
    for column, system in enumerate(found.cases.systems):
        for cell, where in _cells(found, column):
            rows = np.concatenate([np.flatnonzero(where & ~ties), np.flatnonzero(where & ties)])
            note = HALF.format(many(int((where & ties).sum()), "item")) if (where & ties).any() else ""
            lists.append(_list(places, list_name(system, cell), TITLES[cell].format(system), rows, most, note))
    agreement = agreement_of(found.cases)
    split = np.flatnonzero(agreement < 1)
    ranked = split[np.argsort(agreement[split], kind="stable")]
    return [
        *lists,
        _list(places, CONTENTIOUS, "Items that divide the raters, the most contested first", ranked, most),
    ]


def _cells(found: Evaluation, column: int) -> Iterator[tuple[str, Truths]]:
    truth, flagged = found.truth.values, found.cases.flagged[:, column]
    yield "hit", (flagged == 1) & (truth >= TIE)
    yield "false_alarm", (flagged == 1) & (truth <= TIE)
    yield "miss", (flagged == 0) & (truth >= TIE)


def _list(
    places: Places, name: str, title: str, rows: np.ndarray[tuple[int], np.dtype[np.int64]], most: int, note: str = ""
) -> ItemList:
    return ItemList(name, title, len(rows), tuple(places.view(int(row)) for row in rows[:most]), note)
