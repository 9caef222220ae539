"""What an answer meets when it comes in, by one question: its lease, its unit, and how its rater stands.

Ask when the person is locked: what the same rater sent a moment ago is then in it.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import and_, bindparam, exists, func, literal_column, select

from grater.store import jobs, schema
from grater.store.jobs import Job
from grater.store.leases import COLUMNS as LEASE
from grater.store.leases import Lease
from grater.store.transaction import Tx, locking

THEIRS_COUNT = (schema.submissions.c.person_id == bindparam("person")) & schema.submissions.c.status.in_(
    (literal_column("'valid'"), literal_column("'untrusted'"))
)
COUNTING = select(schema.submissions.c.submission_id).where(
    schema.submissions.c.unit_id == bindparam("unit"), THEIRS_COUNT
)
BETWEEN = "\x1f"
"""Between the ids of items where a question gives them together; no id has it."""
ASKED = (
    select(func.aggregate_strings(schema.unit_items.c.item_id, BETWEEN))
    .where(schema.unit_items.c.unit_id == schema.leases.c.unit_id)
    .scalar_subquery()
)
BEFORE = (
    select(
        *LEASE,
        *jobs.COLUMNS,
        schema.units.c.role.label("unit_role"),
        exists().where(schema.submissions.c.unit_id == schema.leases.c.unit_id, THEIRS_COUNT).label("is_answered"),
        func.coalesce(schema.trust.c.state, "new").label("trust"),
        ASKED.label("asked"),
        exists().where(schema.submissions.c.submission_id == bindparam("submission")).label("is_stored"),
    )
    .select_from(schema.leases)
    .join(schema.units, schema.units.c.unit_id == schema.leases.c.unit_id)
    .join(schema.jobs, schema.jobs.c.job_id == schema.leases.c.job_id)
    .outerjoin(
        schema.trust,
        and_(schema.trust.c.job_id == schema.leases.c.job_id, schema.trust.c.person_id == bindparam("person")),
    )
    .where(schema.leases.c.lease_id == bindparam("lease"), schema.leases.c.person_id == bindparam("person"))
)
BEFORE_LOCKED = locking(BEFORE, of=schema.leases)


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
