"""How good the systems are: against the majority of raters, each rater in turn, weighted, and at every threshold.

Each expert's verdicts are also taken for the flags of a system and compared with the same raters: no system can be
expected to agree with the raters better than a careful person does.  The same system against each rater in turn is
T&C 2008, section 5.2 and Table 4.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import isnan
from typing import Any

import polars as pl

from grater.measure.evaluation.cases import bounds_sheet
from grater.measure.evaluation.comparison import Comparison, compare_systems, is_comparable
from grater.measure.evaluation.evaluation import Evaluation, EvaluationOptions, evaluate
from grater.measure.evaluation.standard import Scored, effects_note, types_sheet
from grater.measure.evaluation.thresholds import Curve, curve_of_thresholds, scored_systems
from grater.model import Interval
from grater.reporting.document import Figure, Row, Section, Slider, interval, lead_words, section_of
from grater.reporting.drawing import (
    HEIGHT,
    INK,
    SERIES,
    WIDTH,
    data,
    forest,
    interval_band,
    interval_columns,
    line,
    names_axis,
    number_axis,
    point_names,
    points,
    ringed_points,
    rule,
    series,
)
from grater.reporting.items import TIE, list_name
from grater.sheet import Sheet, count, counted, number, undefined_notes
from grater.sheet import interval as cell
from grater.tables import Judgments, Table, read_decisions

SCORES = ("precision", "recall", "f0.5", "kappa")
LISTED_TIES = (
    "An item on which raters are evenly split counts half as an error, so counts may end in .5; it comes at the end "
    "of both lists."
)
PEOPLE = "Experts scored against the raters as if they were systems; the line in the figure is the best of them."
COUNTS = ("hit", "false_alarm", "miss")
ERROR, OK = "error", "ok"


def systems_section(
    evaluation: Evaluation, *, experts: Judgments | None = None, items: Table | None = None
) -> Section:
    """Scores, rank groups where systems decided on the same items, the spread over raters, and what people reach."""
    whole = evaluation.whole
    cases, comparison = evaluation.cases, None
    if len(cases.systems) > 1 and is_comparable(cases, evaluation.truth):
        comparison = compare_systems(cases, evaluation.truth, basis=evaluation.basis)
    ranked = comparison.systems if comparison and not evaluation.different else whole.standard
    people = people_as_systems(evaluation, experts, items=items) if experts is not None else ()
    ceiling = people[0]["f0.5"] if people else None
    groups = comparison.groups if comparison and not evaluation.different else {}
    figures = []
    if not evaluation.cases.withheld:
        figures = [forest_plot(whole.standard, groups, ceiling, is_ranked=not evaluation.different)]
    if len(whole.by_rater) > 1:
        figures.append(raters_in_turn(whole.by_rater, ranked))
    sample, unjudged = evaluation.sample, ""
    if sample:
        unjudged = f", estimated from {sample.n_judged:,} judged"
    elif whole.n_unjudged:
        unjudged = f", {whole.n_unjudged:,} of which have no usable judgment"
    words = [f"{counted(len(whole.standard), 'system')} on {counted(whole.n_items, 'item')}{unjudged}."]
    if groups and not evaluation.cases.withheld:
        first, *others = sorted(whole.standard, key=lambda scored: -scored["f0.5"].value)
        letters = set(groups.get(first.system, ""))
        alike = [each.system for each in others if set(groups.get(each.system, "")) & letters]
        words.insert(0, lead_words(first.system, alike))
    sheets = _sheets(evaluation, comparison, people)
    return section_of(evaluation, "systems", "Systems in detail", words, figures=figures, sheets=sheets)


def _sheets(evaluation: Evaluation, comparison: Comparison | None, people: Sequence[Scored]) -> list[Sheet]:
    """The tables of the section: scores as judged, weighted, corrected, compared, by type, and of people."""
    whole = evaluation.whole
    sheets = [_scores_sheet("scores", "Against the majority of raters", whole.standard, notes=_notes(evaluation))]
    if whole.weighted:
        sheets.append(
            _scores_sheet(
                "weighted-scores",
                "Weighted by the share of raters who see an error (Madnani et al. 2011, equations 1 to 3)",
                whole.weighted,
                notes=("Counts are sums of rater shares; they link to the items as the majority sees them.",),
            )
        )
    sheets += [replace(sheet, name="corrected-scores") for sheet in evaluation.sheets() if sheet.name == "corrected"]
    if comparison:
        sheets += [sheet for sheet in comparison.sheets() if sheet.name == "pairs"]
    if evaluation.types:
        sheets.append(types_sheet(evaluation.types, whole.standard))
    if whole.bounds:
        sheets.append(bounds_sheet(whole.bounds))
    if evaluation.different:
        sheets += evaluation.different.sheets()
    if people:
        rows = tuple((scored.system, *(interval(scored[score]) for score in SCORES)) for scored in people)
        columns = ("expert", *("F0.5" if score == "f0.5" else score for score in SCORES))
        sheets.append(Sheet("Human ceiling", columns, rows, notes=(PEOPLE,), name="people"))
    return sheets


def _notes(evaluation: Evaluation) -> tuple[str, ...]:
    """Notes on the counts: how ties are listed, and the effect of clustering."""
    whole = evaluation.whole
    effects = effects_note({scored.system: scored.design_effect for scored in whole.standard})
    ties = [LISTED_TIES] if (evaluation.truth.values == TIE).any() else []
    return (*ties, *([effects] if effects else []))


def people_as_systems(
    evaluation: Evaluation, experts: Judgments, *, items: Table | None = None
) -> tuple[Scored, ...]:
    """The scores of every expert against the majority of the raters who judged the systems, the best first.

    None where a sample was judged: experts answered some of its items, and nothing says how those were chosen.
    """
    if evaluation.sample:
        return ()
    label = pl.col("label").cast(pl.String)
    verdicts = experts.frame.filter(label.is_in([ERROR, OK])).select(
        pl.col("item").cast(pl.String), system=pl.col("rater").cast(pl.String), flagged=label == ERROR
    )
    judged = pl.DataFrame({"item": [str(item) for item in evaluation.cases.items]}, schema={"item": pl.String})
    verdicts = verdicts.join(judged, on="item", how="semi")
    if verdicts.is_empty() or experts.anonymous_raters:
        return ()
    decisions = read_decisions(verdicts, name=experts.name)
    options = EvaluationOptions(basis=evaluation.basis, is_brief=True)
    scores = evaluate(decisions, evaluation.cases.judgments, items=items, options=options).whole.standard
    return tuple(sorted(scores, key=lambda scored: -scored["f0.5"].value))


def _scores_sheet(name: str, title: str, systems: Sequence[Scored], *, notes: tuple[str, ...] = ()) -> Sheet:
    scores = ("F0.5" if score == "f0.5" else score for score in SCORES)
    rows: list[tuple[str, ...]] = []
    links: dict[tuple[int, int], str] = {}
    for row, scored in enumerate(systems):
        counts = [count(getattr(scored.counts, counted_as)) for counted_as in COUNTS]
        rows.append((scored.system, *(cell(scored[score]) for score in SCORES), *counts))
        links |= {(row, 1 + len(SCORES) + n): list_name(scored.system, each) for n, each in enumerate(COUNTS)}
    notes = (*notes, *undefined_notes(scored[score] for scored in systems for score in SCORES))
    columns = ("system", *scores, "hits", "false alarms", "misses")
    return Sheet(title, columns, tuple(rows), notes, name=name, links=links)


def forest_plot(
    systems: Sequence[Scored], letters: Mapping[str, str], ceiling: Interval | None, *, is_ranked: bool
) -> Figure:
    """The best first, unless they are not ranked; systems that share a letter do not differ significantly."""
    ranked = sorted(systems, key=lambda scored: -scored["f0.5"].value) if is_ranked else list(systems)
    rows = [
        {"system": scored.system, "group": letters.get(scored.system, ""), **interval_columns(scored["f0.5"])}
        for scored in ranked
    ]
    best = f"best expert {interval(ceiling)}" if ceiling else ""
    people = rule("x", ceiling.value, best, before=ceiling.value > 0.5) if ceiling else []
    spec = forest(rows, "F0.5", *people, share=True)
    if is_ranked:
        words = f"{ranked[0].system} reaches {interval(ranked[0]['f0.5'])} on {counted(ranked[0].n, 'item')}."
        words += " Systems that share a letter do not differ significantly." if letters else ""
    else:
        parts = [f"{each.system} has F0.5 {interval(each['f0.5'])} on {counted(each.n, 'item')}" for each in ranked]
        words = (
            f"{'; '.join(parts)}. They decided on different items and are not ranked; see the standardised scores."
        )
    if ceiling:
        words += f" The best expert, scored in the same way, reaches {interval(ceiling)}."
    return Figure(name="systems", title="F0.5 of every system", words=words, spec=spec)


PANEL_SCORES = ("precision", "recall")
PANEL_ROW_HEIGHT = 54
ENOUGH = 20
"""Flags (for recall: errors) that a rater must have judged for a meaningful score against them."""


def raters_in_turn(by_rater: Mapping[str, Sequence[Scored]], truth: Sequence[Scored]) -> Figure:
    """A tick for each rater, pale for one who judged little; a diamond for the majority of all."""
    systems = [scored.system for scored in truth]
    rows: list[Row] = [
        {"is_enough": n_behind(scored, score) >= ENOUGH, **row}
        for scores in by_rater.values()
        for scored, score, row in _panel_rows(scores)
    ]
    joint = [row for _, _, row in _panel_rows(truth)]
    encoding = {"y": names_axis("system", None, systems), "x": number_axis("value", "", share=True)}
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
    height = max(110, PANEL_ROW_HEIGHT * len(systems))
    panels = [
        {
            "title": {"text": score, "fontSize": 13},
            "width": WIDTH // 2 - 20,
            "height": height,
            "layer": [_panel_layer(score, layer, is_first=score == PANEL_SCORES[0]) for layer in (ticks, diamonds)],
        }
        for score in PANEL_SCORES
    ]
    title, spec = "Scores against each rater in turn", {"hconcat": panels, "spacing": 24}
    words = _spread_words(rows, systems)
    return Figure(name="raters-in-turn", title=title, words=words, spec=spec, source="T&C 2008, Table 4")


def _panel_rows(scores: Sequence[Scored]) -> Iterator[tuple[Scored, str, Row]]:
    for scored in scores:
        for score in PANEL_SCORES:
            yield scored, score, {"system": scored.system, "score": score, **interval_columns(scored[score])}


def n_behind(scored: Scored, score: str) -> float:
    """How many of a rater's judgments a score is based on: flags for precision, errors for recall."""
    hit, false_alarm, miss, _ = scored.tally.plain
    return float(hit + (false_alarm if score == "precision" else miss))


