"""What a judged sample says about the whole corpus (T&C 2008, section 6), and the design as a tree (figure 1)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from grater.measure.evaluation.rater_error import as_many_votes
from grater.measure.evaluation.sampled import Sampled, SystemEstimate, chance_of, sampled
from grater.measure.evaluation.sampled.estimates import CheapJudge
from grater.measure.evaluation.sampled.results import CorrectedSample, correct
from grater.reporting.document import Figure, Row, Section, interval, percent_of, sentence
from grater.reporting.drawing import GRID, INK, MUTED, SERIES, WIDTH, data
from grater.reporting.systems import raters_words
from grater.sheet import Sheet, count, counted
from grater.tables import Judgments, Sample, Table
from grater.uncertainty.bootstrap import Chance
from grater.uncertainty.stratified import Stratum


def estimates_of(
    decisions: Table,
    sample: Sample,
    judgments: Judgments,
    *,
    items: Table | None = None,
    chance: Chance | None = None,
    gold: Table | None = None,
    on_gold: Judgments | None = None,
) -> Sampled:
    """Every system for the whole corpus; essays are drawn where the items know theirs.

    With answers to gold, also corrected for what raters get wrong, each side by itself where they err differently.
    """
    numbers = chance or Chance()
    drawing = chance_of(decisions, sample, items=items, n_resamples=numbers.n_resamples, seed=numbers.seed)
    estimates = sampled(decisions, sample, judgments, items=items, chance=drawing)
    if gold is None or on_gold is None:
        return estimates
    answers = as_many_votes(on_gold, judgments)
    fixed = correct(estimates, answers, gold, fpc=False, seed=numbers.seed, decisions=decisions, by_flag=None)
    return replace(estimates, correction=fixed)


def sampling_section(
    estimates: Sampled,
    decisions: Table,
    sample: Sample,
    judgments: Judgments,
    *,
    items: Table | None = None,
    chance: Chance | None = None,
    judges: Sequence[CheapJudge] = (),
) -> Section:
    """The tree with the study's counts, and estimates with intervals."""
    numbers = chance or Chance()
    drawing = chance_of(decisions, sample, items=items, n_resamples=numbers.n_resamples, seed=numbers.seed)
    helped = [sampled(decisions, sample, judgments, items=items, chance=drawing, assist=each) for each in judges]
    first = estimates.systems[0]
    words = (
        f"{estimates.n_judged:,} of {counted(round(estimates.n_items), 'item')} were judged. "
        f"Estimated for the whole corpus, {first.system} has precision {interval(first.scores.precision)} "
        f"and recall {interval(first.scores.recall)}."
    )
    tree = sampling_tree([_branch(stratum) for stratum in first.strata if stratum.size])
    rows = [(estimate.system, *_numbers(estimate)) for estimate in estimates.systems]
    for other in helped:
        judge = other.assist.name if other.assist else ""
        rows += [(f"{estimate.system}, with {judge}", *_numbers(estimate)) for estimate in other.systems]
    drawn = "MOVER on the strata" if not estimates.scope.is_clustered else f"resampling {estimates.scope.unit}s"
    note = f"Intervals by {drawn}; in the last two columns, by the normal approximation of T&C 2008."
    estimates_sheet = Sheet(
        name="estimates",
        title="Estimated for the whole corpus",
        columns=("system", "precision", "recall", "F0.5", "precision (T&C)", "recall (T&C)"),
        rows=tuple(rows),
        notes=(note,),
    )
    warnings = (*estimates.warnings, *(estimates.correction.warnings if estimates.correction else ()))
    return Section(
        name="sampling",
        title="Estimates from the sample",
        words=(words, estimates.scope.sentence, *map(sentence, warnings), *_help(helped)),
        figures=(tree,),
        sheets=(estimates_sheet, *_corrected_sheets(estimates.correction)),
        signature=str(estimates.signature),
    )


def _corrected_sheets(correction: CorrectedSample | None) -> Iterator[Sheet]:
    """The estimates as they would be if raters made no mistakes, where gold says enough of these."""
    if correction is None or correction.raters.undefined_because:
        return
    yield Sheet(
        name="corrected-estimates",
        title="Estimated for the whole corpus, corrected for rater error",
        columns=("system", "precision", "recall", "F0.5"),
        rows=tuple(
            (estimate.system, *map(interval, (estimate.precision, estimate.recall, estimate.f[0.5])))
            for estimate in correction.systems
        ),
        notes=(raters_words(correction.raters),),
    )


def _branch(stratum: Stratum) -> Branch:
    name = "flagged" if stratum.is_flagged else "not flagged"
    return Branch(
        stratum=stratum.name or name,
        n_items=round(stratum.size),
        n_judged=round(stratum.n_judged),
        n_errors=float(stratum.errors),
    )


def _help(helped: Sequence[Sampled]) -> Iterator[str]:
    """What each cheap judge of every item was worth."""
    for estimates in helped:
        if estimates.assist is not None:
            yield sentence(estimates.assist.sentence)


def _numbers(estimate: SystemEstimate) -> tuple[str, ...]:
    ours, paper = estimate.scores, estimate.paper
    return (
        interval(ours.precision),
        interval(ours.recall),
        interval(ours.f[0.5]),
        interval(paper.precision),
        interval(paper.recall),
    )


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
    spec = {"width": WIDTH, "height": height, "layer": [_links(links, height), *_nodes(nodes, height)]}
    n_judged = sum(branch.n_judged for branch in branches)
    words = (
        f"{n_judged:,} of {n_items:,} items ({percent_of(n_judged, n_items)}) were judged; weighted by the size of "
        "their strata, they stand for the whole corpus."
    )
    return Figure(
        name="sampling-tree",
        title="What was sampled, and what raters found",
        words=words,
        spec=spec,
        source="T&C 2008, figure 1",
    )


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
    return [{**data(rows), **layer} for layer in (ground, title, text)]
