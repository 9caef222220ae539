"""Which items are easy and which are hard for the crowd and for experts, and on which only the crowd is split.

T,C&M 2013, 5.5; docs/raters-needed.md. Items with at least two judgments are ranked by the share of the majority
label, then by entropy, then by the number of judgments (most first), then by id. Next to the id of an item is its
text: the column `sentence` (`detect.factors`) or `context`, with its `target`. The crowd is *split* where its
majority has less than `split` of the judgments; experts are unanimous if there are at least two and they agree.

Three measures: the share of the majority label; the share of pairs of judgments that agree, which does not change
with the number of judgments; and the entropy of the labels in bits. `unknown` is excluded from all three and reported
separately, since many raters use it for garbled sentences.

Items can be grouped by any column of their table. The paper names the frequency of the target's n-gram, another error
next to the target, a garbled sentence, uses of time and place (`detect.factors` computes these four), and whether
context was shown. Columns with more than eight distinct numbers are cut into quantiles; ties stay together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import polars as pl

from grater.errors import UnknownName, UsageError, unknown
from grater.measure.agreement.raters_needed import WRITER
from grater.measure.units import UNKNOWN, Essays, as_numbers, coded, in_order, known_essays, table_of
from grater.model import Interval
from grater.result import HIDDEN, Data, Result, key
from grater.sheet import (
    Sheet,
    Signature,
    count,
    cut_in_the_middle,
    interval,
    number,
    with_notes,
    without_empty_columns,
)
from grater.tables import Judgments, Table, data_hash
from grater.uncertainty import BASIS, Basis, Ints, Numbers, Scope, ratio


@dataclass(frozen=True, slots=True, eq=False)
class Spread:
    """One row for each item, in the order of `items`; nan if an item has no judgment (for pairs: fewer than two)."""

    items: pl.Series
    labels: tuple[str, ...]
    counts: Ints
    n_unknown: Ints

    @property
    def n(self) -> Ints:
        """The number of judgments other than `unknown`."""
        return np.asarray(self.counts.sum(axis=1))

    @property
    def majority_share(self) -> Numbers:
        return ratio(self.counts.max(axis=1, initial=0), self.n)

    @property
    def pair_agreement(self) -> Numbers:
        return ratio((self.counts * (self.counts - 1)).sum(axis=1), self.n * (self.n - 1))

    @property
    def entropy(self) -> Numbers:
        shares = ratio(self.counts, self.n[:, None])
        logarithms = np.log2(shares, out=np.zeros_like(shares), where=shares > 0)
        return np.asarray(-(shares * logarithms).sum(axis=1)) + 0.0

    @property
    def unknown_share(self) -> Numbers:
        return ratio(self.n_unknown, self.n + self.n_unknown)

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
        """The most frequent label; tied labels are joined by a slash."""
        most = self.counts[row].max(initial=0)
        return " / ".join(label for label, n in zip(self.labels, self.counts[row], strict=True) if n == most > 0)


def spreads(judgments: Judgments) -> Spread:
    codes = coded(judgments)
    table = table_of(codes.item, codes.label, len(codes.labels))
    known = [place for place, label in enumerate(codes.labels) if label != UNKNOWN]
    unknown = [place for place, label in enumerate(codes.labels) if label == UNKNOWN]
    labels = tuple(codes.labels[place] for place in known)
    return Spread(codes.items.cast(pl.String), labels, table[:, known], np.asarray(table[:, unknown].sum(axis=1)))


MOST_VALUES = 8
"""Different numbers that are separate groups."""

MOST_GROUPS = 12
TEXT_COLUMNS = ("sentence", "context", "target")
WHERE_COLUMNS = frozenset({"item", "essay", "document", "start", "end", *TEXT_COLUMNS})
NO_VALUE = "(none)"


@dataclass(frozen=True, slots=True)
class ColumnGroup(Data):
    """The items that share a value, or a range of values, of a column."""

    column: str
    value: str
    n_items: int
    majority_share: Interval
    pair_agreement: Interval
    unknown_share: Interval


def columns_of(items: Table, spread: Spread) -> list[str]:
    """The columns worth grouping by: not the item's position, and with at least two values, few or numeric."""
    frame, found = _joined(items, spread), []
    for name in items.frame.columns:
        distinct = frame[name].drop_nulls().unique().cast(pl.String).to_list()
        is_telling = len(distinct) > 1 and (len(distinct) <= MOST_GROUPS or as_numbers(distinct) is not None)
        found += [name] if is_telling and name not in WHERE_COLUMNS else []
    return found


