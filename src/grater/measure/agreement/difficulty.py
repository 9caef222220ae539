"""Which items are easy and which are hard, for the crowd and for experts, and where only the crowd is split.

T,C&M 2013, 5.5; docs/raters-needed.md.  Items are ranked by the share of the majority label, then by entropy, then,
among equals, by the number of judgments (more of them say more), then by id; an item needs two judgments to be
ranked.  The crowd is *split* where its majority has less than `split` of the judgments; experts are unanimous where
two or more of them say the same.

How much the raters of each item agree, and which properties of items go with it.

Three measures: the share of the majority label; the share of pairs of judgments that agree, which does not change
with the number of judgments; and the entropy of the labels in bits.  `unknown` is left out of all three and has a
share of its own, as many raters use it on garbled sentences (T,C&M 2013, 5.5).

By any column of the items table: the paper names the frequency of the target's n-gram, other errors near it, a
garbled sentence, the kind of use (time, place), and whether context was shown; each is a column that somebody filled
in.  A column of more than eight different numbers is cut into quantiles, equal numbers staying together.  An essay's
items are not independent, so intervals come from resampling essays where they are known
(`grater.measure.agreement.coded`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import nan

import numpy as np
import numpy.typing as npt
import polars as pl

from grater.errors import UnknownName, UsageError
from grater.measure.agreement.coded import UNKNOWN, Coded, Essays, as_numbers, coded, in_order, known_essays, table_of
from grater.measure.agreement.raters_needed import WRITER
from grater.model import Interval
from grater.registry import unknown
from grater.result import HIDDEN, Data, Result, key
from grater.sheet import Sheet, count, interval, number, with_notes
from grater.signature import Signature
from grater.tables import Judgments, Table, data_hash
from grater.uncertainty.bootstrap import Resampled, resample
from grater.uncertainty.intervals import (
    ALIKE,
    FEW_UNITS,
    LEVEL,
    RESAMPLES,
    Ints,
    Numbers,
    Scope,
    alike_interval,
    cluster_interval,
    design_effect,
    effective_units,
    generator,
    z_value,
)


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


# Easy and hard items


CROWD, EXPERTS = "crowd", "experts"
SPLIT = 0.75
MOST_SPLIT = 20


@dataclass(frozen=True, slots=True)
class DifficultyOptions:
    """`top` items are named at each end; `by` nothing means every telling column of the items table."""

    top: int = 10
    split: float = SPLIT
    by: Sequence[str] = ()
    n_quantiles: int = 4
    n_resamples: int = RESAMPLES
    level: float = LEVEL
    seed: int = 0

    def signature(self, cluster: str, data: str) -> Signature:
        named = {"split": f"{self.split:g}", "quantiles": str(self.n_quantiles), "cluster": cluster}
        chance = {"resamples": str(self.n_resamples), "seed": str(self.seed), "level": f"{self.level:g}"}
        return Signature("difficulty", {**named, **chance, "unknown": "apart", "data": data})


@dataclass(frozen=True, slots=True)
class ItemDifficulty:
    """One item through the eyes of one group of raters."""

    item: str
    majority: str
    n_judgments: int
    majority_share: float
    pair_agreement: float
    entropy: float
    unknown_share: float


@dataclass(frozen=True, slots=True)
class GroupDifficulty(Data):
    """How hard items are for the crowd, or for experts: means over items, the two ends, and parts by columns."""

    name: str = field(metadata=HIDDEN)
    n_items: int
    n_ranked: int
    majority_share: Interval
    pair_agreement: Interval
    unknown_share: Interval
    easiest: tuple[ItemDifficulty, ...]
    hardest: tuple[ItemDifficulty, ...]
    columns: tuple[ColumnGroup, ...] = field(default=(), metadata=key("by"))


@dataclass(frozen=True, slots=True)
class OnlyCrowdSplit:
    """An item on which experts are of one mind and the crowd is not."""

    crowd: ItemDifficulty
    experts: ItemDifficulty


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Difficulty(Result):
    """`split` has the items on which only the crowd is split, the most evenly split first."""

    groups: tuple[GroupDifficulty, ...] = field(
        metadata=key(flat=True, write=lambda groups: {group.name: group.to_dict() for group in groups})
    )
    n_unanimous: int
    split: tuple[OnlyCrowdSplit, ...]
    signature: Signature
    spreads: Mapping[str, Spread] = field(metadata=HIDDEN)
    scope: Scope = field(metadata=key("interval"))
    warnings: tuple[str, ...] = ()

    def to_frame(self) -> pl.DataFrame:
        """One row per item and group: judgments, majority_share, pair_agreement, entropy, unknown_share."""
        frames = [
            spread.to_frame().select(pl.lit(name).alias("group"), pl.all()) for name, spread in self.spreads.items()
        ]
        return pl.concat(frames)

    def sheets(self) -> list[Sheet]:
        return with_notes(list(_sheets(self)), self._notes(), str(self.signature))

    def _notes(self) -> Iterator[str]:
        for group in self.groups:
            if group.n_items > group.n_ranked:
                n_fewer = group.n_items - group.n_ranked
                yield f"{n_fewer:,} of the {group.name}'s {group.n_items:,} items have fewer than two judgments."
        yield "Shares are of judgments other than unknown; unknown is a share of all."
        yield self.scope.sentence


def difficulty(
    crowd: Judgments,
    experts: Judgments | None = None,
    items: Table | None = None,
    options: DifficultyOptions | None = None,
    *,
    essays: Essays | None = None,
) -> Difficulty:
    """Which items are hard, for whom, and what goes with it."""
    essays = known_essays(crowd, items) if essays is None else essays
    options = options or DifficultyOptions()
    if options.by and items is None:
        raise UsageError(f"expected a table of items for the column {options.by[0]!r}, found none")
    tables = {CROWD: spreads(crowd), **({EXPERTS: spreads(without_writer(experts))} if experts else {})}
    groups = tuple(_group(name, spread, items, essays, options) for name, spread in tables.items())
    split, n_unanimous = _only_crowd_split(tables[CROWD], tables[EXPERTS], options) if experts else ((), 0)
    scope = _scope(tables[CROWD], essays, options)
    signature = options.signature(essays.unit, data_hash(crowd, *([experts] if experts else [])))
    return Difficulty(
        groups=groups,
        n_unanimous=n_unanimous,
        split=split,
        signature=signature,
        spreads=tables,
        scope=scope,
        warnings=(*scope.warnings, *_warnings(tables, items)),
    )


def _scope(spread: Spread, essays: Essays, options: DifficultyOptions) -> Scope:
    """What intervals speak of; the design effect is that of the mean share of the majority."""
    codes, shares = essays.codes(spread.items), spread.majority_share
    if codes is None:
        return essays.scope(len(shares), 0, effect=nan, level=options.level)
    unit = np.unique(codes, return_inverse=True)[1]
    apart = np.nan_to_num(shares - np.nanmean(shares))
    effect = design_effect(apart, unit)
    return essays.scope(len(shares), int(unit.max(initial=-1)) + 1, effect=effect, level=options.level)


def without_writer(experts: Judgments) -> Judgments:
    """The writer's own word does not judge how hard an item is."""
    kept = experts.frame.filter(pl.col("rater").cast(pl.String) != WRITER)
    if kept.is_empty():
        raise UsageError(f"{experts.name}: expected judgments of experts, found those of the writer only")
    return replace(experts, frame=kept)


