"""Tables of millions of judgments, read piece by piece: a text that comes again and again is kept once.

As text, an item's name costs some thirty bytes in every judgment; as a category four, and its name once.  From
`LARGE` rows on, the items, raters and labels of Parquet files become categories while they are read, a piece at a
time, so that the texts of all rows never stand in memory together.  Whatever else the table has is read as in a small
one, and so is a table whose ids are neither text nor whole numbers.

Files of text (`.csv`, `.tsv`, `.jsonl`, packed or not) come in pieces from `LARGE_BYTES` on: whole lines, under the
header, through the reader of small files.  A line end inside quotes ends no piece.  Where pieces disagree on columns
or types, or one of them cannot be read, the file is read whole, and that reader says what is wrong.  What is found
wrong later is named by its row, not by its line: the number of every line would take as much room as its judgment.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import BufferedIOBase
from itertools import pairwise
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from grater.tables.files import BOM, QUOTE, extension, file_type, is_packed, read_content
from grater.tables.raw import Raw

Physical: TypeAlias = npt.NDArray[np.integer]

LARGE = 1 << 21
"""Rows from which on ids are categories."""
LARGE_BYTES = 1 << 25
"""Bytes of a file of text from which on it is read in pieces."""
TEXTS = (".csv", ".tsv", ".jsonl", ".ndjson")
"""Files of lines."""
ROWS_AT_ONCE = 1 << 19
BYTES_AT_ONCE = 1 << 23
IDS: Mapping[str, str] = {"item": "UInt32", "rater": "UInt16", "label": "UInt8", "system": "UInt8"}
"""Columns that become categories, and how wide their numbers are at first: polars comes when a table is read."""


def is_large_text(path: Path) -> bool:
    """Whether it is a file of lines that is read in pieces."""
    return extension(path) in TEXTS and path.is_file() and path.stat().st_size >= LARGE_BYTES


def n_rows(paths: Sequence[Path]) -> int:
    return int(sum(pl.scan_parquet(path, glob=False).select(pl.len()).collect().item() for path in paths))


def read_in_categories(
    paths: Sequence[Path], names: Mapping[str, str], known: Mapping[str, pl.DataType]
) -> pl.DataFrame | None:
    """Parquet files as one frame, ids as categories; None where one of them is of a type that needs a closer look.

    `names` are the columns of the file by ours; `known` the categories that a column shares with another table.
    """
    if not _can_be_ids(pl.read_parquet_schema(paths[0]), names):
        return None
    try:
        return _coded(_rows_of_parquet(paths), _kinds(names, known))
    except pl.exceptions.ComputeError:  # more raters or labels than such numbers can tell apart
        return _coded(_rows_of_parquet(paths), _kinds(names, known, width=pl.UInt32))


def read_text_in_categories(
    path: Path, names: Mapping[str, str], known: Mapping[str, pl.DataType]
) -> pl.DataFrame | None:
    """The same of a file of text; None where its pieces disagree on columns or types."""
    try:
        return _coded(_rows_of_text(path, names), _kinds(names, known))
    except pl.exceptions.SchemaError:
        return None
    except pl.exceptions.ComputeError:
        return _coded(_rows_of_text(path, names), _kinds(names, known, width=pl.UInt32))


def _can_be_ids(schema: Mapping[str, pl.DataType], names: Mapping[str, str]) -> bool:
    kinds = [schema[name] for name in names.values()]
    return all(kind in (pl.String, pl.Boolean) or kind.is_integer() for kind in kinds)


def _kinds(
    names: Mapping[str, str], known: Mapping[str, pl.DataType], *, width: type[pl.DataType] | None = None
) -> dict[str, pl.DataType]:
    """The type of each column of the file."""
    return {
        name: known.get(ours) or pl.Categorical(pl.Categories.random(physical=width or getattr(pl, IDS[ours])))
        for ours, name in names.items()
    }


def _coded(rows: Iterable[pl.DataFrame], kinds: Mapping[str, pl.DataType]) -> pl.DataFrame:
    texts = [pl.col(name).cast(pl.String).replace("", None).cast(kind) for name, kind in kinds.items()]
    pieces: dict[str, list[pl.Series]] = {}
    for piece in (piece.with_columns(texts) for piece in rows):
        for column in piece:
            pieces.setdefault(column.name, []).append(column)
    # One column after the other, so that only one is there twice.
    return pl.DataFrame([pl.concat(pieces.pop(name), rechunk=True) for name in list(pieces)])


def _rows_of_parquet(paths: Sequence[Path]) -> Iterator[pl.DataFrame]:
    return (piece for path in paths for piece in _pieces(path))


def _rows_of_text(path: Path, names: Mapping[str, str]) -> Iterator[pl.DataFrame]:
    schema: pl.Schema | None = None
    for raw in text_pieces(path):
        frame = pl.DataFrame(list(raw.columns.values()))
        schema = schema or frame.schema
        if frame.schema != schema or not _can_be_ids(schema, names):
            raise pl.exceptions.SchemaError(f"{path}: pieces differ in their columns")
        yield frame.rechunk()


def text_pieces(path: Path) -> Iterator[Raw]:
    """The rows of a file of text, some at a time."""
    has_header = file_type(path) != "jsonl"
    with (gzip.open if is_packed(path) else Path.open)(path, "rb") as stream:
        head = _head(stream) if has_header else b""
        while lines := stream.read(BYTES_AT_ONCE):
            lines = _whole_rows(lines + stream.readline(), stream) if has_header else lines + stream.readline()
            yield read_content(head + lines, path)


def _head(stream: BufferedIOBase) -> bytes:
    """The line that names the columns, with whatever stands before it."""
    head = b""
    while line := stream.readline():
        head += line
        if line.removeprefix(BOM).strip() and not line.removeprefix(BOM).lstrip(QUOTE.encode()).startswith(b"sep="):
            break
    return _whole_rows(head, stream)


def _whole_rows(lines: bytes, stream: BufferedIOBase) -> bytes:
    """The lines, and as many more as end the last row: as long as quotes are not in pairs, a cell goes on."""
    quote = QUOTE.encode()
    n_quotes = lines.count(quote)
    rest = []
    while n_quotes % 2 and (line := stream.readline()):
        n_quotes += line.count(quote)
        rest.append(line)
    return b"".join([lines, *rest])


def _pieces(path: Path) -> Iterator[pl.DataFrame]:
    rows = pl.scan_parquet(path, glob=False, hive_partitioning=False)
    for start in range(0, n_rows([path]), ROWS_AT_ONCE):
        # In one chunk, or categories are not numbered in the order of rows, which later work makes use of.
        yield rows.slice(start, ROWS_AT_ONCE).collect().rechunk()


def are_categories(*columns: pl.Series) -> bool:
    return all(isinstance(column.dtype, pl.Categorical) for column in columns)


def under_each_other(frames: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Tables as one; the categories of each are its own, so ids become text where there are several."""
    texts = [frame.with_columns(pl.col(pl.Categorical).cast(pl.String)) for frame in frames]
    return pl.concat(texts, how="diagonal_relaxed")


