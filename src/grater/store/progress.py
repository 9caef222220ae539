"""How far a job is: slots by state, judgments by unit and by rater."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import and_, bindparam, case, func, select

from grater.store.schema import leases, people, slots, submissions, units
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
    counts = select(slots.c.state, func.count()).where(slots.c.job_id == job_id).group_by(slots.c.state)
    n_held = tx.value(select(func.count()).where(leases.c.job_id == job_id, leases.c.state == "held"))
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
    row = tx.first(BY_UNIT.where(units.c.unit_id == unit_id))
    return None if row is None else UnitProgress(*row)


def some_units(tx: Tx, job_id: str, *, start: int, most: int) -> tuple[UnitProgress, ...]:
    """Work units of a job in their order, `most` of them from number `start` on."""
    query = BY_UNIT.where(units.c.job_id == job_id).order_by(units.c.position).offset(start).limit(most)
    return tuple(UnitProgress(*row) for row in tx.all(query))


def n_units(tx: Tx, job_id: str) -> int:
    return int(tx.value(select(func.count()).where(units.c.job_id == job_id, units.c.role == "work")) or 0)


def _by_unit(tx: Tx, job_id: str) -> tuple[UnitProgress, ...]:
    query = BY_UNIT.where(units.c.job_id == job_id).order_by(units.c.position)
    return tuple(UnitProgress(*row) for row in tx.all(query))


def _by_rater(tx: Tx, job_id: str) -> tuple[RaterProgress, ...]:
    by_status = [func.sum(case((submissions.c.status == status, 1), else_=0)) for status in _STATUSES]
    who = (people.c.person_id, people.c.name, people.c.pseudonym, people.c.kind)
    query = (
        select(*who, *by_status, func.sum(submissions.c.seconds), func.max(submissions.c.at))
        .join(submissions, submissions.c.person_id == people.c.person_id)
        .where(submissions.c.job_id == job_id)
        .group_by(*who)
        .order_by(tx.binary(people.c.name))
    )
    return tuple(RaterProgress(*row) for row in tx.all(query))


BY_UNIT = (
    select(units.c.unit_id, units.c.wanted, func.count(submissions.c.submission_id))
    .outerjoin(submissions, and_(submissions.c.unit_id == units.c.unit_id, submissions.c.status == "valid"))
    .where(units.c.role == "work")
    .group_by(units.c.unit_id, units.c.wanted, units.c.position)
)

DONE = BY_UNIT.having(func.count(submissions.c.submission_id) >= units.c.wanted).with_only_columns(units.c.unit_id)
"""Work units that have all their judgments."""

OF_PERSON = select(func.count(submissions.c.unit_id.distinct())).where(
    submissions.c.job_id == bindparam("job"), submissions.c.person_id == bindparam("person")
)

_STATUSES = ("valid", "untrusted", "surplus", "withdrawn")
