"""Systems where raters agree and where they do not (Madnani et al. 2011, section 4.2, figures 1 and 2).

Items are put in bins by the share of raters who side with the majority.  Kappa by agreement is the one to read for
systems on different data, where error rates differ.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from grater.evaluate.evaluation import Evaluation
from grater.evaluate.standard import Bin, agreement_of, histogram
from grater.report.document import Figure, Row, Section, interval, listed, percent_of
from grater.report.drawing import (
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
from grater.report.items import CONTENTIOUS
from grater.sheet import Sheet, number

SCORES = ("precision", "recall", "kappa")
SPLIT = 0.75
MOST_BARS = 10


def bins_section(evaluation: Evaluation) -> Section:
    """Where raters agree and where they do not (Madnani et al. 2011, 4.2)."""
    agreement = agreement_of(evaluation.cases)
    n_split = int((agreement[~np.isnan(agreement)] < SPLIT).sum())
    bars = histogram(evaluation.cases, n_bars=_n_bars(evaluation))
    figures = [agreement_histogram(bars, n_split=n_split, split=SPLIT)]
    if evaluation.whole.bins:
        figures += [
            scores_by_agreement(evaluation.whole.bins),
            scores_by_agreement(evaluation.whole.bins, scores=("kappa",)),
        ]
    words = (
        "A system whose mistakes fall where raters disagree is better than its scores suggest; one that fails where "
        "they agree is worse."
    )
    sheets = (_bins_sheet(evaluation.whole.bins),) if evaluation.whole.bins else ()
    return Section(
        name="bins",
        title="Scores where raters agree and disagree",
        words=(words, evaluation.scope.sentence),
        figures=tuple(figures),
        sheets=sheets,
        signature=str(evaluation.signature),
    )


def _n_bars(evaluation: Evaluation) -> int:
    """As many bars as shares of the raters of an item can tell apart."""
    equal = evaluation.cases.equal
    votes = equal.n_votes[equal.is_judged]
    return int(min(MOST_BARS, max(1, np.median(votes) // 2))) if len(votes) else MOST_BARS


def _bins_sheet(bins: Sequence[Bin]) -> Sheet:
    """The numbers of the figures; items on which raters differ lead to the list of them."""
    rows: list[tuple[str, ...]] = []
    links: dict[tuple[int, int], str] = {}
    for part in bins:
        for scored in part.systems:
            if part.low < SPLIT:
                links[len(rows), 1] = CONTENTIOUS
            rows.append((part.title, f"{scored.n:,}", scored.system, *(interval(scored[score]) for score in SCORES)))
    columns = ("agreement", "items", "system", *SCORES)
    return Sheet(
        name="bins", title="Systems by agreement of the raters", columns=columns, rows=tuple(rows), links=links
    )


def scores_by_agreement(bins: Sequence[Bin], *, scores: Sequence[str] = ("precision", "recall")) -> Figure:
    """One panel per score, one line per system, from the most contested items to the clearest."""
    systems = [scored.system for scored in bins[0].systems] if bins else []
    rows = [row for part in bins for row in _bin_rows(part, scores)]
    encoding = {
        "x": names_axis(
            "bin", "raters who side with the majority", [part.title for part in bins], axis={"labelAngle": 0}
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
    title = f"{listed(scores).capitalize()} by agreement of the raters"
    return Figure(
        name=name, title=title, words=_bin_words(bins, scores[0]), spec=spec, source="Madnani et al. 2011, figure 2"
    )


def _bin_rows(part: Bin, scores: Sequence[str]) -> list[Row]:
    return [
        {"bin": part.title, "n": scored.n, "system": scored.system, "score": score, **interval_columns(scored[score])}
        for scored in part.systems
        for score in scores
    ]


def _lowest(rows: Sequence[Row]) -> float:
    return min((row["low"] for row in rows if row["low"] is not None), default=0.0)


def _bin_words(bins: Sequence[Bin], score: str) -> str:
    parts = []
    for index, scored in enumerate(bins[-1].systems if bins else ()):
        values = [part.systems[index][score].value for part in bins]
        path = ", ".join(number(value) for value in values)
        parts.append(f"{scored.system} {path}")
    sizes = [tuple(part.systems[index].n for part in bins) for index in range(len(parts))]
    if len(set(sizes)) > 1:
        own = [f"{words} (on {listed([f'{n:,}' for n in of])} items)" for words, of in zip(parts, sizes, strict=True)]
        return f"{score.capitalize()} from contested to clear items, each system on its own: {'; '.join(own)}."
    shown = listed([f"{part.n:,}" for part in bins])
    return f"{score.capitalize()} from contested to clear items ({shown} items): {'; '.join(parts)}."


def agreement_histogram(bars: Sequence[tuple[float, float, int]], *, n_split: int, split: float = 0.75) -> Figure:
    """`bars` are low, high and count; `n_split` items lie below `split`."""
    n_items = sum(n for _, _, n in bars)
    full, _, n_full = bars[-1]
    words = (
        f"On {n_full:,} of {n_items:,} items at least {100 * full:.0f} % of the raters agree; on {n_split:,} "
        f"({percent_of(n_split, n_items)}) fewer than {100 * split:g} % do, and scores there depend on who was asked."
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
        name="agreement-histogram",
        title="Agreement on single items",
        words=words,
        spec=spec,
        source="Madnani et al. 2011, figure 1",
    )
