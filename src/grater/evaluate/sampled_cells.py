"""A judged sample as cells: items that were drawn alike and that every system treats alike.

A sample that grater drew has its design beside it: cells cross the strata of all its draws with the flags of the
systems asked for, their sizes are counted in the corpus, and what was judged in a cell is a simple random sample of
it (post-stratification).  So any system with decisions on the corpus can be estimated, drawn for or not.

A sample from elsewhere has only its strata: their sizes are as the table says, and each must be flagged as a whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from grater.errors import BadInput, Problem
from grater.sampling.reuse import crossed, draws_of, require_unchanged
from grater.sampling.scores import Stratum
from grater.sampling.strata import decided
from grater.tables import Judgments, Sample, Table, require_same_items, with_stratum_size

COUNTS = {"n_drawn": pl.len(), "n_judged": pl.col("error").count(), "errors": pl.col("error").sum()}


@dataclass(frozen=True, slots=True)
class Cells:
    """The cells with what was found in each; `flags` says by system which cells it flags."""

    cells: tuple[Stratum, ...]
    flags: dict[str, tuple[bool, ...]]
    n_items: float

    def of(self, system: str) -> list[Stratum]:
        """The cells as strata of one system."""
        pairs = zip(self.cells, self.flags[system], strict=True)
        return [
            Stratum(cell.name, is_flagged, cell.size, cell.n_judged, cell.errors, cell.n_drawn)
            for cell, is_flagged in pairs
        ]


def cells_of(
    decisions: Table, sample: Sample, truth: pl.DataFrame, systems: Sequence[str], *, labels: Judgments | None = None
) -> Cells:
    """The cells of a sample for these systems; another corpus than the sample's is refused."""
    draws = draws_of(sample)
    if not draws:
        require_same_items(sample, decisions.frame["item"].unique())
        return _from_table(decisions, sample, truth, systems)
    require_unchanged(sample, decisions)
    if labels is None and len(draws) == 1 and draws[0].strata == "label" and list(systems) == [draws[0].system]:
        return _from_table(decisions, sample, truth, systems)
    return _from_design(decisions, sample, truth, systems, labels)


def _from_design(
    decisions: Table, sample: Sample, truth: pl.DataFrame, systems: Sequence[str], labels: Judgments | None
) -> Cells:
    whole = _with_flags(crossed(decisions, sample, labels=labels), decisions, systems)
    strata = [f"stratum {place}" for place in range(len(draws_of(sample)))]
    keys = [*strata, *(f"flag {system}" for system in systems)]
    sizes = whole.group_by(keys).len("size")
    judged = whole.filter("is_drawn").join(truth, on="item", how="left").group_by(keys).agg(**COUNTS)
    found = sizes.join(judged, on=keys, how="left").fill_null(0).sort(keys)
    return _cells(found.with_columns(name=pl.concat_str(strata, separator=" / ")), systems)


def _from_table(decisions: Table, sample: Sample, truth: pl.DataFrame, systems: Sequence[str]) -> Cells:
    rows = with_stratum_size(sample)
    if rows["item"].is_duplicated().any():
        message = "expected each item once, found several draws without their design; keep NAME.meta.json beside it"
        raise BadInput(Problem(sample.name, message))
    rows = _with_flags(rows, decisions, systems)
    flags = [f"flag {system}" for system in systems]
    found = (
        rows.join(truth, on="item", how="left")
        .group_by("stratum", *flags)
        .agg(size=pl.col("stratum_size").first(), **COUNTS)
        .sort("stratum", *flags)
    )
    mixed = found.filter(pl.col("stratum").is_duplicated())
    if not mixed.is_empty():
        message = (
            f"expected strata that a system flags as a whole or not at all, found both in {mixed['stratum'][0]!r}"
        )
        raise BadInput(Problem(sample.name, f"{message}; draw with grater sample to have its design kept"))
    return _cells(found.with_columns(name=pl.col("stratum")), systems)


def _with_flags(rows: pl.DataFrame, decisions: Table, systems: Sequence[str]) -> pl.DataFrame:
    for system in systems:
        own = decided(decisions, system).select("item", pl.col("flagged").alias(f"flag {system}"))
        rows = rows.join(own, on="item", how="left")
        n_missing = rows[f"flag {system}"].null_count()
        if n_missing:
            message = f"expected a decision of {system!r} on every item, found none on {n_missing}"
            raise BadInput(Problem(decisions.name, f"{message}; run the system on the whole corpus"))
    return rows


def _cells(found: pl.DataFrame, systems: Sequence[str]) -> Cells:
    columns = found.select("name", "size", "n_judged", "errors", "n_drawn")
    cells = tuple(
        Stratum(name, False, float(size), float(n_judged), float(errors), int(n_drawn))
        for name, size, n_judged, errors, n_drawn in columns.iter_rows()
    )
    flags = {system: tuple(found[f"flag {system}"].to_list()) for system in systems}
    return Cells(cells, flags, sum(cell.size for cell in cells))
