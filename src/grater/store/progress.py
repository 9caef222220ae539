"""How far a job is: slots by state, judgments by unit and by rater."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import and_, bindparam, case, func, select

from grater.store import schema
from grater.store.transaction import Tx


@dataclass(frozen=True, slots=True)
class UnitProgress:
    unit_id: str
    wanted: int
    valid: int

    @property
    def is_done(self) -> bool:
        return self.valid >= self.wanted


@dataclass(frozen=True, slots=True)
class RaterProgress:
    person_id: str
    name: str
    pseudonym: str
    kind: str
    valid: int
    untrusted: int
    surplus: int
    withdrawn: int
    seconds: float | None
    last_at: int


@dataclass(frozen=True, slots=True)
class Progress:
    """`units` are work units; `slots` counts them by state; `held` leases are in raters' hands now."""

    units: int
    done: int
    wanted: int
    valid: int
    slots: dict[str, int]
    held: int
    by_unit: tuple[UnitProgress, ...]
    by_rater: tuple[RaterProgress, ...]


def of_job(tx: Tx, job_id: str) -> Progress:
    by_unit = _by_unit(tx, job_id)
    counts = (
        select(schema.slots.c.state, func.count())
        .where(schema.slots.c.job_id == job_id)
        .group_by(schema.slots.c.state)
    )
    n_held = tx.value(select(func.count()).where(schema.leases.c.job_id == job_id, schema.leases.c.state == "held"))
    return Progress(
        units=len(by_unit),
        done=sum(unit.is_done for unit in by_unit),
        wanted=sum(unit.wanted for unit in by_unit),
        valid=sum(unit.valid for unit in by_unit),
        slots={row[0]: row[1] for row in sorted(tx.all(counts))},
        held=int(n_held or 0),
        by_unit=by_unit,
        by_rater=_by_rater(tx, job_id),
    )


def of_person(tx: Tx, job_id: str, person_id: str) -> int:
    """How many units of a job a rater has handed in: what they may know of the progress."""
    return int(tx.value(OF_PERSON, job=job_id, person=person_id) or 0)


def of_unit(tx: Tx, unit_id: str) -> UnitProgress | None:
    """How far one work unit is."""
    row = tx.first(BY_UNIT.where(schema.units.c.unit_id == unit_id))
    return None if row is None else UnitProgress(*row)


def some_units(tx: Tx, job_id: str, *, start: int, most: int) -> tuple[UnitProgress, ...]:
    """Work units of a job in their order, `most` of them from number `start` on."""
    query = BY_UNIT.where(schema.units.c.job_id == job_id).order_by(schema.units.c.position).offset(start).limit(most)
    return tuple(UnitProgress(*row) for row in tx.all(query))


def n_units(tx: Tx, job_id: str) -> int:
    return int(
        tx.value(select(func.count()).where(schema.units.c.job_id == job_id, schema.units.c.role == "work")) or 0
    )


def _by_unit(tx: Tx, job_id: str) -> tuple[UnitProgress, ...]:
    query = BY_UNIT.where(schema.units.c.job_id == job_id).order_by(schema.units.c.position)
    return tuple(UnitProgress(*row) for row in tx.all(query))


def _by_rater(tx: Tx, job_id: str) -> tuple[RaterProgress, ...]:
    by_status = [func.sum(case((schema.submissions.c.status == status, 1), else_=0)) for status in _STATUSES]
    who = (schema.people.c.person_id, schema.people.c.name, schema.people.c.pseudonym, schema.people.c.kind)
    query = (
        select(*who, *by_status, func.sum(schema.submissions.c.seconds), func.max(schema.submissions.c.at))
        .join(schema.submissions, schema.submissions.c.person_id == schema.people.c.person_id)
        .where(schema.submissions.c.job_id == job_id)
        .group_by(*who)
        .order_by(tx.binary(schema.people.c.name))
    )
    return tuple(RaterProgress(*row) for row in tx.all(query))


BY_UNIT = (
    select(schema.units.c.unit_id, schema.units.c.wanted, func.count(schema.submissions.c.submission_id))
    .outerjoin(
        schema.submissions,
        and_(schema.submissions.c.unit_id == schema.units.c.unit_id, schema.submissions.c.status == "valid"),
    )
    .where(schema.units.c.role == "work")
    .group_by(schema.units.c.unit_id, schema.units.c.wanted, schema.units.c.position)
)

DONE = BY_UNIT.having(func.count(schema.submissions.c.submission_id) >= schema.units.c.wanted).with_only_columns(
    schema.units.c.unit_id
)
"""Work units that have all their judgments."""

OF_PERSON = select(func.count(schema.submissions.c.unit_id.distinct())).where(
    schema.submissions.c.job_id == bindparam("job"), schema.submissions.c.person_id == bindparam("person")
)

_STATUSES = ("valid", "untrusted", "surplus", "withdrawn")
