"""Who judged: how much, how well, how quickly."""

from __future__ import annotations

from dataclasses import replace

from grater.crowd.raters import Rater, raters, signature_of
from grater.report.charts.rater_scatter import rater_scatter
from grater.report.figure import Section, Sheet, without_empty_columns
from grater.report.words import interval, many, number
from grater.tables import Judgments, Table

MOST_ROWS = 20


def raters_section(judgments: Judgments, *, gold: Table | None = None, on_gold: Judgments | None = None) -> Section:
    """A point and a row for each rater; answers to hidden gold count for accuracy and for nothing else."""
    found = raters(judgments, gold=_met(gold, judgments))
    if on_gold is not None and _met(gold, on_gold):
        right = {rater.rater: rater for rater in raters(on_gold, gold=gold)}
        found = [_graded(rater, right.get(rater.rater)) for rater in found]
    figure = rater_scatter(found)
    ranked = sorted(found, key=lambda rater: (-rater.n, rater.rater))[:MOST_ROWS]
    columns = ("rater", "judged", "right on gold", "agrees with others", "skill", "median seconds")
    note = f"The {MOST_ROWS} raters with most judgments of {len(found)}." if len(found) > MOST_ROWS else ""
    sheet = Sheet("raters", "Raters", columns, tuple(map(_row, ranked)), note)
    signature = str(signature_of(judgments, gold))
    return Section("raters", "Who judged", (_words(found),), (figure,), (without_empty_columns(sheet),), signature)


def _words(found: list[Rater]) -> str:
    amounts = sorted(rater.n for rater in found)
    seconds = sorted(rater.seconds for rater in found if rater.seconds is not None)
    spread = f"{many(amounts[0], 'item')} at the least and {amounts[-1]:,} at the most"
    words = f"{many(len(found), 'rater')} judged {spread}"
    return words + (f", at {seconds[len(seconds) // 2]:.0f} seconds an item." if seconds else ".")


def _met(gold: Table | None, judgments: Judgments) -> Table | None:
    """The gold, if anybody met any of it."""
    if gold is None or set(gold.frame["item"]).isdisjoint(judgments.frame["item"].cast(str).unique()):
        return None
    return gold


def _graded(rater: Rater, on_gold: Rater | None) -> Rater:
    return rater if on_gold is None else replace(rater, n_gold=on_gold.n_gold, on_gold=on_gold.on_gold)


def _row(rater: Rater) -> tuple[str, ...]:
    seconds = "–" if rater.seconds is None else f"{rater.seconds:.0f}"
    on_gold = interval(rater.on_gold) if rater.n_gold else "–"
    return rater.rater, f"{rater.n:,}", on_gold, interval(rater.with_others), number(rater.skill), seconds
