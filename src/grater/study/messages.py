"""TODO: what this chapter is."""

from __future__ import annotations

from grater.store import Tx, messages
from grater.store.jobs import Job


def answer(tx: Tx, job: Job, person_id: str, text: str, *, actor: str) -> None:
    """A message to one rater; what they wrote has been read by then."""
    messages.send(tx, from_id=actor, to_id=person_id, job_id=job.job_id, text=text)
    messages.read_by(tx, actor, from_id=person_id)
