"""Items that divide raters: the hardest and the easiest, and systems where raters agree and where they do not.

Hard, easy, and those that split only the crowd: T,C&M 2013, 5.4 and 5.5.

Systems by agreement: Madnani et al. 2011, section 4.2, figures 1 and 2.  Items are grouped into bins by the share of
raters who side with the majority.  Kappa by agreement is the one to read for systems on different data, where error
rates differ.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np
import polars as pl

from grater.measure.agreement.difficulty import Difficulty, GroupDifficulty, ItemDifficulty, difficulty
from grater.measure.evaluation.evaluation import Evaluation
from grater.measure.evaluation.standard import Bin, agreement_of, histogram
from grater.model import Essay
from grater.reporting.document import Figure, Row, Section, interval, percent_of, section_of
from grater.reporting.drawing import (
    HEIGHT,
    SERIES,
    WIDTH,
    data,
    interval_columns,
    line,
    names_axis,
    number_axis,
    points,
    series,
    whiskers,
)
from grater.reporting.items import CONTENTIOUS, Texts
from grater.sheet import Sheet, counted, listed, number, undefined_notes
from grater.sheet import interval as cell
from grater.tables import Judgments, Table

MOST_SHOWN = 5
FACTOR_NAMES = {
    "frequency": "frequency of the words (log10 per million)",
    "surprise": "surprisal of the sentence (bits per word)",
    "length": "length of the sentence (tokens)",
    "alternatives": "plausible prepositions (number)",
    "error_nearby": "another error near the target",
    "use": "use of the preposition",
}
ENOUGH = 100
"""Judged items from which factors are worth cutting into quarters."""

Factors: TypeAlias = Callable[[Table, Iterable[Essay]], Table]
"""Adds a column for every factor to a table of items (`grater.detect.factors.with_factors`)."""


def difficulty_section(
    judgments: Judgments,
    *,
    experts: Judgments | None = None,
    items: Table | None = None,
    texts: Texts,
    listed: Collection[str] = (),
    essays: Sequence[Essay] = (),
    factors: Factors | None = None,
) -> Section:
    """The items on which raters part most, and those on which they agree; those `listed` further down are linked."""
    has_factors = False
    if items is not None and factors is not None and essays and judgments.frame["item"].n_unique() >= ENOUGH:
        judged = judgments.frame["item"].cast(pl.String).unique().implode()
        asked = replace(items, frame=items.frame.filter(pl.col("item").cast(pl.String).is_in(judged)))
        items, has_factors = factors(asked, essays), True
    informative = [
        name for name in FACTOR_NAMES if items is not None and has_factors and items.frame[name].n_unique() > 1
    ]
    result = difficulty(judgments, experts, items, by=informative)
    crowd = result.groups[0]
    share = interval(crowd.means["majority_share"])
    words = [f"On average, {share} of an item’s raters side with its majority ({counted(crowd.n_ranked, 'item')})."]
    hardest = [ranked for ranked in crowd.hardest if ranked.majority_share < 1]
    easiest = [ranked for ranked in crowd.easiest if ranked not in hardest]
    ranked_items = (("hardest", "The hardest items", hardest), ("easiest", "The easiest items", easiest))
    sheets = [_sheet(name, title, of[:MOST_SHOWN], texts, listed) for name, title, of in ranked_items if of]
    if experts is not None:
        n_agreed = counted(result.n_unanimous, "item")
        words.append(f"Experts agree on {n_agreed}; on {len(result.split):,} of these the crowd is split.")
        if result.split:
            sheets.append(_split(result, texts, listed))
    if has_factors:
        sheets.append(_factors(crowd))
    return section_of(result, "difficulty", "Hard and easy items", words, sheets=sheets)


def _factors(crowd: GroupDifficulty) -> Sheet:
    """How far raters agree in the quarters of each factor."""
    before = [None, *(part.column for part in crowd.columns)]
    rows = tuple(
        (
            FACTOR_NAMES.get(part.column, part.column) if part.column != last else "",
            _rounded(part.value),
            f"{part.n_items:,}",
            interval(part.means["majority_share"]),
            interval(part.means["pair_agreement"]),
        )
        for part, last in zip(crowd.columns, before, strict=False)
    )
    columns = ("factor", "quarter", "items", "majority share", "pairs that agree")
    return Sheet("What goes with disagreement", columns, rows, name="difficulty-factors")


def _sheet(name: str, title: str, items: Sequence[ItemDifficulty], texts: Texts, listed: Collection[str]) -> Sheet:
    rows = tuple(
        (texts.line(ranked.item), ranked.majority, f"{ranked.n_judgments:,}", number(ranked.majority_share))
        for ranked in items
    )
    columns = ("item", "majority", "judgments", "majority share")
    return Sheet(title, columns, rows, name=name, links=_links([ranked.item for ranked in items], listed))


def _split(result: Difficulty, texts: Texts, listed: Collection[str]) -> Sheet:
    shown = result.split[:MOST_SHOWN]
    rows = tuple(
        (
            texts.line(ranked.crowd.item),
            ranked.experts.majority,
            ranked.crowd.majority,
            f"{ranked.crowd.n_judgments:,}",
            number(ranked.crowd.majority_share),
        )
        for ranked in shown
    )
    columns = ("item", "experts say", "crowd says", "judgments", "majority share")
    links = _links([ranked.crowd.item for ranked in shown], listed)
    return Sheet("Experts agree, the crowd is split", columns, rows, name="only-crowd-split", links=links)


def _links(items: Sequence[str], listed: Collection[str]) -> dict[tuple[int, int], str]:
    return {(row, 0): f"{CONTENTIOUS}-{item}" for row, item in enumerate(items) if item in listed}


def _rounded(quarter: str) -> str:
    """`-8.5431 to -3.1544` with one decimal; whatever is not a range stays as it is."""
    try:
        low, high = map(float, quarter.split(" to "))
    except ValueError:
        return quarter
    return " to ".join(f"{value:.1f}".removesuffix(".0").replace("-", "−") for value in (low, high))


# Systems where raters agree and where they do not

SCORES = ("precision", "recall", "kappa")
SPLIT = 0.75
MOST_BARS = 10
SIDING = "raters who side with the majority"


def bins_section(evaluation: Evaluation) -> Section:
    """Where raters agree and where they do not (Madnani et al. 2011, 4.2)."""
    agreement = agreement_of(evaluation.cases)
    n_split = int((agreement[~np.isnan(agreement)] < SPLIT).sum())
    bars = _bars(evaluation)
    bins = evaluation.whole.bins
    n_items, n_full = sum(bars.values()), bars["100"]
    finding = (
        f"On {n_full:,} of {n_items:,} items all raters agree; on {n_split:,} ({percent_of(n_split, n_items)}) fewer "
        f"than {100 * SPLIT:g} % do, and scores there depend on who was asked."
    )
    figures = [agreement_histogram(bars)]
    if bins:
        figures += [scores_by_agreement(bins, ("precision", "recall")), scores_by_agreement(bins, ("kappa",))]
    words = (
        "A system whose mistakes fall where raters disagree is better than its scores suggest; one that fails where "
        "they agree is worse."
    )
    sheets = [_bins_sheet(bins)] if bins else []
    title = "Scores where raters agree and disagree"
    return section_of(evaluation, "bins", title, [finding, words], figures=figures, sheets=sheets, warnings=())


def _bars(evaluation: Evaluation) -> dict[str, int]:
    """Items by the share of their raters who side with the majority, in percent; full agreement is last, alone.

    Where every item has as many raters, each share that they can have is a bar: two for two raters, six for ten.
    """
    equal = evaluation.cases.equal
    votes = equal.n_votes[equal.is_judged]
    if len(votes) and 1 < votes.min() == votes.max() <= 2 * MOST_BARS:
        n = int(votes[0])
        most = np.round(agreement_of(evaluation.cases)[equal.is_judged] * n)
        return {f"{100 * k / n:.3g}": int((most == k).sum()) for k in range((n + 1) // 2, n + 1)}
    n_bars = int(min(MOST_BARS, max(1, np.median(votes) // 2))) if len(votes) else MOST_BARS
    bars = histogram(evaluation.cases, n_bars=n_bars)
    return {f"{100 * low:.3g}–{100 * high:.3g}" if low < high else "100": n for low, high, n in bars}


def _bins_sheet(bins: Sequence[Bin]) -> Sheet:
    """The numbers of the figures; items on which raters differ lead to the list of them."""
    rows: list[tuple[str, ...]] = []
    links: dict[tuple[int, int], str] = {}
    for part in bins:
        for scored in part.systems:
            if part.low < SPLIT:
                links[len(rows), 1] = CONTENTIOUS
            rows.append((part.title, f"{scored.n:,}", scored.system, *(cell(scored[score]) for score in SCORES)))
    columns = ("agreement", "items", "system", *SCORES)
    notes = undefined_notes(scored[score] for part in bins for scored in part.systems for score in SCORES)
    title = "Systems by agreement of the raters"
    return Sheet(title, columns, tuple(rows), tuple(notes), name="bins", links=links)


def scores_by_agreement(bins: Sequence[Bin], scores: Sequence[str]) -> Figure:
    """One panel per score, one line per system, from the most contested items to the clearest."""
    systems = [scored.system for scored in bins[0].systems]
    rows: list[Row] = [
        {"bin": part.title, "n": scored.n, "system": scored.system, "score": score, **interval_columns(scored[score])}
        for part in bins
        for scored in part.systems
        for score in scores
    ]
    encoding = {
        "x": names_axis("bin", SIDING, [part.title for part in bins], axis={"labelAngle": 0}),
        "y": number_axis("value", "", domain=(min([0.0, *(row["low"] or 0.0 for row in rows)]), 1.0)),
        "xOffset": {"field": "system", "sort": systems},
        **series("system", systems),
    }
    layer = [whiskers(encoding), line(encoding, opacity=0.35), points(encoding)]
    facet = {"field": "score", "type": "nominal", "title": None, "sort": list(scores)}
    panel = {"width": 620 // len(scores) - 30, "height": 260, "layer": layer}
    spec = {**data(rows), "facet": {"column": facet}, "spec": panel}
    name = "agreement-bins" if "precision" in scores else "kappa-by-agreement"
    title = f"{listed(scores).capitalize()} by agreement of the raters"
    words = _bin_words(bins, scores[0])
    return Figure(name=name, title=title, words=words, spec=spec, source="Madnani et al. 2011, figure 2")


def _bin_words(bins: Sequence[Bin], score: str) -> str:
    parts = []
    for index, scored in enumerate(bins[-1].systems):
        path = ", ".join(number(part.systems[index][score].value) for part in bins)
        parts.append(f"{scored.system} {path}")
    sizes = [tuple(part.systems[index].n for part in bins) for index in range(len(parts))]
    if len(set(sizes)) > 1:
        own = [f"{words} (on {listed([f'{n:,}' for n in of])} items)" for words, of in zip(parts, sizes, strict=True)]
        return f"{score.capitalize()} from contested to clear items, each system on its own: {'; '.join(own)}."
    shown = listed([f"{part.n:,}" for part in bins])
    return f"{score.capitalize()} from contested to clear items ({shown} items): {'; '.join(parts)}."


def agreement_histogram(bars: Mapping[str, int]) -> Figure:
    """`bars` are the items at each share of raters, from the lowest to full agreement."""
    words = f"All raters agree on {percent_of(bars['100'], sum(bars.values()))} of the items."
    rows = [{"share": share, "n": n} for share, n in bars.items()]
    x = names_axis("share", f"{SIDING}, %", list(bars), axis={"labelAngle": 0, "ticks": False})
    y = {"field": "n", "type": "quantitative", "title": "items", "scale": {"nice": 5}, "axis": {"tickCount": 5}}
    mark, encoding = {"type": "bar", "color": SERIES[0]}, {"x": x, "y": y}
    spec = {**data(rows), "width": WIDTH, "height": HEIGHT, "mark": mark, "encoding": encoding}
    name, title = "agreement-histogram", "Agreement on single items"
    return Figure(name=name, title=title, words=words, spec=spec, source="Madnani et al. 2011, figure 1")
