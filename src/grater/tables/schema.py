"""The columns of the seven tables (names, synonyms, types, ranges; docs/tables.md), and how raw tables are checked.

A table may hold any further column; it is kept, and can be used to split results.  The rules of tables are here and
nowhere else: the values of a status, lists in a cell, names of columns.

Every reader of this package ends in a `Raw` table and every check starts there: columns under the names found, cells
not yet checked.  A column of mixed Python values, as JSON or a data frame can hold, is a series of type Object; text
is text, and an empty cell is null.  A `Table` has passed the checks.

*Checks.*  Every defect is named with its line, twenty at the most.  Text is text: the number 1, the number 1.0 (as
data frames turn a column of whole numbers that has gaps) and the text `1` are one label, but the text `1.0` stays as
it is.  Numbers are finite and in range.  Truth is 0, 1, true or false.  A list is a cell with `|` between entries, or
a real list where the file type has them.  An empty text is a missing cell in every type of file.  While checks go on
a frame carries the place of each row in the column `PLACE`, which `without_duplicates` takes off again.  Rows that
say the same thing twice are an error that names them, or the first or last of them is kept.
"""

from __future__ import annotations

import datetime
import json
import math
import numbers
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal, TypeAlias

import numpy as np
import polars as pl

from grater.errors import BadInput, Problem, Problems, UsageError
from grater.model import is_deep

Kind: TypeAlias = Literal[
    "judgments", "decisions", "items", "gold", "sample", "rankings", "preferences", "fates", "remaining"
]
CellType: TypeAlias = Literal["text", "list", "json", "number", "whole", "truth"]

LIST_SEPARATOR = "|"
"""The separator in cells with several entries: flags, alternatives, accepted labels."""

VALID = "valid"
"""The status of a judgment that counts; a judgment without a status counts too."""


@dataclass(frozen=True, slots=True)
class Range:
    """Where a number may lie; a low bound that is open is itself outside."""

    low: float
    high: float = float("inf")
    is_low_open: bool = False

    def __str__(self) -> str:
        low = f"{'above' if self.is_low_open else 'at least'} {self.low:g}"
        if self.high == float("inf"):
            return low
        return f"{low} and at most {self.high:g}"


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

    kind: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]

    def column(self, name: str) -> Column | None:
        """The column with this name or synonym."""
        return next((column for column in self.columns if name in column.names), None)


ITEM = Column("item", required=True, synonyms=("task",))
RATER = Column("rater", required=True, synonyms=("worker", "annotator"))
LABELS = ("response",)
LEFT = ("missed", "half_right", "introduced")
"""The kinds of errors in a corrected sentence."""
SHARE = Range(0, 1)

