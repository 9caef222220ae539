"""How far raters agree: coefficients with intervals, where two raters differ, how many raters match an expert.

A confusion map shows the labels of one rater against those of the other (T&C 2008, Tables 3 and 5); a reliability
curve shows agreement with experts against the number of raters (T,C&M 2013, figures 1 and 2).

*The full rating scheme of prepositions*: extraneous, wrong choice or OK, with and without flagged contexts (T&C 2008,
5.2 and Table 3).  The paper takes *2 correct* and *e equally good* together, removes the contexts that a rater
flagged for spelling or grammar, and then prints a 3 x 3 table with its kappa.  Here the table of all items and the
table after the removal are next to each other, with the result of confident judgments alone: only the kappa after the
removal is compared with the paper's.  The paper does not say whether one rater's flag was enough; here it is
(`agreement.summary` has both readings).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import isfinite, isnan
from typing import Any

import polars as pl

from grater.measure.agreement.coefficients import band_words
from grater.measure.agreement.cohen import Confusion, disagreements, ok_label
from grater.measure.agreement.raters_needed import RatersNeeded, raters_needed, whole_words
from grater.measure.agreement.summary import Agreement, agreement, kappa_cells, without_flagged
from grater.measure.units import known_essays
from grater.model import Interval
from grater.reporting.document import Figure, Row, Section, interval, percent_of, section_of
from grater.reporting.drawing import (
    HEIGHT,
    INK,
    SERIES,
    WIDTH,
    data,
    interval_band,
    interval_columns,
    line,
    names_axis,
    number_axis,
    points,
    rule,
    series,
)
from grater.reporting.items import safe_name
from grater.sheet import Sheet, count, counted, listed, number
from grater.tables import Judgments, Table, with_confidence
from grater.tables.read import with_labels
from grater.tables.schema import entries

MOST_PAIRS = 2
MOST_LABELS = 8
CELL = 54
FEW_ITEMS = 0.2
"""Numbers of raters that fewer than this share of the items have are not drawn."""


def agreement_section(
    judgments: Judgments,
    *,
    name: str = "agreement",
    title: str = "Agreement among raters",
    places: Table | None = None,
) -> Section:
    """Coefficients over all raters, and the tables of the two pairs with most common items."""
    result = agreement(judgments, essays=known_essays(judgments, places))
    name_of, headline = result.headline
    who = "expert" if name == "experts" else "rater"
    words = (
        f"{counted(len(judgments), 'judgment')} of {counted(result.n_items, 'item')} "
        f"by {counted(len(result.raters), who)}: {name_of} {_kappa_words(headline)}."
    )
    ranked = sorted(result.pairs, key=lambda pair: -int(pair.table.cells.sum()))
    maps = [confusion_map(pair.table) for pair in ranked[:MOST_PAIRS] if len(result.labels) <= MOST_LABELS]
    sheets = [
        replace(sheet, name=f"{name}-{sheet.name}")
        for sheet in result.tables()
        if sheet.name in ("agreement", "specific")
    ]
    return section_of(result, name, title, [words], figures=maps, sheets=sheets)


def _kappa_words(kappa: Interval) -> str:
    """The number and the band of its interval on the scale of Landis and Koch; or why there is none."""
    if isnan(kappa.value):
        return f"is undefined: {kappa.undefined_because}" if kappa.undefined_because else "is undefined"
    words = band_words(kappa)
    return f"{interval(kappa)} ({words} on the Landis and Koch scale)" if words else interval(kappa)


def confusion_map(
    table: Confusion, *, name: str = "", about: str = "", source: str = "T&C 2008, Tables 3 and 5"
) -> Figure:
    """A cell is darker the more items it holds; the diagonal is agreement; `about` says of what."""
    first, second = table.raters
    total = int(table.cells.sum())
    rows: list[Row] = [
        {"first": one, "second": other, "n": n, "share": n / max(total, 1)}
        for one, counts in zip(table.labels, table.cells.tolist(), strict=True)
        for other, n in zip(table.labels, counts, strict=True)
    ]
    height = max(CELL * len(table.labels), 130)
    spec = {**data(rows), "width": WIDTH, "height": height, "layer": _shaded_cells(table)}
    title = f"{first} against {second}" + (f", {about}" if about else "")
    return Figure(
        name=name or f"confusion-{safe_name(first)}-{safe_name(second)}",
        title=title,
        words=_confusion_words(table),
        spec=spec,
        source=source,
    )


def _shaded_cells(table: Confusion) -> list[dict[str, Any]]:
    """Two layers: rectangles shaded by their share of the items, and the counts in them."""
    first, second = table.raters
    above = {"orient": "top", "labelAngle": 0, "domain": False, "ticks": False}
    encoding = {
        "x": names_axis("second", second, table.labels, axis=above),
        "y": names_axis("first", first, table.labels, axis={"domain": False, "ticks": False}),
    }
    shade = {
        "field": "share",
        "type": "quantitative",
        "legend": None,
        "scale": {"type": "sqrt", "domain": [0, 1], "range": [0.04, 0.8]},
    }
    cells = {
        "mark": {"type": "rect", "color": SERIES[0], "cornerRadius": 3},
        "encoding": {**encoding, "opacity": shade},
    }
    counts = {
        "mark": {"type": "text", "fontSize": 15, "color": INK},
        "encoding": {**encoding, "text": {"field": "n", "format": ","}},
    }
    return [cells, counts]


def _confusion_words(table: Confusion) -> str:
    ok = ok_label(table.labels)
    if ok is None:
        same, total = int(table.cells.diagonal().sum()), int(table.cells.sum())
        return f"They give the same answer to {percent_of(same, total)} of {total:,} items."
    parts = [
        f"of the {counted(part.n, 'use')} that {part.rater} calls {'an error' if part.n == 1 else 'errors'}, "
        f"{part.other} accepts {part.n_ok:,} ({percent_of(part.n_ok, part.n)})"
        for part in disagreements(table, ok=ok)
        if part.n
    ]
    text = "; ".join(parts)
    return (text[:1].upper() + text[1:] + ".") if text else "Neither calls any use an error."


def experts_section(
    crowd: Judgments,
    experts: Judgments,
    *,
    name: str = "raters-needed",
    title: str = "How many raters match an expert",
    places: Table | None = None,
) -> Section:
    """The majority of 1, 2, ... raters against experts (T,C&M 2013, 5.2 and 5.3)."""
    needed = raters_needed(crowd, experts, essays=known_essays(crowd, places))
    figure = reliability_curve(needed, name=name, title=title)
    return section_of(needed, name, title, [raters_needed_words(needed)], figures=[figure])


def raters_needed_words(needed: RatersNeeded) -> str:
    """The answer in one sentence."""
    target = interval(needed.target.kappa)
    if not isfinite(needed.smallest.value):
        most = max((point.n_raters for curve in needed.curves for point in curve.points), default=0)
        return f"Experts agree among themselves with kappa {target}; {counted(most, 'rater')} together fall short."
    enough = counted(int(needed.smallest.value), "rater")
    how_sure = f"{100 * needed.scope.level:g} % interval {whole_words(needed.smallest)}"
    match = f"The majority of {enough} ({how_sure}) agrees with experts as well as experts agree with each other"
    return f"{match} (kappa {target})."


def reliability_curve(
    needed: RatersNeeded, *, name: str = "reliability", title: str = "How many raters match an expert"
) -> Figure:
    """One line per expert, with a band around the last (their mean); the dashed line is agreement among experts."""
    enough = FEW_ITEMS * needed.n_items
    rows: list[Row] = [
        {"against": curve.against, "raters": point.n_raters, **interval_columns(point.kappa)}
        for curve in needed.curves
        for point in curve.points
        if point.n_items >= enough
    ]
    names = [curve.against for curve in needed.curves]
    encoding = {
        "x": {**number_axis("raters", "raters"), "axis": {"tickMinStep": 1, "format": "d"}},
        "y": number_axis("value", "kappa with the expert"),
        **series("against", names),
    }
    target = needed.target.kappa
    last = [row["value"] for row in rows if not isnan(row["value"])][-1:]
    below = bool(last) and last[0] > target.value
    words = f"{needed.target.what} {number(target.value)}"
    people = rule("y", target.value, words, before=below) if isfinite(target.value) else []
    banded = {**interval_band(encoding), "transform": [{"filter": f"datum.against == {json.dumps(names[-1])}"}]}
    layer = [banded, line(encoding), points(encoding, size=50), *people]
    spec = {**data(rows), "width": WIDTH, "height": HEIGHT, "layer": layer}
    return Figure(
        name=name, title=title, words=_reliability_words(needed), spec=spec, source="T,C&M 2013, figures 1 and 2"
    )


def _reliability_words(needed: RatersNeeded) -> str:
    """A description of the picture: where the mean of the experts begins and ends."""
    points = [point for point in needed.curves[-1].points if point.n_items >= FEW_ITEMS * needed.n_items]
    if not points:
        return "No number of raters has enough items."
    first, last = points[0], points[-1]
    who = "A single rater" if first.n_raters == 1 else f"The majority of {first.n_raters:,} raters"
    return (
        f"{who} reaches kappa {interval(first.kappa)}, the majority of "
        f"{last.n_raters:,} raters {interval(last.kappa)} ({needed.curves[-1].against}). "
        f"The dashed line shows {needed.target.what}."
    )


# The full rating scheme of prepositions

EXTRANEOUS, WRONG_CHOICE, OK = "Extraneous", "Wrong-Choice", "OK"
LABELS = {"0": EXTRANEOUS, "1": WRONG_CHOICE, "2": OK, "e": OK}
ORDER = (EXTRANEOUS, WRONG_CHOICE, OK)
"""The labels of the paper's Table 3, in its order."""

