"""Blinding: whoever has looked at others' answers rates no more in that job (P9).

Answers to a unit that is not finished are shown to nobody who may still be asked about it.  A manager who wants to
see them says so first: from then on they get no work in the job, what they did before stays, and an event remembers
it.  Looking itself changes nothing.
"""

from __future__ import annotations

from grater.annotate.store import jobs, leases, people, progress, trust
from grater.annotate.store.transaction import Tx

WHY = "looked"


def look(tx: Tx, job_id: str, person_id: str) -> None:
    """Let a person see the answers of a job, who gives up rating in it."""
    people.lock(tx, person_id)
    jobs.get(tx, job_id)
    for lease in leases.held_by(tx, person_id, job_id=job_id):
        leases.close(tx, lease, "returned", actor=person_id)
    if not is_out(tx, job_id, person_id):
        trust.set_state(tx, job_id, person_id, "flagged", actor=person_id, why=WHY)


def is_out(tx: Tx, job_id: str, person_id: str) -> bool:
    """Whether the person gets no more work in the job, so that nothing they see can influence it."""
    return trust.find(tx, job_id, person_id).state in trust.OUT


def may_see(tx: Tx, job_id: str, unit_id: str, person_id: str) -> bool:
    """Whether somebody may see what others said of a unit: it is finished, or they rate in its job no more."""
    unit = progress.of_unit(tx, unit_id)
    return (unit is not None and unit.is_done) or is_out(tx, job_id, person_id)
