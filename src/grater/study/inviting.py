"""Somebody is asked in."""

from __future__ import annotations

from grater.store import Store, invitations, jobs, people
from grater.store.returning import invite_back


def invite(
    store: Store, *, role: str, job: str | None = None, days: float = 14, name: str = "", actor: str | None = None
) -> str:
    """The token of a new invitation; the link is the server's address with `/join/TOKEN` behind it."""
    with store.write() as tx:
        job_id = jobs.named(tx, job).job_id if job else None
        return invitations.make(tx, role=role, job_id=job_id, days=days, name=name, actor=actor)


def back(store: Store, name: str, *, days: float = 14) -> tuple[str, str]:
    """The token of a link by which somebody of the study chooses a new password, and their role."""
    with store.write() as tx:
        person = people.named(tx, name)
        return invite_back(tx, person.person_id, days=days), person.role
