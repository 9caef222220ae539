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
from grater.result import FLAT, HIDDEN, Data, Result, key
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

# Measures of each item

MEASURES = ("judgments", "majority_share", "pair_agreement", "entropy", "unknown_share")
TEXT_COLUMNS = ("sentence", "context", "target")


def spread_of(judgments: Judgments, texts: Mapping[str, str] | None = None) -> pl.DataFrame:
    """One row for each item: its text, the most frequent label (tied ones with a slash), and the measures.

    `judgments` counts those other than `unknown`. A measure is nan if an item has no judgment (for pairs: fewer than
    two).
    """
    codes = coded(judgments)
    table = table_of(codes.item, codes.label, len(codes.labels))
    is_known = np.array([label != UNKNOWN for label in codes.labels], bool)
    labels = [label for label in codes.labels if label != UNKNOWN]
    counts, n_unknown = table[:, is_known], table[:, ~is_known].sum(axis=1)
    n, most = counts.sum(axis=1), counts.max(axis=1, initial=0)
    shares = ratio(counts, n[:, None])
    logarithms = np.log2(shares, out=np.zeros_like(shares), where=shares > 0)
    items = codes.items.cast(pl.String).to_list()
    tops = (counts == most[:, None]) & (most > 0)[:, None]
    return pl.DataFrame(
        {
            "item": items,
            "text": [(texts or {}).get(item, "") for item in items],
            "majority": [" / ".join(labels[place] for place in np.flatnonzero(top)) for top in tops],
            "judgments": n,
            "n_unknown": n_unknown,
            "majority_share": ratio(most, n),
            "pair_agreement": ratio((counts * (counts - 1)).sum(axis=1), n * (n - 1)),
            "entropy": -(shares * logarithms).sum(axis=1) + 0.0,
            "unknown_share": ratio(n_unknown, n + n_unknown),
        },
        schema_overrides={"item": pl.String, "text": pl.String, "majority": pl.String},
    )


def ranked(spread: pl.DataFrame, *, hardest: bool = False) -> pl.DataFrame:
    """The items with at least two judgments, easiest or hardest first."""
    order = {"majority_share": not hardest, "entropy": hardest, "judgments": True, "item": False}
    return spread.filter(pl.col("judgments") > 1).sort(list(order), descending=list(order.values()))


def means(spread: pl.DataFrame, essays: Essays) -> dict[str, Interval]:
    """Means over items of the majority's share, of pairwise agreement, and of `unknown`."""
    n, n_unknown = (spread[name].to_numpy().astype(np.float64) for name in ("judgments", "n_unknown"))
    worth = {"majority_share": n, "pair_agreement": n * (n - 1) / 2, "unknown_share": n + n_unknown}
    return {name: essays.mean(spread[name].to_numpy(), each, spread["item"]) for name, each in worth.items()}


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


# Groups of items by a column


MOST_VALUES = 8
"""Different numbers that are separate groups."""

MOST_GROUPS = 12
WHERE_COLUMNS = frozenset({"item", "essay", "document", "start", "end", *TEXT_COLUMNS})
NO_VALUE = "(none)"


@dataclass(frozen=True, slots=True)
class ColumnGroup(Data):
    """The items that share a value, or a range of values, of a column, and the means of their measures."""

    column: str
    value: str
    n_items: int
    means: dict[str, Interval] = field(metadata=FLAT)


def by_columns(
    spread: pl.DataFrame, items: Table, columns: Sequence[str], *, essays: Essays, n_quantiles: int
) -> Iterator[ColumnGroup]:
    """Groups by these columns, or by all that are worth it: not positions, with several values, few or numeric."""
    named = items.frame.with_columns(pl.col("item").cast(pl.String))
    frame = spread.select("item").join(named, on="item", how="left", maintain_order="left")
    missing = next((column for column in columns if column not in frame.columns), None)
    if missing is not None:
        raise UnknownName(f"{items.name}: {unknown('column', missing, list(items.frame.columns))}")
    for column in columns or items.frame.columns:
        if not columns:
            distinct = frame[column].drop_nulls().unique().cast(pl.String).to_list()
            is_telling = len(distinct) > 1 and (len(distinct) <= MOST_GROUPS or as_numbers(distinct) is not None)
            if not is_telling or column in WHERE_COLUMNS:
                continue
        for value, rows in column_groups(frame[column], n_quantiles).items():
            yield ColumnGroup(column, value, len(rows), means(spread[rows], essays))


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
    text: str
    majority: str
    n_judgments: int
    majority_share: float
    pair_agreement: float
    entropy: float
    unknown_share: float


