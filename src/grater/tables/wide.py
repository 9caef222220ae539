"""Several judgments of an item in one row: a list in one cell, or a column for each rater.

Such data has no rater ids: raters are 1 to n by position, and the result says so (`anonymous_raters`), unless the
caller knows that the columns are people.  A list is `[3, 4, 3]`, in quotes or not, or entries with `|` between
them.  An empty cell is no judgment; items that are left without any are counted in `dropped`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

import polars as pl

from grater.errors import BadInput, Problem, Problems, UnknownName
from grater.registry import unknown
from grater.tables.check import add, further, places
from grater.tables.raw import Raw, plain, text_of
from grater.tables.schema import LIST_SEPARATOR

NO_JUDGMENT = "item without a judgment"


def is_list(cells: pl.Series) -> bool:
    """Whether a column holds lists, real ones or written in brackets, and nothing else."""
    if isinstance(cells.dtype, pl.List | pl.Array):
        return True
    if cells.dtype == pl.Object:
        return all(isinstance(cell, list) or cell is None for cell in cells.to_list())
    if cells.dtype != pl.String or cells.null_count() == len(cells):
        return False
    return bool(cells.drop_nulls().str.contains(r"^\s*\[[\s\S]*\]\s*$").all())


def positions(n_raters: int) -> list[str]:
    """The names of raters that have none."""
    return [str(number) for number in range(1, n_raters + 1)]


def from_list(raw: Raw, label: str) -> tuple[Raw, int]:
    """One row for every entry of the column `label`, and the number of rows that had none."""
    problems = Problems(raw.name)
    place = places(raw)
    entries = []
    for row, cell in enumerate(raw.columns[label].to_list()):
        texts = _labels(cell)
        if texts is None:
            add(problems, raw, place[row], f"expected a list of labels in column {label!r}, found {str(cell)[:60]!r}")
        entries.append(list(zip(positions(len(texts or [])), texts or [], strict=True)))
    problems.done()
    kept = {name: cells for name, cells in raw.columns.items() if name != label}
    return _long(raw.with_columns(kept), entries)


def from_columns(raw: Raw, labels: Sequence[str], *, are_raters: bool = False) -> tuple[Raw, int]:
    """One row for every cell of the columns `labels` that is filled, and the number of rows that had none.

    The rater is the column's position among them, or its name where columns `are_raters`.
    """
    for name in labels:
        if name not in raw.columns:
            raise UnknownName(f"{raw.name}: {unknown('column', name, list(raw.columns))}")
    if not labels:
        raise BadInput(Problem(raw.name, "expected columns of labels, found none named"))
    columns = [[text_of(plain(cell)) for cell in raw.columns[name].to_list()] for name in labels]
    raters = list(labels) if are_raters else positions(len(labels))
    entries = [
        [(rater, cell) for rater, cell in zip(raters, row, strict=True) if cell] for row in zip(*columns, strict=True)
    ]
    kept = {name: cells for name, cells in raw.columns.items() if name not in labels}
    return _long(raw.with_columns(kept), entries)


def _labels(cell: object) -> list[str] | None:
    """The labels that a cell holds; None where it holds something else."""
    if cell is None:
        return []
    if isinstance(cell, str):
        cell = _parsed(cell)
    if not isinstance(cell, list):
        return None
    texts = [text_of(plain(entry)) for entry in cell]
    return None if None in texts else [text for text in texts if text]


def _parsed(cell: str) -> object:
    inside = cell.strip()
    if not (inside.startswith("[") and inside.endswith("]")):
        return [entry.strip() for entry in inside.split(LIST_SEPARATOR)]
    try:
        return json.loads(inside)
    except (ValueError, RecursionError):
        return [entry.strip().strip("'\"") for entry in inside[1:-1].split(",")]


def _long(raw: Raw, entries: list[list[tuple[str, str]]]) -> tuple[Raw, int]:
    """The rows of `raw` once for every (rater, label) they hold."""
    rows = pl.Series([row for row, pairs in enumerate(entries) for _ in pairs], dtype=pl.UInt32)
    columns = {name: further(cells).gather(rows) for name, cells in raw.columns.items()}
    columns["rater"] = pl.Series("rater", [rater for pairs in entries for rater, _ in pairs], dtype=pl.String)
    columns["label"] = pl.Series("label", [label for pairs in entries for _, label in pairs], dtype=pl.String)
    lines = None if raw.lines is None else raw.lines.gather(rows)
    return Raw(raw.name, columns, lines), sum(not pairs for pairs in entries)
