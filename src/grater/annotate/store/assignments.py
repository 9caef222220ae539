"""Assignments: which named annotator does which units, in which batch of their own."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, exists, func, select

from grater.annotate.store import events, schema
from grater.annotate.store.transaction import Columns, Tx, chunks
from grater.errors import UsageError


@dataclass(frozen=True, slots=True)
class Assignment:
    """One unit for one person; `batch` is the person's own, met in order."""

    unit_id: str
    person_id: str
    batch: int = 0


COLUMNS = Columns(Assignment, schema.assignments)


def add_all(tx: Tx, job_id: str, new: Iterable[Assignment], *, actor: str | None = None) -> int:
    """Assign units and return the number of assignments; no unit may have more people than slots."""
    n_added = 0
    for portion in chunks(new):
        tx.insert(schema.assignments, [COLUMNS.row(assignment) | {"job_id": job_id} for assignment in portion])
        pairs = [[assignment.unit_id, assignment.person_id] for assignment in portion]
        events.write(tx, actor, "assignments.added", job_id, {"pairs": pairs})
        n_added += len(portion)
    _require_slots(tx, job_id)
    return n_added


def of_job(tx: Tx, job_id: str) -> list[Assignment]:
    order = (
        schema.assignments.c.batch,
        tx.binary(schema.assignments.c.unit_id),
        tx.binary(schema.assignments.c.person_id),
    )
    query = select(*COLUMNS).where(schema.assignments.c.job_id == job_id).order_by(*order)
    return [COLUMNS.read(row) for row in tx.all(query)]


def n_of(tx: Tx, job_id: str, person_id: str) -> int:
    """The number of units that are assigned to a person in a job."""
    mine = (schema.assignments.c.job_id == job_id) & (schema.assignments.c.person_id == person_id)
    return int(tx.value(select(func.count()).where(mine)) or 0)


def move(tx: Tx, job_id: str, *, giver: str, taker: str, actor: str | None = None) -> int:
    """Assign what a person has not done yet to another person; return the number of units.

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
    for portion in chunks(moved):
        theirs = schema.assignments.update().where(mine, schema.assignments.c.unit_id.in_(portion))
        tx.execute(theirs.values(person_id=taker))
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
        select(schema.units.c.position, schema.units.c.wanted, n_people.label("n_people"))
        .join(schema.assignments, schema.assignments.c.unit_id == schema.units.c.unit_id)
        .where(schema.units.c.job_id == job_id, schema.units.c.role == "work")
        .group_by(schema.units.c.unit_id, schema.units.c.position, schema.units.c.wanted)
        .having(n_people > schema.units.c.wanted)
    )
    row = tx.first(query.order_by(schema.units.c.position))
    if row is not None:
        message = f"expected at most {row.wanted} annotators, its judgments wanted; found {row.n_people}"
        raise UsageError(f"unit {row.position}: {message}")