def holds(cells: pl.Series, text: str) -> bool:
    """Whether a column of categories has this text in some row."""
    return bool(cells.to_frame().select((pl.first() == text).any()).item())


KEYS_AT_ONCE = 1 << 22


def has_repeats(first: pl.Series, second: pl.Series) -> bool:
    """Whether a pair of categories comes twice; in as many passes as keep the pairs of each small."""
    outer, inner = (column.to_physical().to_numpy() for column in (first, second))
    n_passes = len(first) // KEYS_AT_ONCE + 1
    highest = int(outer.max(initial=0)) + 1
    bounds = [highest * number // n_passes for number in range(n_passes + 1)]
    return any(_repeats_between(low, high, outer, inner) for low, high in pairwise(bounds))


def _repeats_between(low: int, high: int, outer: Physical, inner: Physical) -> bool:
    keys = np.concatenate(
        [
            _keys(low, high, outer[start : start + KEYS_AT_ONCE], inner[start : start + KEYS_AT_ONCE])
            for start in range(0, len(outer), KEYS_AT_ONCE)
        ]
    )
    keys.sort()
    return bool((keys[1:] == keys[:-1]).any())


def _keys(low: int, high: int, outer: Physical, inner: Physical) -> npt.NDArray[np.uint64]:
    chosen = np.flatnonzero((outer >= low) & (outer < high))
    return outer[chosen].astype(np.uint64) << np.uint64(32) | inner[chosen].astype(np.uint64)
