"""How often several constructions are right, and how near raters come to the original (Lee et al. 2009, section 4).

All of it is about the stage with context.  Shares count places, so a place's five answers are one case.  The share of
places whose original is called yes is the ceiling of a system scored against the original alone; the share whose
yes* hold the original is the stricter one.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import polars as pl

from grater.agreement.constructions.marks import IN_CONTEXT, Marks
from grater.intervals.wilson import wilson
from grater.model import Interval

MOST_SETS = 6


@dataclass(frozen=True, slots=True)
class Several:
    """One rater, or `all` for the answers of every rater together; `sets` are the commonest sets of several yes*."""

    rater: str
    n_places: int
    several_starred: Interval
    several_yes: Interval
    original_yes: Interval
    original_starred: Interval
    mean_starred: float
    sets: tuple[tuple[tuple[str, ...], int], ...]


def several(marks: Marks) -> list[Several]:
    """Each rater, and all of them together."""
    seen = marks.stage(IN_CONTEXT)
    parts = [(rater, seen.filter(pl.col("rater") == rater)) for rater in marks.raters]
    parts = [(rater, part) for rater, part in parts if len(part)]
    return [_several(rater, part) for rater, part in [*parts, ("all", seen)] if len(part)]


def _several(rater: str, frame: pl.DataFrame) -> Several:
    is_original = pl.col("construction") == pl.col("original")
    by_place = frame.group_by("place", "rater").agg(
        n_starred=pl.col("is_starred").sum(),
        n_yes=pl.col("is_yes").sum(),
        original_yes=(is_original & pl.col("is_yes")).any(),
        original_starred=(is_original & pl.col("is_starred")).any(),
        has_original=pl.col("original").is_not_null().any(),
        starred=pl.col("construction").filter(pl.col("is_starred")).sort(),
    )
    known = by_place.filter("has_original")
    n = len(by_place)
    return Several(
        rater,
        n,
        wilson(int((by_place["n_starred"] > 1).sum()), n),
        wilson(int((by_place["n_yes"] > 1).sum()), n),
        wilson(int(known["original_yes"].sum()), len(known)),
        wilson(int(known["original_starred"].sum()), len(known)),
        float(by_place["n_starred"].sum()) / n,
        _sets(by_place["starred"].to_list()),
    )


def _sets(starred: list[list[str]]) -> tuple[tuple[tuple[str, ...], int], ...]:
    counted = Counter(tuple(names) for names in starred if len(names) > 1)
    ranked = sorted(counted.items(), key=lambda pair: (-pair[1], pair[0]))
    return tuple(ranked[:MOST_SETS])
