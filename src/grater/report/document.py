"""One picture of a report: a chart, its title, and the words that say in plain language what it shows.

Numbers and lists as people write them, for the words beside a picture.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isnan
from typing import Any, TypeAlias

from grater.model import Interval

Spec: TypeAlias = Mapping[str, Any]
"""A Vega-Lite 5 specification: any JSON."""

Row: TypeAlias = Mapping[str, Any]

NUMBER = re.compile(r"(p )?[-−–.\d]")
EMPTY = "–"
LONG = 28
"""Characters of a cell beyond which a column wraps."""


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

    @property
    def is_words(self) -> tuple[bool, ...]:
        """Which columns hold words, and so begin at the left; numbers end at the right."""
        return tuple(
            place == 0 or not all(NUMBER.match(row[place]) for row in self.rows) for place in range(len(self.columns))
        )

    @property
    def looks(self) -> tuple[str, ...]:
        """The classes of the columns on a page: numbers, words, and words so long that they must wrap."""
        longest = [max((len(row[place]) for row in self.rows), default=0) for place in range(len(self.columns))]
        return tuple(
            ("words long" if length > LONG else "words") if words else "number"
            for words, length in zip(self.is_words, longest, strict=True)
        )


def without_empty_columns(sheet: Sheet) -> Sheet:
    """The table without columns that say nothing in any row."""
    kept = [place for place in range(len(sheet.columns)) if any(row[place] != EMPTY for row in sheet.rows)]
    links = {(row, kept.index(place)): name for (row, place), name in sheet.links.items() if place in kept}
    rows = tuple(tuple(row[place] for place in kept) for row in sheet.rows)
    return replace(sheet, columns=tuple(sheet.columns[place] for place in kept), rows=rows, links=links)


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
    """One judged item as a reader meets it behind a number; `said` by whom, `decided` by which system."""

    item_id: str
    before: str
    target: str
    after: str
    said: tuple[tuple[str, str], ...]
    decided: tuple[tuple[str, str], ...]

    @property
    def by_label(self) -> list[tuple[str, list[str]]]:
        """Who said the same, the greater number first."""
        found: dict[str, list[str]] = {}
        for rater, label in self.said:
            found.setdefault(label, []).append(rater)
        return sorted(found.items(), key=lambda pair: (-len(pair[1]), pair[0]))


@dataclass(frozen=True, slots=True, eq=False)
class ItemList:
    """The items behind one number: hits, misses, false alarms, contentious ones."""

    name: str
    title: str
    n_items: int
    items: tuple[ItemView, ...]
    note: str = ""


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


def number(value: float, *, digits: int = 2) -> str:
    """`.63`, as the papers print shares; undefined is a dash."""
    if isnan(value):
        return "–"
    text = f"{value:.{digits}f}".replace("-", "−")
    return text.replace("0.", ".", 1) if abs(value) < 1 else text


def interval(value: Interval, *, digits: int = 2) -> str:
    """`.63 [.55, .71]`; an undefined number is a dash, with its reason where there is one."""
    if isnan(value.value):
        return f"– ({value.undefined_because})" if value.undefined_because else "–"
    limits = f"[{number(value.low, digits=digits)}, {number(value.high, digits=digits)}]"
    return f"{number(value.value, digits=digits)} {limits}"


def sentence(text: str) -> str:
    """A remark as a sentence of its own, with a capital and a full stop."""
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "?", "!", ":")) else ".")


def percent(part: float, whole: float) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "–"


def of(part: int, whole: int) -> str:
    """`26 of the 86`."""
    return f"{part:,} of {whole:,}"


def listed(names: Sequence[str]) -> str:
    """`a, b and c`."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else list(names))


def many(n: int, noun: str, plural: str = "") -> str:
    """`1 item`, `2,000 items`."""
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"
