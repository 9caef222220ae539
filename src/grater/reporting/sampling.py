"""Estimates for the whole corpus from a judged sample (T&C 2008, section 6), and the design as a tree (figure 1)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from grater.measure.evaluation.design import CheapJudge
from grater.measure.evaluation.evaluation import Estimated, Evaluation, EvaluationOptions, FromSample, evaluate
from grater.reporting.document import Figure, Row, Section, interval, percent_of, section_of
from grater.reporting.drawing import GRID, INK, MUTED, SERIES, WIDTH, data
from grater.reporting.systems import corrected_sheets
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
    corrected = corrected_sheets(evaluation, f"{title}, corrected for rater error", "corrected-estimates")
    figures = [sampling_tree(list(_branches(first)))]
    return section_of(
        evaluation,
        "sampling",
        "Estimates from the sample",
        (words, *lines),
        figures=figures,
        sheets=[estimates, *corrected],
        warnings=(),
    )


def _branches(estimated: Estimated) -> Iterator[Branch]:
    strata = estimated.strata
    sizes, judged, errors = (part.sum(axis=0) for part in (strata.sizes, strata.judged, strata.errors))
    columns = (estimated.names, estimated.flagged, sizes, judged, errors)
    for name, is_flagged, size, n_judged, n_errors in zip(*columns, strict=True):
        if size:
            title = name or ("flagged" if is_flagged else "not flagged")
            yield Branch(title, round(float(size)), round(float(n_judged)), float(n_errors))


def _numbers(estimated: Estimated) -> tuple[str, ...]:
    ours, paper = estimated.scores, estimated.paper
    return tuple(map(interval, (ours.precision, ours.recall, ours.f[0.5], paper.precision, paper.recall)))


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
    nodes: list[Row] = [_node(CORPUS_X, middle, "corpus", counted(n_items, "item"), "root")]
    links: list[Row] = []
    for index, branch in enumerate(branches):
        y = TOP / 2 + ROW * (index + 0.5)
        judged = f"{branch.n_judged:,} judged, {percent_of(branch.n_judged, branch.n_items)}"
        errors = f"{count(branch.n_errors)} errors, {percent_of(branch.n_errors, branch.n_judged)}"
        nodes += [
            _node(STRATUM_X, y, branch.stratum, counted(branch.n_items, "item"), "stratum"),
            _node(JUDGED_X, y, judged, errors, "judged"),
        ]
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
    n_judged = sum(branch.n_judged for branch in branches)
    words = (
        f"{n_judged:,} of {n_items:,} items ({percent_of(n_judged, n_items)}) were judged; weighted by the size of "
        "their strata, they represent the whole corpus."
    )
    title = "What was sampled, and what raters found"
    return Figure(name="sampling-tree", title=title, words=words, spec=spec, source="T&C 2008, figure 1")


def _node(x: float, y: float, title: str, text: str, kind: str) -> Row:
    width, height = BOX
    across = {"x": x, "left": x - width / 2, "right": x + width / 2}
    down = {"y": y, "top": y - height / 2, "bottom": y + height / 2}
    return {**across, **down, "title": title, "text": text, "kind": kind}


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