def _panel_layer(score: str, layer: dict[str, Any], *, is_first: bool) -> dict[str, Any]:
    """A layer of one panel; the names of the systems are next to the first."""
    encoding = dict(layer["encoding"])
    if not is_first:
        encoding["y"] = {**encoding["y"], "axis": {"labels": False, "ticks": False, "domain": False}}
    return {**layer, "encoding": encoding, "transform": [{"filter": f"datum.score == '{score}'"}]}


def _spread_words(rows: Sequence[Row], systems: Sequence[str]) -> str:
    parts = []
    for system in systems:
        values = sorted(
            row["value"]
            for row in rows
            if row["system"] == system and row["score"] == "precision" and row["is_enough"]
        )
        if len(values) > 1:
            apart = 100 * (values[-1] - values[0])
            parts.append(f"{system} from {number(values[0])} to {number(values[-1])} ({apart:.0f} points)")
    few = any(not row["is_enough"] for row in rows if row["score"] == "precision")
    pale = f" Pale ticks are raters who judged fewer than {ENOUGH} of a system’s flags: mostly chance." if few else ""
    return (
        f"Precision by rater: {'; '.join(parts)}. Each tick is a rater, the diamond the majority.{pale}"
        if parts
        else f"No two raters judged at least {ENOUGH} flags of one system."
    )


