"""A cheap judge of every item beside people who judged a sample: narrower intervals, however good the judge.

The difference estimator with its best weight (Cochran 1977, section 7.5; prediction-powered inference, PPI++:
Angelopoulos, Duchi & Zrnic 2023).  In cell k people found the rate y, the judge says g on average over the judged
items and G over all items of the cell; the rate of errors is y + b (G - g).  The best weight b is the slope of
verdicts on what the judge says.  What is left of their variance is 1 - r²; `uncertainty/stratified.py` says how r²
enters an interval.  A binary judge makes this post-stratification on its label; a score may have any scale.

Departures: r² is adjusted for the one slope it took, and where that leaves nothing (a judge that is no better than
chance, fewer than ten judged items, one verdict only) b is 0: a worthless judge changes neither estimate nor
interval.  The judge must have said something of every item.  It is never truth by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from grater.errors import BadInput, Problem, UnknownName
from grater.measure.evaluation.cases import votes_of
from grater.measure.evaluation.sampled.cells import Cells, Members
from grater.registry import unknown
from grater.result import Data, key
from grater.tables import Judgments, Table
from grater.uncertainty.intervals import Numbers
from grater.uncertainty.stratified import Stratum, drawn_variance

FEWEST = 10
"""Judged items of a cell below which no slope is fitted."""


@dataclass(frozen=True, slots=True, eq=False)
class CheapJudge:
    """What it says of every item: item, value; its name is that of its file or column."""

    name: str
    frame: pl.DataFrame


@dataclass(frozen=True, slots=True, eq=False)
class Weights:
    """By cell: the slope, the share of variance that it explains, what the judge says on average."""

    slopes: Numbers
    explained: Numbers
    means: Numbers
    judged_means: Numbers
    judge: CheapJudge


@dataclass(frozen=True, slots=True)
class Assisted(Data):
    """The cheap judge of a result, and by system how many more judgments of people it was worth for recall."""

    name: str = field(metadata=key("judge"))
    saved: Mapping[str, float] = field(default_factory=dict, metadata=key("judgments_saved"))

    @property
    def sentence(self) -> str:
        worth = "; ".join(f"{system}: {n:,.0f}" for system, n in self.saved.items())
        return f"assisted by {self.name}; for recall it is worth this number of additional human judgments: {worth}"


def judge_of_labels(judgments: Judgments) -> CheapJudge:
    """A cheap rater's verdicts, or the share of several that call an item an error."""
    votes = votes_of(judgments)
    frame = pl.DataFrame({"item": votes.items.cast(pl.String), "value": votes.share})
    return CheapJudge(judgments.name, frame.filter(pl.col("value").is_not_nan()))


def judge_of_column(column: str, *tables: Table | None) -> CheapJudge:
    """A number that a table of items, or of decisions, has for every item; of several rows the mean."""
    present = [table for table in tables if table is not None]
    table = next((each for each in present if column in each.frame.columns), None)
    if table is None:
        known = sorted({name for each in present for name in each.frame.columns})
        raise UnknownName(unknown("column", column, known))
    number = pl.col(column).cast(pl.Float64, strict=False)
    frame = table.frame.group_by(pl.col("item").cast(pl.String)).agg(value=number.mean()).drop_nulls()
    if frame.is_empty():
        raise BadInput(Problem(table.name, f"expected numbers in column {column!r}, found none"))
    return CheapJudge(column, frame)


def weights_of(members: Members, cells: Cells, truth: pl.DataFrame, judge: CheapJudge) -> Weights:
    """The best weight in each cell; `truth` has item and error."""
    if not members.is_whole:
        message = "expected a sample with its design for a cheap judge, found strata of unknown make-up"
        raise BadInput(Problem(members.name, message))
    rows = members.frame.join(members.cell_numbers, on=members.keys).select("item", "cell", "is_drawn")
    rows = rows.join(judge.frame, on="item", how="left").join(truth, on="item", how="left")
    n_missing = rows["value"].null_count()
    if n_missing:
        raise BadInput(Problem(judge.name, f"expected a value for every item, found none for {n_missing:,}"))
    judged = rows.filter(pl.col("is_drawn") & pl.col("error").is_not_null())
    fitted = {cell: _fit(part["error"].to_numpy(), part["value"].to_numpy()) for (cell,), part in _by_cell(judged)}
    means = dict(rows.group_by("cell").agg(pl.col("value").mean()).iter_rows())
    seen = dict(judged.group_by("cell").agg(pl.col("value").mean()).iter_rows())
    n = len(cells.cells)
    return Weights(
        slopes=np.array([fitted.get(cell, (0.0, 0.0))[0] for cell in range(n)]),
        explained=np.array([fitted.get(cell, (0.0, 0.0))[1] for cell in range(n)]),
        means=np.array([means.get(cell, 0.0) for cell in range(n)]),
        judged_means=np.array([seen.get(cell, 0.0) for cell in range(n)]),
        judge=judge,
    )


def _by_cell(rows: pl.DataFrame) -> Iterator[tuple[tuple[int], pl.DataFrame]]:
    for (cell,), part in rows.group_by("cell"):
        yield (int(str(cell)),), part


def _fit(error: Numbers, value: Numbers) -> tuple[float, float]:
    """The slope, and the share of variance that it explains beyond what any slope would."""
    n = len(error)
    if n < FEWEST or np.ptp(error) == 0 or np.ptp(value) == 0:
        return 0.0, 0.0
    spread = value - value.mean()
    slope = float(spread @ error / (spread @ spread))
    plain = float(np.corrcoef(error, value)[0, 1]) ** 2
    adjusted = 1 - (1 - plain) * (n - 1) / (n - 2)
    return (slope, min(adjusted, 0.999)) if adjusted > 0 else (0.0, 0.0)


def assisted(cells: Cells, weights: Weights) -> Cells:
    """The cells with rates moved by what the judge says of the items that nobody judged."""
    moved = []
    for place, cell in enumerate(cells.cells):
        slope = float(weights.slopes[place])
        if not slope:
            moved.append(cell)
            continue
        rate = cell.rate + slope * float(weights.means[place] - weights.judged_means[place])
        explained = float(weights.explained[place])
        moved.append(replace(cell, assisted=min(1.0, max(0.0, rate)), explained=explained))
    return replace(cells, cells=tuple(moved))


def judgments_saved(strata: Sequence[Stratum]) -> float:
    """How many more judgments, drawn alike, would bring recall as far without the judge."""
    plain = [replace(stratum, assisted=None, explained=0.0) for stratum in strata]
    n_judged = sum(stratum.n_judged for stratum in strata)
    with_judge, without = (drawn_variance(parts, "recall") for parts in (strata, plain))
    return max(0.0, n_judged * (without / with_judge - 1)) if with_judge > 0 else 0.0
