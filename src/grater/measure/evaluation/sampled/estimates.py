"""Estimates of systems from the cells of a judged sample, by two routes; differences; types of error.

**Differences.** Two systems are estimated from the same items, so their difference is known better than either.  The
variance is that of the linearised difference over cells (Cochran 1977, 5.5 and 6.3): a cell that both treat alike
adds little.  Rates in it are pulled a little to the middle, (x + 1/2) / (n + 1), so that a cell without an error seen
is not taken as certain.  For a wider population the sizes of cells add a variance of their own
(`uncertainty/stratified.py`).

**Inclusion probabilities alone.** Every judged item stands for 1 / probability items (Horvitz & Thompson 1952, J. Am.
Stat. Assoc. 47, 663-685).  A check on the post-stratified estimates, which know more (the sizes of cells) and are
steadier; with one draw, fully judged, both give the same numbers.  Intervals are normal, on the linearised ratio with
residuals around their stratum's mean (Deville 1999).  Items that nobody judged make the others of their stratum stand
for more.

**By type of error**: choice, extraneous, missing, each apart (T&C 2008, section 2, note 4).  A system says of what
type each of its flags is.  For one type its other flags do not count as flags.  A missing word stands in a gap, an
item of no width, so gaps have a precision and a recall of their own.  Elsewhere raters may say of which type an error
is (`evaluate.error_types`): recall is of the errors of that type, however they were flagged, and F has the limits
that those of precision and recall give together, which is wide.  Where raters do not say, choice and extraneous have
a precision, and no recall.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations
from math import inf, nan, sqrt
from typing import NamedTuple

import numpy as np
import polars as pl

from grater.measure.evaluation.cases import Votes
from grater.measure.evaluation.error_types import stated_types
from grater.measure.evaluation.sampled.cells import Cells, Members
from grater.measure.evaluation.truth import Truth
from grater.measure.sampling.strata import decided
from grater.model import Interval
from grater.tables import Sample, Table
from grater.uncertainty.intervals import z_value
from grater.uncertainty.stratified import Scores, Slopes, Stratum, scores, slopes


@dataclass(frozen=True, slots=True)
class Difference:
    """The first system minus the second."""

    systems: tuple[str, str]
    precision: Interval
    recall: Interval
    f: dict[float, Interval]


def differences(cells: Cells, *, fpc: bool = True, level: float = 0.95) -> Iterator[Difference]:
    """Every pair of systems."""
    by_system = {}
    for system in cells.flags:
        strata = cells.of(system)
        by_system[system] = _Scored(strata, scores(strata, fpc=fpc, level=level))
    n_items = inf if fpc else cells.n_counted
    for first, second in combinations(by_system, 2):
        between = partial(_difference, by_system[first], by_system[second], fpc=fpc, n_items=n_items, level=level)
        f = {beta: between("f", beta) for beta in by_system[first].scores.f}
        yield Difference((first, second), between("precision", 1.0), between("recall", 1.0), f)


class _Scored(NamedTuple):
    """One system's cells and its scores on them."""

    strata: list[Stratum]
    scores: Scores


def _difference(
    first: _Scored, second: _Scored, name: str, beta: float, *, fpc: bool, n_items: float, level: float
) -> Interval:
    value = _value(first.scores, name, beta) - _value(second.scores, name, beta)
    if value != value:
        return Interval(nan, nan, nan, "one of the two is undefined")
    own, other = (_slopes(scored, name, beta) for scored in (first, second))
    errors, items = (
        [one - two for one, two in zip(*pair, strict=True)]
        for pair in ((own.errors, other.errors), (own.items, other.items))
    )
    pairs = list(zip(errors, items, first.strata, strict=True))
    drawn = sum((slope * cell.size) ** 2 * _variance(cell, fpc=fpc) for slope, _, cell in pairs)
    sizes = sum(cell.size * slope**2 for _, slope, cell in pairs)
    half = z_value(level) * sqrt(drawn + sizes * sum(cell.size for cell in first.strata) / n_items)
    return Interval(value, value - half, value + half)


