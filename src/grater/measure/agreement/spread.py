"""How much the raters of each item agree, and which properties of items go with it.

Three measures: the share of the majority label; the share of pairs of judgments that agree, which does not change
with the number of judgments; and the entropy of the labels in bits.  `unknown` is left out of all three and has a
share of its own, as many raters use it on garbled sentences (T,C&M 2013, 5.5).

By any column of the items table: the paper names the frequency of the target's n-gram, other errors near it, a
garbled sentence, the kind of use (time, place), and whether context was shown; each is a column that somebody filled
in.  A column of more than eight different numbers is cut into quantiles, equal numbers staying together.  An essay's
items are not independent, so intervals come from resampling essays where they are known
(`grater.measure.agreement.essays`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import nan

import numpy as np
import numpy.typing as npt
import polars as pl

from grater.errors import UnknownName
from grater.measure.agreement.coded import UNKNOWN, Coded, as_numbers, coded, in_order
from grater.measure.agreement.counts import table_of
from grater.measure.agreement.essays import Essays
from grater.model import Interval
from grater.registry import unknown
from grater.result import Data
from grater.tables import Judgments, Table
from grater.uncertainty.bootstrap import Resampled, resample
from grater.uncertainty.intervals import ALIKE, Ints, Numbers, alike_interval, z_value
from grater.uncertainty.population import FEW_UNITS, cluster_interval, effective_units


@dataclass(frozen=True, slots=True, eq=False)
class Spread:
    """One row for each item, in the order of `items`; nan where an item has no judgment, or for pairs no two."""

    items: pl.Series
    labels: tuple[str, ...]
    counts: Ints
    n_unknown: Ints

    @property
    def n(self) -> Ints:
        """Judgments that are not unknown."""
        return np.asarray(self.counts.sum(axis=1))

    @property
    def majority_share(self) -> Numbers:
        return _divided(self.counts.max(axis=1, initial=0), self.n)

    @property
    def pair_agreement(self) -> Numbers:
        return _divided((self.counts * (self.counts - 1)).sum(axis=1), self.n * (self.n - 1))

    @property
    def entropy(self) -> Numbers:
        shares = _divided(self.counts, self.n[:, None])
        logarithms = np.log2(shares, out=np.zeros_like(shares), where=shares > 0)
        return np.asarray(-(shares * logarithms).sum(axis=1)) + 0.0

    @property
    def unknown_share(self) -> Numbers:
        return _divided(self.n_unknown, self.n + self.n_unknown)

    def to_frame(self) -> pl.DataFrame:
        numbers = {
            "judgments": self.n,
            "majority_share": self.majority_share,
            "pair_agreement": self.pair_agreement,
            "entropy": self.entropy,
            "unknown_share": self.unknown_share,
        }
        return pl.DataFrame({"item": self.items, **numbers}).fill_nan(None)

    def majority(self, row: int) -> str:
        """The most frequent label; several, with a stroke between, where they are as frequent."""
        most = self.counts[row].max(initial=0)
        return " / ".join(label for label, n in zip(self.labels, self.counts[row], strict=True) if n == most > 0)


def spreads(judgments: Judgments) -> Spread:
    """The spread of every item of a table."""
    codes: Coded = coded(judgments)
    table = table_of(codes.item, codes.label, len(codes.labels))
    known = [place for place, label in enumerate(codes.labels) if label != UNKNOWN]
    unknown = [place for place, label in enumerate(codes.labels) if label == UNKNOWN]
    labels = tuple(codes.labels[place] for place in known)
    return Spread(codes.items.cast(pl.String), labels, table[:, known], np.asarray(table[:, unknown].sum(axis=1)))


def _divided(top: Ints, bottom: Ints) -> Numbers:
    top, bottom = np.broadcast_arrays(top, bottom)
    out = np.full(top.shape, np.nan)
    return np.asarray(np.divide(top, bottom, out=out, where=bottom > 0), np.float64)


MOST_VALUES = 8
"""Different numbers that are groups of their own."""

MOST_GROUPS = 12
WHERE_COLUMNS = frozenset({"item", "essay", "document", "start", "end", "target", "context"})
NO_VALUE = "(none)"


@dataclass(frozen=True, slots=True)
class ColumnGroup(Data):
    """The items with one value, or range of values, of a column."""

    column: str
    value: str
    n_items: int
    majority_share: Interval
    pair_agreement: Interval
    unknown_share: Interval


def columns_of(items: Table, spread: Spread) -> list[str]:
    """The columns worth a look: not where an item stands, more than one value, and few or numbers."""
    frame = _joined(items, spread)
    return [name for name in items.frame.columns if name not in WHERE_COLUMNS and _is_telling(frame[name])]


def _is_telling(values: pl.Series) -> bool:
    distinct = values.drop_nulls().unique().cast(pl.String).to_list()
    return len(distinct) > 1 and (len(distinct) <= MOST_GROUPS or as_numbers(distinct) is not None)


def by_columns(
    spread: Spread,
    items: Table,
    columns: Sequence[str],
    *,
    essays: Essays,
    rng: np.random.Generator,
    n_quantiles: int,
    n_resamples: int,
    level: float = 0.95,
) -> list[ColumnGroup]:
    """A row for each group of each column, in the order of the values."""
    frame = _joined(items, spread)
    missing = next((column for column in columns if column not in items.frame.columns), None)
    if missing is not None:
        raise UnknownName(f"{items.name}: {unknown('column', missing, list(items.frame.columns))}")
    clusters = clusters_of(spread, essays)
    groups = []
    for column in columns:
        for value, rows in column_groups(frame[column], n_quantiles).items():
            numbers = [spread.majority_share[rows], spread.pair_agreement[rows], spread.unknown_share[rows]]
            intervals = means(numbers, clusters[rows], rng, n_resamples, level)
            groups.append(ColumnGroup(column, value, len(rows), *intervals))
    return groups


def _joined(items: Table, spread: Spread) -> pl.DataFrame:
    """The rows of the items table in the order of the spread, empty where an item has none."""
    named = items.frame.with_columns(pl.col("item").cast(pl.String))
    return pl.DataFrame({"item": spread.items.cast(pl.String)}).join(
        named, on="item", how="left", maintain_order="left"
    )


def clusters_of(spread: Spread, essays: Essays) -> Ints:
    """The number of each item's essay; an item that is in none, or where essays are not known, stands by itself."""
    codes = essays.codes(spread.items)
    return np.arange(len(spread.items)) if codes is None else codes


