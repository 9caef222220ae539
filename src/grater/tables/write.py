"""Tables out: the file type by extension, all or nothing, and read back as they were.

In `.csv` and `.tsv` a cell that a spreadsheet would run as a formula is guarded by an apostrophe, unless `raw`;
JSONL and parquet are never altered.  Anonymous raters are left out, so that reading numbers them again and knows
that they are nobody.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO

import polars as pl

from grater.errors import UsageError
from grater.files import replacing, require_place
from grater.tables.files import FilePath, FileType, Source, beside, file_type, guarded_frame, load, read_frame
from grater.tables.judgments import Judgments
from grater.tables.raw import Raw
from grater.tables.sample import META, Sample, SampleMeta
from grater.tables.schema import Table
from grater.tables.worksheets import INSTRUCTION, Worksheet, answers_in
from grater.tables.xlsx import Page, workbook

SEPARATORS: dict[FileType, str] = {"csv": ",", "tsv": "\t"}
ROW_GROUP = 1 << 17
"""Rows of a parquet file that are written together."""


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
                guarded_frame(frame).write_csv(stream, separator=SEPARATORS[kind], include_header=not number)


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


XLSX, CSV = ".xlsx", ".csv"
WIDTHS = {"item": 18, "before": 40, "sentence": 70, "question": 40, "answers": 24, "comment": 30}


def write_worksheet(sheet: Worksheet, path: FilePath) -> None:
    """A workbook with the instructions on a page of their own, or a CSV file that begins with them.

    A sheet with answers in it is never written over.
    """
    if path.suffix.lower() not in (CSV, XLSX):
        raise UsageError(f"{path}: expected a worksheet with extension {CSV} or {XLSX}, found {path.suffix!r}")
    if path.exists() and answers_in(load(path, name=str(path))):
        raise UsageError(f"{path} has answers already; give the new worksheet another name")
    if path.suffix.lower() == XLSX:
        judge = Page(name="judge", columns=sheet.columns, rows=sheet.rows, choices=sheet.choices, widths=WIDTHS)
        rows = [(line,) for line in sheet.instructions]
        told = Page(name="instructions", columns=("How to judge",), rows=rows, widths={"How to judge": 110})
        with replacing(path) as stream:
            stream.write(workbook([judge, told]))
        return
    place = sheet.columns.index("sentence")
    told_rows = [
        tuple(INSTRUCTION if at == 0 else line if at == place else "" for at in range(len(sheet.columns)))
        for line in sheet.instructions
    ]
    frame = pl.DataFrame([*told_rows, *sheet.rows], schema=dict.fromkeys(sheet.columns, pl.String), orient="row")
    with replacing(path) as stream:
        stream.write(b"\xef\xbb\xbf")  # without it Excel takes UTF-8 for something else
        guarded_frame(frame).write_csv(stream)
