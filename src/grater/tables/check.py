"""A raw table checked cell by cell: every defect with its line, twenty at the most, and no row twice.

Text is text: the number 1, the number 1.0 (as data frames turn a column of whole numbers that has gaps) and the
text `1` are one label, but the text `1.0` stays as it is.  Numbers are finite and in range.  Truth is 0, 1, true or
false.  A list is a cell with `|` between entries, or a real list where the file type has them.  An empty text is a
missing cell in every type of file.

The result is a frame in the schema's columns and types.  While checks go on the frame carries the place of each row
in the column `PLACE`, which `without_duplicates` takes off again.  Rows that say the same thing twice are an error
that names them, or the first or last of them is kept.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Literal, TypeAlias

import numpy as np
import polars as pl

from grater.errors import BadInput, Problem, Problems, UsageError
from grater.model import is_deep
from grater.tables.schema import (
    LIST_SEPARATOR,
    WHOLE_AS_FLOAT,
    Column,
    Range,
    Raw,
    Schema,
    plain,
    text_of,
    without_empty,
)

Fault: TypeAlias = "Callable[[pl.Series, str], None]"
"""Hears of rows whose cell is wrong: which (a mask), and what was expected."""

DECIMAL_COMMA = r"^(\s*[+-]?\d*),(\d+\s*)$"
TRUTH = {"0": False, "1": True, "false": False, "true": True}


def cast(column: Column, cells: pl.Series, fault: Fault) -> pl.Series:
    """The cells in the column's type; what cannot be brought to it is null, and reported to `fault`."""
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
    """The cells as text; what is not a single value is null."""
    return _text(cells, lambda _is_bad, _expected: None)


def _text(cells: pl.Series, fault: Fault) -> pl.Series:
    kind = cells.dtype
    if kind.is_float() or kind.is_decimal():
        cells = cells.cast(pl.Float64).fill_nan(None)
        fault(cells.is_infinite().fill_null(False), "text or a finite number")
        is_whole = (cells == cells.round()) & (cells.abs() < WHOLE_AS_FLOAT)
        whole = cells.cast(pl.Int64, strict=False).cast(pl.String)
        converted = whole.zip_with(is_whole.fill_null(False), cells.cast(pl.String))
    elif kind.is_integer() or kind in (pl.String, pl.Boolean, pl.Categorical, pl.Enum, pl.Null):
        converted = cells.cast(pl.String)
    else:
        converted = pl.Series(cells.name, [text_of(plain(cell)) for cell in cells.to_list()], dtype=pl.String)
        fault(converted.is_null() & ~missing(cells), "text or a number")
    return without_empty(converted)


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
    cells = without_empty(cells) if cells.dtype == pl.String else as_json(cells)
    is_bad = [cell is not None and not _is_json(cell) for cell in cells]
    fault(pl.Series(is_bad, dtype=pl.Boolean), "JSON")
    return cells


def _is_json(cell: str) -> bool:
    """Whether a cell is JSON that other programs can take on."""
    try:
        return not is_deep(json.loads(cell))
    except (ValueError, RecursionError):
        return False


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
    if cells.dtype == pl.Boolean:
        return cells
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


PLACE = "\0place"


def checked(schema: Schema, raw: Raw) -> pl.DataFrame:
    """The table's rows, each with its place; the columns must already bear the schema's names."""
    if raw.n_rows == 0:
        raise BadInput(Problem(raw.name, f"expected {schema.kind}, found no rows"))
    problems = Problems(raw.name)
    known = {column.name: column for column in schema.columns}
    columns = {
        name: _checked_column(known[name], cells, raw, problems) if name in known else further(cells)
        for name, cells in raw.columns.items()
    }
    frame = pl.DataFrame(columns | {PLACE: places(raw)})
    if schema.kind == "items":
        crossed = frame.filter(pl.col("start") > pl.col("end")).select(PLACE, "start", "end")
        for row, start, end in crossed.iter_rows():
            add(problems, raw, row, f"expected start at or before end, found {start} and {end}")
    problems.done()
    return frame


