"""How many raters match an expert: agreement with experts against the number of raters (T,C&M 2013, figures 1, 2)."""

from __future__ import annotations

import json
from math import isfinite

from grater.agreement.raters_needed import RatersNeeded
from grater.report.charts.layers import HEIGHT, WIDTH, band, data, line, of_interval, points, quantity, rule, series
from grater.report.figure import Figure, Row
from grater.report.words import interval, many, number

FEW_ITEMS = 0.2
"""Numbers of raters that fewer than this share of the items have are not drawn."""


def reliability(
    found: RatersNeeded, *, name: str = "reliability", title: str = "How many raters match an expert"
) -> Figure:
    """One line an expert, a band round the last (their mean); dashed is what experts reach among themselves."""
    enough = FEW_ITEMS * found.n_items
    rows: list[Row] = [
        {"against": curve.against, "raters": point.n_raters, **of_interval(point.kappa)}
        for curve in found.curves
        for point in curve.points
        if point.n_items >= enough
    ]
    names = [curve.against for curve in found.curves]
    encoding = {
        "x": {**quantity("raters", "raters"), "axis": {"tickMinStep": 1, "format": "d"}},
        "y": quantity("value", "kappa with the expert"),
        **series("against", names),
    }
    target = found.target.kappa
    last = [row["value"] for row in rows if row["value"] is not None][-1:]
    below = bool(last) and last[0] > target.value
    words = f"{found.target.what} {number(target.value)}"
    people = rule("y", target.value, words, before=below) if isfinite(target.value) else []
    banded = {**band(encoding), "transform": [{"filter": f"datum.against == {json.dumps(names[-1])}"}]}
    layer = [banded, line(encoding), points(encoding, size=50), *people]
    spec = {**data(rows), "width": WIDTH, "height": HEIGHT, "layer": layer}
    return Figure(name, title, _curve(found), spec, "T,C&M 2013, figures 1 and 2")


def _curve(found: RatersNeeded) -> str:
    """What the picture shows: where the mean of the experts begins and ends."""
    points = [point for point in found.curves[-1].points if point.n_items >= FEW_ITEMS * found.n_items]
    if not points:
        return "No number of raters has enough items."
    first, last = points[0], points[-1]
    return (
        f"{many(first.n_raters, 'rater').capitalize()} reaches kappa {interval(first.kappa)}, the majority of "
        f"{last.n_raters:,} raters {interval(last.kappa)} ({found.curves[-1].against}). Dashed: {found.target.what}."
    )


def needed(found: RatersNeeded) -> str:
    """The answer in one sentence."""
    target = interval(found.target.kappa)
    if not isfinite(found.smallest.value):
        most = max((point.n_raters for curve in found.curves for point in curve.points), default=0)
        return f"Experts reach kappa {target} among themselves; {many(most, 'rater')} together do not reach that."
    enough = many(int(found.smallest.value), "rater")
    return f"The majority of {enough} agrees with experts as well as experts agree with each other (kappa {target})."
