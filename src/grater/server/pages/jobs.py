"""What there is to do: the list of jobs, a job's instructions, and the way into the work."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import APIRouter
from starlette.responses import Response

from grater.errors import NotFound
from grater.server.crowd_view import crowd_view
from grater.server.visit import Visiting
from grater.server.work import take_next
from grater.store import Tx, assignments, findings, guidelines, jobs, leases, progress
from grater.store.jobs import Job
from grater.store.people import Person
from grater.tasks import TASKS

router = APIRouter()


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


@router.get("/jobs")
def job_list(visit: Visiting) -> Response:
    with visit.server.store.read() as tx:
        found = [own_job(tx, job, visit.person) for job in jobs.all(tx) if job.state == "open"]
        n_findings = len(findings.open_of(tx, visit.person.person_id))
    mine = [each for each in found if each.n_assigned != 0]
    return visit.page("jobs.html", own_jobs=mine, n_findings=n_findings)


@router.get("/jobs/{job_id}")
def job_page(visit: Visiting, job_id: str) -> Response:
    with visit.server.store.read() as tx:
        mine = own_job(tx, _visible(tx, job_id), visit.person)
        crowd = crowd_view(tx, mine.job, visit.person)
        current = guidelines.current(tx, job_id)
    markdown = current.markdown if current else TASKS[mine.job.task].guidelines
    version = current.version if current else 0
    return visit.page("job.html", mine=mine, crowd=crowd, markdown=markdown, guidelines_version=version)


@router.post("/jobs/{job_id}/next")
def next_unit(visit: Visiting, job_id: str) -> Response:
    with visit.server.store.read() as tx:
        _visible(tx, job_id)
    lease = take_next(visit.server.store, job_id=job_id, person_id=visit.person.person_id)
    return visit.go(f"/leases/{lease.lease_id}" if lease else f"/jobs/{job_id}/done")


@router.get("/jobs/{job_id}/done")
def done_page(visit: Visiting, job_id: str) -> Response:
    """Nothing more to do here, for now or for good."""
    with visit.server.store.read() as tx:
        mine = own_job(tx, _visible(tx, job_id), visit.person)
        crowd = crowd_view(tx, mine.job, visit.person)
    return visit.page("done.html", mine=mine, crowd=crowd)


def own_job(tx: Tx, job: Job, person: Person) -> OwnJob:
    n_done = progress.of_person(tx, job.job_id, person.person_id)
    n_assigned = None
    if job.access == "assigned":
        n_assigned = sum(each.person_id == person.person_id for each in assignments.of_job(tx, job.job_id))
    is_begun = leases.held(tx, job_id=job.job_id, person_id=person.person_id) is not None
    return OwnJob(job, TASKS[job.task].title, n_done, n_assigned, is_begun)


def _visible(tx: Tx, job_id: str) -> Job:
    """Raters know of no drafts."""
    job = jobs.find(tx, job_id)
    if job is None or job.state == "draft":
        raise NotFound("there is no such job")
    return job