def places(raw: Raw) -> pl.Series:
    """The line of each row, or its number from 1 where there are no lines."""
    numbers = raw.lines if raw.lines is not None else pl.int_range(1, raw.n_rows + 1, dtype=pl.UInt32, eager=True)
    return numbers.cast(pl.UInt32).alias(PLACE)


def _checked_column(column: Column, cells: pl.Series, raw: Raw, problems: Problems) -> pl.Series:
    def tell(is_bad: pl.Series, message: Callable[[object], str]) -> None:
        if is_bad.any():
            row_places = places(raw)
            for row in is_bad.arg_true():
                add(problems, raw, row_places[int(row)], message(cells[int(row)]))

    def fault(is_bad: pl.Series, expected: str) -> None:
        def message(cell: object) -> str:
            text = repr(cell)
            shown = text if len(text) <= 60 else f"{text[:60]}..."
            return f"expected {expected} in column {column.name!r}, found {shown}"

        tell(is_bad, message)

    if column.required:
        tell(missing(cells), lambda _: f"expected a value in column {column.name!r}, found an empty cell")
    given = cells
    if raw.has_decimal_commas and column.type in ("number", "whole") and cells.dtype == pl.String:
        given = cells.str.replace(DECIMAL_COMMA, "$1.$2")
    return cast(column, given, fault).alias(column.name)


def add(problems: Problems, raw: Raw, row: int, message: str) -> None:
    """Tells a problem at its line, or at its row where the table has no lines."""
    if raw.lines is None:
        problems.add(f"row {row}: {message}")
    else:
        problems.add(message, line=row)


def further(cells: pl.Series) -> pl.Series:
    """A column that the schema does not know: as it is, or as JSON where one cell holds several values."""
    kind = cells.dtype
    if kind in (pl.String, pl.Null):
        return without_empty(cells.cast(pl.String))
    is_single = kind.is_numeric() or kind.is_temporal() or kind in (pl.Boolean, pl.Categorical, pl.Enum)
    return cells if is_single else as_json(cells)


Duplicates: TypeAlias = Literal["error", "first", "last"]


MOST_DUPLICATES = 3
"""Keys that stand twice and are named one by one; the rest is counted."""


def without_duplicates(
    schema: Schema, frame: pl.DataFrame, raw: Raw, duplicates: Duplicates
) -> tuple[pl.DataFrame, dict[str, int]]:
    """The frame with each key once, in its order and without places, and how many rows that set aside."""
    if duplicates not in ("error", "first", "last"):
        raise UsageError(f"expected duplicates error, first or last, found {duplicates!r}")
    key = [name for name in schema.key if name in frame.columns]
    rows = frame.select(key)
    if not may_repeat(rows) or not rows.is_duplicated().any():
        return frame.drop(PLACE), {}
    if duplicates == "error":
        _name_them(frame, key, raw)
    once = frame.unique(key, keep="first" if duplicates == "first" else "last", maintain_order=True)
    return once.drop(PLACE), {f"duplicate, {duplicates} kept": len(frame) - len(once)}


def may_repeat(rows: pl.DataFrame) -> bool:
    """Whether two rows have the same hash: without one no row is there twice, at a tenth of the memory of groups."""
    hashes = np.sort(rows.hash_rows().to_numpy())
    return bool((hashes[1:] == hashes[:-1]).any())


def _name_them(frame: pl.DataFrame, key: list[str], raw: Raw) -> None:
    problems = Problems(raw.name)
    repeated = frame.filter(frame.select(key).is_duplicated()).group_by(key, maintain_order=True).agg(PLACE)
    unit = "rows" if raw.lines is None else "lines"
    for *values, rows in repeated.head(MOST_DUPLICATES).iter_rows():
        named = ", ".join(f"{name} {value!r}" for name, value in zip(key, values, strict=True))
        shown = ", ".join(str(row) for row in rows[:5]) + (", ..." if len(rows) > 5 else "")
        wish = "correct the table or choose with duplicates first|last"
        add(problems, raw, rows[1], f"expected {named} once, found it in {unit} {shown}; {wish}")
    if len(repeated) > MOST_DUPLICATES:
        problems.add(f"{len(repeated):,} are there more than once; the first {MOST_DUPLICATES} are named above")
    problems.done()
