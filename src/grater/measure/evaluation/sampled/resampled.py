"""Intervals for estimates from a sample, by resampling essays, documents or raters.

Design-based intervals (`uncertainty/stratified.py`) are about which items were drawn, and nothing else.  Where the
corpus stands for more essays than it has, resample essays with all their items: sizes of cells, judged items and
errors follow (Rao & Wu 1988, J. Am. Stat. Assoc. 83, 231-241, for the bootstrap of surveys).  Where other raters
might have judged, resample raters; the items are held fast.  `item+rater` resamples judged items within their cells,
and raters, each by itself.

A cell without an error seen never has one in a resample.  So intervals over essays or items never lie inside those by
item alone, for a wider corpus.  Where the design is not known, sizes of cells are fixed.  Below twenty essays
intervals are Student's t (`uncertainty/intervals.py`), with as many essays as the score rests on: (sum n_j)² / sum
n_j² over the judged flags of essay j for precision, over its errors otherwise.  Where three of twelve essays have
most of the errors, twelve would promise too much (.915 held for .95 in the sharp worlds of docs/sampling.md).

The design effect of a score is the ratio of its linearised variances with essays and with items drawn: an essay adds
sum_k N_jk dtheta/dN_k + (N_k / n_k) dtheta/dE_k (x_jk - p_k n_jk), with N_jk items in cell k, n_jk of them judged and
x_jk errors found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import nan
from typing import Any

import numpy as np
import polars as pl

from grater.measure.agreement.coded import Codes
from grater.measure.evaluation.cases import Truth, Votes, f_score, places_of, ratio
from grater.measure.evaluation.sampled.estimates import Cells, Difference, Members, Weights
from grater.measure.evaluation.standard import rater_shares, require_drawable
from grater.model import Interval
from grater.uncertainty.bootstrap import Chance, defined_draws
from grater.uncertainty.intervals import (
    FEW_UNITS,
    SHARE,
    Ints,
    Numbers,
    cluster_interval,
    generator,
    holding,
    percentile_interval,
    student_interval,
    variance_ratio,
)
from grater.uncertainty.stratified import Scores, Stratum, slopes

AT_ONCE = 100
"""Resamples drawn at one time where raters are not."""


@dataclass(frozen=True, slots=True, eq=False)
class Totals:
    """One system in every resample."""

    hit: Numbers
    miss: Numbers
    flagged: Numbers
    passed: Numbers

    @property
    def sums(self) -> Numbers:
        """Hits, false alarms, misses and correct rejections, a row for each resample."""
        return np.stack([self.hit, self.flagged - self.hit, self.miss, self.passed - self.miss], axis=-1)

    def score(self, name: str, beta: float = 1.0) -> Numbers:
        match name:
            case "hit" | "miss":
                return self.hit if name == "hit" else self.miss
            case "false_alarm":
                return self.flagged - self.hit
            case "precision":
                return ratio(self.hit, self.flagged)
            case "recall":
                return ratio(self.hit, self.hit + self.miss)
        return f_score(self.sums, beta)


@dataclass(frozen=True, slots=True, eq=False)
class Resampled:
    """All systems in the same resamples, so that differences are paired."""

    by_system: Mapping[str, Totals]
    n_units: int
    chance: Chance
    by_unit: UnitTables | None = None
    flags: Mapping[str, tuple[bool, ...]] = field(default_factory=dict)

    def design_effect(self, strata: Sequence[Stratum], name: str) -> float:
        """How many times the variance of a score is that with items drawn one by one; nan where it is not known."""
        return self.by_unit.design_effect(strata, name) if self.by_unit is not None else nan

    def scores(self, system: str, by_item: Scores) -> Scores:
        """The scores with intervals from the resamples; over items or essays, never inside those by item."""
        totals = self.by_system[system]

        def around(name: str, own: Interval, beta: float = 1.0) -> Interval:
            most = {"hit": totals.flagged, "false_alarm": totals.flagged, "miss": totals.passed}
            ends = (0.0, float(most[name].max(initial=0))) if name in most else SHARE
            interval = self._interval(own.value, totals.score(name, beta), ends, self.n_units_of(system, name))
            if not self.chance.unit or interval.undefined_because:
                return interval
            return holding(interval, own)

        fields = ("precision", "recall", "hit", "false_alarm", "miss")
        moved = {name: around(name, getattr(by_item, name)) for name in fields}
        f = {beta: around("f", own, beta) for beta, own in by_item.f.items()}
        return replace(by_item, f=f, method=f"bootstrap-{self.chance.cluster}", **moved)

    def difference(self, pair: Difference) -> Difference:
        """The difference with intervals from the resamples."""
        first, second = (self.by_system[system] for system in pair.systems)

        def around(name: str, value: Interval, beta: float = 1.0) -> Interval:
            return self._interval(value.value, first.score(name, beta) - second.score(name, beta), (-1.0, 1.0))

        f = {beta: around("f", value, beta) for beta, value in pair.f.items()}
        return Difference(pair.systems, around("precision", pair.precision), around("recall", pair.recall), f)

    @property
    def n_resamples(self) -> int:
        return max((len(totals.hit) for totals in self.by_system.values()), default=0)

    def n_units_of(self, system: str, name: str) -> int:
        """The units that a score rests on: few essays with most of the flags, or of the errors, count as few."""
        if self.by_unit is None or self.n_units >= FEW_UNITS:
            return self.n_units
        flags = np.array(self.flags[system], bool)
        parts = self.by_unit.n_judged[flags] if name == "precision" else self.by_unit.errors
        held = parts.sum(axis=0)
        squares = float((held**2).sum())
        return max(2, min(self.n_units, round(float(held.sum()) ** 2 / squares))) if squares else self.n_units

    def _interval(
        self, value: float, drawn: Numbers, ends: tuple[float, float], n_units: int | None = None
    ) -> Interval:
        draws, level = defined_draws(drawn, value), self.chance.level
        if self.chance.cluster == "rater":
            return student_interval(value, draws, n_units=self.n_units, level=level, ends=ends)
        if self.chance.unit in ("", "item"):
            return percentile_interval(value, draws, n_units=self.n_units, level=level, ends=ends)
        return cluster_interval(value, draws, n_units=n_units or self.n_units, level=level, ends=ends)


@dataclass(frozen=True, slots=True, eq=False)
class UnitTables:
    """By cell and unit: how many items there are, how many were judged, how many errors were found."""

    sizes: Numbers
    n_judged: Numbers
    errors: Numbers

    def design_effect(self, strata: Sequence[Stratum], name: str) -> float:
        judged = np.array([stratum.n_judged > 0 for stratum in strata])
        if not judged.any():
            return nan
        kept = [stratum for stratum, is_judged in zip(strata, judged, strict=True) if is_judged]
        rates = np.array([stratum.rate for stratum in kept])
        slope = slopes(kept, rates.tolist(), name)
        sizes, n = (np.array([getattr(stratum, part) for stratum in kept]) for part in ("size", "n_judged"))
        weight = np.array(slope.errors) * sizes / n
        away = self.errors[judged] - rates[:, None] * self.n_judged[judged]
        of_units = np.array(slope.items) @ self.sizes[judged] + weight @ away
        of_items = float((sizes * np.array(slope.items) ** 2 + weight**2 * n * rates * (1 - rates)).sum())
        return variance_ratio(of_units, of_items, n_items=round(float(sizes.sum())))


def resample_sample(
    members: Members,
    cells: Cells,
    votes: Votes,
    truth: Truth,
    *,
    chance: Chance,
    units: pl.DataFrame | None,
    assist: Weights | None = None,
) -> Resampled:
    """Every system in every resample; `units` has the essay or document of each item: item, unit."""
    if chance.with_raters:
        require_drawable(votes, truth)
    judged = _judged(members, votes, truth)
    weigh = _weights(members, judged, cells, chance, units, assist)
    cheap = _values(judged, assist)
    parts: list[tuple[Numbers, Numbers, Numbers]] = []
    for share in _truths(votes, truth, judged["place"].to_numpy(), chance):
        weights, sizes, values = weigh(share.shape[1])
        counted = ~np.isnan(share) * weights
        errors = np.where(counted > 0, share, 0.0) * counted
        inside = _indicator(judged["cell"].to_numpy(), len(cells.cells))
        sizes, n_judged = np.broadcast_to(sizes, (len(cells.cells), share.shape[1])), inside @ counted
        moved = _moved(inside @ errors, n_judged, inside @ (counted * cheap[:, None]), ratio(values, sizes), assist)
        parts.append((sizes, n_judged, moved))
    sizes, n_judged, errors = (np.concatenate(columns, axis=1) for columns in zip(*parts, strict=True))
    by_system = {
        system: _totals(np.array(flags, bool), sizes, n_judged, errors) for system, flags in cells.flags.items()
    }
    n_raters = [len(votes.raters)] if chance.with_raters else []
    n_drawn = [units["unit"].n_unique()] if units is not None else [len(judged)] if chance.unit else []
    by_unit = _unit_tables(members, judged, truth, len(cells.cells), units) if units is not None else None
    return Resampled(by_system, min([*n_raters, *n_drawn]), chance, by_unit, cells.flags)


def _values(judged: pl.DataFrame, assist: Weights | None) -> Numbers:
    """What the cheap judge says of each judged item; 0 without one."""
    if assist is None:
        return np.zeros(len(judged))
    return judged.join(assist.judge.frame, on="item", how="left", maintain_order="left")["value"].to_numpy()


def _moved(errors: Numbers, n_judged: Numbers, values: Numbers, means: Numbers, assist: Weights | None) -> Numbers:
    """The errors of each cell after what the cheap judge says of its other items, never below 0 or above all."""
    if assist is None:
        return errors
    shift = assist.slopes[:, None] * (means - ratio(values, n_judged))
    return np.clip(errors + np.nan_to_num(shift) * n_judged, 0.0, n_judged)


def _unit_tables(
    members: Members, judged: pl.DataFrame, truth: Truth, n_cells: int, units: pl.DataFrame
) -> UnitTables:
    names = units["unit"].unique().sort()
    shape = (n_cells, len(names))
    cell, unit = judged["cell"].to_numpy(), _unit_codes(judged, units, names)
    errors = truth.values[judged["place"].to_numpy()]
    counted = _sizes_by_unit(members, units, names, n_cells)
    sizes = np.zeros(shape) if counted is None else counted.toarray()
    tables = [np.zeros(shape), np.zeros(shape)]
    for table, weights in zip(tables, (np.ones(len(cell)), errors), strict=True):
        np.add.at(table, (cell, unit), weights)
    return UnitTables(sizes, *tables)


def _unit_codes(rows: pl.DataFrame, units: pl.DataFrame, names: pl.Series) -> Ints:
    """The number of each row's unit; -1 where it has none."""
    joined = rows.select("item").join(units, on="item", how="left", maintain_order="left")["unit"]
    return places_of(joined, names).astype(np.int64)