ALL, CLEAN, SURE = "all items", "no other error nearby", "confident judgments only"


def usage_section(judgments: Judgments, *, places: Table | None = None) -> Section:
    """Agreement in three classes on all items, after the paper's removal, and of confident judgments."""
    named = with_labels(judgments, LABELS)
    given = set(named.frame["label"].cast(pl.String).unique().to_list())
    order = tuple(label for label in ORDER if label in given)
    results = {name: agreement(of, ok=OK, order=order, essays=known_essays(of, places)) for name, of in _parts(named)}
    rows = tuple(
        (name, count(result.counts.n_compared), interval(result.observed), *kappa_cells(result.headline[1]))
        for name, result in results.items()
    )
    columns = ("", "items", "observed", results[ALL].headline[0], "band")
    kappas_sheet = Sheet("Agreement in three classes", columns, rows, name="usage-agreement")
    return section_of(
        results[ALL],
        "usage",
        "Prepositions in three classes",
        [_words(results)],
        figures=_usage_maps(results),
        sheets=[kappas_sheet, *_accepted_sheets(results)],
        warnings=[line for result in results.values() for line in result.warnings],
    )


def _parts(judgments: Judgments) -> Iterator[tuple[str, Judgments]]:
    yield ALL, judgments
    flags: list[str] = []
    if "flags" in judgments.frame.columns:  # all are about errors near the preposition
        flags = judgments.frame.select(entries("flags").explode()).to_series().drop_nulls().unique().sort().to_list()
    clean = without_flagged(judgments, flags, by="any") if flags else judgments
    if flags and len(clean):
        yield CLEAN, clean
    if "confidence" in judgments.frame.columns and judgments.frame["confidence"].n_unique() > 1:
        yield SURE, with_confidence(judgments, 1)


