"""Where two raters part: the labels of one against those of the other (T&C 2008, Tables 3 and 5).

How many raters match an expert: agreement with experts against the number of raters (T,C&M 2013, figures 1, 2).

How far raters agree: coefficients with limits, where they part, and how much of it is on few items.
"""

from __future__ import annotations

import json
from math import isfinite

from grater.agreement.coefficients import band
from grater.agreement.confusion import Confusion, disagreements, ok_label
from grater.agreement.raters_needed import RatersNeeded, raters_needed
from grater.agreement.summary import Agreement, Options, agreement
from grater.report.document import Figure, Row, Section, Sheet, interval, many, number, percent, sentence
from grater.report.drawing import INK, SERIES
from grater.report.layers import (
    HEIGHT,
    WIDTH,
    data,
    interval_band,
    interval_columns,
    line,
    names_axis,
    number_axis,
    points,
    rule,
    series,
)
from grater.tables import Judgments

CELL = 96


def confusion_map(
    table: Confusion, *, name: str = "", about: str = "", source: str = "T&C 2008, Tables 3 and 5"
) -> Figure:
    """A cell is darker the more items it holds; the diagonal is agreement; `about` says of what."""
    first, second = table.raters
    total = int(table.cells.sum())
    rows: list[Row] = [
        {
            "first": one,
            "second": other,
            "n": int(table.cells[i, j]),
            "share": float(table.cells[i, j]) / max(total, 1),
        }
        for i, one in enumerate(table.labels)
        for j, other in enumerate(table.labels)
    ]
    encoding = {
        "x": names_axis(
            "second", second, table.labels, axis={"orient": "top", "labelAngle": 0, "domain": False, "ticks": False}
        ),
        "y": names_axis("first", first, table.labels, axis={"domain": False, "ticks": False}),
    }
    shade = {
        "field": "share",
        "type": "quantitative",
        "legend": None,
        "scale": {"type": "sqrt", "domain": [0, 1], "range": [0.04, 0.8]},
    }
    cells = {
        "mark": {"type": "rect", "color": SERIES[0], "cornerRadius": 3},
        "encoding": {**encoding, "opacity": shade},
    }
    counts = {
        "mark": {"type": "text", "fontSize": 15, "color": INK},
        "encoding": {**encoding, "text": {"field": "n", "format": ","}},
    }
    side = CELL * len(table.labels)
    spec = {**data(rows), "width": max(side, 220), "height": max(side // 2, 130), "layer": [cells, counts]}
    title = f"{first} against {second}" + (f", {about}" if about else "")
    return Figure(name or _file_stem(first, second), title, _confusion_words(table), spec, source)


def _file_stem(first: str, second: str) -> str:
    """A name that every file system takes, whatever raters are called."""
    safe = ("".join(c if c.isalnum() else "-" for c in rater) for rater in (first, second))
    return "-".join(("confusion", *safe))


def _confusion_words(table: Confusion) -> str:
    ok = ok_label(table.labels)
    if ok is None:
        same = int(table.cells.diagonal().sum())
        return f"The two say the same of {percent(same, int(table.cells.sum()))} of {int(table.cells.sum()):,} items."
    parts = [
        f"of the {each.n:,} uses that {each.rater} calls errors, {each.other} finds {each.n_ok:,}, "
        f"{percent(each.n_ok, each.n)}, correct"
        for each in disagreements(table, ok=ok)
        if each.n
    ]
    text = "; ".join(parts)
    return (text[:1].upper() + text[1:] + ".") if text else "Neither calls any use an error."


FEW_ITEMS = 0.2
"""Numbers of raters that fewer than this share of the items have are not drawn."""


def reliability_curve(
    found: RatersNeeded, *, name: str = "reliability", title: str = "How many raters match an expert"
) -> Figure:
    """One line an expert, a band round the last (their mean); dashed is what experts reach among themselves."""
    enough = FEW_ITEMS * found.n_items
    rows: list[Row] = [
        {"against": curve.against, "raters": point.n_raters, **interval_columns(point.kappa)}
        for curve in found.curves
        for point in curve.points
        if point.n_items >= enough
    ]
    names = [curve.against for curve in found.curves]
    encoding = {
        "x": {**number_axis("raters", "raters"), "axis": {"tickMinStep": 1, "format": "d"}},
        "y": number_axis("value", "kappa with the expert"),
        **series("against", names),
    }
    target = found.target.kappa
    last = [row["value"] for row in rows if row["value"] is not None][-1:]
    below = bool(last) and last[0] > target.value
    words = f"{found.target.what} {number(target.value)}"
    people = rule("y", target.value, words, before=below) if isfinite(target.value) else []
    banded = {**interval_band(encoding), "transform": [{"filter": f"datum.against == {json.dumps(names[-1])}"}]}
    layer = [banded, line(encoding), points(encoding, size=50), *people]
    spec = {**data(rows), "width": WIDTH, "height": HEIGHT, "layer": layer}
    return Figure(name, title, _reliability_words(found), spec, "T,C&M 2013, figures 1 and 2")


def _reliability_words(found: RatersNeeded) -> str:
    """What the picture shows: where the mean of the experts begins and ends."""
    points = [point for point in found.curves[-1].points if point.n_items >= FEW_ITEMS * found.n_items]
    if not points:
        return "No number of raters has enough items."
    first, last = points[0], points[-1]
    return (
        f"{many(first.n_raters, 'rater').capitalize()} reaches kappa {interval(first.kappa)}, the majority of "
        f"{last.n_raters:,} raters {interval(last.kappa)} ({found.curves[-1].against}). Dashed: {found.target.what}."
    )


def raters_needed_words(found: RatersNeeded) -> str:
    """The answer in one sentence."""
    target = interval(found.target.kappa)
    if not isfinite(found.smallest.value):
        most = max((point.n_raters for curve in found.curves for point in curve.points), default=0)
        return f"Experts reach kappa {target} among themselves; {many(most, 'rater')} together do not reach that."
    enough = many(int(found.smallest.value), "rater")
    return f"The majority of {enough} agrees with experts as well as experts agree with each other (kappa {target})."


TITLES = {
    "observed": "observed agreement",
    "fleiss": "Fleiss kappa",
    "alpha": "Krippendorff alpha",
    "ac1": "Gwet AC1",
}
MOST_PAIRS = 2
MOST_LABELS = 8


def agreement_section(
    judgments: Judgments, *, name: str = "agreement", title: str = "How far raters agree", seed: int = 0
) -> Section:
    """Coefficients over all raters, and the two pairs with most common items face to face."""
    found = agreement(judgments, Options(seed=seed, ok=_ok(judgments)))
    kappa = found.mean.kappa if found.mean else found.coefficients["fleiss"]
    words = (
        f"{many(len(judgments), 'judgment')} of {many(found.n_items, 'item')} by {many(len(found.raters), 'rater')}: "
        f"kappa {interval(kappa)}, {band(kappa.value) or 'undefined'} in the words of Landis and Koch."
    )
    return Section(
        name,
        title,
        (words, *map(sentence, found.warnings)),
        _maps(found),
        (_coefficients_sheet(found, name),),
        str(found.signature),
    )


def experts_section(
    crowd: Judgments,
    experts: Judgments,
    *,
    name: str = "raters-needed",
    title: str = "How many raters match an expert",
) -> Section:
    """The majority of 1, 2, ... raters against experts (T,C&M 2013, 5.2 and 5.3)."""
    found = raters_needed(crowd, experts)
    figure = reliability_curve(found, name=name, title=title)
    return Section(
        name, title, (raters_needed_words(found), *map(sentence, found.warnings)), (figure,), (), str(found.signature)
    )


def _ok(judgments: Judgments) -> str | None:
    return ok_label(sorted(judgments.frame["label"].cast(str).unique().to_list()))


def _maps(found: Agreement) -> tuple[Figure, ...]:
    ranked = sorted(found.pairs, key=lambda pair: -int(pair.table.cells.sum()))
    return tuple(confusion_map(pair.table) for pair in ranked[:MOST_PAIRS] if len(found.labels) <= MOST_LABELS)


def _coefficients_sheet(found: Agreement, name: str) -> Sheet:
    rows = [(title, interval(found.coefficients[key])) for key, title in TITLES.items() if key in found.coefficients]
    if found.mean:
        rows.insert(1, ("Cohen's kappa, mean of pairs", interval(found.mean.kappa)))
    title = f"Agreement over all {'experts' if name == 'experts' else 'raters'}"
    return Sheet(f"{name}-coefficients", title, ("coefficient", "value"), tuple(rows))
