"""The columns of the five tables (names, synonyms, types, ranges; docs/tables.md), and a checked table.

A table may hold any further column; it is kept, and can be used to split results.  Words of the contract live here
and nowhere else: what counts as a status, how a list is written in a cell, what a file may call its columns.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, TypeAlias

import polars as pl

Kind: TypeAlias = Literal["judgments", "decisions", "items", "gold", "sample"]
CellType: TypeAlias = Literal["text", "list", "json", "number", "whole", "truth"]

LIST_SEPARATOR = "|"
"""What stands between the entries of a cell that holds several: flags, alternatives, accepted labels."""

VALID = "valid"
"""The status of a judgment that counts; a judgment without a status counts too."""


@dataclass(frozen=True, slots=True)
class Range:
    """Where a number may lie; a bound that is open is itself outside."""

    low: float
    high: float = float("inf")
    is_low_open: bool = False
    is_high_open: bool = False

    def __str__(self) -> str:
        low = f"{'above' if self.is_low_open else 'at least'} {self.low:g}"
        if self.high == float("inf"):
            return low
        return f"{low} and {'below' if self.is_high_open else 'at most'} {self.high:g}"


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table; `words` are spoken forms of numbers, as in confidence low and high."""

    name: str
    type: CellType = "text"
    required: bool = False
    synonyms: tuple[str, ...] = ()
    range: Range | None = None
    words: Mapping[str, float] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name, *self.synonyms)


@dataclass(frozen=True, slots=True)
class Schema:
    """The columns of one kind of table; no two rows may agree in all columns of `key` that the table has."""

    kind: Kind
    columns: tuple[Column, ...]
    key: tuple[str, ...]

    def column(self, name: str) -> Column | None:
        """The column that goes by this name or synonym."""
        return next((column for column in self.columns if name in column.names), None)


ITEM = Column("item", required=True, synonyms=("task",))
LABELS = ("response",)
SHARE = Range(0, 1)

SCHEMAS: Mapping[Kind, Schema] = MappingProxyType(
    {
        "judgments": Schema(
            "judgments",
            (
                ITEM,
                Column("rater", required=True, synonyms=("worker", "annotator")),
                Column("label", required=True, synonyms=LABELS),
                Column("status"),
                Column("confidence", "number", words={"low": 0.0, "high": 1.0}),
                Column("seconds", "number", range=Range(0)),
                Column("at"),
                Column("flags", "list"),
                Column("alternatives", "list"),
                Column("stage"),
                Column("batch"),
                Column("group"),
                Column("payload", "json"),
            ),
            key=("item", "rater"),
        ),
        "decisions": Schema(
            "decisions",
            (
                ITEM,
                Column("system", required=True),
                Column("flagged", "truth", required=True),
                Column("score", "number"),
                Column("type"),
                Column("suggestion"),
            ),
            key=("item", "system"),
        ),
        "items": Schema(
            "items",
            (
                ITEM,
                Column("essay", required=True),
                Column("start", "whole", required=True, range=Range(0)),
                Column("end", "whole", required=True, range=Range(0)),
                Column("kind", required=True),
                Column("document"),
                Column("target"),
                Column("context"),
            ),
            key=("item",),
        ),
        "gold": Schema(
            "gold",
            (ITEM, Column("label", "list", required=True, synonyms=(*LABELS, "truth")), Column("reason")),
            key=("item",),
        ),
        "sample": Schema(
            "sample",
            (
                ITEM,
                Column("stratum", required=True),
                Column("probability", "number", required=True, range=Range(0, 1, is_low_open=True)),
                Column("stratum_size", "number", range=Range(1)),
                Column("random", "number", range=SHARE),
                Column("system"),
            ),
            key=("item", "system"),
        ),
    }
)


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Rows in the columns and types of their kind, further columns behind them.

    `name` is what messages call the table.  `dropped` counts rows that were set aside, by reason.
    """

    kind: Kind
    frame: pl.DataFrame
    name: str
    dropped: Mapping[str, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.frame)


def entries(column: str) -> pl.Expr:
    """The entries of list cells, as real lists."""
    return pl.col(column).str.split(LIST_SEPARATOR).list.eval(pl.element().str.strip_chars())


def exploded(frame: pl.DataFrame, column: str) -> pl.DataFrame:
    """One row for every entry of a list cell (flags, alternatives, accepted labels); rows without one go."""
    filled = frame.filter(pl.col(column).is_not_null())
    return filled.with_columns(entries(column)).explode(column).filter(pl.col(column) != "")
