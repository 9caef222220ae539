"""Who judged: how much, how well, how quickly."""

from __future__ import annotations

from grater.crowd.raters import Rater, raters
from grater.report.charts.rater_scatter import rater_scatter
from grater.report.figure import Section, Sheet
from grater.report.words import interval, number
from grater.tables import Judgments, Table

MOST_ROWS = 40


def raters_section(judgments: Judgments, *, gold: Table | None = None) -> Section:
    """A point and a row for each rater."""
    found = raters(judgments, gold=gold)
    figure = rater_scatter(found)
    ranked = sorted(found, key=lambda rater: (-rater.n, rater.rater))[:MOST_ROWS]
    columns = ("rater", "judged", "right on gold", "agrees with others", "skill", "median seconds")
    note = f"The {MOST_ROWS} raters with most judgments of {len(found)}." if len(found) > MOST_ROWS else ""
    sheet = Sheet("raters", "Raters", columns, tuple(map(_row, ranked)), note)
    return Section("raters", "Who judged", (figure.words,), (figure,), (sheet,))


def _row(rater: Rater) -> tuple[str, ...]:
    seconds = "–" if rater.seconds is None else f"{rater.seconds:.0f}"
    on_gold = interval(rater.on_gold) if rater.n_gold else "–"
    return rater.rater, f"{rater.n:,}", on_gold, interval(rater.with_others), number(rater.skill), seconds
