"""How far a job is: slots by state, judgments by unit and by rater.

Units whose judgments are complete: whether somebody decided them, and whether their raters differ.

Counts for a first look at a study, each one query however long the tables are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from sqlalchemy import and_, bindparam, case, exists, func, select

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


By: TypeAlias = Literal["label", "payload"]


@dataclass(frozen=True, slots=True)
class FinishedUnit:
    unit_id: str
    differs: bool
    is_decided: bool


def finished_units(tx: Tx, job_id: str, *, by: By = "label") -> list[FinishedUnit]:
    """The finished units of a job with two judgments or more, those on which raters differ first.

    Raters differ where an item has two labels; where the work is in the payload (marked essays), two of those.
    """
    said = (
        select(
            schema.submissions.c.unit_id,
            schema.judgments.c.item_id,
            func.count(schema.judgments.c[by].distinct()).label("ways"),
        )
        .join(schema.judgments, schema.judgments.c.submission_id == schema.submissions.c.submission_id)
        .where(schema.submissions.c.job_id == job_id, schema.submissions.c.status == "valid")
        .group_by(schema.submissions.c.unit_id, schema.judgments.c.item_id)
        .subquery()
    )
    is_decided = exists().where(schema.adjudications.c.unit_id == schema.units.c.unit_id)
    n_valid = (
        select(func.count())
        .where(schema.submissions.c.unit_id == schema.units.c.unit_id, schema.submissions.c.status == "valid")
        .scalar_subquery()
    )
    query = (
        select(schema.units.c.unit_id, func.max(said.c.ways), is_decided)
        .join(said, said.c.unit_id == schema.units.c.unit_id)
        .where(
            schema.units.c.job_id == job_id,
            schema.units.c.role == "work",
            schema.units.c.wanted > 1,
            n_valid >= schema.units.c.wanted,
        )
        .group_by(schema.units.c.unit_id, schema.units.c.position)
        .order_by(schema.units.c.position)
    )
    found = [FinishedUnit(row[0], row[1] > 1, bool(row[2])) for row in tx.all(query)]
    return sorted(found, key=lambda each: not each.differs)


def slots_by_job(tx: Tx) -> dict[str, dict[str, int]]:
    """Slots of each job by state."""
    return _nested(
        tx,
        select(schema.slots.c.job_id, schema.slots.c.state, func.count()).group_by(
            schema.slots.c.job_id, schema.slots.c.state
        ),
    )


def submissions_by_job(tx: Tx) -> dict[str, dict[str, int]]:
    """Submissions of each job by status; practice and gold too.

    Job by job and status by status, since no index has them in that order and to sort half a million takes longer.
    """
    statuses = sorted(schema.STATUSES)
    counts = [func.count().filter(schema.submissions.c.status == status) for status in statuses]
    query = select(schema.jobs.c.job_id, *counts).join(
        schema.submissions, schema.submissions.c.job_id == schema.jobs.c.job_id
    )
    found = sorted(tuple(row) for row in tx.all(query.group_by(schema.jobs.c.job_id)))
    return {job_id: {name: n for name, n in zip(statuses, ns, strict=True) if n} for job_id, *ns in found}


def units_by_job(tx: Tx) -> dict[str, dict[str, int]]:
    """Units of each job by role."""
    return _nested(
        tx,
        select(schema.units.c.job_id, schema.units.c.role, func.count()).group_by(
            schema.units.c.job_id, schema.units.c.role
        ),
    )


def _nested(tx: Tx, query: object) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for row in sorted(tuple(row) for row in tx.all(query)):  # type: ignore[arg-type]
        found.setdefault(row[0], {})[row[1]] = row[2]
    return found
