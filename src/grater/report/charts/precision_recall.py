"""Precision against recall over every threshold, with bands and the point at which each system runs."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan

from grater.evaluate.standard import Scored
from grater.evaluate.thresholds import Curve, Point
from grater.report.charts.layers import HEIGHT, WIDTH, band, data, line, quantity, ringed, series
from grater.report.figure import Figure, Row
from grater.report.words import interval


def precision_recall(curves: Sequence[Curve], *, is_weighted: bool = False) -> Figure:
    """One curve a system; a ringed point is what it flags today."""
    systems = [curve.system for curve in curves]
    rows = [row for curve in curves for row in _rows(curve, is_weighted=is_weighted)]
    encoding = {
        "x": quantity("recall", "recall", share=True),
        "y": quantity("value", "precision", share=True),
        "order": {"field": "recall", "type": "quantitative"},
        **series("system", systems),
    }
    at_work = {**ringed(encoding), "transform": [{"filter": "datum.is_operating"}]}
    spec = {**data(rows), "width": WIDTH, "height": HEIGHT, "layer": [band(encoding), line(encoding), at_work]}
    name = "precision-recall-weighted" if is_weighted else "precision-recall"
    how = "weighted by shares of raters" if is_weighted else "against the majority"
    return Figure(
        name, f"Precision and recall at every threshold, {how}", _words(curves, is_weighted=is_weighted), spec
    )


def _score(point: Point, *, is_weighted: bool) -> Scored:
    return point.weighted if is_weighted else point.standard


def _rows(curve: Curve, *, is_weighted: bool) -> list[Row]:
    rows: list[Row] = []
    for point in curve.points:
        scored = _score(point, is_weighted=is_weighted)
        precision, recall = scored["precision"], scored["recall"]
        if isnan(precision.value) or isnan(recall.value):
            continue
        shown = {"recall": recall.value, "value": precision.value, "low": precision.low, "high": precision.high}
        rows.append({"system": curve.system, "is_operating": point.is_operating, **shown})
    return rows


def _words(curves: Sequence[Curve], *, is_weighted: bool) -> str:
    parts = []
    for curve in curves:
        scored = _score(curve.operating, is_weighted=is_weighted)
        parts.append(
            f"{curve.system} runs at precision {interval(scored['precision'])} "
            f"and recall {interval(scored['recall'])}"
        )
    return "; ".join(parts) + ". A stricter threshold moves a system to the left; bands hold 95 % at each point."
