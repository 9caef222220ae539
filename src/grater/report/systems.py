"""People in the place of systems: what experts reach where systems are measured, the human ceiling.

Each expert's verdicts are taken for the flags of a system and held against the same raters.  No system can be
expected to agree with the raters better than a careful person does.

Systems side by side: a score with its limits, ranked, grouped by what the data can tell apart.

One rater in place of another: the same system against each rater in turn (T&C 2008, 5.2 and Table 4).

Precision against recall over every threshold, with bands and the point at which each system runs.

How good the systems are: against the majority, each rater in turn, weighted, by agreement, by threshold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isnan
from typing import Any

import numpy as np
import polars as pl

from grater.evaluate.comparison import Comparison, compare_systems, is_comparable
from grater.evaluate.evaluation import Evaluation, EvaluationOptions, evaluate
from grater.evaluate.standard import Scored
from grater.evaluate.thresholds import Curve, Point, curve_of_thresholds, scored_systems, signature_of_curve
from grater.model import Interval
from grater.report.document import Figure, Row, Section, Sheet, interval, listed, many, number, sentence
from grater.report.drawing import INK, SERIES
from grater.report.items import list_name
from grater.report.layers import (
    HEIGHT,
    WIDTH,
    data,
    interval_band,
    interval_columns,
    line,
    names_axis,
    number_axis,
    points,
    ringed_points,
    rule,
    series,
    whiskers,
)
from grater.statistics.bootstrap import Chance
from grater.tables import Judgments, Table, read_decisions

ERROR, OK = "error", "ok"


def people_as_systems(found: Evaluation, experts: Judgments, *, chance: Chance) -> tuple[Scored, ...]:
    """The scores of every expert against the majority of the raters who judged the systems, the best first."""
    label = pl.col("label").cast(pl.String)
    said = experts.frame.filter(label.is_in([ERROR, OK])).select(
        pl.col("item").cast(pl.String), system=pl.col("rater").cast(pl.String), flagged=label == ERROR
    )
    judged = pl.DataFrame({"item": [str(item) for item in found.cases.items]}, schema={"item": pl.String})
    said = said.join(judged, on="item", how="semi")
    if said.is_empty() or experts.anonymous_raters:
        return ()
    decisions = read_decisions(said, name=experts.name)
    scores = evaluate(decisions, found.cases.judgments, options=EvaluationOptions(chance=chance)).whole.standard
    return tuple(sorted(scores, key=lambda scored: -scored["f0.5"].value))


ROW_HEIGHT = 46
NAMES = {"f0.5": "F0.5", "f1": "F1"}


def forest_plot(
    systems: Sequence[Scored],
    *,
    score: str = "f0.5",
    groups: Mapping[str, str] | None = None,
    ceiling: Interval | None = None,
) -> Figure:
    """The best first; systems that share a letter cannot be told apart; `ceiling` is what people reach."""
    ranked = sorted(systems, key=lambda scored: -scored[score].value)
    names = [scored.system for scored in ranked]
    letters = groups or {}
    rows = [
        {"system": each.system, "group": letters.get(each.system, ""), **interval_columns(each[score])}
        for each in ranked
    ]
    title = NAMES.get(score, score)
    encoding = {
        "y": names_axis("system", None, names, axis={"labelFontSize": 13, "labelLimit": 220}),
        "x": number_axis("value", title, share=True),
        **series("system", names),
    }
    encoding["color"] = {**encoding["color"], "legend": None}
    encoding["shape"] = {**encoding["shape"], "legend": None}
    letter = {
        "mark": {"type": "text", "dy": -13, "fontWeight": 600, "color": INK},
        "encoding": {"y": encoding["y"], "x": encoding["x"], "text": {"field": "group"}},
    }
    people = rule("x", ceiling.value, f"people {interval(ceiling)}", before=ceiling.value > 0.5) if ceiling else []
    layer = [whiskers(encoding, across="x"), points(encoding, size=120), letter, *people]
    spec = {**data(rows), "width": WIDTH, "height": max(120, ROW_HEIGHT * len(rows)), "layer": layer}
    words = _forest_words(ranked, score, letters)
    if ceiling:
        words += f" A person, held to the same test, reaches {interval(ceiling)}."
    return Figure("systems", f"{title} of every system", words, spec)


def _forest_words(ranked: Sequence[Scored], score: str, letters: Mapping[str, str]) -> str:
    title = NAMES.get(score, score)
    first = ranked[0]
    words = f"{first.system} comes first with {title} {interval(first[score])} on {many(first.n, 'item')}."
    alike = [
        each.system for each in ranked[1:] if set(letters.get(each.system, "")) & set(letters.get(first.system, ""))
    ]
    if alike:
        words += f" The data cannot tell {listed(alike)} from it."
    elif letters and len(ranked) > 1:
        words += " Every other system is behind it beyond chance."
    return words


PANEL_ROW_HEIGHT = 54
PANEL_SCORES = ("precision", "recall")
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
            **interval_columns(scored[score]),
        }
        for rater, all_scored in by_rater.items()
        for scored in all_scored
        for score in PANEL_SCORES
    ]
    joint = [
        {"system": each.system, "score": score, **interval_columns(each[score])}
        for each in truth
        for score in PANEL_SCORES
    ]
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
    panels = [
        {
            "title": {"text": score, "fontSize": 13},
            "width": WIDTH // 2 - 20,
            "height": max(110, PANEL_ROW_HEIGHT * len(systems)),
            "layer": [_panel_layer(score, each, is_first=place == 0) for each in (ticks, diamonds)],
        }
        for place, score in enumerate(PANEL_SCORES)
    ]
    return Figure(
        "raters-in-turn",
        "The same system against each rater in turn",
        _spread_words(rows, systems),
        {"hconcat": panels, "spacing": 24},
        "T&C 2008, Table 4",
    )


def n_behind(scored: Scored, score: str) -> float:
    """How many of a rater's judgments a score stands on: flags for precision, errors for recall."""
    counts = scored.counts
    return counts.hit + (counts.false_alarm if score == "precision" else counts.miss)


