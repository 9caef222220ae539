"""What there is to adjudicate: the jobs with finished units, the units of one, and which comes next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from fastapi import APIRouter
from starlette.responses import Response

from grater.server.numbers import version_of
from grater.server.paging import pager
from grater.server.visit import Visit, Visiting
from grater.server.work import shown_to_staff
from grater.store import Tx, adjudications, finished, jobs
from grater.store.finished import Finished
from grater.store.jobs import Job
from grater.tasks import Answer
from grater.tasks.marking import TASK

router = APIRouter()

MARKING = TASK.name
A_PAGE = 50
LONGEST_COMMENT = 2000
AGAIN = "Yours is still below: look at the other one, and store yours again if it should count instead."


@dataclass(frozen=True, slots=True)
class Far:
    """How far the adjudication of a job is, and the undecided unit that comes next."""

    n_done: int
    n_decided: int
    following: str | None


@router.get("/adjudicate")
def queue_page(visit: Visiting) -> Response:
    """Jobs with finished units: how many are decided, and the next to decide."""
    with visit.server.store.read() as tx:
        found = [(job, far_of(tx, job)) for job in jobs.all(tx)]
    return visit.page("adjudicate.html", found=[(job, far) for job, far in found if far.n_done])


@router.get("/adjudicate/jobs/{job_id}")
def job_page(visit: Visiting, job_id: str, show: str = "", page: int = 1) -> Response:
    """Every finished unit of a job, also those that are decided: a decision can be made again."""
    with visit.server.store.read() as tx:
        job = jobs.the(tx, job_id)
        by_show = shown_by(done_of(tx, job))
        chosen = by_show.get(show, by_show[""])
        here = pager(len(chosen), page, size=A_PAGE)
        rows = [(each, shown_to_staff(tx, each.unit_id)) for each in chosen[here.start : here.start + here.size]]
    values = {"job": job, "rows": rows, "pager": here, "show": show, "next": next_of(by_show[""])}
    return visit.page("adjudicate_job.html", values, counts={name: len(some) for name, some in by_show.items()})


def shown_by(done: list[Finished]) -> dict[str, list[Finished]]:
    """The units under each of the page's buttons; the empty name is all of them."""
    return {
        "": done,
        "undecided": [each for each in done if not each.is_decided],
        "differ": [each for each in done if each.differs],
        "decided": [each for each in done if each.is_decided],
    }


def save(visit: Visit, unit_id: str, answers: Sequence[Answer]) -> None:
    """Store the decision that a form holds, unless somebody decided in the meantime."""
    with visit.server.store.write() as tx:
        adjudications.save(
            tx,
            unit_id=unit_id,
            person_id=visit.person.person_id,
            answers=answers,
            version=version_of(visit.text("version")),
            comment=visit.text("comment")[:LONGEST_COMMENT],
        )


def on_from(visit: Visit, job: Job, unit_id: str) -> Response:
    """After a decision: the next unit of the job without one, or the other jobs."""
    with visit.server.store.read() as tx:
        following = next_of(done_of(tx, job), after=unit_id)
    return visit.go(f"/adjudicate/{following}" if following else "/adjudicate")


def next_of(done: list[Finished], *, after: str = "") -> str | None:
    """The next undecided unit behind this one, else the first of all others."""
    places = {each.unit_id: place for place, each in enumerate(done)}
    here = places.get(after, -1)
    waiting = [each.unit_id for each in done if not each.is_decided and each.unit_id != after]
    return min(waiting, key=lambda unit_id: (places[unit_id] < here, places[unit_id]), default=None)


def far_of(tx: Tx, job: Job, unit_id: str = "") -> Far:
    """How far it is, seen from a unit."""
    done = done_of(tx, job)
    return Far(len(done), sum(each.is_decided for each in done), next_of(done, after=unit_id))


def done_of(tx: Tx, job: Job) -> list[Finished]:
    """The finished units of a job, those on which raters differ first."""
    return finished.of_job(tx, job.job_id, by=by_of(job))


def by_of(job: Job) -> Literal["label", "payload"]:
    """Where raters can differ: of an essay all say that it is marked, and what they marked is in the payload."""
    return "payload" if job.task == MARKING else "label"