def _judged(members: Members, votes: Votes, truth: Truth) -> pl.DataFrame:
    """The judged items of the sample, by name: item, cell, and their place among the votes."""
    keys = members.cell_numbers
    drawn = members.frame.filter("is_drawn").join(keys, on=members.keys).sort("item")
    place = places_of(drawn["item"], votes.items)
    is_known = (place >= 0) & ~np.isnan(np.append(truth.values, np.nan)[place])
    return drawn.select("item", pl.col("cell").cast(pl.Int64)).with_columns(place=place).filter(is_known)


def _truths(votes: Votes, truth: Truth, places: Codes, chance: Chance) -> Iterator[Numbers]:
    """How true each judged item is, items x resamples."""
    if chance.with_raters:
        for shares in rater_shares(votes, truth, n_resamples=chance.n_resamples, seed=chance.seed):
            yield shares[places]
        return
    for start in range(0, chance.n_resamples, AT_ONCE):
        n = min(AT_ONCE, chance.n_resamples - start)
        yield np.broadcast_to(truth.values[places][:, None], (len(places), n))


def _weights(
    members: Members,
    judged: pl.DataFrame,
    cells: Cells,
    chance: Chance,
    units: pl.DataFrame | None,
    assist: Weights | None,
) -> Callable[[int], tuple[Numbers, Numbers, Numbers]]:
    """For n resamples: how often each judged item is drawn (items x n), and the sizes of cells (cells x n, or 1).

    Beside them the sums of what a cheap judge says over all items of the cells, 0 without one.
    """
    rng = generator(chance.seed, "sampled", chance.cluster)
    fixed = np.array([[cell.size] for cell in cells.cells])
    cell = judged["cell"].to_numpy()
    said = fixed * (assist.means[:, None] if assist is not None else 0.0)
    if not chance.unit:
        return lambda n: (np.ones((len(cell), n)), fixed, said)
    if units is None:
        return lambda n: (_within_cells(cell, n, rng), fixed, said)
    names = units["unit"].unique().sort()
    of_judged = _unit_codes(judged, units, names)
    table = _sizes_by_unit(members, units, names, len(cells.cells))
    values = _sizes_by_unit(members, units, names, len(cells.cells), assist) if assist is not None else None

    def drawn(n: int) -> tuple[Numbers, Numbers, Numbers]:
        times = rng.multinomial(len(names), np.full(len(names), 1 / len(names)), size=n).T.astype(np.float64)
        sizes = fixed if table is None else table @ times
        return times[of_judged], sizes, said if values is None else values @ times

    return drawn


