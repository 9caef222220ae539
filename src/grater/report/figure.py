"""One picture of a report: a chart, its title, and the words that say in plain language what it shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

Spec: TypeAlias = Mapping[str, Any]
"""A Vega-Lite 5 specification: any JSON."""

Row: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True, eq=False)
class Figure:
    """`name` is the file's stem; `words` come from the data; `source` is the exhibit of a paper that it follows."""

    name: str
    title: str
    words: str
    spec: Spec
    source: str = ""


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table: every cell is ready to be read; `links` leads a cell (row, column) to the items behind it."""

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    links: Mapping[tuple[int, int], str] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True, eq=False)
class Section:
    """A question of the report with its answer in words, pictures and tables."""

    name: str
    title: str
    words: tuple[str, ...]
    figures: tuple[Figure, ...] = ()
    sheets: tuple[Sheet, ...] = ()
    signature: str = ""


@dataclass(frozen=True, slots=True)
class ItemView:
    """One judged item as a reader meets it behind a number."""

    item_id: str
    before: str
    target: str
    after: str
    said: tuple[tuple[str, str], ...]
    decided: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, eq=False)
class ItemList:
    """The items behind one number: hits, misses, false alarms, contentious ones."""

    name: str
    title: str
    n_items: int
    items: tuple[ItemView, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Report:
    """The whole, in reading order; `left_out` says which parts have no data, and which data they would need."""

    title: str
    headline: tuple[str, ...]
    sections: Sequence[Section]
    lists: Sequence[ItemList] = ()
    left_out: tuple[str, ...] = ()
    made: str = ""

    @property
    def figures(self) -> tuple[Figure, ...]:
        return tuple(figure for section in self.sections for figure in section.figures)

    @property
    def sheets(self) -> tuple[Sheet, ...]:
        return tuple(sheet for section in self.sections for sheet in section.sheets)
