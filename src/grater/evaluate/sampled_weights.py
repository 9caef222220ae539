"""Estimates by inclusion probabilities alone: every judged item stands for 1 / probability items.

Horvitz & Thompson 1952, J. Am. Stat. Assoc. 47, 663-685.  A check on the post-stratified estimates, which know more
(the sizes of cells) and are steadier; with one draw, fully judged, both give the same numbers.  Limits are normal, on
the linearised ratio with residuals around their stratum's mean (Deville 1999).  Items that nobody judged make the
others of their stratum stand for more.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import nan, sqrt
from statistics import NormalDist

import polars as pl

from grater.model import Interval
from grater.sampling.strata import decided
from grater.tables import Sample, Table


@dataclass(frozen=True, slots=True)
class WeightedUp:
    precision: Interval
    recall: Interval


def weighted_up(
    decisions: Table, sample: Sample, truth: pl.DataFrame, system: str, *, fpc: bool = True, level: float = 0.95
) -> WeightedUp:
    """Precision over all that the system flags, and recall, from the judged items of the whole sample."""
    own = decided(decisions, system)
    rows = _judged(sample, truth).join(own.select("item", "flagged"), on="item", how="left")
    hit = pl.col("flagged") * pl.col("error")
    hits, errors = (float(rows.select((each / pl.col("chance")).sum()).item()) for each in (hit, pl.col("error")))
    n_flagged = int(own["flagged"].sum())
    z = NormalDist().inv_cdf((1 + level) / 2)
    if not n_flagged:
        precision = Interval(nan, nan, nan, "the system flags nothing")
    else:
        precision = _normal(hits / n_flagged, rows, hit / n_flagged, z, fpc=fpc)
    if not errors:
        return WeightedUp(precision, Interval(nan, nan, nan, "no error was found, flagged or not"))
    residual = (hit - hits / errors * pl.col("error")) / errors
    return WeightedUp(precision, _normal(hits / errors, rows, residual, z, fpc=fpc))


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
    each = residual / pl.col("chance")
    away = (each - each.mean().over("stratum")) ** 2 * pl.len().over("stratum") / (pl.len().over("stratum") - 1)
    rest = 1 - pl.col("chance") if fpc else pl.lit(1.0)
    variance = float(rows.select((away.fill_nan(0.0) * rest).sum()).item())
    half = z * sqrt(variance)
    return Interval(value, value - half, value + half)