def _warnings(tables: dict[str, Spread], items: Table | None) -> list[str]:
    if items is None:
        return []
    known = set(items.frame["item"].cast(pl.String).to_list())
    lost = sum(item not in known for item in tables[CROWD].items.to_list())
    return [f"{lost:,} items of the crowd are not in {items.name}"] if lost else []


def _group(
    name: str, spread: Spread, items: Table | None, essays: Essays, options: DifficultyOptions
) -> GroupDifficulty:
    rng = generator(options.seed, "difficulty", name)
    shares = [spread.majority_share, spread.pair_agreement, spread.unknown_share]
    clusters = clusters_of(spread, essays)
    majority, agreement, unknown = means(shares, clusters, rng, options.n_resamples, options.level)
    parts: list[ColumnGroup] = []
    if items is not None:
        columns = list(options.by) or columns_of(items, spread)
        parts = by_columns(
            spread,
            items,
            columns,
            essays=essays,
            rng=rng,
            n_quantiles=options.n_quantiles,
            n_resamples=options.n_resamples,
            level=options.level,
        )
    easiest = tuple(_item(spread, row) for row in ranked(spread)[: options.top])
    hardest = tuple(_item(spread, row) for row in ranked(spread, hardest=True)[: options.top])
    return GroupDifficulty(
        name=name,
        n_items=len(spread.items),
        n_ranked=int((spread.n > 1).sum()),
        majority_share=majority,
        pair_agreement=agreement,
        unknown_share=unknown,
        easiest=easiest,
        hardest=hardest,
        columns=tuple(parts),
    )


