"""What an answer meets when it comes in, by one question: its lease, its unit, and how its rater stands.

Ask when the person is locked: what the same rater sent a moment ago is then in it.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import and_, bindparam, exists, func, literal_column, select

from grater.store import jobs
from grater.store.jobs import Job
from grater.store.leases import COLUMNS as LEASE
from grater.store.leases import Lease
from grater.store.schema import jobs as job_table
from grater.store.schema import leases, submissions, trust, unit_items, units
from grater.store.transaction import Tx, locking

THEIRS_COUNT = (submissions.c.person_id == bindparam("person")) & submissions.c.status.in_(
    (literal_column("'valid'"), literal_column("'untrusted'"))
)
COUNTING = select(submissions.c.submission_id).where(submissions.c.unit_id == bindparam("unit"), THEIRS_COUNT)
BETWEEN = "\x1f"
"""Between the ids of items where a question gives them together; no id has it."""
ASKED = (
    select(func.aggregate_strings(unit_items.c.item_id, BETWEEN))
    .where(unit_items.c.unit_id == leases.c.unit_id)
    .scalar_subquery()
)
BEFORE = (
    select(
        *LEASE,
        *jobs.COLUMNS,
        units.c.role.label("unit_role"),
        exists().where(submissions.c.unit_id == leases.c.unit_id, THEIRS_COUNT).label("is_answered"),
        func.coalesce(trust.c.state, "new").label("trust"),
        ASKED.label("asked"),
        exists().where(submissions.c.submission_id == bindparam("submission")).label("is_stored"),
    )
    .select_from(leases)
    .join(units, units.c.unit_id == leases.c.unit_id)
    .join(job_table, job_table.c.job_id == leases.c.job_id)
    .outerjoin(
        trust,
        and_(trust.c.job_id == leases.c.job_id, trust.c.person_id == bindparam("person")),
    )
    .where(leases.c.lease_id == bindparam("lease"), leases.c.person_id == bindparam("person"))
)
BEFORE_LOCKED = locking(BEFORE, of=leases)


@dataclass(frozen=True, slots=True)
class Before:
    """What an answer meets: its lease (locked), the job, the unit's role and items, how the rater stands."""

    lease: Lease
    job: Job
    role: str
    is_answered: bool
    trust: str
    asked: frozenset[str]


def before_of(tx: Tx, *, submission_id: str, lease_id: str, person_id: str) -> Before | None:
    """What a new answer meets; None where its id is taken, or the lease is nobody's or another's."""
    asked = BEFORE_LOCKED if tx.is_postgres else BEFORE
    row = tx.first(asked, submission=submission_id, lease=lease_id, person=person_id)
    if row is None or row.is_stored:
        return None
    n = len(LEASE)
    lease, job = Lease(*row[:n]), Job(*row[n : n + len(jobs.COLUMNS)])
    items = frozenset(row.asked.split(BETWEEN)) if row.asked else frozenset()
    return Before(lease, job, row.unit_role, bool(row.is_answered), row.trust, items)
