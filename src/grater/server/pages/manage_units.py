"""The units of a job with their judgments, for managers.

Nobody sees others' answers to a unit that they may still judge themselves (P9): a manager sees those to units that
are not finished only after giving up to rate in the job.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter
from sqlalchemy import Row
from starlette.responses import Response

from grater.server.paging import pager
from grater.server.visit import Visit, Visiting
from grater.server.work import shown_to_staff
from grater.store import Tx, adjudications, gold, jobs, judgments, looking, people, progress, submissions, units
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
        here = pager(progress.n_units(tx, job_id), page, size=A_PAGE)
        found = progress.some_units(tx, job_id, start=here.start, most=here.size)
        rows = [(each, shown_to_staff(tx, each.unit_id)) for each in found]
    return visit.page("manage_units.html", job=job, rows=rows, pager=here)


@router.get("/manage/units/{unit_id}")
def unit_page(visit: Visiting, unit_id: str) -> Response:
    return unit_view(visit, unit_id)


def unit_view(visit: Visit, unit_id: str, *, problems: Sequence[str] = ()) -> Response:
    """One unit with what was said of it and what is known of it, as far as the manager may see that."""
    with visit.server.store.read() as tx:
        unit = units.the(tx, unit_id)
        may_see = looking.may_see(tx, unit.job.job_id, unit_id, visit.person.person_id)
        sent = sent_for(tx, unit_id) if may_see else []
        decided = adjudications.find(tx, unit_id) if may_see else None
        shown = shown_to_staff(tx, unit_id)
        known = gold.of_unit(tx, unit_id)
    values = {"unit": unit, "task": TASKS[unit.job.task], "shown": shown, "sent": sent, "decided": decided}
    status = 422 if problems else 200
    return visit.page("manage_unit.html", values, status=status, may_see=may_see, known=known, problems=problems)


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
