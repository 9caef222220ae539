"""Any source of a table, a path or a frame, as a raw table."""

from __future__ import annotations

from typing import Any, TypeAlias

from grater.tables.delimited import read_delimited
from grater.tables.files import as_path, file_type, parts, read_text
from grater.tables.frames import read_frame, read_parquet
from grater.tables.jsonl import read_jsonl
from grater.tables.raw import Raw

Source: TypeAlias = Any
"""A path, or a frame of polars, pandas, Arrow or any library that speaks their protocols."""


def load(source: Source, *, name: str) -> Raw:
    """The table as it is found; `name` is for a frame, a file is called by its path."""
    if isinstance(source, Raw):
        return source
    path = as_path(source)
    if path is None:
        return read_frame(source, name=name)
    match file_type(path):
        case "parquet":
            return read_parquet(parts(path), name=str(path))
        case "jsonl":
            return read_jsonl(read_text(path), name=str(path))
        case "csv":
            return read_delimited(read_text(path), name=str(path), separator=",")
        case "tsv":
            return read_delimited(read_text(path), name=str(path), separator="\t")
