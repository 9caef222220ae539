"""The page of `grater prefer`: who is preferred, every pair, the judges, and how far metrics agree with people."""

from __future__ import annotations

from collections.abc import Iterator
from math import isnan

from grater import __version__
from grater.measure.metrics_and_people import MetricsAndPeople
from grater.measure.preference import Preference
from grater.reporting.document import Figure, Report, Row, Section, lead_words, section_of
from grater.reporting.drawing import (
    NAME_SIZE,
    SERIES,
    WIDTH,
    data,
    forest,
    interval_columns,
    number_axis,
    points,
    whiskers,
)
from grater.sheet import count, counted, interval

MOST_FIGURES = 4
"""Metrics that have a separate figure, the best correlated first."""


def preference_report(result: Preference) -> Report:
    """The page as a value; `grater.reporting.save.report_html` writes it."""
    sections = [preference_section(result)]
    sheets = {sheet.name: sheet for sheet in result.sheets()}
    sections += [
        Section(name=name, title=title, words=(), sheets=(sheets[name],))
        for name, title in (("pairs", "Pairs of systems"), ("judges", "Judges"))
        if name in sheets
    ]
    if metrics := result.metrics:
        of_metrics = [sheets[name] for name in ("metrics", "metric-pairs", "windows") if name in sheets]
        figures = tuple(_scatters(result, metrics))
        sections.append(Section("metrics", "Metrics and people", (), figures=figures, sheets=tuple(of_metrics)))
    title = f"Preference among {counted(len(result.systems), 'system')}"
    made = f"Made with grater {__version__}."
    return Report(title=title, headline=_headline(result), sections=sections, made=made)


def preference_section(result: Preference) -> Section:
    """The systems with their figure, for this page or as part of another report."""
    rows: list[Row] = [
        {"system": each.system, "group": each.group, **interval_columns(each.expected_wins)}
        for each in result.systems
    ]
    shown = "; ".join(f"{each.system} {interval(each.expected_wins)}" for each in result.systems)
    words = f"{shown}. Systems that share a letter do not differ significantly."
    spec = forest(rows, "expected wins")
    figure = Figure(name="preference", title="Expected wins of every system", words=words, spec=spec)
    return section_of(
        result, "preference", "Preference", _headline(result), figures=[figure], sheets=result.sheets()[:1]
    )


def _headline(result: Preference) -> tuple[str, ...]:
    best, *others = result.systems
    if isnan(best.expected_wins.value):
        return ("No comparison was decided.",)
    judged = f"{counted(result.n, 'ranking')} by {counted(len(result.judges), 'judge')}"
    wins = interval(best.expected_wins)
    line = f"{best.system} is preferred most often: it wins {wins} of decided comparisons ({judged})."
    same = [each.system for each in others if set(each.group) & set(best.group)]
    return line, lead_words(best.system, same)


def _scatters(result: Preference, metrics: MetricsAndPeople) -> Iterator[Figure]:
    """People's scores with intervals over the scores of a metric."""
    for at, each in enumerate(metrics.metrics[:MOST_FIGURES]):
        of = metrics.scores[each.metric]
        rows: list[Row] = [
            {"system": system.system, "score": of[system.system], **interval_columns(system.expected_wins)}
            for system in result.systems
            if system.system in of
        ]
        encoding = {
            "x": number_axis("score", each.metric),
            "y": number_axis("value", "expected wins"),
            "color": {"value": SERIES[0]},
        }
        names = {
            "mark": {"type": "text", "align": "left", "dx": 8, "fontSize": NAME_SIZE},
            "encoding": {"x": encoding["x"], "y": encoding["y"], "text": {"field": "system"}},
        }
        spec = {**data(rows), "width": WIDTH, "height": 320, "layer": [whiskers(encoding), points(encoding), names]}
        right = f"{count(each.ordered_right)} of {counted(each.n_separated, 'pair')} that people separate"
        words = (
            f"{each.metric} and expected wins of {counted(each.n, 'system')}: Pearson {interval(each.pearson)}, "
            f"Spearman {interval(each.spearman)}. The metric orders {right} as people do."
        )
        yield Figure(name=f"metric-{at + 1}", title=f"{each.metric} and people", words=words, spec=spec)
