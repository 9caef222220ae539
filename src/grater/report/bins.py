"""Systems where raters agree and where they do not: scores in bins of agreement (Madnani et al. 2011, figure 2).

Kappa by agreement is the one to read for systems on different data, where error rates differ.

How often raters agree, and how much: items by the share of their majority (Madnani et al. 2011, figure 1).

TODO: what this chapter is.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from grater.evaluate.evaluation import Evaluation
from grater.evaluate.standard import Bin, agreement_of, histogram
from grater.report.document import Figure, Row, Section, Sheet, interval, listed, number, of, percent
from grater.report.drawing import SERIES
from grater.report.items import CONTENTIOUS
from grater.report.layers import (
    HEIGHT,
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

SCORE_NAMES = {"precision": "precision", "recall": "recall", "kappa": "kappa"}


def scores_by_agreement(bins: Sequence[Bin], *, scores: Sequence[str] = ("precision", "recall")) -> Figure:
    """One panel a score, one line a system, from the most contested items to the clearest."""
    systems = [scored.system for scored in bins[0].systems] if bins else []
    rows = [row for each in bins for row in _bin_rows(each, scores)]
    encoding = {
        "x": names_axis(
            "bin", "raters who side with the majority", [each.title for each in bins], axis={"labelAngle": 0}
        ),
        "y": number_axis("value", "", domain=(min(0.0, _lowest(rows)), 1.0)),
        "xOffset": {"field": "system", "sort": systems},
        **series("system", systems),
    }
    layer = [whiskers(encoding), line(encoding, opacity=0.35), points(encoding)]
    facet = {"field": "score", "type": "nominal", "title": None, "sort": list(scores)}
    spec = {
        **data(rows),
        "facet": {"column": facet},
        "spec": {"width": 620 // len(scores) - 30, "height": 260, "layer": layer},
    }
    name = "agreement-bins" if "precision" in scores else "kappa-by-agreement"
    title = f"{listed([SCORE_NAMES[score] for score in scores]).capitalize()} by how far raters agree"
    return Figure(name, title, _bin_words(bins, scores[0]), spec, "Madnani et al. 2011, figure 2")


def _bin_rows(each: Bin, scores: Sequence[str]) -> list[Row]:
    return [
        {"bin": each.title, "n": each.n, "system": scored.system, "score": score, **interval_columns(scored[score])}
        for scored in each.systems
        for score in scores
    ]


def _lowest(rows: Sequence[Row]) -> float:
    return min((row["low"] for row in rows if row["low"] is not None), default=0.0)


def _bin_words(bins: Sequence[Bin], score: str) -> str:
    parts = []
    for place, scored in enumerate(bins[-1].systems if bins else ()):
        values = [each.systems[place][score].value for each in bins]
        path = ", ".join(number(value) for value in values)
        parts.append(f"{scored.system} {path}")
    shown = listed([f"{each.n:,}" for each in bins])
    return f"{SCORE_NAMES[score].capitalize()} from contested to clear items ({shown} of them): {'; '.join(parts)}."


def agreement_histogram(bars: Sequence[tuple[float, float, int]], *, n_split: int, split: float = 0.75) -> Figure:
    """`bars` are low, high, how many; `n_split` items lie below `split`."""
    n_items = sum(n for _, _, n in bars)
    full, _, n_full = bars[-1]
    words = (
        f"On {of(n_full, n_items)} items {100 * full:.0f} % of the raters or more say the same; on "
        f"{of(n_split, n_items)} ({percent(n_split, n_items)}) fewer than {100 * split:g} % do. "
        "On those a score depends on whom one asked."
    )
    rows = [{"low": 100 * low, "high": 100 * high, "n": n} for low, high, n in bars]
    x = {
        "field": "low",
        "bin": {"binned": True},
        "type": "quantitative",
        "title": "raters who side with the majority, %",
        "axis": {"values": [100 * low for low, _, _ in bars] + [100], "format": ".3~g"},
    }
    y = {"field": "n", "type": "quantitative", "title": "items", "scale": {"nice": 5}, "axis": {"tickCount": 5}}
    mark = {"type": "bar", "color": SERIES[0], "binSpacing": 2}
    spec = {
        **data(rows),
        "width": WIDTH,
        "height": HEIGHT,
        "mark": mark,
        "encoding": {"x": x, "x2": {"field": "high"}, "y": y},
    }
    return Figure(
        "agreement-histogram", "How far raters agree on single items", words, spec, "Madnani et al. 2011, figure 1"
    )


IN_BINS = ("precision", "recall", "kappa")


SPLIT = 0.75


MOST_BARS = 10


def bins_section(found: Evaluation) -> Section:
    """Where raters agree and where they do not (Madnani et al. 2011, 4.2)."""
    agreement = agreement_of(found.cases)
    n_split = int((agreement[~np.isnan(agreement)] < SPLIT).sum())
    bars = histogram(found.cases, n_bars=_n_bars(found))
    figures = [agreement_histogram(bars, n_split=n_split, split=SPLIT)]
    if found.whole.bins:
        figures += [scores_by_agreement(found.whole.bins), scores_by_agreement(found.whole.bins, scores=("kappa",))]
    words = (
        "A system that fails only where people disagree is better than its score; one that fails elsewhere is worse."
    )
    sheets = (_bins_sheet(found.whole.bins),) if found.whole.bins else ()
    title, signature = "Where raters agree, and where they do not", str(found.signature)
    return Section("bins", title, (words,), tuple(figures), sheets, signature)


def _bins_sheet(bins: Sequence[Bin]) -> Sheet:
    """The numbers of the figures; items on which raters part lead to the list of them."""
    rows: list[tuple[str, ...]] = []
    links: dict[tuple[int, int], str] = {}
    for each in bins:
        for scored in each.systems:
            if each.low < SPLIT:
                links[len(rows), 1] = CONTENTIOUS
            rows.append((each.title, f"{each.n:,}", scored.system, *(interval(scored[score]) for score in IN_BINS)))
    columns = ("agreement", "items", "system", *IN_BINS)
    return Sheet("bins", "Systems by how far raters agree", columns, tuple(rows), links=links)


def _n_bars(found: Evaluation) -> int:
    """No finer than shares of so many raters can be."""
    equal = found.cases.equal
    votes = equal.n_votes[equal.is_judged]
    return int(min(MOST_BARS, max(1, np.median(votes) // 2))) if len(votes) else MOST_BARS