def _value(scores: Scores, name: str, beta: float) -> float:
    interval: Interval = scores.f[beta] if name == "f" else getattr(scores, name)
    return interval.value


def _slopes(scored: _Scored, name: str, beta: float) -> Slopes:
    rates = [stratum.rate if stratum.n_judged else 0.0 for stratum in scored.strata]
    return slopes(scored.strata, rates, name, beta)


def _variance(stratum: Stratum, *, fpc: bool) -> float:
    if not stratum.n_judged:
        return 0.25
    rate = stratum.smoothed
    worth = stratum.worth(fpc=fpc)
    return rate * (1 - rate) / worth if worth else 0.25


@dataclass(frozen=True, slots=True)
class HorvitzThompson:
    """Precision and recall by inclusion probabilities alone."""

    precision: Interval
    recall: Interval


def horvitz_thompson(
    decisions: Table, sample: Sample, truth: pl.DataFrame, system: str, *, fpc: bool = True, level: float = 0.95
) -> HorvitzThompson:
    """Precision over all that the system flags, and recall, from the judged items of the whole sample."""
    own = decided(decisions, system)
    rows = _judged(sample, truth).join(own.select("item", "flagged"), on="item", how="left")
    hit = pl.col("flagged") * pl.col("error")
    hits, errors = (float(rows.select((part / pl.col("chance")).sum()).item()) for part in (hit, pl.col("error")))
    n_flagged = int(own["flagged"].sum())
    z = z_value(level)
    if not n_flagged:
        precision = Interval(nan, nan, nan, "the system flags nothing")
    else:
        away = (hit - hits / n_flagged * pl.col("flagged")) / n_flagged
        precision = _normal(hits / n_flagged, rows, away, z, fpc=fpc)
    if not errors:
        return HorvitzThompson(precision, Interval(nan, nan, nan, "no error was found, flagged or not"))
    residual = (hit - hits / errors * pl.col("error")) / errors
    return HorvitzThompson(precision, _normal(hits / errors, rows, residual, z, fpc=fpc))


def _judged(sample: Sample, truth: pl.DataFrame) -> pl.DataFrame:
    """The judged items, once each, with the chance to be drawn and judged; strata of several draws are crossed."""
    items = sample.frame.group_by("item").agg(
        pl.col("stratum").sort_by("system" if "system" in sample.frame.columns else "stratum").str.join(" / "),
        pl.col("probability").first(),
    )
    joined = items.join(truth, on="item", how="left")
    response = pl.col("error").count().over("stratum") / pl.len().over("stratum")
    rows = joined.with_columns(chance=pl.col("probability") * response)
    return rows.filter(pl.col("error").is_not_null()).sort("item")


def _normal(value: float, rows: pl.DataFrame, residual: pl.Expr, z: float, *, fpc: bool) -> Interval:
    weighted = residual / pl.col("chance")
    away = (
        (weighted - weighted.mean().over("stratum")) ** 2 * pl.len().over("stratum") / (pl.len().over("stratum") - 1)
    )
    rest = 1 - pl.col("chance") if fpc else pl.lit(1.0)
    variance = float(rows.select((away.fill_nan(0.0) * rest).sum()).item())
    if not fpc:  # the strata were drawn too
        sizes = residual.mean().over("stratum") ** 2 / pl.col("chance")
        variance += float(rows.select(sizes.sum()).item())
    half = z * sqrt(variance)
    return Interval(value, value - half, value + half)


@dataclass(frozen=True, slots=True)
class SystemEstimate:
    """One system: our scores, the paper's, those by inclusion probabilities alone, and the cells they come from."""

    system: str
    scores: Scores
    paper: Scores
    weighted: HorvitzThompson
    strata: tuple[Stratum, ...]
    design_effects: Mapping[str, float] = field(default_factory=dict)


# By type of error


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
