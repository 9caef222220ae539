"""Difficulty as JSON: `grater difficulty --json`."""

from __future__ import annotations

from dataclasses import asdict
from math import isnan

from grater.agreement.difficulty.columns import ColumnGroup
from grater.agreement.difficulty.summary import Difficulty, GroupDifficulty, ItemDifficulty
from grater.model import Json


def difficulty_json(found: Difficulty) -> dict[str, Json]:
    """`crowd` and `experts` alike; `split` are the items on which only the crowd is split."""
    groups = {group.name: _group(group) for group in found.groups}
    split = [{"crowd": _item(each.crowd), "experts": _item(each.experts)} for each in found.split]
    return {
        **groups,
        "unanimous": found.n_unanimous,
        "split": split,
        "warnings": list(found.warnings),
        "signature": str(found.signature),
    }


def _group(group: GroupDifficulty) -> dict[str, Json]:
    return {
        "items": group.n_items,
        "ranked": group.n_ranked,
        "majority_share": group.majority_share.as_json(),
        "pair_agreement": group.pair_agreement.as_json(),
        "unknown_share": group.unknown_share.as_json(),
        "easiest": [_item(item) for item in group.easiest],
        "hardest": [_item(item) for item in group.hardest],
        "by": [_part(part) for part in group.columns],
    }


def _item(item: ItemDifficulty) -> dict[str, Json]:
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
