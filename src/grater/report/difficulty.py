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
FACTOR_NAMES = {
    "frequency": "frequency of the words (log10 per million)",
    "surprise": "surprisal of the sentence (bits per word)",
    "length": "length of the sentence (tokens)",
    "alternatives": "plausible prepositions (number)",
}
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
    words = [f"On average, {share} of an item’s raters side with its majority ({counted(crowd.n_ranked, 'item')})."]
    hardest = [ranked for ranked in crowd.hardest if ranked.majority_share < 1]
    easiest = [ranked for ranked in crowd.easiest if ranked not in hardest]
    ranked_items = (("hardest", "The hardest items", hardest), ("easiest", "The easiest items", easiest))
    sheets = [_sheet(name, title, ranked, texts, listed) for name, title, ranked in ranked_items if ranked]
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
        (
            FACTOR_NAMES.get(part.column, part.column),
            _rounded(part.value),
            f"{part.n_items:,}",
            interval(part.majority_share),
            interval(part.pair_agreement),
        )
        for part in crowd.columns
    )
    columns = ("factor", "quarter", "items", "majority share", "pairs that agree")
    return Sheet(name="difficulty-factors", title="What goes with disagreement", columns=columns, rows=rows)


def _of_experts(result: Difficulty) -> str:
    n_agreed = counted(result.n_unanimous, "item")
    return f"Experts agree on {n_agreed}; on {len(result.split):,} of these the crowd is split."


def _sheet(
    name: str, title: str, items: Sequence[ItemDifficulty], texts: Texts | None, listed: Collection[str]
) -> Sheet:
    rows = tuple(
        (_line(ranked.item, texts), ranked.majority, f"{ranked.n_judgments:,}", number(ranked.majority_share))
        for ranked in items
    )
    columns = ("item", "majority", "judgments", "majority share")
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
    columns = ("item", "experts say", "crowd says", "judgments", "majority share")
    links = _links([ranked.crowd.item for ranked in shown], listed)
    return Sheet(
        name="only-crowd-split", title="Experts agree, the crowd is split", columns=columns, rows=rows, links=links
    )


def _line(item: str, texts: Texts | None) -> str:
    return texts.line(item) if texts else item


def _links(items: Sequence[str], listed: Collection[str]) -> dict[tuple[int, int], str]:
    return {(row, 0): f"{CONTENTIOUS}-{item}" for row, item in enumerate(items) if item in listed}


def _rounded(quarter: str) -> str:
    """`-8.5431 to -3.1544` with one decimal; whatever is no range stays as it is."""
    try:
        low, high = map(float, quarter.split(" to "))
    except ValueError:
        return quarter
    return " to ".join(f"{value:.1f}".removesuffix(".0").replace("-", "−") for value in (low, high))
