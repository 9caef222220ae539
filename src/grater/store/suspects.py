"""Mined suspects: the units of a job that people accept or reject, each with its newest decision.

Such a unit wants no judgment of raters (`wanted` is 0).  What is decided of it is an adjudication: every change of
mind is a further version, and none is lost.  A version without an answer takes the ones before it back; `unknown`
leaves a suspect open too.  The suspects are the first units of their job, so the place in the list is the position in
the job.  Whoever goes through a long list asks for one suspect at a time, and none of the others is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Select, Text, and_, bindparam, case, func, select, type_coerce

from grater.model import Item, Json, Span
from grater.store import schema
from grater.store.transaction import ONE, Record, Tx
from grater.tasks.task import ERROR, OK

LAST_PLACE = 2**31
"""No list is that long, and no database takes any number that people may type."""

PLACE = schema.units.c.position
LABEL = case(
    *(
        (type_coerce(schema.adjudications.c.answers, Text).contains(f'"label":"{label}"'), label)
        for label in (ERROR, OK)
    ),
    else_="",
).label("label")
"""Of the newest decision, blank where it is open.  Equal JSON is equal text (`json_text`), so that it can be seen
without reading every answer."""


def _decided(*columns: ColumnElement[Any]) -> Select[Any]:
    """Columns of the suspects of a job, each with its newest decision."""
    older = schema.adjudications.alias()
    newest = select(func.max(older.c.version)).where(older.c.unit_id == schema.units.c.unit_id).scalar_subquery()
    is_newest = and_(
        schema.adjudications.c.unit_id == schema.units.c.unit_id, schema.adjudications.c.version == newest
    )
    suspects = select(*columns).select_from(schema.units).outerjoin(schema.adjudications, is_newest)
    return suspects.where(
        schema.units.c.job_id == bindparam("job"), schema.units.c.wanted == 0, schema.units.c.role == "work"
    )


WHOLE = (
    _decided(
        *(
            schema.units.c.unit_id,
            PLACE,
            schema.units.c.payload,
            schema.items.c.essay_id,
            schema.items.c.start,
            schema.items.c.end,
            schema.items.c.kind,
        ),
        *(schema.adjudications.c.version, LABEL, schema.adjudications.c.at, schema.people.c.name),
    )
    .join(schema.unit_items, schema.unit_items.c.unit_id == schema.units.c.unit_id)
    .join(schema.items, schema.items.c.item_id == schema.unit_items.c.item_id)
    .outerjoin(schema.people, schema.people.c.person_id == schema.adjudications.c.person_id)
)
AT = WHOLE.where(bindparam("place") == PLACE)
TALLY = _decided(LABEL, func.count().label("n")).group_by(LABEL)
OPEN = _decided(PLACE).where(LABEL == "").order_by(PLACE).limit(ONE)
OPEN_AFTER, OPEN_BEFORE = OPEN.where(bindparam("place") < PLACE), OPEN.where(bindparam("place") > PLACE)


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


def of_job(tx: Tx, job_id: str, *, label: str | None = None, start: int = 0, most: int | None = None) -> list[Listed]:
    """The list, the worst first; or those with a label, a blank where open; `most` of them from number `start` on."""
    query = WHOLE if label is None else WHOLE.where(LABEL.in_([label]))
    return [_listed(row) for row in tx.all(query.order_by(PLACE).offset(start).limit(most), job=job_id)]


def at(tx: Tx, job_id: str, place: int) -> Listed | None:
    """The suspect at a place."""
    row = tx.first(AT, job=job_id, place=place) if 0 < place <= LAST_PLACE else None
    return None if row is None else _listed(row)


def tally(tx: Tx, job_id: str) -> dict[str, int]:
    """How many suspects have each label."""
    return {row.label: row.n for row in tx.all(TALLY, job=job_id)}


def next_open(tx: Tx, job_id: str, place: int) -> int:
    """The place of the next open suspect after this one, from the start again after the end; 0 where none is open."""
    return tx.value(OPEN_AFTER, job=job_id, place=place) or tx.value(OPEN_BEFORE, job=job_id, place=place) or 0


def _listed(row: Record) -> Listed:
    item = Item(row.essay_id, Span(row.start, row.end), row.kind)
    by, at = (row.name, row.at) if row.label else ("", None)
    return Listed(row.unit_id, row.position, item, row.payload, row.version or 0, row.label, by, at)
