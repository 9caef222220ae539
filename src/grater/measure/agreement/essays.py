"""Which essay each item is in, so that intervals resample essays rather than items.

The essay comes from a column of the items table or of the judgments themselves.  Without a column named, `document`
is taken where every item has one and there are several, else `essay`: an essay of an M2 file is a sentence, and its
document is what one learner wrote.  `item` as the column takes items as independent, as does a table that names no
essay; the result says so (`grater.uncertainty.population`).  Any other column will do: `learner`, `topic`, `class`.

An item without a value in the column is a cluster of its own; a warning counts such items.  One item in two essays is
an error.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import nan

import numpy as np
import numpy.typing as npt
import polars as pl

from grater.errors import BadInput, Problem, UnknownName
from grater.measure.agreement.coded import Coded
from grater.model import Interval
from grater.registry import unknown
from grater.sheet import counted
from grater.tables import Judgments, Table
from grater.uncertainty.intervals import LEVEL, Ints
from grater.uncertainty.population import AS_ASKED, ESSAYS_UNKNOWN, Scope
from grater.uncertainty.proportions import cluster_wilson, wilson

ITEM = "item"
COLUMNS = ("document", "essay")
"""Columns that name essays without being asked, the first that does."""


@dataclass(frozen=True, slots=True, eq=False)
class Essays:
    """The essay of each item: a frame of `item` and `unit`; none where items are taken as independent."""

    unit: str = ITEM
    of_items: pl.DataFrame | None = None
    independent_because: str = ESSAYS_UNKNOWN

    def codes(self, items: pl.Series) -> Ints | None:
        """The number of each item's essay; an item that is in none stands by itself."""
        if self.of_items is None:
            return None
        names = self._names(items)
        codes = names.cast(pl.Categorical).to_physical().cast(pl.Int64).fill_null(-1).to_numpy()
        return np.where(codes < 0, codes.max(initial=0) + 1 + np.arange(len(codes)), codes)

    def n_alone(self, items: pl.Series) -> int:
        """The items whose essay is not known although others' are."""
        return 0 if self.of_items is None else self._names(items).null_count()

    def covers(self, judgments: Judgments) -> bool:
        """Whether the essay of some item of a table is known, or none is to be."""
        items = judgments.frame[ITEM].cast(pl.String).unique()
        return self.of_items is None or self._names(items).null_count() < len(items)

    def share(self, is_hit: npt.NDArray[np.bool_], items: pl.Series) -> Interval:
        """The share of hits among cases, one item each, whole essays drawn where they are known."""
        codes = self.codes(items)
        if codes is None:
            return wilson(int(is_hit.sum()), len(is_hit))
        unit = np.unique(codes, return_inverse=True)[1]
        hits, n = (np.bincount(unit, weights=of).astype(np.float64) for of in (is_hit, np.ones(len(is_hit))))
        return cluster_wilson(hits, n)

    def scope_of(self, items: pl.Series, *, effect: float = nan) -> Scope:
        """What intervals speak of that rest on these items."""
        distinct = items.unique()
        codes = self.codes(distinct)
        return self.scope(len(distinct), 0 if codes is None else len(np.unique(codes)), effect=effect)

    def _names(self, items: pl.Series) -> pl.Series:
        assert self.of_items is not None
        frame = pl.DataFrame({ITEM: items.cast(pl.String)})
        return frame.join(self.of_items, on=ITEM, how="left", maintain_order="left")["unit"]

    def scope(self, n_items: int, n_units: int, *, effect: float, n_raters: int = 0, level: float = LEVEL) -> Scope:
        """What intervals speak of that drew these units."""
        return Scope(
            unit=self.unit,
            n_units=n_items if self.of_items is None else n_units,
            design_effect=effect,
            n_raters=n_raters,
            independent_because=self.independent_because,
            level=level,
        )


NO_ESSAYS = Essays()


def essays_of(judgments: Judgments, items: Table | None = None, *, cluster: str | None = None) -> Essays:
    """The essays of the items of a table, by the column named or by the first that names essays."""
    if cluster == ITEM:
        return Essays(independent_because=AS_ASKED)
    tables = [table for table in (items, judgments) if table is not None]
    if cluster is not None:
        table = next((table for table in tables if cluster in table.frame.columns), None)
        if table is None:
            names = [name for table in tables for name in table.frame.columns]
            raise UnknownName(f"{tables[0].name}: {unknown('column', cluster, names)}")
        return _essays(table, cluster, judgments)
    for table in tables:
        for column in COLUMNS:
            if column in table.frame.columns and _is_telling(table.frame[column]):
                return _essays(table, column, judgments)
    return NO_ESSAYS


def known_essays(judgments: Judgments, items: Table | None) -> Essays:
    """The essays of the judged items as far as a table knows them; where it knows none, items are independent.

    For results that are one of many in a report or a study, whose table need not be about these items.
    """
    if items is None:
        return essays_of(judgments)
    judged = judgments.frame[ITEM].cast(pl.String).unique().implode()
    known = items.frame.filter(pl.col(ITEM).cast(pl.String).is_in(judged))
    return essays_of(judgments, replace(items, frame=known) if len(known) else None)


def _is_telling(values: pl.Series) -> bool:
    """Whether a column can say which essay: documents, where every item has one and they are several."""
    n_values = values.drop_nulls().n_unique()
    return n_values > 1 and not values.null_count() if values.name == "document" else n_values > 0


def _essays(table: Judgments | Table, column: str, judgments: Judgments) -> Essays:
    pairs = (
        table.frame.select(pl.col(ITEM).cast(pl.String), unit=pl.col(column).cast(pl.String)).drop_nulls().unique()
    )
    twice = pairs.filter(pl.col(ITEM).is_duplicated())
    if len(twice):
        item = twice.sort(ITEM, "unit")[ITEM][0]
        names = ", ".join(sorted(twice.filter(pl.col(ITEM) == item)["unit"].to_list())[:3])
        raise BadInput(Problem(table.name, f"expected one {column} for item {item!r}, found {names}"))
    known = pairs.filter(pl.col(ITEM).is_in(judgments.frame[ITEM].cast(pl.String).unique().implode()))
    if not len(known):
        raise BadInput(Problem(table.name, f"expected the {column} of items of {judgments.name}, found none of them"))
    return Essays(unit=column, of_items=pairs.sort(ITEM))


def with_essays(codes: Coded, essays: Essays) -> Coded:
    """The judgments with the essay of each item."""
    return replace(codes, unit=essays.codes(codes.items))


def essay_warnings(essays: Essays, items: pl.Series, scope: Scope) -> Iterator[str]:
    """Too few essays, and items whose essay is not known."""
    yield from scope.warnings
    n_alone = essays.n_alone(items)
    if n_alone:
        yield f"{n_alone:,} of {counted(len(items), 'item')} have no {essays.unit}: each is its own cluster"
