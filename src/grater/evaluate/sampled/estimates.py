"""How far two systems differ on one judged sample.

Both are estimated from the same items, so their difference is known better than either.  The variance is that of the
linearised difference over cells (Cochran 1977, 5.5 and 6.3): a cell that both treat alike adds little.  Rates in it
are pulled a little to the middle, (x + 1/2) / (n + 1), so that a cell without an error seen is not taken as certain.

Estimates by inclusion probabilities alone: every judged item stands for 1 / probability items.

Horvitz & Thompson 1952, J. Am. Stat. Assoc. 47, 663-685.  A check on the post-stratified estimates, which know more
(the sizes of cells) and are steadier; with one draw, fully judged, both give the same numbers.  Limits are normal, on
the linearised ratio with residuals around their stratum's mean (Deville 1999).  Items that nobody judged make the
others of their stratum stand for more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import nan, sqrt
from statistics import NormalDist

import polars as pl

from grater.evaluate.sampled.cells import Cells
from grater.model import Interval
from grater.sampling.strata import decided
from grater.statistics.stratified import Scores, Stratum, scores
from grater.tables import Sample, Table


@dataclass(frozen=True, slots=True)
class Difference:
    """The first system minus the second."""

    systems: tuple[str, str]
    precision: Interval
    recall: Interval
    f: dict[float, Interval]


def differences(cells: Cells, *, fpc: bool = True, level: float = 0.95) -> Iterator[Difference]:
    """Every pair of systems."""
    found = {system: (cells.of(system), scores(cells.of(system), fpc=fpc, level=level)) for system in cells.flags}
    for first, second in combinations(found, 2):
        (own, mine), (other, theirs) = found[first], found[second]

        def between(name: str, beta: float = 1.0) -> Interval:
            left, right = _pull(own, mine, name, beta), _pull(other, theirs, name, beta)  # noqa: B023
            value = _value(mine, name, beta) - _value(theirs, name, beta)  # noqa: B023
            return _limits(value, own, [a - b for a, b in zip(left, right, strict=True)], fpc, level)  # noqa: B023

        f = {beta: between("f", beta) for beta in mine.f}
        yield Difference((first, second), between("precision"), between("recall"), f)


def _value(found: Scores, name: str, beta: float) -> float:
    interval: Interval = found.f[beta] if name == "f" else getattr(found, name)
    return interval.value


def _pull(strata: Sequence[Stratum], found: Scores, name: str, beta: float) -> list[float]:
    """By how much the score moves for one more error in each cell."""
    n_flagged = sum(each.size for each in strata if each.is_flagged)
    total = found.hit.value + found.miss.value
    value = _value(found, name, beta)
    match name:
        case "precision":
            top, base, bottom = 1.0, 0.0, n_flagged
        case "recall":
            top, base, bottom = 1.0, value, total
        case _:
            top, base, bottom = 1 + beta**2, value * beta**2, n_flagged + beta**2 * total
    return [(top * each.is_flagged - base) / bottom if bottom else nan for each in strata]


def _limits(value: float, strata: Sequence[Stratum], pulls: Sequence[float], fpc: bool, level: float) -> Interval:
    if value != value:
        return Interval(nan, nan, nan, "one of the two is undefined")
    half = NormalDist().inv_cdf((1 + level) / 2) * sqrt(
        sum((pull * each.size) ** 2 * _variance(each, fpc=fpc) for pull, each in zip(pulls, strata, strict=True))
    )
    return Interval(value, value - half, value + half)


def _variance(stratum: Stratum, *, fpc: bool) -> float:
    if not stratum.n_judged:
        return 0.25
    rate = (stratum.errors + 0.5) / (stratum.n_judged + 1)
    rest = (stratum.size - stratum.n_judged) / max(1.0, stratum.size - 1) if fpc else 1.0
    return rate * (1 - rate) / stratum.n_judged * max(0.0, rest)


@dataclass(frozen=True, slots=True)
class HorvitzThompson:
    precision: Interval
    recall: Interval


def horvitz_thompson(
    decisions: Table, sample: Sample, truth: pl.DataFrame, system: str, *, fpc: bool = True, level: float = 0.95
) -> HorvitzThompson:
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
    each = residual / pl.col("chance")
    away = (each - each.mean().over("stratum")) ** 2 * pl.len().over("stratum") / (pl.len().over("stratum") - 1)
    rest = 1 - pl.col("chance") if fpc else pl.lit(1.0)
    variance = float(rows.select((away.fill_nan(0.0) * rest).sum()).item())
    half = z * sqrt(variance)
    return Interval(value, value - half, value + half)
