"""Mined suspects: the units of a job that people accept or reject, each with its newest decision.

Such a unit wants no judgment of raters (`wanted` is 0).  What is decided of it is an adjudication: every change of
mind is a further version, and none is lost.  A version without an answer takes the ones before it back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import and_, func, select

from grater.model import Item, Json, Span
from grater.store.schema import adjudications, items, people, unit_items, units
from grater.store.transaction import Record, Tx


@dataclass(frozen=True, slots=True)
class Listed:
    """One suspect at its place in the list, from 1 on; `label` is empty and `by` nobody where it is open."""

    unit_id: str
    place: int
    item: Item
    payload: Mapping[str, Json]
    version: int
    label: str
    by: str
    at: int | None


def of_job(tx: Tx, job_id: str) -> list[Listed]:
    """The whole list, the worst first."""
    newest = (
        select(adjudications.c.unit_id, func.max(adjudications.c.version).label("version"))
        .group_by(adjudications.c.unit_id)
        .subquery()
    )
    is_newest = and_(adjudications.c.unit_id == newest.c.unit_id, adjudications.c.version == newest.c.version)
    query = (
        select(
            *(units.c.unit_id, units.c.payload, items.c.essay_id, items.c.start, items.c.end, items.c.kind),
            *(adjudications.c.version, adjudications.c.answers, adjudications.c.at, people.c.name),
        )
        .join(unit_items, unit_items.c.unit_id == units.c.unit_id)
        .join(items, items.c.item_id == unit_items.c.item_id)
        .outerjoin(newest, newest.c.unit_id == units.c.unit_id)
        .outerjoin(adjudications, is_newest)
        .outerjoin(people, people.c.person_id == adjudications.c.person_id)
        .where(units.c.job_id == job_id, units.c.wanted == 0, units.c.role == "work")
        .order_by(units.c.position)
    )
    return [_listed(row, place) for place, row in enumerate(tx.all(query), 1)]


def _listed(row: Record, place: int) -> Listed:
    item = Item(row.essay_id, Span(row.start, row.end), row.kind)
    answers: list[Any] = row.answers or []
    label = str(answers[0]["label"]) if answers else ""
    by, at = (row.name, row.at) if label else ("", None)
    return Listed(row.unit_id, place, item, row.payload, row.version or 0, label, by, at)