def _words(results: Mapping[str, Agreement]) -> str:
    name, plain = results[ALL].headline
    text = (
        f"Over the classes {listed(ORDER)}, {name} is {interval(plain)} on {results[ALL].counts.n_compared:,} items"
    )
    if CLEAN not in results:
        return f"{text}; nobody flagged other errors nearby."
    clean = results[CLEAN]
    removed = f"{interval(clean.headline[1])} on the {clean.counts.n_compared:,} with no other error flagged nearby"
    return f"{text} and {removed}, which is how T&C 2008 count (.630 on 1,336 items)."


def _accepted_sheets(results: Mapping[str, Agreement]) -> Iterator[Sheet]:
    """How often one of two raters accepts what the other calls an error; the maps have the cells of Table 3."""
    rows = tuple(
        (name, f"errors to {rate.rater}, OK to {rate.other}", f"{rate.n_ok:,}/{rate.n:,}", interval(rate.rate))
        for name in (ALL, CLEAN)
        if name in results and len(results[name].pairs) == 1
        for rate in disagreements(results[name].pairs[0].table, ok=OK)
    )
    if rows:
        columns = ("", "disagreement", "items", "rate")
        yield Sheet("Disagreement on errors", columns, rows, name="usage-disagreement")


def _usage_maps(results: Mapping[str, Agreement]) -> Iterator[Figure]:
    for name in (ALL, CLEAN):
        if name in results and results[name].pairs:
            pair = max(results[name].pairs, key=lambda pair: int(pair.table.cells.sum()))
            stem = f"usage-{'clean' if name == CLEAN else 'all'}"
            yield confusion_map(pair.table, name=stem, about=name, source="T&C 2008, Table 3")
