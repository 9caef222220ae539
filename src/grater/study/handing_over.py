"""Somebody leaves before the end: what they have not done becomes another's, and no unit is left to nobody."""

from __future__ import annotations

from grater.errors import UsageError
from grater.store import Store, Tx, assignments, jobs, people
from grater.store.jobs import Job
from grater.store.people import Person
from grater.study.planning import require_other_heads


def hand_over_by_name(store: Store, *, job: str, giver: str, taker: str) -> int:
    """How many units of a job went from one named person to the other."""
    with store.write() as tx:
        return hand_over(tx, jobs.named(tx, job), people.named(tx, giver), people.named(tx, taker))


def hand_over(tx: Tx, job: Job, giver: Person, taker: Person, *, actor: str | None = None) -> int:
    """How many units went over; refused where there is nothing that could go."""
    job = jobs.lock(tx, job.job_id)
    if job.access != "assigned":
        raise UsageError(f"{job.name}: anybody may take its units, so nobody can hand them over")
    if taker.state != "active":
        raise UsageError(f"{taker.name!r} is shut out of the study, and can take nothing over")
    here = {each.person_id for each in assignments.of_job(tx, job.job_id)} | {giver.person_id, taker.person_id}
    require_other_heads(tx, {people.the(tx, person_id).name: person_id for person_id in sorted(here)})
    n_units = assignments.move(tx, job.job_id, giver=giver.person_id, taker=taker.person_id, actor=actor)
    if not n_units:
        raise UsageError(f"{job.name}: {giver.name!r} has nothing left that {taker.name!r} is not asked already")
    return n_units