def ranked(spread: Spread, *, hardest: bool = False) -> list[int]:
    """The rows of items with two judgments or more, easiest or hardest first."""
    sign = -1 if hardest else 1
    share, entropy, n = spread.majority_share, spread.entropy, spread.n
    names = spread.items.to_list()
    rows: list[int] = np.flatnonzero(n > 1).tolist()
    return sorted(rows, key=lambda row: (-sign * share[row], sign * entropy[row], -n[row], names[row]))


def _item(spread: Spread, row: int) -> ItemDifficulty:
    return ItemDifficulty(
        item=str(spread.items[row]),
        majority=spread.majority(row),
        n_judgments=int(spread.n[row]),
        majority_share=float(spread.majority_share[row]),
        pair_agreement=float(spread.pair_agreement[row]),
        entropy=float(spread.entropy[row]),
        unknown_share=float(spread.unknown_share[row]),
    )


def _only_crowd_split(
    crowd: Spread, experts: Spread, options: DifficultyOptions
) -> tuple[tuple[OnlyCrowdSplit, ...], int]:
    """The items on which only the crowd is split, and the number that experts are unanimous on."""
    row_of = {item: row for row, item in enumerate(crowd.items.to_list())}
    agreed = np.flatnonzero((experts.n > 1) & (experts.majority_share == 1)).tolist()
    rows = [(row_of[item], row) for row in agreed if (item := experts.items[row]) in row_of]
    share, n = crowd.majority_share, crowd.n
    split = [(ours, theirs) for ours, theirs in rows if n[ours] > 1 and share[ours] < options.split]
    split.sort(key=lambda pair: (share[pair[0]], -n[pair[0]], str(crowd.items[pair[0]])))
    return tuple(OnlyCrowdSplit(_item(crowd, ours), _item(experts, theirs)) for ours, theirs in split), len(rows)


# As people see it


def _sheets(result: Difficulty) -> Iterator[Sheet]:
    yield _overall_sheet(result.groups)
    for group in result.groups:
        yield _items_sheet(f"Easiest for the {group.name}", group.easiest)
        yield _items_sheet(f"Hardest for the {group.name}", group.hardest)
    if result.split:
        yield _split_sheet(result)
    for group in result.groups:
        if group.columns:
            yield _columns_sheet(group)


def _overall_sheet(groups: Sequence[GroupDifficulty]) -> Sheet:
    rows = (
        (
            group.name,
            count(group.n_ranked),
            interval(group.majority_share),
            interval(group.pair_agreement),
            interval(group.unknown_share),
        )
        for group in groups
    )
    columns = ("", "items", "majority", "pairs agree", "unknown")
    return Sheet("How far raters agree, mean over items", columns, tuple(rows), name="difficulty")


def _items_sheet(title: str, items: Sequence[ItemDifficulty]) -> Sheet:
    rows = (
        (
            item.item,
            item.majority,
            count(item.n_judgments),
            number(item.majority_share),
            number(item.entropy),
            number(item.unknown_share),
        )
        for item in items
    )
    return Sheet(title, ("item", "majority", "judgments", "share", "entropy", "unknown"), tuple(rows))


def _split_sheet(result: Difficulty) -> Sheet:
    """T,C&M 2013, 5.5: experts are of one mind, the crowd is not."""
    rows = [
        (
            item.crowd.item,
            item.experts.majority,
            item.crowd.majority,
            number(item.crowd.majority_share),
            count(item.crowd.n_judgments),
        )
        for item in result.split[:MOST_SPLIT]
    ]
    if len(result.split) > MOST_SPLIT:
        rows.append((f"and {len(result.split) - MOST_SPLIT:,} more", "", "", "", ""))
    title = f"Only the crowd is split: {len(result.split):,} of {result.n_unanimous:,} items with unanimous experts"
    return Sheet(title, ("item", "experts", "crowd", "share", "judgments"), tuple(rows), name="split")


def _columns_sheet(group: GroupDifficulty) -> Sheet:
    rows: list[tuple[str, ...]] = []
    column = ""
    for part in group.columns:
        if part.column != column:
            column = part.column
            rows.append((column, "", "", "", ""))
        shares = (part.majority_share, part.pair_agreement, part.unknown_share)
        rows.append((f"  {part.value}", count(part.n_items), *map(interval, shares)))
    columns = ("", "items", "majority", "pairs agree", "unknown")
    return Sheet(f"What goes with disagreement, {group.name}", columns, tuple(rows), name=f"columns-{group.name}")
