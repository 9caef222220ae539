"""Adjudications: the answer that counts in the end for a unit, under the annotator `gold`; the originals stay.

Mined suspects are units that people accept or reject without raters (`wanted` is 0): each decision is an
adjudication, every change of mind a further version, and none is lost.  A version without an answer revokes the ones
before it; `unknown` leaves a suspect open too.  The suspects are the first units of their job, so the place in the
list is the position in the job.  Whoever goes through a long list asks for one suspect at a time, and none of the
others is read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, cast

from sqlalchemy import ColumnElement, Select, Text, and_, bindparam, case, func, select, type_coerce

from grater.annotate import units
from grater.annotate.store import events, people, schema
from grater.annotate.store.transaction import ONE, Columns, Record, Tx
from grater.annotate.tasks.task import ERROR, OK, Answer
from grater.errors import Stale
from grater.model import Item, Json, Span


@dataclass(frozen=True, slots=True)
class Adjudication:
    unit_id: str
    version: int
    person_id: str
    answers: tuple[Answer, ...]
    comment: str
    at: int


COLUMNS = Columns(Adjudication, schema.adjudications, without=["answers"])


def save(
    tx: Tx, *, unit_id: str, person_id: str, answers: Sequence[Answer], version: int | None = None, comment: str = ""
) -> Adjudication:
    """Store a decision; `version` is the one it was made from (0: none), and an older one is stale."""
    people.lock(tx, person_id)
    units.lock(tx, unit_id)
    newest = find(tx, unit_id)
    known = newest.version if newest else 0
    if version is not None and version != known:
        raise Stale(
            f"somebody adjudicated this unit in the meantime (version {known}); yours was made from {version}"
        )
    saved = Adjudication(
        unit_id=unit_id, version=known + 1, person_id=person_id, answers=tuple(answers), comment=comment, at=tx.now
    )
    tx.insert(schema.adjudications, COLUMNS.row(saved) | {"answers": [asdict(answer) for answer in answers]})
    events.write(tx, person_id, "adjudication.saved", unit_id, {"version": saved.version})
    return saved


def find(tx: Tx, unit_id: str) -> Adjudication | None:
    query = select(schema.adjudications).where(schema.adjudications.c.unit_id == unit_id)
    row = tx.first(query.order_by(schema.adjudications.c.version.desc()).limit(1))
    return None if row is None else _record(row)


def all(tx: Tx) -> list[Adjudication]:  # noqa: A001  (read as adjudications.all)
    """The newest decision about every unit that has one."""
    order = (tx.binary(schema.adjudications.c.unit_id), schema.adjudications.c.version)
    newest = {row.unit_id: row for row in tx.all(select(schema.adjudications).order_by(*order))}
    return [_record(row) for row in newest.values()]


def _record(row: Record) -> Adjudication:
    return COLUMNS.read(row, answers=tuple(answer_of(stored) for stored in row.answers))


def answer_of(stored: Mapping[str, Json]) -> Answer:
    return Answer(
        item_id=str(stored["item_id"]),
        label=str(stored["label"]),
        confidence=str(stored.get("confidence") or ""),
        flags=tuple(cast("list[str]", stored.get("flags") or [])),
        alternatives=tuple(cast("list[str]", stored.get("alternatives") or [])),
        payload=cast("Mapping[str, Json]", stored.get("payload") or {}),
    )


@dataclass(frozen=True, slots=True)
class ListedSuspect:
    """One suspect at its place in the list, from 1 on; `label` is empty and `by` nobody where it is open."""

    unit_id: str
    place: int
    item: Item
    payload: Mapping[str, Json]
    version: int
    label: str
    by: str
    at: int | None


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
"""Of the newest decision, empty where it is open.  Equal JSON is equal text (`schema.columns`), so that it can be
seen without reading every answer."""


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


SUSPECTS = (
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
SUSPECT_AT = SUSPECTS.where(bindparam("place") == PLACE)
SUSPECT_COUNTS = _decided(LABEL, func.count().label("n")).group_by(LABEL)
OPEN = _decided(PLACE).where(LABEL == "").order_by(PLACE).limit(ONE)
OPEN_AFTER, OPEN_BEFORE = OPEN.where(bindparam("place") < PLACE), OPEN.where(bindparam("place") > PLACE)


def suspects_of_job(
    tx: Tx, job_id: str, *, label: str | None = None, start: int = 0, most: int | None = None
) -> list[ListedSuspect]:
    """The list, the worst first; or those with a label, empty where open; `most` of them from number `start` on."""
    query = SUSPECTS if label is None else SUSPECTS.where(LABEL.in_([label]))
    return [_listed(row) for row in tx.all(query.order_by(PLACE).offset(start).limit(most), job=job_id)]


def suspect_at(tx: Tx, job_id: str, place: int) -> ListedSuspect | None:
    row = tx.first(SUSPECT_AT, job=job_id, place=place) if 0 < place <= LAST_PLACE else None
    return None if row is None else _listed(row)


def suspect_counts(tx: Tx, job_id: str) -> dict[str, int]:
    return {row.label: row.n for row in tx.all(SUSPECT_COUNTS, job=job_id)}


def next_open_suspect(tx: Tx, job_id: str, place: int) -> int:
    """The place of the next open suspect after this one, from the start again after the end; 0 where none is open."""
    return tx.value(OPEN_AFTER, job=job_id, place=place) or tx.value(OPEN_BEFORE, job=job_id, place=place) or 0


def _listed(row: Record) -> ListedSuspect:
    is_decided = bool(row.label)
    return ListedSuspect(
        unit_id=row.unit_id,
        place=row.position,
        item=Item(row.essay_id, Span(row.start, row.end), row.kind),
        payload=row.payload,
        version=row.version or 0,
        label=row.label,
        by=row.name if is_decided else "",
        at=row.at if is_decided else None,
    )