def _items(spread: pl.DataFrame) -> tuple[ItemDifficulty, ...]:
    rows = spread.rename({"judgments": "n_judgments"}).drop("n_unknown").to_dicts()
    return tuple(ItemDifficulty(**row) for row in rows)


@dataclass(frozen=True, slots=True)
class GroupDifficulty(Data):
    """How hard items are for the crowd or for experts: means, the easiest and hardest items, and groups by column."""

    name: str = field(metadata=HIDDEN)
    n_items: int
    n_ranked: int
    means: dict[str, Interval] = field(metadata=FLAT)
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
    spreads: Mapping[str, pl.DataFrame] = field(metadata=HIDDEN)
    scope: Scope = field(metadata=key("interval"))
    warnings: tuple[str, ...] = ()

    def to_frame(self) -> pl.DataFrame:
        """One row per item and group: judgments, majority_share, pair_agreement, entropy, unknown_share."""
        frames = [of.select(pl.lit(name).alias("group"), "item", *MEASURES) for name, of in self.spreads.items()]
        return pl.concat(frames).fill_nan(None)

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
    texts = texts_of(items)
    spreads = {CROWD: spread_of(crowd, texts)}
    if experts:  # the writer's own word does not judge how hard an item is
        kept = experts.frame.filter(pl.col("rater").cast(pl.String) != WRITER)
        if kept.is_empty():
            raise UsageError(f"{experts.name}: expected judgments of experts, found those of the writer only")
        spreads[EXPERTS] = spread_of(replace(experts, frame=kept), texts)
    groups = [
        GroupDifficulty(
            name=name,
            n_items=len(spread),
            n_ranked=int((spread["judgments"] > 1).sum()),
            means=means(spread, essays),
            easiest=_items(ranked(spread).head(top)),
            hardest=_items(ranked(spread, hardest=True).head(top)),
            columns=tuple(by_columns(spread, items, by, essays=essays, n_quantiles=n_quantiles)) if items else (),
        )
        for name, spread in spreads.items()
    ]
    own, n_unanimous = spreads[CROWD], 0
    only_crowd: tuple[OnlyCrowdSplit, ...] = ()
    if experts:
        agreed = spreads[EXPERTS].filter((pl.col("judgments") > 1) & (pl.col("majority_share") == 1))
        agreed = agreed.join(own.select("item"), on="item", how="semi")
        torn = own.join(agreed, on="item", how="semi")
        torn = torn.filter((pl.col("judgments") > 1) & (pl.col("majority_share") < split))
        torn = torn.sort("majority_share", "judgments", "item", descending=[False, True, False])
        by_experts = torn.select("item").join(agreed, on="item", maintain_order="left")
        only_crowd, n_unanimous = tuple(map(OnlyCrowdSplit, _items(torn), _items(by_experts))), len(agreed)
    effect = essays.effect(own["majority_share"].to_numpy(), own["item"])
    scope = essays.scope_of(own["item"], effect=effect, basis=basis)
    named = {"split": f"{split:g}", "quantiles": str(n_quantiles), "unknown": "apart", **basis.signature(essays.unit)}
    data = data_hash(crowd, *([experts] if experts else []))
    lost = []
    if items is not None:
        n_lost = len(own.join(items.frame.select(pl.col("item").cast(pl.String)), on="item", how="anti"))
        lost = [f"{n_lost:,} items of the crowd are not in {items.name}"] if n_lost else []
    return Difficulty(
        groups=tuple(groups),
        n_unanimous=n_unanimous,
        split=only_crowd,
        signature=Signature("difficulty", {**named, "data": data}),
        spreads=spreads,
        scope=scope,
        warnings=(*scope.warnings, *lost),
    )


# As people see it


def _sheets(result: Difficulty) -> Iterator[Sheet]:
    rows = [(of.name, count(of.n_ranked), *map(interval, of.means.values())) for of in result.groups]
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
        rows.append((f"  {part.value}", count(part.n_items), *map(interval, part.means.values())))
    columns = ("", "items", "majority", "pairs agree", "unknown")
    return Sheet(f"What goes with disagreement, {group.name}", columns, tuple(rows), name=f"columns-{group.name}")
