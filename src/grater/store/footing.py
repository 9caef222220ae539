"""A rater's footing in a job: all that must be known before a unit is handed out, by one question.

Ask when the person is locked: what the same rater did a moment ago is then in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, Select, and_, bindparam, exists, func, literal_column, select

from grater.errors import NotFound
from grater.store import jobs, schema
from grater.store.clock import MINUTE
from grater.store.jobs import Job
from grater.store.queue import PRACTICE
from grater.store.transaction import Tx

CLOCK_SLACK = 5 * MINUTE
"""Clocks of two machines may differ by this much before a lease from the future counts as over."""

HELD: ColumnElement[str] = literal_column("'held'")
"""A literal and no parameter, so that both engines know that the indexes of held leases will do."""

NOW = bindparam("now", type_=BigInteger)


@dataclass(frozen=True, slots=True)
class Footing:
    """`trust` is the rater's state; `held` has the columns of the lease that they hold, and is empty without one."""

    job: Job
    trust: str
    has_seat: bool
    guidelines_version: int
    practice: str | None
    has_expired: bool
    held: Sequence[Any]


def question(lease_columns: Sequence[ColumnElement[Any]]) -> Select[Any]:
    """The question, with the columns of the held lease at its end."""
    mine = and_(
        schema.leases.c.job_id == schema.jobs.c.job_id,
        schema.leases.c.person_id == bindparam("person"),
        schema.leases.c.place == 0,
        schema.leases.c.state == HELD,
    )
    theirs = and_(schema.trust.c.job_id == schema.jobs.c.job_id, schema.trust.c.person_id == bindparam("person"))
    return (
        select(
            *jobs.COLUMNS,
            func.coalesce(schema.trust.c.state, "new"),
            exists().where(schema.joint_members.c.member_id == bindparam("person")),
            func.coalesce(VERSION, 0),
            PRACTICE.scalar_subquery(),
            _over(schema.leases.alias("late").c, "ended") | _over(schema.leases.alias("early").c, "from the future"),
            *lease_columns,
        )
        .select_from(schema.jobs)
        .outerjoin(schema.trust, theirs)
        .outerjoin(schema.leases, mine)
        .where(schema.jobs.c.job_id == bindparam("job"))
    )


def of(tx: Tx, asked: Select[Any], *, job_id: str, person_id: str) -> Footing:
    row = tx.first(asked, job=job_id, person=person_id, now=tx.now)
    if row is None:
        raise NotFound(jobs.NO_JOB)
    n = len(jobs.COLUMNS)
    state, has_seat, version, practice, has_expired, *held = row[n:]
    held = held if held[0] is not None else []
    return Footing(Job(*row[:n]), state, bool(has_seat), version, practice, bool(has_expired), held)


def _over(these: Any, how: str) -> ColumnElement[bool]:
    """Whether any lease of the job is over, by one index: its end tells when it was issued."""
    at = these.expires_at
    is_over = at <= NOW if how == "ended" else at > NOW + CLOCK_SLACK + schema.jobs.c.lease_ms
    return exists().where(these.job_id == bindparam("job"), these.state == HELD, is_over)


VERSION = (
    select(func.max(schema.guidelines.c.version))
    .where(schema.guidelines.c.job_id == schema.jobs.c.job_id)
    .scalar_subquery()
)
