"""TODO: what this chapter is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row

from grater.store import Tx, assignments, judgments, leases, people, progress, submissions
from grater.store.jobs import Job
from grater.store.people import Person
from grater.tasks import TASKS, Answer


@dataclass(frozen=True, slots=True)
class OwnJob:
    """A job as one rater sees it: nothing of other raters, nothing of where its units come from."""

    job: Job
    task_title: str
    n_done: int
    n_assigned: int | None
    is_begun: bool

    @property
    def is_finished(self) -> bool:
        return self.n_assigned is not None and self.n_done >= self.n_assigned


def own_job(tx: Tx, job: Job, person: Person) -> OwnJob:
    n_done = progress.of_person(tx, job.job_id, person.person_id)
    n_assigned = None
    if job.access == "assigned":
        n_assigned = sum(each.person_id == person.person_id for each in assignments.of_job(tx, job.job_id))
    is_begun = leases.held(tx, job_id=job.job_id, person_id=person.person_id) is not None
    return OwnJob(job, TASKS[job.task].title, n_done, n_assigned, is_begun)


@dataclass(frozen=True, slots=True, eq=False)
class Sent:
    """One rater's answers to a unit, as staff see them."""

    person: Person
    submission: Row[Any]
    answers: tuple[Answer, ...]


def is_finished(tx: Tx, unit_id: str) -> bool:
    far = progress.of_unit(tx, unit_id)
    return far is not None and far.is_done


def sent_for(tx: Tx, unit_id: str) -> list[Sent]:
    """Everything that was sent for a unit, with who sent it."""
    return [
        Sent(people.get(tx, row.person_id), row, judgments.answers_of(tx, row.submission_id))
        for row in submissions.of_unit(tx, unit_id)
    ]
