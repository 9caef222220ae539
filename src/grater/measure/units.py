"""Which essay each item stands in: the units that every interval rests on.

Errors cluster in essays (one learner, one topic, one marker).  The essay of an item comes from items, decisions,
judgments or the sample, wherever it is known.  `auto` takes `document` where it groups the essays of all items (an
essay of an M2 file is a sentence, and its document is what one learner wrote), else `essay`; any other column can be
named: `learner`, `topic`, `class`.  An item without a value is a unit of its own, and a note counts such items.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import nan
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from grater.errors import BadInput, Problem, UnknownName
from grater.model import Interval
from grater.registry import unknown
from grater.sheet import counted
from grater.tables import Judgments, Sample, Table
from grater.uncertainty import (
    INDEPENDENT,
    LEVEL,
    Basis,
    Influence,
    Ints,
    Numbers,
    Population,
    Scope,
    Unit,
    Units,
    design_effect,
    grouped_rows,
    influence,
    ratio,
    share,
    wilson,
)

ITEM, ESSAY, DOCUMENT = "item", "essay", "document"
AS_ASKED = "items taken as independent, as asked"
AnyTable: TypeAlias = Table | Judgments | Sample


@dataclass(frozen=True, slots=True, eq=False)
class Essays:
    """The unit of each item: a frame of `item` and `unit`; none where items are taken as independent."""

    unit: str = ITEM
    of_items: pl.DataFrame | None = None
    note: str = INDEPENDENT

    def codes(self, items: pl.Series) -> Ints | None:
        """The number of each item's unit, from 0 without a gap; an item that is in none stands by itself."""
        if self.of_items is None:
            return None
        codes = self._names(items).rank("dense").cast(pl.Int64).fill_null(0).to_numpy() - 1
        alone = np.flatnonzero(codes < 0)
        codes = codes.copy()
        codes[alone] = codes.max(initial=-1) + 1 + np.arange(alone.size)
        return codes

    def _names(self, items: pl.Series) -> pl.Series:
        assert self.of_items is not None
        frame = pl.DataFrame({ITEM: items.cast(pl.String)})
        return frame.join(self.of_items, on=ITEM, how="left", maintain_order="left")["unit"]

    def n_alone(self, items: pl.Series) -> int:
        """The items whose unit is not known although others' are."""
        return 0 if self.of_items is None else self._names(items).null_count()

    def covers(self, judgments: Judgments) -> bool:
        """Whether the unit of some item of a table is known, or none is to be."""
        items = judgments.frame[ITEM].cast(pl.String).unique()
        return self.of_items is None or self._names(items).null_count() < len(items)

    def share(self, is_hit: npt.NDArray[np.bool_], items: pl.Series) -> Interval:
        """The share of hits among cases, one item each."""
        if self.of_items is None:
            return wilson(int(is_hit.sum()), len(is_hit))
        return self.mean(is_hit.astype(np.float64), np.ones(len(is_hit)), items)

    def mean(self, values: Numbers, worth: Numbers, items: pl.Series, *, level: float = LEVEL) -> Interval:
        """The mean over items of shares; nan has none.  `worth` is the number of cases behind each."""
        it, known = self._influence(values, self.codes(items)), ~np.isnan(values)
        n, n_items = float(worth[known].sum()), float(known.sum())
        return share(it, n=n, n_design=n_items, level=level, undefined="no item has enough judgments")

    def _influence(self, values: Numbers, codes: Ints | None) -> Influence:
        known = ~np.isnan(values)
        rows = np.stack([np.where(known, values, 0.0), known], axis=1).astype(np.float64)
        if codes is not None:
            rows = grouped_rows(rows, codes, int(codes.max(initial=-1)) + 1)
        unit = ITEM if codes is None else self.unit
        return influence(Units(rows, unit), lambda sums: ratio(sums[..., 0], sums[..., 1]), rows[:, 1])

    def effect(self, values: Numbers, items: pl.Series) -> float:
        """The design effect of that mean."""
        codes = self.codes(items)
        return nan if codes is None else design_effect(self._influence(values, codes), self._influence(values, None))

    def scope_of(
        self, items: pl.Series, *, basis: Basis | None = None, effect: float = nan, n_raters: int = 0
    ) -> Scope:
        """What intervals speak of that rest on these items."""
        basis, distinct, n_alone = basis or Basis(), items.unique(), 0
        n_units, notes = len(distinct), [self.note] if self.note else []
        if self.of_items is not None:
            names = self._names(distinct)
            n_alone = names.null_count()
            n_units = names.drop_nulls().n_unique() + n_alone
        if n_alone:
            notes.append(f"{counted(n_alone, 'item')} without a known {self.unit}, each taken as one of its own")
        return Scope(
            unit=self.unit,
            n_units=n_units,
            population=basis.population,
            design_effect=effect,
            n_raters=n_raters if basis.raters == "random" else 0,
            note="; ".join(notes) if basis.population == "wider" else "",
            level=basis.level,
        )


