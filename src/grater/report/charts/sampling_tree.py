"""The sampling design as a tree with the study's counts (T&C 2008, figure 1): corpus, strata, judged, errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from grater.report.charts.layers import WIDTH, data
from grater.report.figure import Figure, Row
from grater.report.palette import GRID, INK, MUTED, SERIES
from grater.report.words import many, percent

ROW, TOP = 84, 8
CORPUS_X, STRATUM_X, JUDGED_X = 90, 300, 530
BOX = (150, 46)


@dataclass(frozen=True, slots=True)
class Branch:
    """One stratum: how many items the corpus has there, how many were drawn and judged, how many are errors."""

    stratum: str
    n_items: int
    n_judged: int
    n_errors: float


def sampling_tree(branches: Sequence[Branch]) -> Figure:
    """From left to right: the corpus, its strata, what was judged in each and what raters found."""
    n_items = sum(branch.n_items for branch in branches)
    height = TOP + ROW * len(branches)
    middle = height / 2
    nodes: list[Row] = [_node(CORPUS_X, middle, "corpus", many(n_items, "item"), "root")]
    links: list[Row] = []
    for place, branch in enumerate(branches):
        y = TOP / 2 + ROW * (place + 0.5)
        judged = f"{branch.n_judged:,} judged, {percent(branch.n_judged, branch.n_items)}"
        found = f"{branch.n_errors:,.9g} errors, {percent(branch.n_errors, branch.n_judged)}"
        nodes += [
            _node(STRATUM_X, y, branch.stratum, many(branch.n_items, "item"), "stratum"),
            _node(JUDGED_X, y, judged, found, "judged"),
        ]
        links += [
            {"x": CORPUS_X + 75, "y": middle, "x2": STRATUM_X - 75, "y2": y},
            {"x": STRATUM_X + 75, "y": y, "x2": JUDGED_X - 75, "y2": y},
        ]
    spec = {"width": WIDTH, "height": height, "layer": [_links(links, height), *_nodes(nodes, height)]}
    n_judged = sum(branch.n_judged for branch in branches)
    words = (
        f"{n_judged:,} of {n_items:,} items ({percent(n_judged, n_items)}) were judged; each stands for its stratum, "
        "so the whole corpus is estimated."
    )
    return Figure("sampling-tree", "What was sampled, and what raters found", words, spec, "T&C 2008, figure 1")


def _node(x: float, y: float, title: str, text: str, kind: str) -> Row:
    width, height = BOX
    return {
        "x": x,
        "y": y,
        "left": x - width / 2,
        "right": x + width / 2,
        "top": y - height / 2,
        "bottom": y + height / 2,
        "title": title,
        "text": text,
        "kind": kind,
    }


def _axes(height: float) -> dict[str, Any]:
    return {
        "x": {"field": "x", "type": "quantitative", "axis": None, "scale": {"domain": [0, WIDTH], "nice": False}},
        "y": {"field": "y", "type": "quantitative", "axis": None, "scale": {"domain": [height, 0], "nice": False}},
    }


def _links(rows: Sequence[Row], height: float) -> dict[str, Any]:
    ends = {**_axes(height), "x2": {"field": "x2"}, "y2": {"field": "y2"}}
    return {**data(rows), "mark": {"type": "rule", "color": MUTED, "strokeWidth": 1.5}, "encoding": ends}


def _nodes(rows: Sequence[Row], height: float) -> list[dict[str, Any]]:
    axes = _axes(height)
    box = {
        "x": {**axes["x"], "field": "left"},
        "x2": {"field": "right"},
        "y": {**axes["y"], "field": "top"},
        "y2": {"field": "bottom"},
    }
    ground = {
        "mark": {"type": "rect", "color": GRID, "stroke": SERIES[0], "strokeWidth": 1.5, "cornerRadius": 6},
        "encoding": box,
    }
    title = {
        "mark": {"type": "text", "dy": -8, "fontWeight": 600, "color": INK},
        "encoding": {**axes, "text": {"field": "title"}},
    }
    text = {"mark": {"type": "text", "dy": 9, "color": INK}, "encoding": {**axes, "text": {"field": "text"}}}
    return [{**data(rows), **each} for each in (ground, title, text)]
