"""The words round an item: from its essay where that is there, else from the items' own `context` column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from grater.model import Essay
from grater.tables import Table

AROUND, NEAR = 90, 32
"""Characters on each side of an item in a list, and in the cell of a table."""


@dataclass(frozen=True, eq=False)
class Texts:
    """Items and the essays that they stand in."""

    items: pl.DataFrame
    essays: Mapping[str, Essay]

    @cached_property
    def by_id(self) -> dict[str, dict[str, object]]:
        return {str(row["item"]): row for row in self.items.iter_rows(named=True)} if len(self.items) else {}

    def around(self, item_id: str, width: int = AROUND) -> tuple[str, str, str]:
        """What stands before an item, the item, what stands after it."""
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


def texts_of(items: Table | None, essays: Sequence[Essay]) -> Texts:
    return Texts(items.frame if items is not None else pl.DataFrame(), {essay.essay_id: essay for essay in essays})


def _whole(text: str) -> str:
    """Text that was cut off at its beginning, without the piece of a word there."""
    return "…" + text.partition(" ")[2].lstrip() if " " in text else f"…{text}"
