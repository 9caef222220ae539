"""One rater in place of another: the same system against each rater in turn (T&C 2008, 5.2 and Table 4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isnan

from grater.evaluate.standard import Scored
from grater.report.charts.layers import WIDTH, data, name_of, of_interval, quantity
from grater.report.figure import Figure, Row
from grater.report.palette import INK, SERIES
from grater.report.words import number

ROW = 54
SCORES = ("precision", "recall")


def raters_in_turn(by_rater: Mapping[str, Sequence[Scored]], truth: Sequence[Scored]) -> Figure:
    """A tick for each rater, a bar for the truth of all of them."""
    systems = [scored.system for scored in truth]
    rows: list[Row] = [
        {"rater": rater, "system": scored.system, "score": score, **of_interval(scored[score])}
        for rater, all_scored in by_rater.items()
        for scored in all_scored
        for score in SCORES
    ]
    joint = [
        {"system": each.system, "score": score, **of_interval(each[score])} for each in truth for score in SCORES
    ]
    encoding = {"y": name_of("system", None, systems), "x": quantity("value", "", share=True)}
    ticks = {
        **data(rows),
        "mark": {"type": "tick", "thickness": 3, "size": 26, "color": SERIES[0], "opacity": 0.65},
        "encoding": encoding,
    }
    diamonds = {
        **data(joint),
        "mark": {"type": "point", "shape": "diamond", "filled": True, "size": 150, "color": INK, "opacity": 1},
        "encoding": encoding,
    }
    panels = [
        {
            "title": {"text": score, "fontSize": 13},
            "width": WIDTH // 2 - 60,
            "height": max(110, ROW * len(systems)),
            "layer": [{**each, "transform": [{"filter": f"datum.score == '{score}'"}]} for each in (ticks, diamonds)],
        }
        for score in SCORES
    ]
    return Figure(
        "raters-in-turn",
        "The same system against each rater in turn",
        _words(rows, systems),
        {"hconcat": panels, "spacing": 24},
        "T&C 2008, Table 4",
    )


def _words(rows: Sequence[Row], systems: Sequence[str]) -> str:
    parts = []
    for system in systems:
        values = sorted(
            row["value"]
            for row in rows
            if row["system"] == system and row["score"] == "precision" and row["value"] is not None
        )
        if values and not isnan(values[0]):
            apart = 100 * (values[-1] - values[0])
            parts.append(
                f"{system} has precision {number(values[0])} with one rater and {number(values[-1])} with another "
                f"({apart:.0f} points apart)"
            )
    return ("; ".join(parts) or "No rater's judgments cover a flag") + ". A diamond is the majority of all."
