"""Cells that a spreadsheet would run: kept from it by an apostrophe, and given back when read.

A text that starts with one of `= + - @`, their full-width forms, a tab or a line end is taken for a formula by
spreadsheets. Such a cell is written with an apostrophe before it; one that has apostrophes before such a sign
already gets one more, so that reading, which takes one away, gives back what was there.  Numbers (`-1`) and
`-NONE-` run nothing and stay as they are.
"""

from __future__ import annotations

import polars as pl

from grater.model import DELETE

STARTS = r"[=+\-@＝＋－＠\t\r\n]"
RISKY = rf"^'*{STARTS}"
GUARDED = rf"^'+{STARTS}"
HARMLESS = rf"^(?:[+-]?[0-9]+(?:\.[0-9]+)?|{DELETE})$"


def guarded(cells: pl.Series) -> pl.Series:
    """The cells as they may be shown to a spreadsheet."""
    is_risky = cells.str.contains(RISKY) & ~cells.str.contains(HARMLESS)
    return _chosen(is_risky, "'" + cells, cells)


def guarded_frame(frame: pl.DataFrame) -> pl.DataFrame:
    """A whole table, its header too; only text can be a formula."""
    cells = [guarded(series) if series.dtype == pl.String else series for series in frame.get_columns()]
    names = guarded(pl.Series(frame.columns, dtype=pl.String))
    return pl.DataFrame(dict(zip(names, cells, strict=True)))


def unguarded(cells: pl.Series) -> pl.Series:
    """The cells as they were before they were guarded."""
    is_guarded = cells.str.contains(GUARDED)
    return _chosen(is_guarded, cells.str.slice(1), cells)


def _chosen(mask: pl.Series, changed: pl.Series, cells: pl.Series) -> pl.Series:
    if not mask.any():
        return cells
    return pl.select(pl.when(mask).then(changed).otherwise(cells).alias(cells.name)).to_series()
