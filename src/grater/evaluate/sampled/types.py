"""Estimates by type of error: choice, extraneous, missing, each apart (T&C 2008, section 2, note 4).

A system says of what type each of its flags is.  For one type its other flags do not count as flags.  A missing word
stands in a gap, an item of no width, so gaps have a precision and a recall of their own.  Elsewhere nobody knows of
which type an error is that the system let pass: choice and extraneous have a precision, and no recall.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import nan

import polars as pl

from grater.evaluate.sampled.cells import Members
from grater.evaluate.sampled.estimates import SystemEstimate
from grater.model import Interval
from grater.statistics.stratified import Scores
from grater.tables import Table

TYPE = "type"
MISSING = "missing"
UNKNOWN_TYPE = "judgments do not say of which type a missed error is"


@dataclass(frozen=True, slots=True, eq=False)
class TypedPart:
    """The flags of one type, among the items where it can be; `has_recall` where no other type can be there."""

    name: str
    decisions: Table
    members: Members
    has_recall: bool


def typed_parts(decisions: Table, members: Members, items: Table | None) -> Iterator[TypedPart]:
    """One part for each type, where systems flag more than one."""
    if TYPE not in decisions.frame.columns or not members.is_whole:
        return
    types = decisions.frame.filter(pl.col("flagged") & pl.col("system").is_in(list(members.systems)))[TYPE]
    names = types.drop_nulls().unique().sort().to_list()
    if len(names) < 2:
        return
    gaps = _gaps(decisions, items)
    for name in names:
        known = gaps is not None
        inside = decisions.frame.select("item").unique()
        if gaps is not None:
            inside = inside.join(gaps, on="item", how="semi" if name == MISSING else "anti")
        yield _part(name, decisions, members, inside["item"], has_recall=known and name == MISSING)


def _part(name: str, decisions: Table, members: Members, inside: pl.Series, *, has_recall: bool) -> TypedPart:
    here = pl.DataFrame({"item": inside})
    frame = decisions.frame.join(here, on="item", how="semi")
    frame = frame.with_columns(flagged=pl.col("flagged") & (pl.col(TYPE).fill_null("") == name))
    own = members.only(inside)
    flags = own.frame
    for system in members.systems:
        of_type = frame.filter(pl.col("system") == system).select("item", pl.col("flagged").alias(f"flag {system}"))
        flags = flags.drop(f"flag {system}").join(of_type, on="item", how="left")
    return TypedPart(name, replace(decisions, frame=frame), replace(own, frame=flags), has_recall)


def _gaps(decisions: Table, items: Table | None) -> pl.DataFrame | None:
    """The items of no width; None where no table says where items stand."""
    for table in (items, decisions):
        if table is not None and {"start", "end"} <= set(table.frame.columns):
            places = table.frame.filter(pl.col("start") == pl.col("end"))
            return places.select(pl.col("item").cast(pl.String)).unique()
    return None


def precision_only(estimate: SystemEstimate) -> SystemEstimate:
    """The estimate without what needs the type of missed errors."""
    return replace(estimate, scores=_precision_only(estimate.scores), paper=_precision_only(estimate.paper))


def _precision_only(scores: Scores) -> Scores:
    none = Interval(nan, nan, nan, UNKNOWN_TYPE)
    return replace(scores, recall=none, f=dict.fromkeys(scores.f, none), miss=none)
