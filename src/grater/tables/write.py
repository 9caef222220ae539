"""Tables out to files, each whole or not at all; cells that a spreadsheet would run are guarded (`files.py`)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path as FilePath
from typing import Any

import polars as pl

from grater.errors import UsageError
from grater.files import replacing, require_place
from grater.tables.files import BOM, META, FileType, Source, companion, file_type, guarded_frame, load, read_frame
from grater.tables.read import Judgments, Sample
from grater.tables.schema import Table
from grater.tables.worksheets import INSTRUCTION, Worksheet, answers_in, workbook

WRITTEN_SEPARATORS: dict[FileType, str] = {"csv": ",", "tsv": "\t"}
ROW_GROUP = 1 << 17
"""Rows of a parquet file that are written together."""


def write_table(table: Table | Judgments | Sample | Source, path: str | FilePath, *, raw: bool = False) -> None:
    """Writes a table or any frame; next to a sample, its metadata.

    Cells that a spreadsheet would run are guarded unless `raw`.  Anonymous raters are left out, so that reading
    numbers them again and knows that they are nobody.
    """
    path = FilePath(path)
    if isinstance(table, Table | Judgments | Sample):
        is_anonymous = isinstance(table, Judgments) and table.anonymous_raters
        frame = table.frame.drop("rater") if is_anonymous else table.frame
    else:
        frame = pl.DataFrame(list(read_frame(table, name="frame").columns.values()))
    kind = file_type(path)
    for name, dtype in frame.schema.items():
        if dtype.is_nested() or dtype in (pl.Object, pl.Binary):
            # No table has a cell with several values in it, and no file type could give it back in every case.
            raise UsageError(
                f"{path}: expected single values in column {name!r}, found {dtype}; write them as text first"
            )
    with replacing(path) as stream:
        if kind == "parquet":
            frame.write_parquet(stream)
        elif kind == "jsonl":
            frame.write_ndjson(stream)
        else:
            (frame if raw else guarded_frame(frame)).write_csv(stream, separator=WRITTEN_SEPARATORS[kind])
        if isinstance(table, Sample) and table.meta is not None:
            with replacing(companion(path, META)) as meta:
                meta.write((json.dumps(table.meta.as_json(), ensure_ascii=False, indent=2) + "\n").encode())


def write_joined(files: Sequence[FilePath], schema: Mapping[str, Any], path: str | FilePath) -> None:
    """Write the rows of several parquet files, in order, as one table; one of them is in memory at a time."""
    path = FilePath(path)
    kind = file_type(path)
    if not files:
        write_table(pl.DataFrame(schema=dict(schema)), path)
        return
    with replacing(path) as stream:
        if kind == "parquet":
            pl.scan_parquet(list(files)).sink_parquet(stream, row_group_size=ROW_GROUP)
            return
        for number, frame in enumerate(map(pl.read_parquet, files)):
            if kind == "jsonl":
                frame.write_ndjson(stream)
            else:
                separator = WRITTEN_SEPARATORS[kind]
                guarded_frame(frame).write_csv(stream, separator=separator, include_header=not number)


def require_table_place(path: str | FilePath) -> None:
    """Raise now what `write_table` would raise after the work: a wrong extension, a missing folder."""
    file_type(FilePath(path))
    require_place(FilePath(path))


XLSX, CSV = ".xlsx", ".csv"


def write_worksheet(sheet: Worksheet, path: FilePath) -> None:
    """A workbook with the instructions on a separate page, or a CSV file that begins with them.

    A sheet with answers in it is never overwritten.
    """
    suffix = path.suffix.lower()
    if suffix not in (CSV, XLSX):
        raise UsageError(f"{path}: expected a worksheet with extension {CSV} or {XLSX}, found {path.suffix!r}")
    if path.exists() and answers_in(load(path, name=str(path))):
        raise UsageError(f"{path} has answers already; give the new worksheet another name")
    if suffix == XLSX:
        content = workbook(sheet)
    else:
        place = sheet.columns.index("sentence")
        notes = [
            tuple(INSTRUCTION if at == 0 else line if at == place else "" for at in range(len(sheet.columns)))
            for line in sheet.instructions
        ]
        frame = pl.DataFrame([*notes, *sheet.rows], schema=dict.fromkeys(sheet.columns, pl.String), orient="row")
        content = BOM + guarded_frame(frame).write_csv().encode()  # without it Excel takes UTF-8 for something else
    with replacing(path) as stream:
        stream.write(content)
