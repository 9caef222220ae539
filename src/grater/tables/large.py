"""Tables of millions of judgments, read piece by piece: a text that comes again and again is kept once.

As text, an item's name costs some thirty bytes in every judgment; as a category four, and its name once.  From
`LARGE` rows on, the items, raters and labels of Parquet files become categories while they are read, a piece at a
time, so that the texts of all rows never stand in memory together.  Whatever else the table has is read as in a small
one, and so is a table whose ids are neither text nor whole numbers.  Files of text (`.csv`, `.jsonl`) are read whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

Physical: TypeAlias = npt.NDArray[np.integer]

LARGE = 1 << 21
"""Rows from which on ids are categories."""
ROWS_AT_ONCE = 1 << 19
IDS = ("item", "rater", "label")


def n_rows(paths: Sequence[Path]) -> int:
    return int(sum(pl.scan_parquet(path, glob=False).select(pl.len()).collect().item() for path in paths))


def read_in_categories(paths: Sequence[Path], names: Mapping[str, str]) -> pl.DataFrame | None:
    """Parquet files as one frame, ids as categories; None where one of them is of a type that needs a closer look.

    `names` are the columns of the file by ours.
    """
    schema = pl.read_parquet_schema(paths[0])
    if any(not (schema[name] in (pl.String, pl.Boolean) or schema[name].is_integer()) for name in names.values()):
        return None
    try:
        narrow: dict[str, type[pl.DataType]] = {"rater": pl.UInt16, "label": pl.UInt8}
        return _coded(paths, {name: narrow.get(ours, pl.UInt32) for ours, name in names.items()})
    except pl.exceptions.ComputeError:  # more raters or labels than such numbers can tell apart
        return _coded(paths, dict.fromkeys(names.values(), pl.UInt32))


def _coded(paths: Sequence[Path], widths: Mapping[str, type[pl.DataType]]) -> pl.DataFrame:
    kinds = {name: pl.Categorical(pl.Categories.random(physical=width)) for name, width in widths.items()}
    texts = [pl.col(name).cast(pl.String).replace("", None).cast(kind) for name, kind in kinds.items()]
    pieces: dict[str, list[pl.Series]] = {}
    for piece in (piece.with_columns(texts) for path in paths for piece in _pieces(path)):
        for column in piece:
            pieces.setdefault(column.name, []).append(column)
    # One column after the other, so that only one is there twice.
    return pl.DataFrame([pl.concat(pieces.pop(name), rechunk=True) for name in list(pieces)])


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
