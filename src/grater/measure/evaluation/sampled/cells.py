"""A judged sample as cells: items that were drawn alike and that every system treats alike.

A sample that grater drew has its design beside it: cells cross the strata of all its draws with the flags of the
systems asked for, their sizes are counted in the corpus, and what was judged in a cell is a simple random sample of
it (post-stratification).  So any system with decisions on the corpus can be estimated, drawn for or not, and so can a
part of the corpus (`only`).

A sample from elsewhere has only its strata: their sizes are as the table says, each must be flagged as a whole, and
nobody knows how much of them lies in a part of the corpus.

Parts of the corpus: a column of the items, or else of the decisions, says which part an item is in.  It is known for
the whole corpus, so a part has cells of its own, with sizes counted.  That somebody found an item impossible to judge
is known for judged items only: those are set aside (`without unknown`), as if they had not been judged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf

import numpy as np
import polars as pl

from grater.errors import BadInput, Problem, UnknownName
from grater.measure.evaluation.cases import NONE, Votes
from grater.measure.evaluation.truth import Truth
from grater.measure.sampling.draw import crossed, draws_of, require_unchanged
from grater.measure.sampling.strata import decided
from grater.registry import unknown
from grater.tables import Judgments, Sample, Table, require_same_items, with_stratum_size
from grater.uncertainty.stratified import Stratum


@dataclass(frozen=True, slots=True, eq=False)
class Members:
    """Items with their cell: item, name, is_drawn, and a column `flag SYSTEM` for each system.

    The whole corpus where the design is known; else the drawn items, with the size of their stratum in `size`.
    """

    frame: pl.DataFrame
    systems: tuple[str, ...]
    is_whole: bool
    name: str

    @property
    def keys(self) -> list[str]:
        return ["name", *(f"flag {system}" for system in self.systems)]

    @property
    def cell_numbers(self) -> pl.DataFrame:
        """The cells in their order, each with its number."""
        rows = self.frame.select(self.keys).unique().sort(self.keys).with_row_index("cell")
        return rows.with_columns(pl.col("cell").cast(pl.Int64))

    def only(self, items: pl.Series) -> Members:
        """The same sample for a part of the corpus."""
        if not self.is_whole:
            message = "expected a sample with its design for parts of the corpus, found strata of unknown make-up"
            raise BadInput(Problem(self.name, f"{message}; draw it with grater, and keep NAME.meta.json beside it"))
        return replace(self, frame=self.frame.join(pl.DataFrame({"item": items}), on="item", how="semi"))


@dataclass(frozen=True, slots=True)
class Cells:
    """The cells with what was judged in each; `flags` says by system which cells it flags."""

    cells: tuple[Stratum, ...]
    flags: dict[str, tuple[bool, ...]]
    n_items: float

    @property
    def n_counted(self) -> float:
        """The items that sizes were counted among; infinite where a table has shares in place of counts."""
        return self.n_items if self.n_items >= sum(cell.n_drawn for cell in self.cells) else inf

    def of(self, system: str) -> list[Stratum]:
        """The cells as strata of one system."""
        pairs = zip(self.cells, self.flags[system], strict=True)
        return [replace(cell, is_flagged=is_flagged) for cell, is_flagged in pairs]


def members_of(
    decisions: Table, sample: Sample, systems: Sequence[str], *, labels: Judgments | None = None
) -> Members:
    """Which cell each item is in for these systems; another corpus than the sample's is refused."""
    draws = draws_of(sample)
    if not draws:
        require_same_items(sample, decisions.frame["item"].unique())
        return _from_table(decisions, sample, systems)
    require_unchanged(sample, decisions)
    if labels is None and len(draws) == 1 and draws[0].strata == "label" and list(systems) == [draws[0].system]:
        return _from_table(decisions, sample, systems)
    whole = crossed(decisions, sample, labels=labels)
    strata = [f"stratum {place}" for place in range(len(draws))]
    named = whole.select("item", "is_drawn", name=pl.concat_str(strata, separator=" / "))
    return Members(_with_flags(named, decisions, systems), tuple(systems), True, sample.name)


def cells_of(members: Members, truth: pl.DataFrame) -> Cells:
    """The cells with their sizes and what was judged in them; `truth` has item and error."""
    drawn = members.frame.filter("is_drawn").join(truth, on="item", how="left")
    judged = drawn.group_by(members.keys).agg(
        n_drawn=pl.col("is_drawn").sum(), n_judged=pl.col("error").is_not_null().sum(), errors=pl.col("error").sum()
    )
    size = pl.len() if members.is_whole else pl.col("size").first()
    sizes = members.frame.group_by(members.keys).agg(size=size)
    rows = sizes.join(judged, on=members.keys, how="left").fill_null(0).sort(members.keys)
    return _cells(rows, members.systems)


