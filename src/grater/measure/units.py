"""Which essay each item stands in: the units that every interval rests on.

Errors cluster in essays (one learner, one topic, one marker).  The essay of an item comes from items, decisions,
judgments or the sample, wherever it is known.  `auto` takes `document` where it groups the essays further (an essay
of an M2 file is a sentence, and its document is what one learner wrote), else `essay`; any other column can be named:
`learner`, `topic`, `class`.  An item without a value is a unit of its own, and a note counts such items.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import nan

import numpy as np
import polars as pl

from grater.errors import BadInput, Problem, UnknownName
from grater.registry import unknown
from grater.sheet import counted
from grater.tables import Judgments, Sample, Table
from grater.uncertainty import INDEPENDENT, SENTENCES, Basis, Ints, Scope

ITEM = "item"
ESSAY, DOCUMENT, SENTENCE = "essay", "document", "sentence"
AS_ASKED = "items taken as independent, as asked"


@dataclass(frozen=True, slots=True, eq=False)
class Essays:
    """The unit of each item: a frame of `item` and `unit`; none where items are taken as independent."""

    unit: str = ITEM
    of_items: pl.DataFrame | None = None
    note: str = INDEPENDENT

    def names(self, items: pl.Series) -> pl.Series:
        """The unit of each item by name, null where it is not known."""
        if self.of_items is None:
            return pl.Series("unit", [None] * len(items), dtype=pl.String)
        frame = pl.DataFrame({ITEM: items.cast(pl.String)})
        return frame.join(self.of_items, on=ITEM, how="left", maintain_order="left")["unit"]

    def codes(self, items: pl.Series) -> Ints:
        """The number of each item's unit, from 0 on, whatever the order of rows; an item in none stands by itself."""
        names = self.names(items)
        known = names.drop_nulls().unique().sort()
        place = pl.DataFrame({"unit": known, "code": np.arange(len(known))})
        found = pl.DataFrame({"unit": names}).join(place, on="unit", how="left", maintain_order="left")["code"]
        codes = found.fill_null(-1).to_numpy().astype(np.int64)
        alone = codes < 0
        codes[alone] = len(known) + np.arange(int(alone.sum()))
        return codes

    def n_alone(self, items: pl.Series) -> int:
        """The items whose unit is not known although others' are."""
        return 0 if self.of_items is None else self.names(items).null_count()

    def scope(
        self,
        items: pl.Series,
        *,
        basis: Basis | None = None,
        effect: float = nan,
        n_raters: int = 0,
        is_agreement: bool = False,
    ) -> Scope:
        """What intervals speak of that rest on these items."""
        basis = basis or Basis()
        n_alone, notes = self.n_alone(items), [self.note] if self.note else []
        if n_alone:
            notes.append(f"{counted(n_alone, 'item')} without a known {self.unit}, each taken as one of its own")
        n_units = len(np.unique(self.codes(items))) if self.of_items is not None else items.n_unique()
        return Scope(
            unit=self.unit,
            n_units=n_units,
            population=basis.population,
            design_effect=effect,
            n_raters=n_raters if basis.raters == "random" else 0,
            note="; ".join(notes) if basis.population == "wider" else "",
            level=basis.level,
            is_agreement=is_agreement,
        )


def essays_of(basis: Basis, *tables: Table | Judgments | Sample | None) -> Essays:
    """The units that a basis asks for, from the tables that know them; the first table that knows an item decides."""
    present = [table for table in tables if table is not None]
    if basis.units == ITEM or (basis.units == "auto" and basis.population == "these"):
        return Essays(note="" if basis.population == "these" else AS_ASKED)
    if basis.units != "auto":
        found = _column(present, basis.units)
        if found is None:
            names = sorted({name for table in present for name in table.frame.columns})
            raise UnknownName(unknown("column", basis.units, names))
        return Essays(basis.units, found, "")
    essay, document = (_column(present, name) for name in (ESSAY, DOCUMENT))
    if document is not None and (essay is None or _is_coarser(document, essay)):
        return Essays(DOCUMENT, document, "")
    if essay is None:
        return Essays()
    if any(SENTENCE in table.frame.columns for table in present):
        return Essays(SENTENCE, essay, SENTENCES)
    return Essays(ESSAY, essay, "")


def _is_coarser(document: pl.DataFrame, essay: pl.DataFrame) -> bool:
    """Whether documents group the essays of at least as many items."""
    return len(document) >= len(essay) and document["unit"].n_unique() < essay["unit"].n_unique()


def _column(tables: list[Table | Judgments | Sample], column: str) -> pl.DataFrame | None:
    """Item and unit from every table that has the column, earlier tables first; None where nothing is known."""
    frames = []
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
    if not frames:
        return None
    known = pl.concat(frames).unique(ITEM, keep="first", maintain_order=True)
    return known.sort(ITEM) if len(known) else None
