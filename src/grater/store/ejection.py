"""Putting a rater out of a job, and taking one back: all of it in the caller's one transaction (P6).

Ejected: every valid judgment of theirs in the job becomes untrusted and its slot free for others (surplus work takes
it first), what they hold is revoked, their sessions end.  Reinstated: untrusted judgments take slots that are still
free; the rest are surplus.
"""

from __future__ import annotations

from sqlalchemy import select

from grater.store import leases, people, schema, sessions, submissions, trust
from grater.store.chunks import chunks
from grater.store.promotion import promote
from grater.store.transaction import Tx


def eject(tx: Tx, job_id: str, person_id: str, *, actor: str | None = None, why: str = "") -> int:
    """Give how many judgments lost their status."""
    people.lock(tx, person_id)
    trust.set_state(tx, job_id, person_id, "ejected", actor=actor, why=why)
    found = _with_status(tx, job_id, person_id, "valid")
    for submission_id in found:
        submissions.set_status(tx, submission_id, "untrusted", actor=actor, why=why)
    held = leases.held_by(tx, person_id, job_id=job_id)
    for lease in held:
        leases.close(tx, lease, "revoked", actor=actor)
    sessions.end_all(tx, person_id)
    promote(tx, [*_units_of(tx, found), *(lease.unit_id for lease in held)], actor=actor)
    return len(found)


def reinstate(tx: Tx, job_id: str, person_id: str, *, actor: str | None = None, why: str = "") -> tuple[int, int]:
    """Give how many judgments are valid again and how many came too late for a slot."""
    people.lock(tx, person_id)
    trust.set_state(tx, job_id, person_id, "trusted", actor=actor, why=why)
    found = [
        submissions.set_status(tx, submission_id, "valid", actor=actor, why=why)
        for submission_id in _with_status(tx, job_id, person_id, "untrusted")
    ]
    return found.count("valid"), found.count("surplus")


def _units_of(tx: Tx, submission_ids: list[str]) -> list[str]:
    found = [
        tx.all(select(schema.submissions.c.unit_id).where(schema.submissions.c.submission_id.in_(some)))
        for some in chunks(submission_ids)
    ]
    return [row.unit_id for rows in found for row in rows]


def _with_status(tx: Tx, job_id: str, person_id: str, status: str) -> list[str]:
    theirs = (
        (schema.submissions.c.job_id == job_id)
        & (schema.submissions.c.person_id == person_id)
        & (schema.submissions.c.status == status)
    )
    query = (
        select(schema.submissions.c.submission_id)
        .where(theirs)
        .order_by(schema.submissions.c.at, schema.submissions.c.submission_id)
    )
    return [row.submission_id for row in tx.all(query)]
