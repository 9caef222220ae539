"""Decisions and judgments face to face: what is scored, as codes.

A case is an item that at least one system decided on, with the votes that it got (`votes.py`).  Judgments of items
that no system decided on are counted in `n_stray` and take no part.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import polars as pl

from grater.agreement.coded import Codes, by_appearance, by_name
from grater.agreement.unknown import Unknown
from grater.errors import BadInput, Problem, UnknownName, UsageError
from grater.evaluate.counts import ABSENT, Flags
from grater.evaluate.resampling import Ints
from grater.evaluate.votes import Truths as Truths
from grater.evaluate.votes import Votes, votes_of
from grater.registry import unknown as unknown_name
from grater.tables import Judgments, Table

NONE = "(none)"


@dataclass(frozen=True, eq=False, kw_only=True)
class Cases(Votes):
    """Votes on what systems decided; `flagged` is items x systems."""

    systems: tuple[str, ...]
    flagged: Flags
    columns: pl.DataFrame = field(default_factory=pl.DataFrame)

    def groups(self, column: str) -> tuple[Codes, tuple[str, ...]]:
        """A code for each item's value in a column of the items or decisions, and the values by code."""
        if column not in self.columns.columns:
            known = [name for name in self.columns.columns if name != "item"]
            raise UnknownName(f"{unknown_name('column', column, known)}; give --items for columns of items")
        values = self.columns[column].cast(pl.String).fill_null(NONE)
        return by_name(values.cast(pl.Categorical))

    def clusters(self, column: str) -> tuple[Codes, tuple[str, ...]]:
        """The same where a column says what is drawn together: then every item must have a value in it."""
        found = self.groups(column)
        n_missing = self.columns[column].null_count()
        if n_missing:
            raise UsageError(f"expected the {column} of every item, found none for {n_missing}; see --cluster")
        return found


def cases_of(
    decisions: Table, judgments: Judgments, *, items: Table | None = None, unknown: Unknown = "drop", first: int = 0
) -> Cases:
    """Every item that was decided on, with the votes that it got; shares of the `first` so many of each."""
    frame = decisions.frame
    if not len(frame):
        raise BadInput(Problem(decisions.name, "expected at least one decision, found none"))
    place, names = by_appearance(_categorical(frame["item"]))
    system, systems = by_name(_categorical(frame["system"]))
    flagged = np.full((len(names), len(systems)), ABSENT, np.int8)
    flagged[place, system] = frame["flagged"].cast(pl.Int8).to_numpy()
    votes = votes_of(judgments, items=names, unknown=unknown, first=first)
    return Cases(**vars(votes), systems=systems, flagged=flagged, columns=_columns(names, place, frame, items))


def _categorical(column: pl.Series) -> pl.Series:
    return column if isinstance(column.dtype, pl.Categorical | pl.Enum) else column.cast(pl.Categorical)


def _columns(names: pl.Series, place: Codes, frame: pl.DataFrame, items: Table | None) -> pl.DataFrame:
    """What is known of each item: columns of the items table, else those of the decisions."""
    wanted = pl.DataFrame({"item": names})
    if items is not None:
        known = items.frame.with_columns(pl.col("item").cast(pl.String))
        return wanted.join(known, on="item", how="left", maintain_order="left")
    first = np.zeros(len(names), np.int64)
    first[place[::-1]] = np.arange(len(place))[::-1]
    return frame.drop("system", "flagged", "item", "score", "suggestion", strict=False)[first]


def only(where: Truths) -> Ints:
    """The places of the wanted items; an error if there is none."""
    places = np.flatnonzero(where)
    if not places.size:
        raise UsageError("no item is left: check that decisions and judgments name the same items")
    return places
