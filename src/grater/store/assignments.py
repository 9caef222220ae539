"""Assignments: which named annotator does which units, in which batch of their own."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, exists, func, select

from grater.errors import UsageError
from grater.store import events, schema
from grater.store.transaction import Tx, chunks


@dataclass(frozen=True, slots=True)
class Assignment:
    """One unit for one person; `batch` is the person's own, met in order."""

    unit_id: str
    person_id: str
    batch: int = 0


def add_all(tx: Tx, job_id: str, found: Iterable[Assignment], *, actor: str | None = None) -> int:
    """Assign units; no unit may have more people than slots."""
    n_added = 0
    for some in chunks(found):
        rows = [{"job_id": job_id, "unit_id": a.unit_id, "person_id": a.person_id, "batch": a.batch} for a in some]
        tx.insert(schema.assignments, rows)
        told = [[a.unit_id, a.person_id] for a in some]
        events.write(tx, actor, "assignments.added", job_id, {"pairs": told})
        n_added += len(some)
    _require_slots(tx, job_id)
    return n_added


def of_job(tx: Tx, job_id: str) -> list[Assignment]:
    query = select(schema.assignments.c.unit_id, schema.assignments.c.person_id, schema.assignments.c.batch)
    order = (
        schema.assignments.c.batch,
        tx.binary(schema.assignments.c.unit_id),
        tx.binary(schema.assignments.c.person_id),
    )
    return [Assignment(*row) for row in tx.all(query.where(schema.assignments.c.job_id == job_id).order_by(*order))]


def move(tx: Tx, job_id: str, *, giver: str, taker: str, actor: str | None = None) -> int:
    """What a person has not done yet becomes another's; give how many units.

    What the giver holds or has answered stays theirs (what nobody trusts any more does not), and so does what follows
    an answer of theirs.  What the taker has as well is left: one person gives one judgment.
    """
    mine = (schema.assignments.c.job_id == job_id) & (schema.assignments.c.person_id == giver)
    query = (
        select(schema.units.c.unit_id)
        .join(schema.assignments, schema.assignments.c.unit_id == schema.units.c.unit_id)
        .where(mine)
    )
    for unit_id in (schema.units.c.unit_id, schema.units.c.follows):
        query = query.where(~_has_answered(unit_id, giver), ~_holds(unit_id, giver))
        query = query.where(~_is_asked(unit_id, taker), ~_has_answered(unit_id, taker))
    moved = [row.unit_id for row in tx.all(query.order_by(schema.units.c.position))]
    for some in chunks(moved):
        tx.execute(
            schema.assignments.update().where(mine, schema.assignments.c.unit_id.in_(some)).values(person_id=taker)
        )
    events.write(tx, actor, "assignments.moved", job_id, {"from": giver, "to": taker, "units": moved})
    return len(moved)


def _has_answered(unit_id: ColumnElement[Any], person_id: str) -> ColumnElement[bool]:
    by_person = (schema.submissions.c.unit_id == unit_id) & (schema.submissions.c.person_id == person_id)
    return exists().where(by_person, schema.submissions.c.status != "untrusted")


def _holds(unit_id: ColumnElement[Any], person_id: str) -> ColumnElement[bool]:
    by_person = (schema.leases.c.unit_id == unit_id) & (schema.leases.c.person_id == person_id)
    return exists().where(by_person, schema.leases.c.state == "held")


def _is_asked(unit_id: ColumnElement[Any], person_id: str) -> ColumnElement[bool]:
    other = schema.assignments.alias()
    return exists().where(other.c.unit_id == unit_id, other.c.person_id == person_id)


def _require_slots(tx: Tx, job_id: str) -> None:
    n_people = func.count(schema.assignments.c.person_id)
    query = (
        select(schema.units.c.position, schema.units.c.wanted, n_people)
        .join(schema.assignments, schema.assignments.c.unit_id == schema.units.c.unit_id)
        .where(schema.units.c.job_id == job_id, schema.units.c.role == "work")
        .group_by(schema.units.c.unit_id, schema.units.c.position, schema.units.c.wanted)
        .having(n_people > schema.units.c.wanted)
    )
    row = tx.first(query.order_by(schema.units.c.position))
    if row is not None:
        raise UsageError(f"unit {row[0]}: expected at most {row[1]} annotators, its judgments wanted; found {row[2]}")
