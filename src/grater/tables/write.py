"""Tables out: the file type by extension, all or nothing, and read back as they were.

In `.csv` and `.tsv` a cell that a spreadsheet would run as a formula is guarded by an apostrophe, unless `raw`;
JSONL and parquet are never altered.  Anonymous raters are left out, so that reading numbers them again and knows
that they are nobody.
"""

from __future__ import annotations

import json
from typing import BinaryIO

import polars as pl

from grater.errors import UsageError
from grater.files import replacing, require_place
from grater.tables.files import FilePath, FileType, Source, beside, file_type, guarded_frame, read_frame
from grater.tables.judgments import Judgments
from grater.tables.raw import Raw
from grater.tables.sample import META, Sample, SampleMeta
from grater.tables.schema import Table

SEPARATORS: dict[FileType, str] = {"csv": ",", "tsv": "\t"}


def write_table(table: Table | Judgments | Sample | Source, path: str | FilePath, *, raw: bool = False) -> None:
    """Writes a table or any frame; a sample's meta data goes beside it."""
    path = FilePath(path)
    frame = _frame_of(table)
    kind = file_type(path)
    _refuse_nested(frame, path)
    with replacing(path) as stream:
        if kind == "parquet":
            frame.write_parquet(stream)
        elif kind == "jsonl":
            frame.write_ndjson(stream)
        else:
            _write_delimited(frame, stream, separator=SEPARATORS[kind], raw=raw)
        if isinstance(table, Sample) and table.meta is not None:
            _write_meta(table.meta, beside(path, META))


def require_table_place(path: str | FilePath) -> None:
    """Raise before the work what `write_table` would raise after it: the wrong extension, no such folder."""
    file_type(FilePath(path))
    require_place(FilePath(path))


def _frame_of(table: Table | Judgments | Sample | Source) -> pl.DataFrame:
    if isinstance(table, Judgments) and table.anonymous_raters:
        return table.frame.drop("rater")
    if isinstance(table, Table | Judgments | Sample):
        return table.frame
    raw: Raw = read_frame(table, name="frame")
    return pl.DataFrame(list(raw.columns.values()))


def _refuse_nested(frame: pl.DataFrame, path: FilePath) -> None:
    """No table has a cell with several values in it, and no file type could give it back in every case."""
    for name, kind in frame.schema.items():
        if kind.is_nested() or kind in (pl.Object, pl.Binary):
            raise UsageError(
                f"{path}: expected single values in column {name!r}, found {kind}; write them as text first"
            )


def _write_delimited(frame: pl.DataFrame, stream: BinaryIO, *, separator: str, raw: bool) -> None:
    (frame if raw else guarded_frame(frame)).write_csv(stream, separator=separator)


def _write_meta(meta: SampleMeta, path: FilePath) -> None:
    with replacing(path) as stream:
        stream.write((json.dumps(meta.as_json(), ensure_ascii=False, indent=2) + "\n").encode())
