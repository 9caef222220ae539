"""A checked table: decisions, items or gold, and the frame behind every other value of this package."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import polars as pl

from grater.tables.schema import LIST_SEPARATOR, Kind


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