def _from_table(decisions: Table, sample: Sample, systems: Sequence[str]) -> Members:
    rows = with_stratum_size(sample)
    if rows["item"].is_duplicated().any():
        message = "expected each item once, found several draws without their design; keep NAME.meta.json beside it"
        raise BadInput(Problem(sample.name, message))
    named = rows.select("item", is_drawn=pl.lit(True), name=pl.col("stratum"), size=pl.col("stratum_size"))
    members = Members(_with_flags(named, decisions, systems), tuple(systems), False, sample.name)
    mixed = members.frame.select(members.keys).unique().filter(pl.col("name").is_duplicated())
    if not mixed.is_empty():
        message = (
            f"expected strata that a system flags as a whole or not at all, found both in {mixed['name'].min()!r}"
        )
        raise BadInput(Problem(sample.name, f"{message}; draw it with grater to have its design kept"))
    return members


def _with_flags(rows: pl.DataFrame, decisions: Table, systems: Sequence[str]) -> pl.DataFrame:
    for system in systems:
        own = decided(decisions, system).select("item", pl.col("flagged").alias(f"flag {system}"))
        rows = rows.join(own, on="item", how="left")
        n_missing = rows[f"flag {system}"].null_count()
        if n_missing:
            message = f"expected a decision of {system!r} on every item, found none on {n_missing}"
            raise BadInput(Problem(decisions.name, f"{message}; run the system on the whole corpus"))
    return rows


def _cells(rows: pl.DataFrame, systems: Sequence[str]) -> Cells:
    columns = rows.select("name", "size", "n_judged", "errors", "n_drawn")
    cells = tuple(
        Stratum(
            name=name,
            is_flagged=False,
            size=float(size),
            n_judged=float(n_judged),
            errors=float(errors),
            n_drawn=int(n_drawn),
        )
        for name, size, n_judged, errors, n_drawn in columns.iter_rows()
    )
    flags = {system: tuple(rows[f"flag {system}"].to_list()) for system in systems}
    return Cells(cells, flags, sum(cell.size for cell in cells))


ESSAY = "essay"
NOT_A_PROPERTY = ("item", "system", "flagged", "score", "suggestion")


def parts_of(decisions: Table, items: Table | None, column: str) -> dict[str, pl.Series]:
    """The items with each value of a column, by value."""
    rows = _column(decisions, items, column).with_columns(pl.col("value").fill_null(NONE)).sort("value", "item")
    return {str(value): part["item"] for (value,), part in rows.group_by("value", maintain_order=True)}


def units_of_items(
    decisions: Table, items: Table | None, column: str, *, sample: Sample | None = None
) -> pl.DataFrame:
    """The essay or document of every item that was decided on: item, unit.

    Where only the sample has the column, of the drawn items; the others have none.
    """
    source = _source_of(decisions, items, column)
    if source is None and sample is not None and column in sample.frame.columns:
        return sample.frame.select("item", unit=pl.col(column).cast(pl.String)).unique("item").sort("item")
    rows = _column(decisions, items, column).rename({"value": "unit"})
    n_missing = rows["unit"].null_count()
    if n_missing:
        name = (source or decisions).name
        raise BadInput(Problem(name, f"expected the {column} of every item, found none for {n_missing}"))
    return rows


def knows_essays(decisions: Table, items: Table | None, sample: Sample) -> bool:
    """Whether a table says which essay every item stands in, or at least every drawn one."""
    if _source_of(decisions, items, ESSAY) is not None:
        return _column(decisions, items, ESSAY)["value"].null_count() == 0
    return ESSAY in sample.frame.columns and sample.frame[ESSAY].null_count() == 0


def _source_of(decisions: Table, items: Table | None, column: str) -> Table | None:
    """The table that has a column of the items: theirs, or else the decisions."""
    return next((table for table in (items, decisions) if table is not None and column in table.frame.columns), None)


def without_unknown(votes: Votes, truth: Truth) -> Truth:
    """The truth, with nothing known of items that somebody called unknown."""
    return replace(truth, values=np.where(votes.has_unknown, np.nan, truth.values))


def _column(decisions: Table, items: Table | None, column: str) -> pl.DataFrame:
    """Every item that was decided on, with its value in a column: item, value."""
    source = (_source_of(decisions, items, column) or items or decisions).frame
    known = [name for name in source.columns if name not in NOT_A_PROPERTY]
    if column not in known:
        raise UnknownName(f"{unknown('column', column, known)}; columns of items come from a table of items")
    decided = decisions.frame.select(pl.col("item").cast(pl.String)).unique()
    values = source.select(pl.col("item").cast(pl.String), value=pl.col(column).cast(pl.String))
    return decided.join(values.unique("item", keep="first", maintain_order=True), on="item", how="left")
