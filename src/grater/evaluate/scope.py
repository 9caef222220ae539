"""What is resampled for the intervals of scores, and what they are then about.

Errors cluster in essays, so essays are drawn where they are known (`auto`): the `essay` of the items table, or its
`document` where essays are only the sentences of documents, as in M2.  Items are drawn one by one where no essay is
known, where all are of one essay, where no two are of the same, and where the population is exactly this corpus
(`these`): then only the choice of the judged items is chance.  `Scope` says so in words.

**Design effects.**  To first order a score is a sum over items of their influences (the gradient of the score at the
observed counts times the item's own counts); the design effect compares the variance of that sum over essays with
that over items (`grater.statistics.population`).  The gradient is numerical: one rule for precision, recall, F and
kappa.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import isnan, nan, sqrt
from typing import Literal, TypeAlias

import numpy as np
import polars as pl

from grater.errors import UsageError
from grater.evaluate.counts import SCORES, scores
from grater.sheet import Sheet
from grater.statistics.bootstrap import Chance, UnitCounts
from grater.statistics.intervals import Numbers
from grater.statistics.population import AS_ASKED, ESSAYS_UNKNOWN, Scope, variance_ratio

Unit: TypeAlias = Literal["item", "essay", "document"]

STEP = 1e-4
SHOWN = {"precision": "precision", "recall": "recall", "f0.5": "F0.5"}
"""The scores whose design effects are printed."""


def settled(chance: Chance, columns: pl.DataFrame) -> tuple[Chance, str]:
    """What `auto` means for these items, one per row, and why they are drawn one by one where they are."""
    if chance.population == "these" and chance.with_raters:
        raise UsageError("exactly these items leave no room for other raters: draw items, essays or documents")
    if chance.cluster != "auto":
        return chance, AS_ASKED if chance.cluster == "item" else ""
    if chance.population == "these":
        return replace(chance, cluster="item"), ""
    unit, because = unit_of_items(columns)
    return replace(chance, cluster=unit), because


def unit_of_items(columns: pl.DataFrame) -> tuple[Unit, str]:
    """The unit that items are drawn in, and the reason where it is the item."""
    units: dict[Unit, int] = {}
    because = ESSAYS_UNKNOWN
    names: tuple[Unit, ...] = ("essay", "document")
    for name in names:
        if name not in columns.columns:
            continue
        known = columns[name].cast(pl.String).replace("", None)
        n_missing = known.null_count()
        if n_missing and name == "essay" and n_missing < len(columns):
            because = f"the essay of {n_missing:,} is not known"
        if not n_missing and len(columns):
            units[name] = known.n_unique()
    if not units:
        return "item", because
    unit: Unit = min(units, key=lambda name: (units[name], name == "document"))
    if units[unit] == 1:
        return "item", f"all of one {unit}"
    return ("item", f"each of another {unit}") if units[unit] == len(columns) else (unit, "")


def scope_of(chance: Chance, *, n_units: int, n_raters: int, because: str, effect: float = nan) -> Scope:
    """What intervals speak of; `n_units` counts what is drawn, or all items where the population is these."""
    return Scope(
        unit=chance.unit,
        n_units=n_units if chance.unit else 0,
        population=chance.population,
        design_effect=effect,
        n_raters=n_raters if chance.with_raters else 0,
        independent_because=because or AS_ASKED,
        level=chance.level,
    )


def narrowing(n_judged: int, n_decided: int) -> float:
    """How much narrower intervals are in a finite population: 0 where every item of it was judged."""
    if n_judged >= n_decided:
        return 0.0
    return sqrt((n_decided - n_judged) / (n_decided - 1))


def design_effects(of_items: UnitCounts, of_units: UnitCounts, sums: Numbers) -> dict[str, float]:
    """The design effect of each score of one system, from its counts by item, by unit and in all."""
    gradient = _gradient(sums)
    by_item, by_unit = of_items.rows @ gradient, np.repeat(of_units.rows @ gradient, of_units.times, axis=0)
    squares = of_items.times @ by_item**2
    return {
        name: variance_ratio(by_unit[:, column], float(squares[column]), n_items=of_items.n)
        for column, name in enumerate(SCORES)
    }


def _gradient(sums: Numbers) -> Numbers:
    """Counts x scores: how fast each score moves with each count; nan where it is undefined."""
    step = STEP * max(1.0, float(sums.sum()))
    shifts = step * np.eye(len(sums))
    slopes: Numbers = (scores(sums + shifts) - scores(np.maximum(sums - shifts, 0.0))) / (
        step + np.minimum(sums, step)[:, None]
    )
    return slopes


def with_words(sheets: Iterable[Sheet], words: Sequence[str]) -> list[Sheet]:
    """The tables, each one that has an interval with the words on what intervals speak of below it."""
    return [replace(sheet, notes=(*sheet.notes, *words)) if _has_interval(sheet) else sheet for sheet in sheets]


def _has_interval(sheet: Sheet) -> bool:
    return any("[" in cell for row in sheet.rows for cell in row)


def effects_note(effects: dict[str, dict[str, float]]) -> str:
    """The design effects of every system in a line; empty where there is none."""
    parts = []
    for system, of_scores in effects.items():
        shown = [
            f"{title} {of_scores[name]:.1f}" for name, title in SHOWN.items() if not isnan(of_scores.get(name, nan))
        ]
        if shown:
            parts.append(f"{system} {', '.join(shown)}")
    return f"Design effects: {'; '.join(parts)}." if parts else ""