def curves_of(evaluation: Evaluation) -> list[Curve]:
    """Every threshold of the systems that give scores."""
    return [
        curve_of_thresholds(evaluation.cases, name, evaluation.truth, basis=evaluation.basis)
        for name in scored_systems(evaluation.cases)
    ]


def curves_section(evaluation: Evaluation, curves: Sequence[Curve]) -> Section | None:
    """Every threshold, for systems that give scores."""
    if not curves:
        return None
    figures = (precision_recall_curves(curves), precision_recall_curves(curves, is_weighted=True))
    signature = "\n".join(str(curve.signature(evaluation.signature)) for curve in curves)
    # Where each system does best, and what it would reach there.
    rows = tuple(
        (
            curve.system,
            _threshold(curve.best.threshold),
            *(interval(curve.best.standard[score]) for score in ("precision", "recall", "f0.5")),
        )
        for curve in curves
    )
    columns = ("system", "threshold", "precision", "recall", "F0.5")
    return Section(
        name="thresholds",
        title="Every threshold",
        words=(_best_words(curves), CHOSEN_HERE),
        figures=figures,
        sheets=(Sheet("The threshold with the best F0.5", columns, rows, name="best-thresholds"),),
        signature=signature,
        scope=evaluation.scope.sentence,
    )


def _best_words(curves: Sequence[Curve]) -> str:
    """Each system's gain at its best threshold."""
    parts = []
    for curve in curves:
        now, best = (number(point.standard["f0.5"].value) for point in (curve.operating, curve.best))
        better = f"would have F0.5 {best} instead of {now} at the threshold {_threshold(curve.best.threshold)}"
        parts.append(f"{curve.system} {better if best != now else f'has its best F0.5, {now}, as it is'}")
    return f"{'; '.join(parts)}."


