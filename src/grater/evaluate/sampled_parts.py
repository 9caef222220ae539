"""Parts of a sampled corpus, and the essays or documents of its items.

A column of the items, or else of the decisions, says which part an item is in.  It is known for the whole corpus, so
a part has cells of its own, with sizes counted.  That somebody found an item impossible to judge is known for judged
items only: those are set aside (`without unknown`), as if they had not been judged.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from grater.errors import BadInput, Problem, UnknownName
from grater.evaluate.cases import NONE
from grater.evaluate.truth import Truth
from grater.evaluate.votes import Votes
from grater.registry import unknown
from grater.tables import Table

NOT_A_PROPERTY = ("item", "system", "flagged", "score", "suggestion")


def parts_of(decisions: Table, items: Table | None, column: str) -> dict[str, pl.Series]:
    """The items with each value of a column, by value."""
    rows = _column(decisions, items, column).with_columns(pl.col("value").fill_null(NONE)).sort("value", "item")
    return {str(value): part["item"] for (value,), part in rows.group_by("value", maintain_order=True)}


def units_of_items(decisions: Table, items: Table | None, column: str) -> pl.DataFrame:
    """The essay or document of every item that was decided on: item, unit."""
    rows = _column(decisions, items, column).rename({"value": "unit"})
    n_missing = rows["unit"].null_count()
    if n_missing:
        name = (items or decisions).name
        raise BadInput(Problem(name, f"expected the {column} of every item, found none for {n_missing}"))
    return rows


def without_unknown(votes: Votes, truth: Truth) -> Truth:
    """The truth, with nothing known of items that somebody called unknown."""
    return replace(truth, values=np.where(votes.has_unknown, np.nan, truth.values))


def _column(decisions: Table, items: Table | None, column: str) -> pl.DataFrame:
    """Every item that was decided on, with its value in a column: item, value."""
    source = (items or decisions).frame
    known = [name for name in source.columns if name not in NOT_A_PROPERTY]
    if column not in known:
        raise UnknownName(f"{unknown('column', column, known)}; give --items for columns of items")
    decided = decisions.frame.select(pl.col("item").cast(pl.String)).unique()
    values = source.select(pl.col("item").cast(pl.String), value=pl.col(column).cast(pl.String))
    return decided.join(values.unique("item", keep="first", maintain_order=True), on="item", how="left")
