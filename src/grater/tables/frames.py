"""Data frames of any maker: polars, pandas, Arrow, and whatever speaks the Arrow stream or interchange protocols.

None of them is imported.  A frame whose columns mix types, which Arrow refuses, is read column by column as Python
values.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import polars as pl

from grater.errors import BadInput, Problem, UsageError
from grater.files import reason
from grater.tables.files import FilePath
from grater.tables.raw import Raw, plain, series_of

REFUSALS = (ValueError, TypeError, NotImplementedError, ImportError, KeyError, pl.exceptions.PolarsError)
"""How frames and their libraries say that a column has no Arrow type."""


def read_frame(frame: object, *, name: str) -> Raw:
    """The table that a frame holds."""
    if isinstance(frame, pl.LazyFrame):
        return _collected(frame, name)
    if isinstance(frame, pl.DataFrame):
        return Raw(name, {series.name: series for series in frame.get_columns()})
    if not (hasattr(frame, "__arrow_c_stream__") or hasattr(frame, "__dataframe__")):
        raise UsageError(f"expected a path or a pandas, polars or Arrow frame, found {type(frame).__name__}")
    try:
        return read_frame(pl.DataFrame(cast(Any, frame)), name=name)
    except REFUSALS as error:
        return _column_by_column(frame, name, str(error))


def _collected(frame: pl.LazyFrame, name: str) -> Raw:
    try:
        return read_frame(frame.collect(), name=name)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise BadInput(Problem(name, f"cannot be computed: {_first_line(error)}")) from error


def _column_by_column(frame: object, name: str, refusal: str) -> Raw:
    """Uses the two things that every data frame has: `columns`, and a column by its name."""
    try:
        columns = list(frame.columns)  # type: ignore[attr-defined]
        _refuse_repeats([str(column) for column in columns], name)
        values = {str(column): frame[column].tolist() for column in columns}  # type: ignore[index]
    except (AttributeError, *REFUSALS) as error:
        raise BadInput(Problem(name, f"cannot be read as a table: {refusal}")) from error
    return Raw(name, {key: series_of(key, [plain(value) for value in cells]) for key, cells in values.items()})


def _refuse_repeats(names: list[str], name: str) -> None:
    if len(set(names)) < len(names):
        raise BadInput(Problem(name, f"expected every column once, found {', '.join(names)}"))


def read_parquet(parts: Sequence[FilePath], *, name: str) -> Raw:
    """The table of one parquet file or several."""
    try:
        return read_frame(pl.read_parquet(list(parts), glob=False, hive_partitioning=False), name=name)
    # Damaged files can make the decoder panic, which polars does not raise as an Exception.
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise BadInput(Problem(name, f"cannot be read as parquet: {_first_line(error)}")) from error


def _first_line(error: BaseException) -> str:
    return reason(error).strip().partition("\n")[0]
