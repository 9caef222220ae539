"""The items that a system from outside is to decide on, from a table of items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from grater.errors import Problems
from grater.model import Item, Span
from grater.tables import read_items


@dataclass(frozen=True, slots=True)
class Places:
    """Items by essay, and what their table calls them, by id."""

    by_essay: Mapping[str, Sequence[Item]] = field(hash=False)
    names: Mapping[str, str] = field(hash=False)


def read_places(path: Path) -> Places:
    """The items of a table; decisions will name them as the table does."""
    by_essay: dict[str, list[Item]] = {}
    names: dict[str, str] = {}
    problems = Problems(str(path))
    for line, row in enumerate(read_items(path).frame.iter_rows(named=True), 2):
        item = Item(str(row["essay"]), Span(row["start"], row["end"]), str(row["kind"]))
        if item.item_id in names:
            problems.add(
                f"expected one item at a place, found {row['item']!r} where {names[item.item_id]!r} is", line=line
            )
        by_essay.setdefault(item.essay_id, []).append(item)
        names[item.item_id] = str(row["item"])
    problems.done()
    return Places(by_essay, names)