def _panel_layer(score: str, layer: dict[str, Any], *, is_first: bool) -> dict[str, Any]:
    """A layer of one panel; the names of the systems stand beside the first."""
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
            parts.append(
                f"{system} has precision {number(values[0])} with one rater and {number(values[-1])} with another "
                f"({apart:.0f} points apart)"
            )
    told = "; ".join(parts) or f"No two raters have judged {ENOUGH} flags of one system"
    few = any(not row["is_enough"] for row in rows if row["score"] == "precision")
    pale = f" Pale: raters who judged fewer than {ENOUGH} flags of the system, mostly chance." if few else ""
    return f"{told}. A tick is a rater, a diamond the majority of all.{pale}"


def precision_recall_curves(curves: Sequence[Curve], *, is_weighted: bool = False) -> Figure:
    """One curve a system; a ringed point is what it flags today."""
    systems = [curve.system for curve in curves]
    rows = [row for curve in curves for row in _curve_rows(curve, is_weighted=is_weighted)]
    encoding = {
        "x": number_axis("recall", "recall", share=True),
        "y": number_axis("value", "precision", share=True),
        "order": {"field": "recall", "type": "quantitative"},
        **series("system", systems),
    }
    at_work = {**ringed_points(encoding), "transform": [{"filter": "datum.is_operating"}]}
    spec = {
        **data(rows),
        "width": WIDTH,
        "height": HEIGHT,
        "layer": [interval_band(encoding), line(encoding), at_work],
    }
    name = "precision-recall-weighted" if is_weighted else "precision-recall"
    how = "weighted by shares of raters" if is_weighted else "against the majority"
    return Figure(
        name, f"Precision and recall at every threshold, {how}", _curve_words(curves, is_weighted=is_weighted), spec
    )


def _point_scores(point: Point, *, is_weighted: bool) -> Scored:
    return point.weighted if is_weighted else point.standard


def _curve_rows(curve: Curve, *, is_weighted: bool) -> list[Row]:
    rows: list[Row] = []
    for point in curve.points:
        scored = _point_scores(point, is_weighted=is_weighted)
        precision, recall = scored["precision"], scored["recall"]
        if isnan(precision.value) or isnan(recall.value):
            continue
        shown = {"recall": recall.value, "value": precision.value, "low": precision.low, "high": precision.high}
        rows.append({"system": curve.system, "is_operating": point.is_operating, **shown})
    return rows


def _curve_words(curves: Sequence[Curve], *, is_weighted: bool) -> str:
    parts = []
    for curve in curves:
        scored = _point_scores(curve.operating, is_weighted=is_weighted)
        parts.append(
            f"{curve.system} runs at precision {interval(scored['precision'])} "
            f"and recall {interval(scored['recall'])}"
        )
    return "; ".join(parts) + ". A stricter threshold moves a system to the left; bands hold 95 % at each point."


SCORES = ("precision", "recall", "f0.5", "kappa")
COUNTS = ("hit", "false_alarm", "miss")


