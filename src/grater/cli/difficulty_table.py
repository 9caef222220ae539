"""Difficulty on a terminal, in eighty columns: the two ends, the items on which only the crowd is split, columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isnan

import polars as pl
from rich.console import Console
from rich.table import Table
from rich.text import Text

from grater.agreement.difficulty import CROWD, EXPERTS, Difficulty, GroupDifficulty, ItemDifficulty, without_writer
from grater.agreement.spread import spreads
from grater.cli.output import number_table, print_notes
from grater.model import Interval
from grater.tables import Judgments

WIDTH = 80
MOST_SPLIT = 20
NONE = "–"


def render(found: Difficulty, console: Console) -> None:
    """Print everything that was found."""
    for table in tables(found):
        console.print(table, width=min(WIDTH, console.width))
    print_notes(console, notes(found))


def tables(found: Difficulty) -> Iterator[Table]:
    yield overall(found.groups)
    for group in found.groups:
        yield items(f"Easiest for the {group.name}", group.easiest)
        yield items(f"Hardest for the {group.name}", group.hardest)
    if found.split:
        yield only_crowd(found)
    for group in found.groups:
        if group.columns:
            yield columns(group)


def overall(groups: Sequence[GroupDifficulty]) -> Table:
    headers = ["", "items", "majority", "limits", "pairs agree", "limits", "unknown"]
    table = number_table("How far raters are of one mind, mean over items", headers)
    for group in groups:
        shares = [*_cells(group.majority_share), *_cells(group.pair_agreement), _number(group.unknown_share.value)]
        table.add_row(group.name, f"{group.n_ranked:,}", *shares)
    return table


def items(title: str, found: Sequence[ItemDifficulty]) -> Table:
    table = number_table(title, ["item", "majority", "judgments", "share", "entropy", "unknown"])
    for item in found:
        numbers = [_number(value) for value in (item.majority_share, item.entropy, item.unknown_share)]
        table.add_row(Text(item.item), Text(item.majority), str(item.n_judgments), *numbers)
    return table


def only_crowd(found: Difficulty) -> Table:
    """T,C&M 2013, 5.5: experts are of one mind, the crowd is not."""
    title = f"Only the crowd is split: {len(found.split):,} of {found.n_unanimous:,} items with unanimous experts"
    table = number_table(title, ["item", "experts", "crowd", "share", "judgments"])
    for each in found.split[:MOST_SPLIT]:
        crowd = each.crowd
        labels = [Text(each.experts.majority), Text(crowd.majority)]
        table.add_row(Text(crowd.item), *labels, _number(crowd.majority_share), str(crowd.n_judgments))
    if len(found.split) > MOST_SPLIT:
        table.add_row(f"and {len(found.split) - MOST_SPLIT:,} more", *[""] * 4)
    return table


def columns(group: GroupDifficulty) -> Table:
    headers = ["", "items", "majority", "limits", "pairs agree", "unknown"]
    table = number_table(f"What goes with disagreement, {group.name}", headers)
    last = ""
    for part in group.columns:
        if part.column != last:
            table.add_row(Text(part.column, style="bold"), *[""] * 5)
            last = part.column
        others = [_number(part.pair_agreement.value), _number(part.unknown_share.value)]
        table.add_row(Text(f"  {part.value}"), f"{part.n_items:,}", *_cells(part.majority_share), *others)
    return table


def notes(found: Difficulty) -> Iterator[str]:
    for group in found.groups:
        if group.n_items > group.n_ranked:
            n_fewer = group.n_items - group.n_ranked
            yield f"{n_fewer:,} of the {group.name}'s {group.n_items:,} items have fewer than two judgments."
    yield "Shares are of judgments other than unknown; unknown is a share of all."
    yield str(found.signature)


def flat(crowd: Judgments, experts: Judgments | None) -> pl.DataFrame:
    """Every item as a row: group, item, judgments, majority_share, pair_agreement, entropy, unknown_share."""
    groups = {CROWD: crowd, **({EXPERTS: without_writer(experts)} if experts is not None else {})}
    frames = []
    for name, judgments in groups.items():
        spread = spreads(judgments)
        numbers = {
            "judgments": spread.n,
            "majority_share": spread.majority_share,
            "pair_agreement": spread.pair_agreement,
            "entropy": spread.entropy,
            "unknown_share": spread.unknown_share,
        }
        frame = pl.DataFrame({"item": spread.items, **numbers}).fill_nan(None)
        frames.append(frame.select(pl.lit(name).alias("group"), pl.all()))
    return pl.concat(frames)


def _cells(interval: Interval) -> tuple[str, str]:
    limits = NONE if isnan(interval.low) else f"{interval.low:.3f}–{interval.high:.3f}"
    return _number(interval.value), limits


def _number(value: float) -> str:
    return NONE if isnan(value) else f"{value:.3f}"
