"""A raw table checked cell by cell: every defect with its line, twenty at the most.

Gives a frame in the schema's columns and types.  While checks go on the frame carries the place of each row in the
column `PLACE`; `unplaced` takes it off again.
"""

from __future__ import annotations

import polars as pl

from grater.errors import BadInput, Problem, Problems
from grater.tables.cells import as_json, cast, missing
from grater.tables.raw import Raw
from grater.tables.schema import Column, Schema

PLACE = "\0place"
PLAIN = (pl.Boolean, pl.Categorical, pl.Enum)


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
        _check_spans(frame, raw, problems)
    problems.done()
    return frame


def places(raw: Raw) -> pl.Series:
    """The line of each row, or its number from 1 where there are no lines."""
    numbers = raw.lines if raw.lines is not None else pl.int_range(1, raw.n_rows + 1, eager=True)
    return numbers.cast(pl.Int64).alias(PLACE)


def unplaced(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.drop(PLACE)


def _checked_column(column: Column, cells: pl.Series, raw: Raw, problems: Problems) -> pl.Series:
    place = places(raw)

    def fault(is_bad: pl.Series, expected: str) -> None:
        for row in is_bad.arg_true():
            found = _shown(cells[int(row)])
            add(problems, raw, place[int(row)], f"expected {expected} in column {column.name!r}, found {found}")

    if column.required:
        for row in missing(cells).arg_true():
            add(problems, raw, place[int(row)], f"expected a value in column {column.name!r}, found an empty cell")
    return cast(column, cells, fault).alias(column.name)


def add(problems: Problems, raw: Raw, place: int, message: str) -> None:
    """Tells a problem at its line, or at its row where the table has no lines."""
    if raw.lines is None:
        problems.add(f"row {place}: {message}")
    else:
        problems.add(message, line=place)


def further(cells: pl.Series) -> pl.Series:
    """A column that the schema does not know: as it is, or as JSON where one cell holds several values."""
    kind = cells.dtype
    if kind in (pl.String, pl.Null):
        return cells.cast(pl.String).replace("", None)
    return cells if kind.is_numeric() or kind.is_temporal() or kind in PLAIN else as_json(cells)


def _check_spans(frame: pl.DataFrame, raw: Raw, problems: Problems) -> None:
    for place, start, end in frame.filter(pl.col("start") > pl.col("end")).select(PLACE, "start", "end").iter_rows():
        add(problems, raw, place, f"expected start at or before end, found {start} and {end}")


def _shown(cell: object) -> str:
    text = repr(cell)
    return text if len(text) <= 60 else f"{text[:60]}..."
