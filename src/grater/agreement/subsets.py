"""Parts of a table of judgments: by a column, by batch in order of time, with and without flagged contexts.

T&C 2008, 5.2 gives kappa for each set of a hundred contexts in turn, its range, and combined; once without the
contexts that an annotator marked for spelling or grammar, once with them (note 7).  Lee et al. 2009, section 5,
splits by first mention and by frequency of the construction.  The papers do not say whether one mark was enough to
take a context out or both annotators had to set it, so both are here: `any` and `all`.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Literal, TypeAlias

import polars as pl

from grater.agreement.coded import in_order
from grater.errors import UnknownName, UsageError
from grater.registry import unknown
from grater.tables import Judgments, Table
from grater.tables.schema import LIST_SEPARATOR

FlaggedBy: TypeAlias = Literal["any", "all"]

NONE = "(none)"
"""The group of judgments that have nothing in the column."""

MOST_GROUPS = 1000


def by_column(judgments: Judgments, column: str, *, items: Table | None = None) -> dict[str, Judgments]:
    """A table for each value of a column of the judgments, or else of the items, in the order of the values."""
    frame = _with_column(judgments, column, items)
    values = frame[column].cast(pl.String).fill_null(NONE)
    groups = frame.with_columns(values.alias(column)).partition_by(column, as_dict=True, maintain_order=True)
    if len(groups) > MOST_GROUPS:
        raise UsageError(f"expected at most {MOST_GROUPS} groups by {column!r}, found {len(groups)}")
    names = [str(name) for (name,) in groups]
    parts = {name: replace(judgments, frame=part) for name, part in zip(names, groups.values(), strict=True)}
    return {names[place]: parts[names[place]] for place in in_order(names)}


def by_batch(judgments: Judgments) -> dict[str, Judgments]:
    """A table for each batch in order of time: of the first judgment where the table has times, else by name."""
    batches = by_column(judgments, "batch")
    if "at" not in judgments.frame.columns:
        return batches
    times = [_first_time(part) for part in batches.values()]
    order = in_order(times)
    names = list(batches)
    return {names[place]: batches[names[place]] for place in order}


def without_flagged(judgments: Judgments, flags: Collection[str], *, by: FlaggedBy) -> Judgments:
    """The judgments of items that are not flagged, by any rater or by all of the item's raters."""
    if "flags" not in judgments.frame.columns:
        raise UsageError(f"{judgments.name}: expected a column 'flags', found none; name it with --columns")
    borne = pl.col("flags").cast(pl.String).str.split(LIST_SEPARATOR)
    flagged = (borne.list.set_intersection(list(flags)).list.len() > 0).fill_null(False)
    of_item = flagged.any().over("item") if by == "any" else flagged.all().over("item")
    frame = judgments.frame.filter(~of_item)
    reason = f"item flagged {' or '.join(flags)} by {by} rater" + ("s" if by == "all" else "")
    dropped = {**judgments.dropped, reason: len(judgments) - len(frame)}
    return replace(judgments, frame=frame, dropped=dropped)


def _with_column(judgments: Judgments, column: str, items: Table | None) -> pl.DataFrame:
    if column in judgments.frame.columns:
        return judgments.frame
    known = [name for name in judgments.frame.columns if name not in ("item", "label")]
    if items is None:
        raise UnknownName(f"{judgments.name}: {unknown('column', column, known)}; give --items for columns of items")
    if column not in items.frame.columns:
        raise UnknownName(f"{items.name}: {unknown('column', column, [*known, *items.frame.columns])}")
    named = items.frame.select(pl.col("item").cast(pl.String), column)
    return judgments.frame.with_columns(pl.col("item").cast(pl.String)).join(named, on="item", how="left")


def _first_time(judgments: Judgments) -> str:
    times = judgments.frame["at"].cast(pl.String).drop_nulls().to_list()
    return times[min(range(len(times)), key=_rank(times).__getitem__)] if times else ""


def _rank(times: list[str]) -> dict[int, int]:
    return {place: rank for rank, place in enumerate(in_order(times))}
