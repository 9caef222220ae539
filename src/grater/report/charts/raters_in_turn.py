"""One rater in place of another: the same system against each rater in turn (T&C 2008, 5.2 and Table 4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from grater.evaluate.standard import Scored
from grater.report.charts.layers import WIDTH, data, name_of, of_interval, quantity
from grater.report.figure import Figure, Row
from grater.report.palette import INK, SERIES
from grater.report.words import number

ROW = 54
SCORES = ("precision", "recall")
ENOUGH = 20
"""Flags (for recall: errors) that a rater must have judged for a score against them to say something."""


def raters_in_turn(by_rater: Mapping[str, Sequence[Scored]], truth: Sequence[Scored]) -> Figure:
    """A tick for each rater, pale for one who judged little; a diamond for the majority of all."""
    systems = [scored.system for scored in truth]
    rows: list[Row] = [
        {
            "rater": rater,
            "system": scored.system,
            "score": score,
            "is_enough": n_behind(scored, score) >= ENOUGH,
            **of_interval(scored[score]),
        }
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
        "mark": {"type": "tick", "thickness": 3, "size": 26, "color": SERIES[0]},
        "encoding": {**encoding, "opacity": {"condition": {"test": "datum.is_enough", "value": 0.8}, "value": 0.22}},
    }
    diamonds = {
        **data(joint),
        "mark": {"type": "point", "shape": "diamond", "filled": True, "size": 150, "color": INK, "opacity": 1},
        "encoding": encoding,
    }
    panels = [
        {
            "title": {"text": score, "fontSize": 13},
            "width": WIDTH // 2 - 20,
            "height": max(110, ROW * len(systems)),
            "layer": [_only(score, each, is_first=place == 0) for each in (ticks, diamonds)],
        }
        for place, score in enumerate(SCORES)
    ]
    return Figure(
        "raters-in-turn",
        "The same system against each rater in turn",
        _words(rows, systems),
        {"hconcat": panels, "spacing": 24},
        "T&C 2008, Table 4",
    )


def n_behind(scored: Scored, score: str) -> float:
    """How many of a rater's judgments a score stands on: flags for precision, errors for recall."""
    counts = scored.counts
    return counts.hit + (counts.false_alarm if score == "precision" else counts.miss)


def _only(score: str, layer: dict[str, Any], *, is_first: bool) -> dict[str, Any]:
    """A layer of one panel; the names of the systems stand beside the first."""
    encoding = dict(layer["encoding"])
    if not is_first:
        encoding["y"] = {**encoding["y"], "axis": {"labels": False, "ticks": False, "domain": False}}
    return {**layer, "encoding": encoding, "transform": [{"filter": f"datum.score == '{score}'"}]}


def _words(rows: Sequence[Row], systems: Sequence[str]) -> str:
    parts = []
    for system in systems:
        values = sorted(
            row["value"]
            for row in rows
            if row["system"] == system and row["score"] == "precision" and row["is_enough"]
        )
        if len(values) > 1:
            apart = 100 * (values[-1] - values[0])
            parts.append(
                f"{system} has precision {number(values[0])} with one rater and {number(values[-1])} with another "
                f"({apart:.0f} points apart)"
            )
    told = "; ".join(parts) or f"No two raters have judged {ENOUGH} flags of one system"
    few = any(not row["is_enough"] for row in rows if row["score"] == "precision")
    pale = f" Pale: raters who judged fewer than {ENOUGH} flags of the system, mostly chance." if few else ""
    return f"{told}. A tick is a rater, a diamond the majority of all.{pale}"
