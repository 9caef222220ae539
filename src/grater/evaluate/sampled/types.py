"""Estimates by type of error: choice, extraneous, missing, each apart (T&C 2008, section 2, note 4).

A system says of what type each of its flags is.  For one type its other flags do not count as flags.  A missing word
stands in a gap, an item of no width, so gaps have a precision and a recall of their own.  Elsewhere raters may say of
which type an error is (`evaluate.error_types`): recall is of the errors of that type, however they were flagged, and
F has the limits that those of precision and recall give together, which is wide.  Where raters do not say, choice
and extraneous have a precision, and no recall.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import nan

import numpy as np
import polars as pl

from grater.evaluate.cases import Votes
from grater.evaluate.error_types import stated_types
from grater.evaluate.sampled.cells import Members
from grater.evaluate.sampled.estimates import SystemEstimate
from grater.evaluate.truth import Truth
from grater.model import Interval
from grater.statistics.stratified import Scores
from grater.tables import Table

TYPE = "type"
MISSING = "missing"
UNKNOWN_TYPE = "judgments do not say of which type a missed error is"
NOT_KNOWN = Interval(nan, nan, nan, UNKNOWN_TYPE)


@dataclass(frozen=True, slots=True, eq=False)
class TypedPart:
    """The flags of one type, among the items where it can be; `has_recall` where no other type can be there.

    `of_any_type` are the same items with all flags.
    """

    name: str
    decisions: Table
    members: Members
    of_any_type: Members
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
    return TypedPart(
        name=name,
        decisions=replace(decisions, frame=frame),
        members=replace(own, frame=flags),
        of_any_type=own,
        has_recall=has_recall,
    )


def _gaps(decisions: Table, items: Table | None) -> pl.DataFrame | None:
    """The items of no width; None where no table says where items stand."""
    for table in (items, decisions):
        if table is not None and {"start", "end"} <= set(table.frame.columns):
            places = table.frame.filter(pl.col("start") == pl.col("end"))
            return places.select(pl.col("item").cast(pl.String)).unique()
    return None


def truth_of_type(votes: Votes, truth: Truth, name: str) -> Truth | None:
    """Errors that raters call of one type, and nothing else, are errors; None where raters name no type."""
    types = stated_types(votes)
    if not (types != "").any():
        return None
    return replace(truth, values=np.where(np.isnan(truth.values) | (types == name), truth.values, 0.0))


def with_recall(estimate: SystemEstimate, of_any_type: SystemEstimate) -> SystemEstimate:
    """Precision of the flags of a type, and recall of its errors by flags of any type."""
    return replace(
        estimate,
        scores=_with_recall(estimate.scores, of_any_type.scores),
        paper=_with_recall(estimate.paper, of_any_type.paper),
        weighted=replace(estimate.weighted, recall=of_any_type.weighted.recall),
    )


def _with_recall(scores: Scores, others: Scores) -> Scores:
    f = {beta: _f_of(scores.precision, others.recall, beta) for beta in scores.f}
    return replace(scores, recall=others.recall, miss=others.miss, f=f)


def _f_of(precision: Interval, recall: Interval, beta: float) -> Interval:
    """F grows with both, so the limits of both give its own."""
    pairs = zip(
        (precision.value, precision.low, precision.high), (recall.value, recall.low, recall.high), strict=True
    )
    value, low, high = (_f(*pair, beta) for pair in pairs)
    return Interval(value, low, high, precision.undefined_because or recall.undefined_because)


def _f(precision: float, recall: float, beta: float) -> float:
    precision, recall = max(precision, 0.0), max(recall, 0.0)  # the paper's limits may lie below 0
    below = beta**2 * precision + recall
    return (1 + beta**2) * precision * recall / below if below else 0.0


def precision_only(estimate: SystemEstimate) -> SystemEstimate:
    """The estimate without what needs the type of missed errors."""
    return replace(
        estimate,
        scores=_precision_only(estimate.scores),
        paper=_precision_only(estimate.paper),
        weighted=replace(estimate.weighted, recall=NOT_KNOWN),
    )


def _precision_only(scores: Scores) -> Scores:
    return replace(scores, recall=NOT_KNOWN, f=dict.fromkeys(scores.f, NOT_KNOWN), miss=NOT_KNOWN)
