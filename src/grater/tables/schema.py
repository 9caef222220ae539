"""The columns of the five tables (names, synonyms, types, ranges; docs/tables.md), and raw and checked tables.

A table may hold any further column; it is kept, and can be used to split results.  Words of the contract live here
and nowhere else: what counts as a status, how a list is written in a cell, what a file may call its columns.

Every reader of this package ends in a `Raw` table and every check starts there: columns under the names found, cells
not yet checked.  A column of mixed Python values, as JSON or a data frame can hold, is a series of type Object; text
is text, and an empty cell is null.  A `Table` has passed the checks.
"""

from __future__ import annotations

import datetime
import math
import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
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


WHOLE_AS_FLOAT = 2**53
"""Whole numbers up to here are exact as floats; larger ones, as some ids are, must never become one."""


@dataclass(frozen=True, slots=True, eq=False)
class Raw:
    """Columns by name, all of one length; `lines` says where each row began in its file, where there are lines.

    It `has_decimal_commas` where its numbers may be written like 0,5.
    """

    name: str
    columns: Mapping[str, pl.Series]
    lines: pl.Series | None = None
    has_decimal_commas: bool = False

    @property
    def n_rows(self) -> int:
        return max((len(series) for series in self.columns.values()), default=0)

    def with_columns(self, columns: Mapping[str, pl.Series]) -> Raw:
        return replace(self, columns=columns)


def series_of(name: str, values: Sequence[object]) -> pl.Series:
    """A column of Python values, typed where they agree and of type Object where they do not."""
    types = set(map(type, values)) - {type(None)}
    if not types:
        return pl.Series(name, values, dtype=pl.Null)
    if types == {str}:
        return pl.Series(name, values, dtype=pl.String)
    if types == {bool}:
        return pl.Series(name, values, dtype=pl.Boolean)
    if types == {float}:
        return pl.Series(name, values, dtype=pl.Float64)
    if types <= {int, float} and all(not isinstance(value, int) or abs(value) < WHOLE_AS_FLOAT for value in values):
        return pl.Series(name, values, dtype=pl.Int64 if types == {int} else pl.Float64, strict=False)
    return pl.Series(name, values, dtype=pl.Object)


def without_empty(cells: pl.Series) -> pl.Series:
    """Text with null for every empty cell."""
    if not (cells == "").any():
        return cells
    return pl.select(pl.when(cells != "").then(cells).alias(cells.name)).to_series()


def plain(value: object) -> object:
    """A cell of a data frame as Python sees it: missing is None, numbers of numpy are numbers."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(value, bool) or type(value).__name__ in ("bool", "bool_"):
        return bool(value)
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        return None if math.isnan(value) else float(value)
    return value


def text_of(value: object) -> str | None:
    """A single value as a cell's text, None where it is not a single value; the number 1.0 is the text 1."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float) and math.isfinite(value):
        return str(int(value)) if value.is_integer() and abs(value) < WHOLE_AS_FLOAT else repr(value)
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    return None