def _sizes_by_unit(
    members: Members, units: pl.DataFrame, names: pl.Series, n_cells: int, assist: Weights | None = None
) -> Any:
    """Cells x units, the items of each, or what a cheap judge says of them; none where only drawn items are known."""
    from scipy.sparse import coo_array  # a fifth of a second that most commands need not wait for

    if not members.is_whole or len(units) < len(members.frame):
        return None
    everywhere = members.frame.join(members.cell_numbers, on=members.keys).select("item", "cell")
    unit = _unit_codes(everywhere, units, names)
    values = np.ones(len(unit)) if assist is None else _values(everywhere, assist)
    return coo_array((values, (everywhere["cell"].to_numpy(), unit)), (n_cells, len(names))).tocsr()


def _within_cells(cell: Ints, n: int, rng: np.random.Generator) -> Numbers:
    weights = np.zeros((len(cell), n))
    for number in np.unique(cell):
        inside = np.flatnonzero(cell == number)
        weights[inside] = rng.multinomial(len(inside), np.full(len(inside), 1 / len(inside)), size=n).T
    return weights


def _indicator(cell: Ints, n_cells: int) -> Any:
    from scipy.sparse import coo_array  # a fifth of a second that most commands need not wait for

    return coo_array((np.ones(len(cell)), (cell, np.arange(len(cell)))), (n_cells, len(cell))).tocsr()


def _totals(is_flagged: Numbers, sizes: Numbers, n_judged: Numbers, errors: Numbers) -> Totals:
    """Hits and misses over the corpus; a cell in which nothing was judged has the rate of the others of its side."""
    sides = (is_flagged == 1, is_flagged == 0)
    hit, miss = (_side(sizes[side], n_judged[side], errors[side]) for side in sides)
    return Totals(hit, miss, *(sizes[side].sum(axis=0) for side in sides))


def _side(sizes: Numbers, n_judged: Numbers, errors: Numbers) -> Numbers:
    if not len(sizes):
        return np.zeros(sizes.shape[1])
    rates = np.divide(errors, n_judged, out=np.zeros_like(errors), where=n_judged > 0)
    seen = np.where(n_judged > 0, sizes, 0.0)
    total: Numbers = sizes.sum(axis=0) * ratio((seen * rates).sum(axis=0), seen.sum(axis=0))
    return total