def systems_section(found: Evaluation, *, chance: Chance, experts: Judgments | None = None) -> Section:
    """Scores, rank groups, the spread over raters, and what people reach."""
    whole = found.whole
    comparison = _comparison(found, chance)
    ranked = comparison.systems if comparison else whole.standard
    people = people_as_systems(found, experts, chance=chance) if experts is not None else ()
    ceiling = people[0]["f0.5"] if people else None
    figures = [forest_plot(whole.standard, groups=comparison.groups if comparison else None, ceiling=ceiling)]
    if len(whole.by_rater) > 1:
        figures.append(raters_in_turn(whole.by_rater, ranked))
    unjudged = f", {whole.n_unjudged:,} of them without a usable judgment" if whole.n_unjudged else ""
    words = f"{many(len(whole.standard), 'system')} on {many(whole.n_items, 'item')}{unjudged}."
    sheets = [_scores_sheet("scores", "Against the majority of raters", whole.standard)]
    if whole.weighted:
        sheets.append(
            _scores_sheet(
                "weighted-scores",
                "Weighted by the share of raters (Madnani et al. 2011, equations 1 to 3)",
                whole.weighted,
                note="Counts add up the shares of raters over all items; they lead to the items by majority.",
            )
        )
    if comparison:
        sheets.append(_pairs_sheet(comparison))
    if people:
        sheets.append(_people_sheet(people))
    return Section(
        "systems",
        "How good the systems are",
        (words, *map(sentence, found.warnings)),
        tuple(figures),
        tuple(sheets),
        str(found.signature),
    )


def curves_section(found: Evaluation, decisions: Table, *, chance: Chance) -> Section | None:
    """Every threshold, for systems that give scores."""
    names = [name for name in scored_systems(decisions) if name in found.cases.systems]
    curves = [curve_of_thresholds(found.cases, decisions, name, found.truth, chance=chance) for name in names]
    if not curves:
        return None
    figures = (precision_recall_curves(curves), precision_recall_curves(curves, is_weighted=True))
    best = [
        f"{curve.system} is best at {_threshold(curve.best.threshold)} (F0.5 {interval(curve.best.standard['f0.5'])})"
        for curve in curves
    ]
    words = (
        "; ".join(best)
        + ". A threshold chosen on the data that it is reported on is too good: check it on other items."
    )
    signature = "\n".join(str(signature_of_curve(curve, found.signature)) for curve in curves)
    return Section("thresholds", "Every threshold", (words,), figures, (), signature)


def _threshold(value: float | None) -> str:
    return "its own flags" if value is None else f"a score of {value:.3g}".replace("-", "−")


def _comparison(found: Evaluation, chance: Chance) -> Comparison | None:
    here = np.ones(len(found.cases), bool)
    if len(found.cases.systems) < 2 or not is_comparable(found.cases, found.truth, here):
        return None
    return compare_systems(found.cases, found.truth, chance=chance)


def _scores_sheet(name: str, title: str, systems: Sequence[Scored], *, note: str = "") -> Sheet:
    columns = (
        "system",
        *("F0.5" if score == "f0.5" else score for score in SCORES),
        "hits",
        "false alarms",
        "misses",
    )
    rows = tuple(
        (
            each.system,
            *(interval(each[score]) for score in SCORES),
            *(f"{getattr(each.counts, cell):,.4g}" for cell in COUNTS),
        )
        for each in systems
    )
    first = 1 + len(SCORES)
    links = {
        (row, first + place): list_name(each.system, cell)
        for row, each in enumerate(systems)
        for place, cell in enumerate(COUNTS)
    }
    return Sheet(name, title, columns, rows, note, links)


def _people_sheet(people: Sequence[Scored]) -> Sheet:
    rows = tuple((each.system, *(interval(each[score]) for score in SCORES)) for each in people)
    columns = ("expert", *("F0.5" if score == "f0.5" else score for score in SCORES))
    note = "Experts held against the raters as if they were systems; the best of them is the line in the figure."
    return Sheet("people", "What people reach", columns, rows, note)


def _pairs_sheet(comparison: Comparison) -> Sheet:
    rows = tuple(
        (
            f"{pair.test.first} − {pair.test.second}",
            interval(pair.test.difference),
            number(pair.test.holm["bootstrap"], digits=3),
            number(pair.mcnemar_holm, digits=3),
        )
        for pair in comparison.pairs
    )
    columns = ("pair", "difference in F0.5", "p (bootstrap)", "p (McNemar)")
    return Sheet(
        "pairs",
        f"Systems compared on {comparison.n_items:,} common items",
        columns,
        rows,
        "p by Holm's method over all pairs.",
    )
