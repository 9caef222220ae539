"""What a report consists of: sections with words, figures and tables, and lists of the items behind the numbers.

A figure is a chart (a Vega-Lite specification), its title, and the words that say in plain language what it shows; a
table is a `grater.sheet.Sheet`.  The functions at the end write numbers and lists as prose has them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any, TypeAlias

from grater import sheet
from grater.model import Interval
from grater.sheet import UNDEFINED, Sheet

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


@dataclass(frozen=True, slots=True, eq=False)
class Section:
    """A question of the report with its answer in words, figures and tables."""

    name: str
    title: str
    words: tuple[str, ...]
    figures: tuple[Figure, ...] = ()
    sheets: tuple[Sheet, ...] = ()
    signature: str = ""


@dataclass(frozen=True, slots=True)
class ItemView:
    """One judged item as a reader meets it behind a number: `labels` by rater, `decisions` by system.

    `is_whole` is for a whole sentence, in `before`, with no place marked in it; its id is its number.
    """

    item_id: str
    before: str
    target: str
    after: str
    labels: tuple[tuple[str, str], ...]
    decisions: tuple[tuple[str, str], ...]
    is_whole: bool = False

    @property
    def by_label(self) -> list[tuple[str, list[str]]]:
        """The raters who gave a label, the commonest label first."""
        raters: dict[str, list[str]] = {}
        for rater, label in self.labels:
            raters.setdefault(label, []).append(rater)
        return sorted(raters.items(), key=lambda pair: (-len(pair[1]), pair[0]))


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
    lists_title: str = "The items behind the numbers"
    lists_words: str = "Choose a list; the hits, false alarms and misses of the tables lead here too."

    @property
    def figures(self) -> tuple[Figure, ...]:
        return tuple(figure for section in self.sections for figure in section.figures)

    @property
    def sheets(self) -> tuple[Sheet, ...]:
        return tuple(table for section in self.sections for table in section.sheets)


def interval(estimate: Interval, *, digits: int = 3) -> str:
    """`.630 [.550, .710]`; an undefined number is a dash, with its reason where there is one."""
    text = sheet.interval(estimate, digits=digits)
    return f"{text} ({estimate.undefined_because})" if isnan(estimate.value) and estimate.undefined_because else text


def sentence(text: str) -> str:
    """A remark as a sentence of its own, with a capital and a full stop."""
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "?", "!", ":")) else ".")


def percent_of(part: float, whole: float) -> str:
    """`30 %`."""
    return f"{100 * part / whole:.0f} %" if whole else UNDEFINED


def listed(names: Sequence[str]) -> str:
    """`a, b and c`."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else list(names))
