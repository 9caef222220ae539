"""Easiest and hardest items for the crowd and for experts, and where only the crowd is split.

T,C&M 2013, 5.5.  Items are ranked by the share of the majority label, then by entropy, then, among equals, by the
number of judgments (more of them say more), then by id; an item needs two judgments to be ranked.  The crowd is
*split* where its majority has less than `split` of the judgments; experts are unanimous where two or more of them
say the same.

Which items are easy and which are hard, and what goes with it (T,C&M 2013, 5.5; docs/raters-needed.md).

Difficulty as JSON: `grater difficulty --json`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from math import isnan

import numpy as np
import polars as pl

from grater.agreement.majorities import WRITER
from grater.agreement.spread import ColumnGroup, Spread, by_columns, clusters_of, columns_of, means, spreads
from grater.errors import UsageError
from grater.model import Interval, Json
from grater.rng import generator
from grater.signature import Signature
from grater.statistics.intervals import RESAMPLES
from grater.tables import Judgments, Table, data_hash

CROWD, EXPERTS = "crowd", "experts"
SPLIT = 0.75


@dataclass(frozen=True, slots=True)
class DifficultyOptions:
    """`top` items are named at each end; `by` nothing means every telling column of the items table."""

    top: int = 10
    split: float = SPLIT
    by: Sequence[str] = ()
    n_quantiles: int = 4
    n_resamples: int = RESAMPLES
    level: float = 0.95
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
class GroupDifficulty:
    """How hard items are for the crowd, or for experts: means over items, the two ends, and parts by columns."""

    name: str
    n_items: int
    n_ranked: int
    majority_share: Interval
    pair_agreement: Interval
    unknown_share: Interval
    easiest: tuple[ItemDifficulty, ...]
    hardest: tuple[ItemDifficulty, ...]
    columns: tuple[ColumnGroup, ...] = ()


@dataclass(frozen=True, slots=True)
class OnlyCrowdSplit:
    """An item on which experts are of one mind and the crowd is not."""

    crowd: ItemDifficulty
    experts: ItemDifficulty


@dataclass(frozen=True, slots=True)
class Difficulty:
    """`split` has the items on which only the crowd is split, the most evenly split first."""

    groups: tuple[GroupDifficulty, ...]
    n_unanimous: int
    split: tuple[OnlyCrowdSplit, ...]
    signature: Signature
    warnings: tuple[str, ...] = field(default=())


def difficulty(
    crowd: Judgments,
    experts: Judgments | None = None,
    items: Table | None = None,
    options: DifficultyOptions | None = None,
) -> Difficulty:
    """Which items are hard, for whom, and what goes with it."""
    options = options or DifficultyOptions()
    if options.by and items is None:
        raise UsageError(f"expected a table of items for --by {options.by[0]}, found none; give --items")
    tables = {CROWD: spreads(crowd), **({EXPERTS: spreads(without_writer(experts))} if experts else {})}
    groups = tuple(_group(name, spread, items, options) for name, spread in tables.items())
    split, n_unanimous = _only_crowd_split(tables[CROWD], tables[EXPERTS], options) if experts else ((), 0)
    cluster = "essay" if items is not None else "item"
    signature = options.signature(cluster, data_hash(crowd, *([experts] if experts else [])))
    return Difficulty(groups, n_unanimous, split, signature, tuple(_warnings(tables, items)))


def without_writer(experts: Judgments) -> Judgments:
    """The writer's own word is no judgment of how hard an item is."""
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


def _group(name: str, spread: Spread, items: Table | None, options: DifficultyOptions) -> GroupDifficulty:
    rng = generator(options.seed, "difficulty", name)
    shares = [spread.majority_share, spread.pair_agreement, spread.unknown_share]
    clusters = clusters_of(spread, items)
    majority, agreement, unknown = means(shares, clusters, rng, options.n_resamples, options.level)
    parts: list[ColumnGroup] = []
    if items is not None:
        columns = list(options.by) or columns_of(items, spread)
        parts = by_columns(
            spread,
            items,
            columns,
            rng=rng,
            n_quantiles=options.n_quantiles,
            n_resamples=options.n_resamples,
            level=options.level,
        )
    easiest = tuple(_item(spread, row) for row in ranked(spread)[: options.top])
    hardest = tuple(_item(spread, row) for row in ranked(spread, hardest=True)[: options.top])
    return GroupDifficulty(
        name,
        len(spread.items),
        int((spread.n > 1).sum()),
        majority,
        agreement,
        unknown,
        easiest,
        hardest,
        tuple(parts),
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
        str(spread.items[row]),
        spread.majority(row),
        int(spread.n[row]),
        float(spread.majority_share[row]),
        float(spread.pair_agreement[row]),
        float(spread.entropy[row]),
        float(spread.unknown_share[row]),
    )


def _only_crowd_split(
    crowd: Spread, experts: Spread, options: DifficultyOptions
) -> tuple[tuple[OnlyCrowdSplit, ...], int]:
    """The items on which only the crowd is split, and how many the experts are unanimous on."""
    place = {item: row for row, item in enumerate(crowd.items.to_list())}
    agreed = np.flatnonzero((experts.n > 1) & (experts.majority_share == 1)).tolist()
    rows = [(place[item], row) for row in agreed if (item := experts.items[row]) in place]
    share, n = crowd.majority_share, crowd.n
    split = [(ours, theirs) for ours, theirs in rows if n[ours] > 1 and share[ours] < options.split]
    split.sort(key=lambda pair: (share[pair[0]], -n[pair[0]], str(crowd.items[pair[0]])))
    return tuple(OnlyCrowdSplit(_item(crowd, ours), _item(experts, theirs)) for ours, theirs in split), len(rows)


def difficulty_json(found: Difficulty) -> dict[str, Json]:
    """`crowd` and `experts` alike; `split` are the items on which only the crowd is split."""
    groups = {group.name: _as_json_group(group) for group in found.groups}
    split = [{"crowd": _as_json_item(each.crowd), "experts": _as_json_item(each.experts)} for each in found.split]
    return {
        **groups,
        "unanimous": found.n_unanimous,
        "split": split,
        "warnings": list(found.warnings),
        "signature": str(found.signature),
    }


def _as_json_group(group: GroupDifficulty) -> dict[str, Json]:
    return {
        "items": group.n_items,
        "ranked": group.n_ranked,
        "majority_share": group.majority_share.as_json(),
        "pair_agreement": group.pair_agreement.as_json(),
        "unknown_share": group.unknown_share.as_json(),
        "easiest": [_as_json_item(item) for item in group.easiest],
        "hardest": [_as_json_item(item) for item in group.hardest],
        "by": [_part(part) for part in group.columns],
    }


def _as_json_item(item: ItemDifficulty) -> dict[str, Json]:
    return {name: None if isinstance(each, float) and isnan(each) else each for name, each in asdict(item).items()}


def _part(part: ColumnGroup) -> dict[str, Json]:
    return {
        "column": part.column,
        "value": part.value,
        "items": part.n_items,
        "majority_share": part.majority_share.as_json(),
        "pair_agreement": part.pair_agreement.as_json(),
        "unknown_share": part.unknown_share.as_json(),
    }