def sliders_of(curves: Sequence[Curve], systems: Sequence[str]) -> list[Slider]:
    """The curves as a reader moves along them, in the order of these systems."""
    by_system = {curve.system: curve for curve in curves}
    return [slider for name in systems if name in by_system and (slider := _slider(by_system[name])) is not None]


def _slider(curve: Curve) -> Slider | None:
    known = [point for point in curve.points if not any(isnan(point.standard[score].value) for score in PANEL_SCORES)]
    own = next((place for place, point in enumerate(known) if point.is_operating), None)
    if own is None or len(known) < 2:
        return None
    points = tuple(
        (
            point.threshold,
            point.standard["precision"].value,
            point.standard["recall"].value,
            f"precision {interval(point.standard['precision'])}, recall {interval(point.standard['recall'])}, "
            f"F0.5 {interval(point.standard['f0.5'])}",
        )
        for point in known
    )
    return Slider(curve.system, curve.higher == "error", points, own)


CHOSEN_HERE = "A threshold chosen and reported on the same data looks better than it is: confirm it on other items."
MARKED = 5
"""One in this many points of a curve has a marker."""


def _threshold(value: float | None) -> str:
    return "its own" if value is None else f"{value:.3g}".replace("-", "−")


CURVES = (
    "Large points are the systems’ own thresholds; a stricter one moves a system to the left. "
    "Bands are pointwise 95 % intervals."
)


def precision_recall_curves(curves: Sequence[Curve], *, is_weighted: bool = False) -> Figure:
    """One curve per system; a ringed point is what it flags today."""
    systems = [curve.system for curve in curves]
    rows = [row for number, curve in enumerate(curves) for row in _curve_rows(curve, is_weighted, number)]
    encoding = {
        "x": number_axis("recall", "recall", share=True),
        "y": number_axis("value", "precision", share=True),
        "order": {"field": "recall", "type": "quantitative"},
        **series("system", systems),
    }
    ends = {row["system"]: (row["recall"], row["value"]) for row in rows if row["is_operating"]}
    names = point_names(encoding, ends, across=(0, 1), up=(0, 1), most=len(systems))
    if sum(len(layer["data"]["values"]) for layer in names) == len(systems):  # a legend where names have no room
        encoding |= {channel: {**encoding[channel], "legend": None} for channel in ("color", "shape")}
    at_work = {**ringed_points(encoding), "transform": [{"filter": "datum.is_operating"}]}
    markers = {**points(encoding, size=45), "transform": [{"filter": "datum.is_marked"}]}
    layer = [interval_band(encoding), line(encoding), markers, at_work, *names]
    spec = {**data(rows), "width": WIDTH, "height": HEIGHT, "layer": layer}
    name = "precision-recall-weighted" if is_weighted else "precision-recall"
    how = "weighted by rater shares" if is_weighted else "against the majority"
    return Figure(name=name, title=f"Precision and recall at every threshold, {how}", words=CURVES, spec=spec)


def _curve_rows(curve: Curve, is_weighted: bool, first_marker: int) -> list[Row]:
    """Every fifth point has a marker, on each curve another fifth, so that they do not hide each other."""
    rows: list[Row] = []
    for place, point in enumerate(curve.points, start=MARKED - first_marker):
        scored = point.weighted if is_weighted else point.standard
        precision, recall = scored["precision"], scored["recall"]
        if isnan(precision.value) or isnan(recall.value):
            continue
        shown = {"recall": recall.value, **interval_columns(precision), "is_marked": place % MARKED == 0}
        rows.append({"system": curve.system, "is_operating": point.is_operating, **shown})
    return rows
