"""Estimates for the whole corpus from a judged sample (T&C 2008, section 6), and the design as a tree (figure 1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from grater.measure.evaluation.design import CheapJudge
from grater.measure.evaluation.evaluation import Estimated, Evaluation, EvaluationOptions, FromSample, evaluate
from grater.reporting.document import Figure, Row, Section, interval, percent_of, section_of
from grater.reporting.drawing import GRID, INK, MUTED, SERIES, WIDTH, data
from grater.sheet import Sheet, count, counted
from grater.tables import Judgments, Sample, Table

PAPER = "In the last two columns: the normal approximation of T&C 2008, items taken as independent."


def sampling_section(
    evaluation: Evaluation,
    sample: FromSample,
    decisions: Table,
    drawn: Sample,
    judgments: Judgments,
    *,
    items: Table | None = None,
    judges: Sequence[CheapJudge] = (),
) -> Section:
    """The tree with the study's counts, and the estimates compared with the paper's and with those that cheap judges
    assist."""
    options = EvaluationOptions(basis=evaluation.basis, is_brief=True)
    helped = [
        evaluate(decisions, judgments, items=items, sample=drawn, assist=judge, options=options).sample
        for judge in judges
    ]
    first = sample.systems[0]
    words = (
        f"{sample.n_judged:,} of {counted(round(sample.n_items), 'item')} were judged. "
        f"Estimated for the whole corpus, {first.system} has precision {interval(first.scores.precision)} "
        f"and recall {interval(first.scores.recall)}."
    )
    rows = [(each.system, *_numbers(each)) for each in sample.systems]
    lines = []
    for other in helped:
        if other is not None and other.assist is not None:
            rows += [(f"{each.system}, with {other.assist.name}", *_numbers(each)) for each in other.systems]
            lines.append(f"{other.assist.sentence[:1].upper()}{other.assist.sentence[1:]}.")
    title = "Estimated for the whole corpus"
    columns = ("system", "precision", "recall", "F0.5", "precision (T&C)", "recall (T&C)")
    estimates = Sheet(title, columns, tuple(rows), notes=(PAPER,), name="estimates")
    figures = [sampling_tree(first)]
    return section_of(
        evaluation,
        "sampling",
        "Estimates from the sample",
        (words, *lines),
        figures=figures,
        sheets=[estimates],
        warnings=(),
    )


def _numbers(estimated: Estimated) -> tuple[str, ...]:
    ours, paper = estimated.scores, estimated.paper
    return tuple(map(interval, (ours.precision, ours.recall, ours.f[0.5], paper.precision, paper.recall)))


ROW, TOP = 84, 8
CORPUS_X, STRATUM_X, JUDGED_X = 90, 300, 530
BOX = (150, 46)


def sampling_tree(estimated: Estimated) -> Figure:
    """From left to right: the corpus, its strata, what was judged in each and what raters found."""
    strata = estimated.strata
    parts = np.stack([part.sum(axis=0) for part in (strata.sizes, strata.judged, strata.errors)], axis=1)
    names = [
        name or ("flagged" if flag else "not flagged")
        for name, flag in zip(estimated.names, estimated.flagged, strict=True)
    ]
    branches = [(name, *part) for name, part in zip(names, parts.tolist(), strict=True) if part[0]]
    n_items, n_judged, _ = (round(float(total)) for total in parts.sum(axis=0))
    height = TOP + ROW * len(branches)
    middle = height / 2
    nodes: list[Row] = [_node(CORPUS_X, middle, "corpus", counted(n_items, "item"))]
    links: list[Row] = []
    for index, (name, size, n, n_errors) in enumerate(branches):
        y = TOP / 2 + ROW * (index + 0.5)
        judged, errors = (
            f"{n:,.0f} judged, {percent_of(n, size)}",
            f"{count(n_errors)} errors, {percent_of(n_errors, n)}",
        )
        nodes += [_node(STRATUM_X, y, name, counted(round(size), "item")), _node(JUDGED_X, y, judged, errors)]
        links += [
            {"x": CORPUS_X + 75, "y": middle, "x2": STRATUM_X - 75, "y2": y},
            {"x": STRATUM_X + 75, "y": y, "x2": JUDGED_X - 75, "y2": y},
        ]
    axes = {
        "x": {"field": "x", "type": "quantitative", "axis": None, "scale": {"domain": [0, WIDTH], "nice": False}},
        "y": {"field": "y", "type": "quantitative", "axis": None, "scale": {"domain": [height, 0], "nice": False}},
    }
    ends = {**axes, "x2": {"field": "x2"}, "y2": {"field": "y2"}}
    lines = {**data(links), "mark": {"type": "rule", "color": MUTED, "strokeWidth": 1.5}, "encoding": ends}
    spec = {"width": WIDTH, "height": height, "layer": [lines, *_nodes(nodes, axes)]}
    words = (
        f"{n_judged:,} of {n_items:,} items ({percent_of(n_judged, n_items)}) were judged; weighted by the size of "
        "their strata, they represent the whole corpus."
    )
    title = "What was sampled, and what raters found"
    return Figure(name="sampling-tree", title=title, words=words, spec=spec, source="T&C 2008, figure 1")


def _node(x: float, y: float, title: str, text: str) -> Row:
    width, height = BOX
    across = {"x": x, "left": x - width / 2, "right": x + width / 2}
    down = {"y": y, "top": y - height / 2, "bottom": y + height / 2}
    return {**across, **down, "title": title, "text": text}


def _nodes(rows: Sequence[Row], axes: Mapping[str, Any]) -> list[dict[str, Any]]:
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
    return [{**data(rows), **layer} for layer in (ground, title, text)]
