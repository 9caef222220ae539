"""From a number to the items behind it: hits, false alarms, misses, and the items that divide raters most.

The text around an item comes from its essay where that is there, else from the items' own `context` column.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import isnan

import numpy as np
import polars as pl

from grater.measure.evaluation.cases import Cases
from grater.measure.evaluation.evaluation import Evaluation
from grater.measure.evaluation.standard import agreement_of
from grater.model import Essay
from grater.reporting.document import ItemList, ItemView
from grater.sheet import counted, natural
from grater.tables import Table
from grater.uncertainty import Ints

TIE = 0.5
CONTENTIOUS = "contentious"
TITLES = {"hit": "Hits of {}", "false_alarm": "False alarms of {}", "miss": "Misses of {}"}
HALF = "{} where raters are split evenly: each counts half as an error, half as correct."
AROUND, NEAR = 90, 32
"""Characters on each side of an item in a list, and in the cell of a table."""


def item_lists(evaluation: Evaluation, texts: Texts, *, most: int) -> list[ItemList]:
    """Every list of the report; a list shows `most` items at the most, and says how many there are."""
    places = ItemViews(evaluation.cases, texts)
    truth = evaluation.truth.values
    ties = np.asarray(truth == TIE)
    lists = []
    for column, system in enumerate(evaluation.cases.systems):
        flagged = evaluation.cases.flagged[:, column]
        cells = {"hit": (flagged == 1) & (truth >= TIE), "false_alarm": (flagged == 1) & (truth <= TIE)}
        cells["miss"] = (flagged == 0) & (truth >= TIE)
        for cell, where in cells.items():
            rows = np.concatenate([np.flatnonzero(where & ~ties), np.flatnonzero(where & ties)])
            note = HALF.format(counted(int((where & ties).sum()), "item")) if (where & ties).any() else ""
            lists.append(item_list(places, list_name(system, cell), TITLES[cell].format(system), rows, most, note))
    agreement = agreement_of(evaluation.cases)
    split = np.flatnonzero(agreement < 1)
    ranked = split[np.argsort(agreement[split], kind="stable")]
    title = "Items that divide the raters, the most contested first"
    return [*lists, item_list(places, CONTENTIOUS, title, ranked, most)]


def item_list(places: ItemViews, name: str, title: str, rows: Ints, most: int, note: str = "") -> ItemList:
    """The first `most` of some rows, and how many there are."""
    shown = tuple(places.view(int(row)) for row in rows[:most])
    return ItemList(name=name, title=title, n_items=len(rows), items=shown, note=note)


def list_name(system: str, cell: str) -> str:
    """The anchor of a list in the page."""
    return f"items-{safe_name(system)}-{cell}"


def safe_name(name: str) -> str:
    """A name that is safe in an address, whatever a system or a rater is called."""
    return "".join(character if character.isalnum() else "-" for character in name)


@dataclass(frozen=True, eq=False)
class ItemViews:
    """Views of items: their text, the labels that raters gave, and what systems decided."""

    cases: Cases
    texts: Texts

    @cached_property
    def labels(self) -> dict[str, list[tuple[str, str]]]:
        labels: dict[str, list[tuple[str, str]]] = {}
        for item, rater, label in self.cases.judgments.frame.select("item", "rater", "label").iter_rows():
            labels.setdefault(str(item), []).append((str(rater), str(label)))
        return labels

    def view(self, row: int) -> ItemView:
        item_id = str(self.cases.items[row])
        before, target, after = self.texts.around(item_id)
        words = {1: "flags it", 0: "lets it pass"}
        decided = zip(self.cases.systems, self.cases.flagged[row].tolist(), strict=True)
        scored = zip(self.cases.systems, self.cases.scores[row].tolist(), strict=True)
        return ItemView(
            item_id=item_id,
            before=before,
            target=target,
            after=after,
            labels=tuple(sorted(self.labels.get(item_id, ()), key=lambda pair: natural(pair[0]))),
            decisions=tuple((system, words[flag]) for system, flag in decided if flag in words),
            scores={system: score for system, score in scored if not isnan(score)},
        )


@dataclass(frozen=True, eq=False)
class Texts:
    """Items and their essays."""

    items: pl.DataFrame
    essays: Mapping[str, Essay]

    @cached_property
    def by_id(self) -> dict[str, dict[str, object]]:
        return {str(row["item"]): row for row in self.items.iter_rows(named=True)} if len(self.items) else {}

    def around(self, item_id: str, width: int = AROUND) -> tuple[str, str, str]:
        """The text before an item, the item, and the text after it."""
        row = self.by_id.get(item_id, {})
        essay = self.essays.get(str(row.get("essay")))
        start, end = row.get("start"), row.get("end")
        if essay is None or not isinstance(start, int) or not isinstance(end, int):
            return "", str(row.get("target") or item_id), f" {row['context']}" if row.get("context") else ""
        before = essay.text[max(0, start - width) : start]
        after = essay.text[end : end + width]
        if start > width:
            before = _whole(before)
        if end + width < len(essay.text):
            after = _whole(after[::-1])[::-1]
        return before, essay.text[start:end], after

    def line(self, item_id: str) -> str:
        """An item in a few words on one line, the item itself in brackets: `…we met [on] the station…`."""
        before, target, after = self.around(item_id, NEAR)
        return " ".join(f"{before}[{target}]{after}".split()) if before or after else target


SENTENCE_END = re.compile(r"[.!?][\"'”’)]*(?=\s|$)")


def in_its_sentence(view: ItemView) -> ItemView:
    """The item with the text of its own sentence alone."""
    ends = [match.end() for match in SENTENCE_END.finditer(view.before)]
    before = view.before[ends[-1] :].lstrip() if ends else view.before
    end = SENTENCE_END.search(view.after)
    return replace(view, before=before, after=view.after[: end.end()] if end else view.after)


def texts_of(items: Table | None, essays: Sequence[Essay]) -> Texts:
    return Texts(items.frame if items is not None else pl.DataFrame(), {essay.essay_id: essay for essay in essays})


def _whole(text: str) -> str:
    """Text that was cut off at its beginning, without the piece of a word there."""
    return "…" + text.partition(" ")[2].lstrip() if " " in text else f"…{text}"
