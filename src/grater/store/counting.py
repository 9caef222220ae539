"""Counts for a first look at a study, each one query however long the tables are."""

from __future__ import annotations

from sqlalchemy import case, func, select

from grater.store import schema
from grater.store.transaction import Tx


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


def flags_by_system(tx: Tx) -> dict[str, tuple[int, int]]:
    """The places that each system decided on, and how many of them it flagged."""
    flagged = func.sum(case((schema.decisions.c.flagged, 1), else_=0))
    query = select(schema.decisions.c.system, func.count(), flagged).group_by(schema.decisions.c.system)
    return {row[0]: (int(row[1]), int(row[2])) for row in sorted(tuple(row) for row in tx.all(query))}


def _nested(tx: Tx, query: object) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for row in sorted(tuple(row) for row in tx.all(query)):  # type: ignore[arg-type]
        found.setdefault(row[0], {})[row[1]] = row[2]
    return found