def by_columns(
    spread: Spread, items: Table, columns: Sequence[str], *, essays: Essays, n_quantiles: int
) -> Iterator[ColumnGroup]:
    frame = _joined(items, spread)
    missing = next((column for column in columns if column not in items.frame.columns), None)
    if missing is not None:
        raise UnknownName(f"{items.name}: {unknown('column', missing, list(items.frame.columns))}")
    for column in columns:
        for value, rows in column_groups(frame[column], n_quantiles).items():
            yield ColumnGroup(column, value, len(rows), *_means(spread, rows, essays=essays))


def _means(spread: Spread, rows: Ints, *, essays: Essays) -> Iterator[Interval]:
    """Over some items, the means of the majority's share, of pairwise agreement, and of `unknown`."""
    n, items = spread.n.astype(np.float64), spread.items.gather(rows)
    parts = ((spread.majority_share, n), (spread.pair_agreement, n * (n - 1) / 2))
    for values, worth in (*parts, (spread.unknown_share, n + spread.n_unknown)):
        yield essays.mean(values[rows], worth[rows], items)


def _joined(items: Table, spread: Spread) -> pl.DataFrame:
    """The items table in the order of the spread, with empty rows for missing items."""
    named = items.frame.with_columns(pl.col("item").cast(pl.String))
    return pl.DataFrame({"item": spread.items.cast(pl.String)}).join(
        named, on="item", how="left", maintain_order="left"
    )


def column_groups(values: pl.Series, n_quantiles: int) -> dict[str, Ints]:
    """The rows of each value in order, with many numbers cut into quantiles, and rows without a value last."""
    texts = values.cast(pl.String)
    numbers = as_numbers(texts.drop_nulls().unique().to_list())
    if numbers and len(set(numbers)) > MOST_VALUES:
        return _quantiles(texts.cast(pl.Float64).to_numpy(), n_quantiles)
    distinct = texts.drop_nulls().unique().to_list()
    names = [distinct[place] for place in in_order(distinct)]
    rows = {name: np.flatnonzero((texts == name).fill_null(False).to_numpy()) for name in names}
    return _with_none(rows, texts.is_null().to_numpy())


def _quantiles(numbers: Numbers, n_quantiles: int) -> dict[str, Ints]:
    """The rows of each quantile, by its range; ties stay together."""
    known = numbers[~np.isnan(numbers)]
    edges = np.unique(np.quantile(known, np.arange(1, n_quantiles) / n_quantiles, method="inverted_cdf"))
    place = np.where(np.isnan(numbers), -1, np.searchsorted(edges, numbers, side="left"))
    parts = [np.flatnonzero(place == part) for part in range(len(edges) + 1)]
    rows = {f"{numbers[part].min():g} to {numbers[part].max():g}": part for part in parts if part.size}
    return _with_none(rows, np.isnan(numbers))


def _with_none(rows: dict[str, Ints], is_none: npt.NDArray[np.bool_]) -> dict[str, Ints]:
    return {**rows, NO_VALUE: np.flatnonzero(is_none)} if is_none.any() else rows


# Easy and hard items


CROWD, EXPERTS = "crowd", "experts"
SPLIT = 0.75
MOST_SPLIT = 20
LONGEST = 60
"""Letters of an item's text in a table."""


@dataclass(frozen=True, slots=True)
class ItemDifficulty:
    item: str
    majority: str
    n_judgments: int
    majority_share: float
    pair_agreement: float
    entropy: float
    unknown_share: float
    text: str = ""


