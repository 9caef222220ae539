"""Raters at a glance: how many items each judged, how right on gold or with the others, how quick."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan

from grater.crowd.raters import Rater
from grater.report.charts.layers import HEIGHT, WIDTH, data, of_interval, quantity
from grater.report.figure import Figure
from grater.report.palette import INK, SERIES
from grater.report.words import listed, many, number

MOST_NAMED = 12


def rater_scatter(raters: Sequence[Rater]) -> Figure:
    """Accuracy on gold where there is any, else agreement with the other raters."""
    has_gold = any(rater.n_gold for rater in raters)
    rows = [
        {"rater": each.rater, "n": each.n, **of_interval(each.on_gold if has_gold else each.with_others)}
        for each in raters
    ]
    title = "right on gold" if has_gold else "agrees with the majority of the others"
    amounts = [each.n for each in raters]
    is_wide = 2 * min(amounts, default=0) < max(amounts, default=0)  # from nought only where the field fills it
    encoding = {"x": quantity("n", "items judged", zero=is_wide), "y": quantity("value", title)}
    ends = {**encoding, "y": {**encoding["y"], "field": "low"}, "y2": {"field": "high"}}
    limits = {"mark": {"type": "rule", "color": SERIES[0], "opacity": 0.3}, "encoding": ends}
    dots = {
        "mark": {"type": "point", "filled": True, "color": SERIES[0], "size": 90, "opacity": 0.9},
        "encoding": encoding,
    }
    names = {
        "mark": {"type": "text", "dy": -11, "fontSize": 11, "color": INK},
        "encoding": {**encoding, "text": {"field": "rater"}},
    }
    layer = [limits, dots, *([names] if len(raters) <= MOST_NAMED else [])]
    spec = {**data(rows), "width": WIDTH, "height": HEIGHT, "layer": layer}
    return Figure("raters", "Raters: how much, and how well", _words(raters, has_gold=has_gold), spec)


def _words(raters: Sequence[Rater], *, has_gold: bool) -> str:
    scores = [(rater.on_gold if has_gold else rater.with_others).value for rater in raters]
    known = sorted((score, rater.rater) for score, rater in zip(scores, raters, strict=True) if not isnan(score))
    if not known:
        return f"{many(len(raters), 'rater')}; no item was judged by two of them."
    how = "accuracy on gold" if has_gold else "agreement with the others"
    weak = [name for score, name in known if score < known[len(known) // 2][0] - 0.2][:5]
    middle = number(known[len(known) // 2][0])
    spread = f"from {number(known[0][0])} to {number(known[-1][0])}, half of them at or above {middle}"
    words = f"{many(len(raters), 'rater')}: {how} {spread}."
    return words + (f" Far below the rest: {listed(weak)}." if weak else "")
