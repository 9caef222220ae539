"""A table as its file or frame gives it: columns under the names found, cells not yet checked.

Every reader of this package ends here and every check starts here.  A column of mixed Python values, as JSON or a
data frame can hold, is a series of type Object; text is text, and an empty cell is null.
"""

from __future__ import annotations

import datetime
import math
import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl

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
    if types <= {int, float} and all(_fits_a_float(value) for value in values):
        return pl.Series(name, values, dtype=pl.Int64 if types == {int} else pl.Float64, strict=False)
    return pl.Series(name, values, dtype=pl.Object)


def joined(name: str, parts: Sequence[pl.Series]) -> pl.Series:
    """Pieces of one column under each other, typed where they agree as if it had been made at once."""
    types = {part.dtype for part in parts} - {pl.Null()}
    if types == {pl.Int64(), pl.Float64()}:
        types = {pl.Float64()}
    if len(types) > 1 or types == {pl.Object()}:
        return series_of(name, [value for part in parts for value in part.to_list()])
    return pl.concat([part.cast(kind) for part in parts for kind in types or {pl.Null()}]).alias(name)


def _fits_a_float(value: object) -> bool:
    return not isinstance(value, int) or abs(value) < WHOLE_AS_FLOAT


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