@dataclass(frozen=True, slots=True)
class GroupDifficulty(Data):
    """How hard items are for the crowd or for experts: means, the easiest and hardest items, and groups by column."""

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
    crowd: ItemDifficulty
    experts: ItemDifficulty


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Difficulty(Result):
    """`split` lists the items on which only the crowd is split, the most evenly split first."""

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
        frames = [of.to_frame().select(pl.lit(name).alias("group"), pl.all()) for name, of in self.spreads.items()]
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
    *,
    by: Sequence[str] = (),
    top: int = 10,
    split: float = SPLIT,
    n_quantiles: int = 4,
    basis: Basis = BASIS,
) -> Difficulty:
    """Which items are hard, for whom, and which columns correlate with difficulty.

    `top` items are listed at each end; without `by`, every useful column of the items table is tried.
    """
    essays = known_essays(crowd, items, units=basis.units)
    if by and items is None:
        raise UsageError(f"expected a table of items for the column {by[0]!r}, found none")
    tables = {CROWD: spreads(crowd)}
    if experts:  # the writer's own word does not judge how hard an item is
        kept = experts.frame.filter(pl.col("rater").cast(pl.String) != WRITER)
        if kept.is_empty():
            raise UsageError(f"{experts.name}: expected judgments of experts, found those of the writer only")
        tables[EXPERTS] = spreads(replace(experts, frame=kept))
    texts = texts_of(items)
    groups = []
    for name, spread in tables.items():
        rows = np.arange(len(spread.items))
        majority, agreement, unknown_share = _means(spread, rows, essays=essays)
        parts: tuple[ColumnGroup, ...] = ()
        if items is not None:
            columns = by or columns_of(items, spread)
            parts = tuple(by_columns(spread, items, columns, essays=essays, n_quantiles=n_quantiles))
        groups.append(
            GroupDifficulty(
                name=name,
                n_items=len(spread.items),
                n_ranked=int((spread.n > 1).sum()),
                majority_share=majority,
                pair_agreement=agreement,
                unknown_share=unknown_share,
                easiest=tuple(_item(spread, row, texts) for row in ranked(spread)[:top]),
                hardest=tuple(_item(spread, row, texts) for row in ranked(spread, hardest=True)[:top]),
                columns=tuple(parts),
            )
        )
    only_crowd, n_unanimous = _only_crowd_split(tables[CROWD], tables[EXPERTS], split, texts) if experts else ((), 0)
    own = tables[CROWD]
    scope = essays.scope_of(own.items, effect=essays.effect(own.majority_share, own.items), basis=basis)
    named = {"split": f"{split:g}", "quantiles": str(n_quantiles), "unknown": "apart", **basis.signature(essays.unit)}
    data = data_hash(crowd, *([experts] if experts else []))
    known = set(items.frame["item"].cast(pl.String)) if items is not None else set(own.items)
    n_lost = sum(item not in known for item in own.items.to_list())
    lost = [f"{n_lost:,} items of the crowd are not in {items.name}"] if items is not None and n_lost else []
    return Difficulty(
        groups=tuple(groups),
        n_unanimous=n_unanimous,
        split=only_crowd,
        signature=Signature("difficulty", {**named, "data": data}),
        spreads=tables,
        scope=scope,
        warnings=(*scope.warnings, *lost),
    )


def texts_of(items: Table | None) -> dict[str, str]:
    """The text of each item, its target in brackets, where the table has it."""
    if items is None:
        return {}
    names = [name for name in TEXT_COLUMNS if name in items.frame.columns]
    rows = items.frame.select(pl.col("item").cast(pl.String), *names).iter_rows(named=True)
    return {row["item"]: _text(*(row.get(name) or "" for name in TEXT_COLUMNS)) for row in rows}


def _text(sentence: str, context: str, target: str) -> str:
    around = sentence or context
    if not around or not target or f"[{target}]" in around:
        return around or target
    is_once = around.count(target) == 1
    return around.replace(target, f"[{target}]") if is_once else f"[{target}] {around}"


