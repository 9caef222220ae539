"""The hardest and the easiest items, and those that split only the crowd (T,C&M 2013, 5.4 and 5.5)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import polars as pl

from grater.agreement.difficulty import Difficulty, DifficultyOptions, GroupDifficulty, ItemDifficulty, difficulty
from grater.detect.factors import FACTORS, with_factors
from grater.model import Essay
from grater.report.document import Section, interval, sentence
from grater.report.items import CONTENTIOUS, Texts
from grater.sheet import Sheet, counted, number
from grater.tables import Judgments, Table

MOST_SPLIT = 10
ENOUGH = 100
"""Judged items from which factors are worth cutting into quarters."""


def difficulty_section(
    judgments: Judgments,
    *,
    experts: Judgments | None = None,
    items: Table | None = None,
    texts: Texts | None = None,
    listed: Collection[str] = (),
    essays: Sequence[Essay] = (),
) -> Section:
    """The items on which raters part most, and those on which they agree; those `listed` further down are linked."""
    has_factors = items is not None and bool(essays) and judgments.frame["item"].n_unique() >= ENOUGH
    if items is not None and has_factors:
        items = with_factors(_judged(items, judgments), essays)
    options = DifficultyOptions(by=FACTORS) if has_factors else None
    result = difficulty(judgments, experts, items, options)
    crowd = result.groups[0]
    share = interval(crowd.majority_share)
    words = [f"On an average item {share} of the raters side with the majority ({counted(crowd.n_ranked, 'item')})."]
    sheets = [
        _sheet("hardest", "The hardest items", crowd.hardest, texts, listed),
        _sheet("easiest", "The easiest items", crowd.easiest, texts, listed),
    ]
    if experts is not None:
        words.append(_of_experts(result))
        if result.split:
            sheets.append(_split(result, texts, listed))
    if has_factors:
        sheets.append(_factors(crowd))
    words += [result.scope.sentence, *map(sentence, result.warnings)]
    return Section(
        name="difficulty",
        title="Hard and easy items",
        words=tuple(words),
        figures=(),
        sheets=tuple(sheets),
        signature=str(result.signature),
    )


def _judged(items: Table, judgments: Judgments) -> Table:
    """Only the judged items: nobody asks how hard the others are."""
    judged = judgments.frame["item"].cast(pl.String).unique().implode()
    return replace(items, frame=items.frame.filter(pl.col("item").cast(pl.String).is_in(judged)))


def _factors(crowd: GroupDifficulty) -> Sheet:
    """How far raters agree in the quarters of each factor."""
    rows = tuple(
        (part.column, part.value, f"{part.n_items:,}", interval(part.majority_share), interval(part.pair_agreement))
        for part in crowd.columns
    )
    columns = ("factor", "from to", "items", "share of the majority", "pairs agree")
    return Sheet(name="difficulty-factors", title="What goes with disagreement", columns=columns, rows=rows)


def _of_experts(result: Difficulty) -> str:
    return (
        f"Experts are of one mind on {counted(result.n_unanimous, 'item')}; on {len(result.split):,} of them "
        "the crowd is split."
    )


def _sheet(
    name: str, title: str, items: Sequence[ItemDifficulty], texts: Texts | None, listed: Collection[str]
) -> Sheet:
    rows = tuple(
        (_line(ranked.item, texts), ranked.majority, f"{ranked.n_judgments:,}", number(ranked.majority_share))
        for ranked in items
    )
    columns = ("item", "majority", "judgments", "share of the majority")
    return Sheet(
        name=name, title=title, columns=columns, rows=rows, links=_links([ranked.item for ranked in items], listed)
    )


def _split(result: Difficulty, texts: Texts | None, listed: Collection[str]) -> Sheet:
    shown = result.split[:MOST_SPLIT]
    rows = tuple(
        (
            _line(ranked.crowd.item, texts),
            ranked.experts.majority,
            ranked.crowd.majority,
            f"{ranked.crowd.n_judgments:,}",
            number(ranked.crowd.majority_share),
        )
        for ranked in shown
    )
    columns = ("item", "experts say", "majority of the crowd", "judgments", "share of the majority")
    links = _links([ranked.crowd.item for ranked in shown], listed)
    return Sheet(
        name="only-crowd-split", title="Experts agree, the crowd is split", columns=columns, rows=rows, links=links
    )


def _line(item: str, texts: Texts | None) -> str:
    return texts.line(item) if texts else item


def _links(items: Sequence[str], listed: Collection[str]) -> dict[tuple[int, int], str]:
    return {(row, 0): f"{CONTENTIOUS}-{item}" for row, item in enumerate(items) if item in listed}
