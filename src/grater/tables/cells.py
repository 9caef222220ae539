"""The cells of a column brought to the column's type.

Text is text: the number 1, the number 1.0 (as data frames turn a column of whole numbers that has gaps) and the
text `1` are one label, but the text `1.0` stays as it is.  Numbers are finite and in range.  Truth is 0, 1, true or
false.  A list is a cell with `|` between entries, or a real list where the file type has them.  An empty text is a
missing cell in every type of file.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TypeAlias

import polars as pl

from grater.tables.raw import WHOLE_AS_FLOAT, plain, text_of
from grater.tables.schema import LIST_SEPARATOR, CellType, Column, Range

Fault: TypeAlias = Callable[[pl.Series, str], None]
"""Hears of rows whose cell is wrong: which (a mask), and what was expected."""

TYPES: dict[CellType, type[pl.DataType]] = {
    "text": pl.String,
    "list": pl.String,
    "json": pl.String,
    "number": pl.Float64,
    "whole": pl.Int64,
    "truth": pl.Boolean,
}
TRUTH = {"0": False, "1": True, "false": False, "true": True}


def cast(column: Column, cells: pl.Series, fault: Fault) -> pl.Series:
    """The cells in the column's type; what cannot be brought to it is null, and told to `fault`."""
    match column.type:
        case "text":
            return _text(cells, fault)
        case "list":
            return _text(_joined(cells), fault)
        case "json":
            return _json(cells, fault)
        case "number":
            return _number(column, cells, fault)
        case "whole":
            return _whole(column, cells, fault)
        case "truth":
            return _truth(cells, fault)


def texts(cells: pl.Series) -> pl.Series:
    """The cells as text; what is no single value is null."""
    return _text(cells, lambda _is_bad, _expected: None)


def _text(cells: pl.Series, fault: Fault) -> pl.Series:
    kind = cells.dtype
    if kind.is_float() or kind.is_decimal():
        found = _text_of_floats(cells.cast(pl.Float64), fault)
    elif kind.is_integer() or kind in (pl.String, pl.Boolean, pl.Categorical, pl.Enum, pl.Null):
        found = cells.cast(pl.String)
    else:
        found = pl.Series(cells.name, [text_of(plain(cell)) for cell in cells.to_list()], dtype=pl.String)
        fault(found.is_null() & ~missing(cells), "text or a number")
    return found.replace("", None)


def _text_of_floats(cells: pl.Series, fault: Fault) -> pl.Series:
    cells = cells.fill_nan(None)
    fault(cells.is_infinite().fill_null(False), "text or a finite number")
    is_whole = (cells == cells.round()) & (cells.abs() < WHOLE_AS_FLOAT)
    whole = cells.cast(pl.Int64, strict=False).cast(pl.String)
    return whole.zip_with(is_whole.fill_null(False), cells.cast(pl.String))


def _joined(cells: pl.Series) -> pl.Series:
    """Real lists as one text each; anything else unchanged."""
    if cells.dtype == pl.List(pl.String):
        return cells.list.join(LIST_SEPARATOR)
    if cells.dtype == pl.Object or isinstance(cells.dtype, pl.List | pl.Array):
        return pl.Series(cells.name, [_joined_cell(cell) for cell in cells.to_list()], dtype=pl.Object)
    return cells


def _joined_cell(cell: object) -> object:
    texts = [text_of(plain(entry)) for entry in cell] if isinstance(cell, list | tuple) else [None]
    return cell if None in texts else LIST_SEPARATOR.join(text for text in texts if text is not None)


def _json(cells: pl.Series, fault: Fault) -> pl.Series:
    if cells.dtype != pl.String:
        return as_json(cells)
    cells = cells.replace("", None)
    is_bad = [cell is not None and not _is_json(cell) for cell in cells]
    fault(pl.Series(is_bad, dtype=pl.Boolean), "JSON")
    return cells


def _is_json(cell: str) -> bool:
    try:
        json.loads(cell)
    except (ValueError, RecursionError):
        return False
    return True


def as_json(cells: pl.Series) -> pl.Series:
    """Each cell as JSON text."""
    texts = [None if cell is None else json.dumps(cell, ensure_ascii=False, default=str) for cell in cells.to_list()]
    return pl.Series(cells.name, texts, dtype=pl.String)


def _number(column: Column, cells: pl.Series, fault: Fault) -> pl.Series:
    numbers = _floats(column, cells)
    fault(numbers.is_null() & ~missing(cells), "a number")
    is_finite = numbers.is_finite().fill_null(True)
    fault(~is_finite, "a finite number")
    if column.range is not None:
        fault(is_finite & outside(numbers, column.range), f"a number {column.range}")
    return numbers


def _floats(column: Column, cells: pl.Series) -> pl.Series:
    if cells.dtype.is_numeric():
        return cells.cast(pl.Float64)
    if cells.dtype == pl.Object:
        values = [_float(cell) for cell in cells.to_list()]
        return pl.Series(cells.name, values, dtype=pl.Float64)
    if cells.dtype != pl.String:
        return pl.Series(cells.name, [None] * len(cells), dtype=pl.Float64)
    for word, value in column.words.items():
        cells = cells.replace(word, repr(value))
    return cells.str.strip_chars().cast(pl.Float64, strict=False)


def _float(cell: object) -> float | None:
    try:
        return float(cell) if isinstance(cell, int | float | str) and not isinstance(cell, bool) else None
    except (ValueError, OverflowError):
        return None


def outside(numbers: pl.Series, bounds: Range) -> pl.Series:
    """Which numbers lie out of bounds; a missing one does not."""
    low = numbers <= bounds.low if bounds.is_low_open else numbers < bounds.low
    high = numbers >= bounds.high if bounds.is_high_open else numbers > bounds.high
    return (low | high).fill_null(False)


def _whole(column: Column, cells: pl.Series, fault: Fault) -> pl.Series:
    numbers = _floats(column, cells)
    is_whole = (numbers.is_finite() & (numbers == numbers.round()) & (numbers.abs() < WHOLE_AS_FLOAT)).fill_null(
        False
    )
    fault(~is_whole & ~missing(cells), "a whole number")
    whole = numbers.zip_with(is_whole, pl.Series([None], dtype=pl.Float64)).cast(pl.Int64)
    if column.range is not None:
        fault(outside(whole, column.range), f"a whole number {column.range}")
    return whole.alias(cells.name)


def _truth(cells: pl.Series, fault: Fault) -> pl.Series:
    words = texts(cells).str.strip_chars().str.to_lowercase()
    truth = words.replace_strict(TRUTH, default=None, return_dtype=pl.Boolean)
    fault(truth.is_null() & ~missing(cells), "0, 1, true or false")
    return truth


def missing(cells: pl.Series) -> pl.Series:
    """Which cells hold nothing: null, an empty text, and in an untyped column None."""
    if cells.dtype == pl.String:
        return cells.is_null() | (cells == "").fill_null(False)
    if cells.dtype == pl.Object:
        return pl.Series([plain(cell) is None or cell == "" for cell in cells.to_list()], dtype=pl.Boolean)
    return cells.is_null()