NO_ESSAYS = Essays()


def essays_of(
    judgments: Judgments,
    *tables: AnyTable | None,
    units: Unit = "auto",
    population: Population = "wider",
) -> Essays:
    """The units of the judged items, from these tables and the judgments; the first that knows an item decides."""
    present = [table for table in (*tables, judgments) if table is not None]
    if units == ITEM or (units == "auto" and population == "these"):
        return Essays(note="" if population == "these" else AS_ASKED)
    if units != "auto":
        found = _column(present, units, judgments)
        if found is None:
            names = sorted({name for table in present for name in table.frame.columns})
            raise UnknownName(f"{present[0].name}: {unknown('column', units, names)}")
        return Essays(units, found, "")
    essay, document = (_column(present, name, judgments) for name in (ESSAY, DOCUMENT))
    if document is not None and (essay is None or _is_coarser(document, essay)):
        return Essays(DOCUMENT, document, "")
    if essay is None:
        return NO_ESSAYS
    return Essays(ESSAY, essay, "")


def _is_coarser(document: pl.DataFrame, essay: pl.DataFrame) -> bool:
    """Whether documents, several of them, group the essays of all items."""
    return len(document) >= len(essay) and 1 < document["unit"].n_unique() < essay["unit"].n_unique()


def known_essays(judgments: Judgments, items: Table | None, *, units: Unit = "auto") -> Essays:
    """The same where the table need not be about these items, as one of many in a report or a study."""
    if items is None:
        return essays_of(judgments, units=units)
    judged = judgments.frame[ITEM].cast(pl.String).unique().implode()
    known = items.frame.filter(pl.col(ITEM).cast(pl.String).is_in(judged))
    return essays_of(judgments, replace(items, frame=known) if len(known) else None, units=units)


def _column(tables: list[AnyTable], column: str, judgments: Judgments) -> pl.DataFrame | None:
    """Item and unit from every table that has the column, earlier tables first; None where nothing is known."""
    frames, name = [], ""
    for table in tables:
        if column not in table.frame.columns:
            continue
        unit = pl.col(column).cast(pl.String).replace("", None)
        pairs = table.frame.select(pl.col(ITEM).cast(pl.String), unit=unit).drop_nulls().unique()
        twice = pairs.filter(pl.col(ITEM).is_duplicated())
        if len(twice):
            item = twice.sort(ITEM, "unit")[ITEM][0]
            names = ", ".join(sorted(twice.filter(pl.col(ITEM) == item)["unit"].to_list())[:3])
            raise BadInput(Problem(table.name, f"expected one {column} for item {item!r}, found {names}"))
        frames.append(pairs)
        name = name or table.name
    known = pl.concat(frames).unique(ITEM, keep="first", maintain_order=True).sort(ITEM) if frames else None
    if known is None or not len(known):
        return None
    if known.join(judgments.frame.select(pl.col(ITEM).cast(pl.String)), on=ITEM, how="semi").is_empty():
        raise BadInput(Problem(name, f"expected the {column} of items of {judgments.name}, found none of them"))
    return known


def with_documents(table: Table, documents: pl.DataFrame, name: str) -> Table:
    """A table of items or decisions with the document of each essay (a sentence of an M2 file), or of each item."""
    key = next((key for key in (ESSAY, ITEM) if {key, DOCUMENT} <= set(documents.columns)), None)
    if key is None:
        raise BadInput(Problem(name, "expected the columns essay (or item) and document"))
    if key not in table.frame.columns:
        raise BadInput(Problem(table.name, f"expected the column {key}, by which {name} names documents"))
    known = documents.select(pl.col(key, DOCUMENT).cast(pl.String)).drop_nulls().unique(key, keep="first")
    rows = table.frame.drop(DOCUMENT, strict=False).with_columns(pl.col(key).cast(pl.String))
    named = rows.join(known, on=key, how="left", maintain_order="left")
    if not named[DOCUMENT].count():
        raise BadInput(Problem(name, f"expected the documents of {table.name}, found none of its {key}s"))
    return replace(table, frame=named)
