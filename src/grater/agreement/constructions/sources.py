"""What agreement depends on: the stage, a previous mention, the frequency of the construction (Lee et al. 2009, 5).

Every comparison has the paper's z (Cohen's simple standard error, the two kappas taken as independent, notes 5 to 7)
and ours: stages are the same nouns twice, so they are compared by resampling places for both at once; the other parts
are of different places or constructions, compared by the standard errors of Fleiss, Cohen & Everitt.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import polars as pl

from grater.agreement.cohen import cohen, cohen_kappa
from grater.agreement.confusion import Confusion, confusion
from grater.agreement.constructions.marks import IN_CONTEXT, NO, NO_CONTEXT, YES, Marks
from grater.agreement.counts import Whole
from grater.agreement.tests import KappaTest, dependent, independent
from grater.agreement.weights import weight_matrix
from grater.intervals.wilson import wilson
from grater.model import Interval

Pair: TypeAlias = tuple[str, str]
LABELS = (YES, NO)


@dataclass(frozen=True, slots=True, eq=False)
class PartAgreement:
    """Two raters on some of the answers: their table (Table 5), agreement and kappa."""

    name: str
    table: Confusion
    observed: Interval
    kappa: Interval


@dataclass(frozen=True, slots=True, eq=False)
class Contrast:
    """Two parts compared: `paper` is the z of the notes, `ours` the test that we trust."""

    name: str
    first: PartAgreement
    second: PartAgreement
    paper: KappaTest
    ours: KappaTest


def stage_agreement(marks: Marks, pair: Pair, stage: str, *, rng: np.random.Generator) -> PartAgreement:
    return _part(stage, marks.stage(stage), pair, rng)


def contrasts(marks: Marks, pair: Pair, *, rng: np.random.Generator) -> list[Contrast]:
    """Every comparison that the study has the answers for."""
    found = []
    if all(len(marks.stage(stage)) for stage in (NO_CONTEXT, IN_CONTEXT)):
        found.append(_stages(marks, pair, rng))
    seen = marks.stage(IN_CONTEXT)
    definite = seen.filter(pl.col("original").str.starts_with("the-"))
    is_before = pl.col("anaphoric").str.to_lowercase().is_in(["true", "1", "yes"])
    found += _two_parts("mention", definite, pair, rng, {"mentioned before": is_before, "not mentioned": ~is_before})
    low = seen.filter(pl.col("entropy") == "low")
    is_frequent = pl.col("construction") == pl.col("dominant")
    found += _two_parts(
        "frequency", low, pair, rng, {"most frequent construction": is_frequent, "the others": ~is_frequent}
    )
    return found


def _stages(marks: Marks, pair: Pair, rng: np.random.Generator) -> Contrast:
    first, second = (stage_agreement(marks, pair, stage, rng=rng) for stage in (IN_CONTEXT, NO_CONTEXT))
    kappa = cohen(weight_matrix("identity", len(LABELS)))
    rows = _common_rows(marks, pair)
    ours = dependent(kappa, kappa, rows, rng=rng)
    return Contrast("stage", first, second, independent(first.table, second.table, error="simple"), ours)


def _two_parts(
    name: str, frame: pl.DataFrame, pair: Pair, rng: np.random.Generator, parts: Mapping[str, pl.Expr]
) -> list[Contrast]:
    first, second = (_part(part, frame.filter(where), pair, rng) for part, where in parts.items())
    if not first.table.n or not second.table.n:
        return []
    tests = [independent(first.table, second.table, error=error) for error in ("simple", "fce")]
    return [Contrast(name, first, second, tests[0], tests[1])]


def _part(name: str, frame: pl.DataFrame, pair: Pair, rng: np.random.Generator) -> PartAgreement:
    both = _both(frame, pair)
    first, second = (both[rater].to_numpy() for rater in pair)
    cells = [
        [int((first & second).sum()), int((first & ~second).sum())],
        [int((~first & second).sum()), int((~first & ~second).sum())],
    ]
    table = confusion(cells, LABELS, pair)
    same = int(table.cells.diagonal().sum())
    return PartAgreement(name, table, wilson(same, table.n), cohen_kappa(table, rng=rng))


def _both(frame: pl.DataFrame, pair: Pair) -> pl.DataFrame:
    """Whether each of the two said yes, where both answered."""
    keys = ["place", "stage", "construction"]
    sides = [frame.filter(pl.col("rater") == rater).select(*keys, pl.col("is_yes").alias(rater)) for rater in pair]
    return sides[0].join(sides[1], on=keys, how="inner").sort(keys)


def _common_rows(marks: Marks, pair: Pair) -> tuple[Whole, Whole]:
    """For each place that both judged in both stages, its two tables, one of each stage."""
    both = _both(marks.frame, pair)
    cell = 2 * (~pl.col(pair[0])).cast(pl.Int64) + (~pl.col(pair[1])).cast(pl.Int64)
    counted = (
        both.with_columns(cell=cell)
        .group_by("place", "stage")
        .agg(*[(pl.col("cell") == n).sum().alias(str(n)) for n in range(4)])
    )
    sides = [counted.filter(pl.col("stage") == stage).drop("stage") for stage in (IN_CONTEXT, NO_CONTEXT)]
    joined = sides[0].join(sides[1], on="place", how="inner", suffix=" then").sort("place")
    columns = [str(n) for n in range(4)]
    first = joined.select(columns).to_numpy().astype(np.int64)
    second = joined.select([f"{name} then" for name in columns]).to_numpy().astype(np.int64)
    return first, second