def ranked(spread: Spread, *, hardest: bool = False) -> list[int]:
    """The rows of items with at least two judgments, easiest or hardest first."""
    sign = -1 if hardest else 1
    share, entropy, n = spread.majority_share, spread.entropy, spread.n
    names = spread.items.to_list()
    rows: list[int] = np.flatnonzero(n > 1).tolist()
    return sorted(rows, key=lambda row: (-sign * share[row], sign * entropy[row], -n[row], names[row]))


def _item(spread: Spread, row: int, texts: Mapping[str, str]) -> ItemDifficulty:
    return ItemDifficulty(
        item=str(spread.items[row]),
        text=texts.get(str(spread.items[row]), ""),
        majority=spread.majority(row),
        n_judgments=int(spread.n[row]),
        majority_share=float(spread.majority_share[row]),
        pair_agreement=float(spread.pair_agreement[row]),
        entropy=float(spread.entropy[row]),
        unknown_share=float(spread.unknown_share[row]),
    )


def _only_crowd_split(
    crowd: Spread, experts: Spread, split: float, texts: Mapping[str, str]
) -> tuple[tuple[OnlyCrowdSplit, ...], int]:
    """The items on which only the crowd is split, and the number on which experts are unanimous."""
    row_of = {item: row for row, item in enumerate(crowd.items.to_list())}
    agreed = np.flatnonzero((experts.n > 1) & (experts.majority_share == 1)).tolist()
    rows = [(row_of[item], row) for row in agreed if (item := experts.items[row]) in row_of]
    share, n = crowd.majority_share, crowd.n
    found = [(ours, theirs) for ours, theirs in rows if n[ours] > 1 and share[ours] < split]
    found.sort(key=lambda pair: (share[pair[0]], -n[pair[0]], str(crowd.items[pair[0]])))
    split_items = (OnlyCrowdSplit(_item(crowd, ours, texts), _item(experts, theirs, texts)) for ours, theirs in found)
    return tuple(split_items), len(rows)


# As people see it


def _sheets(result: Difficulty) -> Iterator[Sheet]:
    shares = [(each.majority_share, each.pair_agreement, each.unknown_share) for each in result.groups]
    rows = [(of.name, count(of.n_ranked), *map(interval, own)) for of, own in zip(result.groups, shares, strict=True)]
    columns = ("", "items", "majority", "pairs agree", "unknown")
    yield Sheet("How far raters agree, mean over items", columns, tuple(rows), name="difficulty")
    for group in result.groups:
        yield _items_sheet(f"Easiest for the {group.name}", group.easiest)
        yield _items_sheet(f"Hardest for the {group.name}", group.hardest)
    if result.split:
        yield _split_sheet(result)
    for group in result.groups:
        if group.columns:
            yield _columns_sheet(group)


def _items_sheet(title: str, items: Sequence[ItemDifficulty]) -> Sheet:
    rows = (
        (
            item.item,
            cut_in_the_middle(item.text, LONGEST),
            item.majority,
            count(item.n_judgments),
            number(item.majority_share),
            number(item.entropy),
            number(item.unknown_share),
        )
        for item in items
    )
    columns = ("item", "text", "majority", "judgments", "share", "entropy", "unknown")
    return without_empty_columns(Sheet(title, columns, tuple(rows)))


def _split_sheet(result: Difficulty) -> Sheet:
    """T,C&M 2013, 5.5: experts agree, the crowd does not."""
    rows = [
        (
            item.crowd.item,
            cut_in_the_middle(item.crowd.text, LONGEST),
            item.experts.majority,
            item.crowd.majority,
            number(item.crowd.majority_share),
            count(item.crowd.n_judgments),
        )
        for item in result.split[:MOST_SPLIT]
    ]
    if len(result.split) > MOST_SPLIT:
        rows.append((f"and {len(result.split) - MOST_SPLIT:,} more", "", "", "", "", ""))
    title = f"Only the crowd is split: {len(result.split):,} of {result.n_unanimous:,} items with unanimous experts"
    columns = ("item", "text", "experts", "crowd", "share", "judgments")
    return without_empty_columns(Sheet(title, columns, tuple(rows), name="split"))


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