SCHEMAS: Mapping[Kind, Schema] = MappingProxyType(
    {
        "judgments": Schema(
            "judgments",
            (
                ITEM,
                RATER,
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
        "rankings": Schema(
            "rankings",
            (
                ITEM,
                RATER,
                Column("system", "list", required=True),
                Column("rank", "number", required=True),
                Column("ranking"),
                Column("document"),
                Column("output", synonyms=("correction",)),
                Column("source"),
            ),
            key=("item", "rater", "ranking", "system"),
        ),
        "preferences": Schema(
            "preferences",
            (
                ITEM,
                RATER,
                Column("first", required=True, synonyms=("system1", "system_a")),
                Column("second", required=True, synonyms=("system2", "system_b")),
                Column("better", required=True, synonyms=("preferred", "winner")),
                Column("document"),
            ),
            key=(),
        ),
        "fates": Schema(
            "fates",
            (ITEM, Column("system", required=True), RATER, Column("label", required=True, synonyms=LABELS)),
            key=("item", "system", "rater"),
        ),
        "remaining": Schema(
            "remaining",
            (
                ITEM,
                Column("system", required=True),
                RATER,
                *(Column(name, "number", required=True, range=Range(0)) for name in LEFT),
                Column("words", "number", required=True, range=Range(0, is_low_open=True)),
                Column("document"),
            ),
            key=("item", "system", "rater"),
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
"""Integers up to here are exact as floats; larger ones, such as some ids, must never be converted."""


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
    for alone, dtype in ((str, pl.String), (bool, pl.Boolean), (float, pl.Float64)):
        if types == {alone}:
            return pl.Series(name, values, dtype=dtype)
    if types <= {int, float} and all(not isinstance(value, int) or abs(value) < WHOLE_AS_FLOAT for value in values):
        return pl.Series(name, values, dtype=pl.Int64 if types == {int} else pl.Float64, strict=False)
    return pl.Series(name, values, dtype=pl.Object)


def without_empty(cells: pl.Series) -> pl.Series:
    """Text with null for every empty cell."""
    if not (cells == "").any():
        return cells
    return pl.select(pl.when(cells != "").then(cells).alias(cells.name)).to_series()


def plain(value: object) -> object:
    """A cell of a data frame as a Python value: missing is None, numbers of numpy are numbers."""
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


# Checks

Fault: TypeAlias = "Callable[[pl.Series, str], None]"
"""Called with the rows whose cell is wrong (a mask), and what was expected."""

DECIMAL_COMMA = r"^(\s*[+-]?\d*),(\d+\s*)$"
TRUTH = {"0": False, "1": True, "false": False, "true": True}


def cast(column: Column, cells: pl.Series, fault: Fault) -> pl.Series:
    """The cells in the column's type; those that cannot be converted become null and are reported to `fault`."""
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
    if kind == pl.String:
        return cells
    if kind.is_float() or kind.is_decimal():
        cells = cells.cast(pl.Float64).fill_nan(None)
        fault(cells.is_infinite().fill_null(False), "text or a finite number")
        is_whole = (cells == cells.round()) & (cells.abs() < WHOLE_AS_FLOAT)
        whole = cells.cast(pl.Int64, strict=False).cast(pl.String)
        converted = whole.zip_with(is_whole.fill_null(False), cells.cast(pl.String))
    elif kind.is_integer() or kind in (pl.Boolean, pl.Categorical, pl.Enum, pl.Null):
        converted = cells.cast(pl.String)
    else:
        converted = pl.Series(cells.name, [text_of(plain(cell)) for cell in cells.to_list()], dtype=pl.String)
        fault(converted.is_null() & ~missing(cells), "text or a number")
    return without_empty(converted)


def _joined(cells: pl.Series) -> pl.Series:
    """Real lists as one text each; anything else unchanged."""
    if cells.dtype == pl.List(pl.String):
        return without_empty(cells.list.join(LIST_SEPARATOR))
    if cells.dtype == pl.Object or isinstance(cells.dtype, pl.List | pl.Array):
        return pl.Series(cells.name, [_joined_cell(cell) for cell in cells.to_list()], dtype=pl.Object)
    return cells


def _joined_cell(cell: object) -> object:
    texts = [text_of(plain(entry)) for entry in cell] if isinstance(cell, list | tuple) else [None]
    return cell if None in texts else LIST_SEPARATOR.join(text for text in texts if text is not None)


def _json(cells: pl.Series, fault: Fault) -> pl.Series:
    """JSON that any program can read."""

    def is_bad(cell: str) -> bool:
        try:
            return is_deep(json.loads(cell))
        except (ValueError, RecursionError):
            return True

    cells = cells if cells.dtype == pl.String else as_json(cells)
    fault(pl.Series([cell is not None and is_bad(cell) for cell in cells], dtype=pl.Boolean), "JSON")
    return cells


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
        return pl.Series(cells.name, [_float(cell) for cell in cells.to_list()], dtype=pl.Float64)
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
    """A mask of the numbers that are out of range; missing ones are not."""
    low = numbers <= bounds.low if bounds.is_low_open else numbers < bounds.low
    return (low | (numbers > bounds.high)).fill_null(False)


def _whole(column: Column, cells: pl.Series, fault: Fault) -> pl.Series:
    numbers = _floats(column, cells)
    is_whole = numbers.is_finite() & (numbers == numbers.round()) & (numbers.abs() < WHOLE_AS_FLOAT)
    is_whole = is_whole.fill_null(False)
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
    """The empty cells: null, and in an untyped column an empty text or None."""
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
    def fault(is_bad: pl.Series, expected: str, found: str = "") -> None:
        if is_bad.any():
            row_places = places(raw)
            for row in is_bad.arg_true().to_list():
                text = found or repr(cells[row])
                shown = text if len(text) <= 60 else f"{text[:60]}..."
                add(problems, raw, row_places[row], f"expected {expected} in column {column.name!r}, found {shown}")

    cells = given = without_empty(cells) if cells.dtype == pl.String else cells
    if column.required:
        fault(missing(cells), "a value", "an empty cell")
    if raw.has_decimal_commas and column.type in ("number", "whole") and cells.dtype == pl.String:
        given = cells.str.replace(DECIMAL_COMMA, "$1.$2")
    return cast(column, given, fault).alias(column.name)


def add(problems: Problems, raw: Raw, row: int, message: str) -> None:
    """Report a problem with its line, or its row where the table has no lines."""
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
"""Duplicate keys that are named one by one; the rest are counted."""


def without_duplicates(
    schema: Schema, frame: pl.DataFrame, raw: Raw, duplicates: Duplicates
) -> tuple[pl.DataFrame, dict[str, int]]:
    """The frame with each key once, in order and without places, and the number of rows removed."""
    if duplicates not in ("error", "first", "last"):
        raise UsageError(f"expected duplicates error, first or last, found {duplicates!r}")
    key = [name for name in schema.key if name in frame.columns]
    # Hashes that all differ are those of keys that do, and are compared in a fraction of the time.
    hashes = np.sort(frame.select(key).hash_rows().to_numpy()) if key else np.zeros(0, np.uint64)
    if not (hashes[1:] == hashes[:-1]).any() or not frame.select(key).is_duplicated().any():
        return frame.drop(PLACE), {}
    if duplicates == "error":
        _name_them(frame, key, raw)
    once = frame.unique(key, keep="first" if duplicates == "first" else "last", maintain_order=True)
    return once.drop(PLACE), {f"duplicate, {duplicates} kept": len(frame) - len(once)}


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


def kind_of(columns: Iterable[str]) -> Kind | None:
    """The kind of table that has these columns, if any."""
    found = {name.lower() for name in columns}
    fitting = (
        kind
        for kind, schema in SCHEMAS.items()
        if all(found & set(column.names) for column in schema.columns if column.required)
    )
    return next(fitting, None)
