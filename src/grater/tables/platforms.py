"""Judgments of crowd platforms, asked for by name; `read_judgments` knows the same files by their headers.

For files whose header somebody has changed, and for whoever wants judgments and gold of a report at once.
"""

from __future__ import annotations

from collections.abc import Collection

from grater.errors import BadInput, Problem
from grater.tables import amt, crowdflower
from grater.tables.judgments import Judgments
from grater.tables.keys import Duplicates
from grater.tables.load import Source, load
from grater.tables.raw import Raw
from grater.tables.read import read_gold, read_judgments
from grater.tables.schema import VALID
from grater.tables.table import Table


def read_amt(
    source: Source,
    *,
    item: str | None = None,
    label: str | None = None,
    status: Collection[str] = (VALID,),
    duplicates: Duplicates = "error",
) -> Judgments:
    """A batch of Mechanical Turk; `item` names an Input column, `label` an Answer column where there are several."""
    raw = load(source, name="batch frame")
    _require(raw, amt.MARKS, "a batch of Mechanical Turk")
    return read_judgments(raw, columns=_columns(item, label), status=status, duplicates=duplicates)


def read_crowdflower(
    source: Source,
    *,
    item: str | None = None,
    label: str | None = None,
    status: Collection[str] = (VALID,),
    duplicates: Duplicates = "error",
) -> tuple[Judgments, Table | None]:
    """A full report: its judgments, and its test questions as gold where it has any."""
    raw = load(source, name="report frame")
    crowdflower.refuse_aggregated(raw)
    _require(raw, crowdflower.MARKS, "a full report of CrowdFlower")
    columns = _columns(item, label)
    judgments = read_judgments(raw, columns=columns, status=status, duplicates=duplicates)
    return judgments, read_gold(raw, columns=columns) if crowdflower.has_gold(raw, label=label) else None


def _columns(item: str | None, label: str | None) -> dict[str, str]:
    return {name: found for name, found in (("item", item), ("label", label)) if found is not None}


def _require(raw: Raw, marks: tuple[str, ...], what: str) -> None:
    missing = [mark for mark in marks if mark not in raw.columns]
    if missing:
        raise BadInput(Problem(raw.name, f"expected {what}, found no column {', '.join(missing)}", 1))
