"""Counts for a first look at a study, each one query however long the tables are."""

from __future__ import annotations

from sqlalchemy import func, select

from grater.store.schema import slots, submissions, units
from grater.store.transaction import Tx


def slots_by_job(tx: Tx) -> dict[str, dict[str, int]]:
    """Slots of each job by state."""
    return _nested(tx, select(slots.c.job_id, slots.c.state, func.count()).group_by(slots.c.job_id, slots.c.state))


def submissions_by_job(tx: Tx) -> dict[str, dict[str, int]]:
    """Submissions of each job by status; practice and gold too."""
    both = (submissions.c.job_id, submissions.c.status)
    return _nested(tx, select(*both, func.count()).group_by(*both))


def units_by_job(tx: Tx) -> dict[str, dict[str, int]]:
    """Units of each job by role."""
    return _nested(tx, select(units.c.job_id, units.c.role, func.count()).group_by(units.c.job_id, units.c.role))


def _nested(tx: Tx, query: object) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for row in sorted(tuple(row) for row in tx.all(query)):  # type: ignore[arg-type]
        found.setdefault(row[0], {})[row[1]] = row[2]
    return found