def column_groups(values: pl.Series, n_quantiles: int) -> dict[str, Ints]:
    """The rows of each value in order, numbers cut into quantiles where they are many, and those without one last."""
    texts = values.cast(pl.String)
    numbers = as_numbers(texts.drop_nulls().unique().to_list())
    if numbers and len(set(numbers)) > MOST_VALUES:
        return _quantiles(texts.cast(pl.Float64).to_numpy(), n_quantiles)
    distinct = texts.drop_nulls().unique().to_list()
    names = [distinct[place] for place in in_order(distinct)]
    rows = {name: np.flatnonzero((texts == name).fill_null(False).to_numpy()) for name in names}
    return _with_none(rows, texts.is_null().to_numpy())


def _quantiles(numbers: Numbers, n_quantiles: int) -> dict[str, Ints]:
    """The rows of each quantile, by its range; equal numbers fall together."""
    known = numbers[~np.isnan(numbers)]
    edges = np.unique(np.quantile(known, np.arange(1, n_quantiles) / n_quantiles, method="inverted_cdf"))
    place = np.where(np.isnan(numbers), -1, np.searchsorted(edges, numbers, side="left"))
    parts = [np.flatnonzero(place == part) for part in range(len(edges) + 1)]
    rows = {f"{numbers[part].min():g} to {numbers[part].max():g}": part for part in parts if part.size}
    return _with_none(rows, np.isnan(numbers))


def _with_none(rows: dict[str, Ints], is_none: npt.NDArray[np.bool_]) -> dict[str, Ints]:
    return {**rows, NO_VALUE: np.flatnonzero(is_none)} if is_none.any() else rows


def means(
    columns: Sequence[Numbers], clusters: Ints, rng: np.random.Generator, n_resamples: int, level: float
) -> list[Interval]:
    """The mean of each column over items that have it, essays resampled."""
    _, code = np.unique(clusters, return_inverse=True)
    n_clusters = int(code.max(initial=-1)) + 1
    rows = np.column_stack(
        [
            np.bincount(code, weights=weights, minlength=n_clusters)
            for numbers in columns
            for weights in (np.nan_to_num(numbers), (~np.isnan(numbers)).astype(np.float64))
        ]
    )
    drawn = resample(rows.astype(np.float64), n_resamples=n_resamples, rng=rng)
    n_units = round(effective_units(np.bincount(code).astype(np.float64))) if n_clusters else 0
    ratio = partial(_few, n_units=n_units) if n_units < min(FEW_UNITS, len(clusters)) else Resampled.ratio
    return [
        _with_width(
            ratio(drawn, [2 * place], [2 * place + 1], level=level), int((rows[:, 2 * place + 1] > 0).sum()), level
        )
        if rows[:, 2 * place + 1].any()
        else Interval(nan, nan, nan, "no item with enough judgments")
        for place in range(len(columns))
    ]


def _with_width(mean: Interval, n_units: int, level: float) -> Interval:
    """Where every unit has the same mean no resample differs: Wilson's interval for as many cases as units."""
    is_same = mean.high - mean.low <= ALIKE and n_units > 1
    return alike_interval(mean.value, n_units, quantile=z_value(level)) if is_same else mean


def _few(drawn: Resampled, part: Sequence[int], whole: Sequence[int], *, n_units: int, level: float) -> Interval:
    """The ratio with Student's t, for few essays."""
    value = float(drawn.sums[list(part)].sum() / drawn.sums[list(whole)].sum())
    totals = drawn.draws[:, list(whole)].sum(axis=1)
    draws = drawn.draws[totals > 0][:, list(part)].sum(axis=1) / totals[totals > 0]
    return cluster_interval(value, draws, n_units=n_units, level=level, ends=(0.0, 1.0))
