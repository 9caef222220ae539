"""Joint seats: a manager makes one for two people, either of the two opens it from their own page."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from grater.errors import Conflict, UsageError
from grater.server.pages.login import begin_session
from grater.server.pages.manage_people import people_view
from grater.server.problems import lines_of
from grater.server.visit import Visiting
from grater.store import people
from grater.study.seating import require_member, seat

router = APIRouter()

LONGEST_NAME = 80


@router.post("/manage/seats")
def make_seat(visit: Visiting) -> Response:
    try:
        with visit.server.store.write() as tx:
            pair = [people.the(tx, visit.text(field)) for field in ("first", "second")]
            seat(tx, pair, name=visit.text("name")[:LONGEST_NAME], actor=visit.person.person_id)
    except (Conflict, UsageError) as error:
        return people_view(visit, problems=lines_of(error))
    return visit.go("/manage/people")


@router.post("/me/seats/{person_id}")
def sit_down(visit: Visiting, person_id: str) -> Response:
    """A session as the seat; the person's own session ends with it."""
    with visit.server.store.read() as tx:
        found = require_member(tx, person_id, visit.person.person_id)
    return begin_session(visit, found, "/jobs")
