"""The units of a job with their judgments, for managers.

Nobody sees others' answers to a unit that they may still judge themselves (P9): a manager sees those to units that
are not finished only after giving up to rate in the job.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter
from sqlalchemy import Row
from starlette.responses import Response

from grater.server.visit import Visiting
from grater.server.work import shown_to_staff
from grater.store import Tx, adjudications, jobs, judgments, looking, people, progress, submissions, units
from grater.store.people import Person
from grater.tasks import TASKS, Answer

router = APIRouter()

A_PAGE = 50


@dataclass(frozen=True, slots=True, eq=False)
class Sent:
    """One rater's answers to a unit, as staff see them."""

    person: Person
    submission: Row[Any]
    answers: tuple[Answer, ...]


@router.get("/manage/jobs/{job_id}/units")
def unit_list(visit: Visiting, job_id: str, page: int = 1) -> Response:
    with visit.server.store.read() as tx:
        job = jobs.the(tx, job_id)
        n_pages = max(1, -(-progress.n_units(tx, job_id) // A_PAGE))
        page = max(1, min(page, n_pages))
        here = progress.some_units(tx, job_id, start=(page - 1) * A_PAGE, most=A_PAGE)
        rows = [(each, shown_to_staff(tx, each.unit_id)) for each in here]
    return visit.page("manage_units.html", job=job, rows=rows, page=page, n_pages=n_pages)


@router.get("/manage/units/{unit_id}")
def unit_page(visit: Visiting, unit_id: str) -> Response:
    with visit.server.store.read() as tx:
        unit = units.the(tx, unit_id)
        may_see = looking.may_see(tx, unit.job.job_id, unit_id, visit.person.person_id)
        sent = sent_for(tx, unit_id) if may_see else []
        decided = adjudications.find(tx, unit_id) if may_see else None
        shown = shown_to_staff(tx, unit_id)
    values = {"unit": unit, "task": TASKS[unit.job.task], "shown": shown, "sent": sent, "decided": decided}
    return visit.page("manage_unit.html", values, may_see=may_see)


@router.post("/manage/units/{unit_id}/look")
def look(visit: Visiting, unit_id: str) -> Response:
    """See the answers of the unit's job from now on, and rate in it no more."""
    with visit.server.store.write() as tx:
        looking.look(tx, units.the(tx, unit_id).job.job_id, visit.person.person_id)
    return visit.go(f"/manage/units/{unit_id}")


def is_finished(tx: Tx, unit_id: str) -> bool:
    far = progress.of_unit(tx, unit_id)
    return far is not None and far.is_done


def sent_for(tx: Tx, unit_id: str) -> list[Sent]:
    """Everything that was sent for a unit, with who sent it."""
    return [
        Sent(people.the(tx, row.person_id), row, judgments.answers_of(tx, row.submission_id))
        for row in submissions.of_unit(tx, unit_id)
    ]
