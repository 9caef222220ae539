"""Rows that say the same thing twice: an error that names them, or the first or last of them kept."""

from __future__ import annotations

from typing import Literal, TypeAlias

import polars as pl

from grater.errors import Problems, UsageError
from grater.tables.check import PLACE, add
from grater.tables.raw import Raw
from grater.tables.schema import Schema

Duplicates: TypeAlias = Literal["error", "first", "last"]


def without_duplicates(
    schema: Schema, frame: pl.DataFrame, raw: Raw, duplicates: Duplicates
) -> tuple[pl.DataFrame, dict[str, int]]:
    """The frame with each key once, in its order, and how many rows that set aside."""
    if duplicates not in ("error", "first", "last"):
        raise UsageError(f"expected duplicates error, first or last, found {duplicates!r}")
    key = [name for name in schema.key if name in frame.columns]
    if not frame.select(key).is_duplicated().any():
        return frame, {}
    if duplicates == "error":
        _name_them(frame, key, raw)
    once = frame.unique(key, keep="first" if duplicates == "first" else "last", maintain_order=True)
    return once, {f"duplicate, {duplicates} kept": len(frame) - len(once)}


def _name_them(frame: pl.DataFrame, key: list[str], raw: Raw) -> None:
    problems = Problems(raw.name)
    repeated = frame.filter(frame.select(key).is_duplicated()).group_by(key, maintain_order=True).agg(PLACE)
    unit = "rows" if raw.lines is None else "lines"
    for *values, places in repeated.iter_rows():
        named = ", ".join(f"{name} {value!r}" for name, value in zip(key, values, strict=True))
        shown = ", ".join(str(place) for place in places[:5]) + (", ..." if len(places) > 5 else "")
        wish = "mend the table or choose with --duplicates first|last"
        add(problems, raw, places[1], f"expected {named} once, found it in {unit} {shown}; {wish}")
    problems.done()
