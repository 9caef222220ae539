"""Small tables for the tests of agreement."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

from grater.measure.agreement.cohen import Confusion
from grater.measure.units import Counts, from_rows
from grater.tables import Judgments, read_judgments
from grater.uncertainty import Ints


def confusion(cells: npt.ArrayLike, labels: Sequence[str]) -> Confusion:
    """The confusion matrix of a printed table: rows are the first rater's labels."""
    return Confusion(np.asarray(cells, np.int64), tuple(labels), ("R1", "R2"))


PREPOSITIONS = ("Extraneous", "Wrong-Choice", "OK")
# Tetreault & Chodorow 2008, Table 3
TABLE_3 = confusion([[17, 0, 6], [1, 42, 20], [4, 33, 1213]], PREPOSITIONS)
MERGED = confusion([[60, 26], [37, 1213]], ("error", "ok"))
# Lee, Tetreault & Chodorow 2009, Table 5
NO_CONTEXT = confusion([[846, 302], [108, 584]], ("yes", "no"))
IN_CONTEXT = confusion([[462, 77], [260, 1041]], ("yes", "no"))


def judgments(*rows: str, **columns: Sequence[object]) -> Judgments:
    """Rows as `item rater label`, with further columns beside them."""
    cells = [row.split() for row in rows]
    frame = pl.DataFrame(cells, schema=["item", "rater", "label"], orient="row")
    return read_judgments(frame.with_columns(pl.Series(name, list(values)) for name, values in columns.items()))


def of_matrix(matrix: Sequence[Sequence[object | None]]) -> Judgments:
    """A list of items, each a list of labels by rater; None where there is none."""
    return judgments(
        *(
            f"i{item} r{rater} {label}"
            for item, row in enumerate(matrix)
            for rater, label in enumerate(row)
            if label is not None
        )
    )


def of_confusion(table: Confusion) -> Judgments:
    """The judgments behind a table of two raters."""
    pairs = [
        (first, second)
        for first, row in zip(table.labels, table.cells.tolist(), strict=True)
        for second, n_items in zip(table.labels, row, strict=True)
        for _ in range(n_items)
    ]
    return of_matrix(pairs)


def counts_of(rows: npt.ArrayLike) -> Counts:
    table: Ints = np.asarray(rows, np.int64)
    return from_rows(table, tuple(map(str, range(1, table.shape[1] + 1))))
