"""The work page: one unit, its questions, an answer that is stored before anybody says so."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from grater.errors import BadInput, Conflict, NotFound
from grater.server.pages.crowd_out import is_out, put_out
from grater.server.pages.desks import DESKS
from grater.server.visit import Visit, Visiting
from grater.server.work import Desk, desk_of, hand_in, seconds_of, submission_id_of, take_next
from grater.store import gold, guidelines, judgments, leases, progress, submissions
from grater.tasks import Field
from grater.tasks.form import UNANSWERED

router = APIRouter()

OPEN_STATES = ("held",)


@router.get("/leases/{lease_id}")
def work_page(visit: Visiting, lease_id: str) -> Response:
    desk = _desk(visit, lease_id)
    if desk.lease.state not in OPEN_STATES:
        return visit.page("over.html", desk=desk)
    if desk.task.name in DESKS:
        return DESKS[desk.task.name](visit, desk.lease, desk.unit, guidelines=_guidelines(visit, desk))
    return _form(visit, desk, filled={}, problems={})


@router.post("/leases/{lease_id}")
def submit(visit: Visiting, lease_id: str) -> Response:
    desk = _desk(visit, lease_id)
    fields = visit.fields()
    now = visit.server.store.clock()
    try:
        receipt = hand_in(
            visit.server.store,
            desk,
            fields,
            submission_id=visit.text("submission_id"),
            seconds=seconds_of(visit.text("seconds"), desk.lease, now),
        )
    except BadInput as error:
        if desk.task.name in DESKS:
            raise
        return _form(visit, desk, filled=fields, problems=by_field(error, desk.shown.fields))
    except Conflict:
        desk = _desk(visit, lease_id)
        if desk.lease.state in OPEN_STATES:
            raise
        return visit.page("over.html", status=409, desk=desk)  # another tab was first, and its answer counts
    if not is_told(desk, receipt.is_right):
        return _on(visit, desk)
    if is_out(visit, desk.lease.job_id):
        return put_out(visit, desk)
    return visit.go(f"/leases/{lease_id}/feedback")


@router.post("/leases/{lease_id}/return")
def give_back(visit: Visiting, lease_id: str) -> Response:
    """The rater would rather not do this one."""
    desk = _desk(visit, lease_id)
    with visit.server.store.write() as tx:
        leases.give_back(tx, lease_id, person_id=visit.person.person_id)
    return visit.go(f"/jobs/{desk.lease.job_id}")


@router.get("/leases/{lease_id}/feedback")
def feedback_page(visit: Visiting, lease_id: str) -> Response:
    """What would have been right: after practice, and after a miss on gold; never before the answer."""
    desk = _desk(visit, lease_id)
    with visit.server.store.read() as tx:
        stored = submissions.find(tx, submission_id_of(lease_id))
        if stored is None or not is_told(desk, stored.is_right):
            raise NotFound("there is no feedback here")
        known = gold.of_unit(tx, desk.unit.unit_id)
        answers = judgments.answers_of(tx, stored.submission_id)
    return visit.page("feedback.html", desk=desk, known=known, answers=answers, is_right=stored.is_right)


def is_told(desk: Desk, is_right: bool | None) -> bool:
    """Whether the rater hears what would have been right."""
    return desk.unit.role == "practice" or (desk.unit.role == "gold" and is_right is False)


def by_field(error: BadInput, fields: tuple[Field, ...]) -> dict[str, list[str]]:
    """The problems of a form under the names of their fields; what belongs to none is under the empty name."""
    names = {field.name for field in fields}
    found: dict[str, list[str]] = {}
    for problem in error.problems:
        name, _, words = problem.message.partition(": ")
        told = "This one needs an answer." if words.startswith(UNANSWERED) else words or problem.message
        found.setdefault(name if name in names else "", []).append(told)
    return found


def _desk(visit: Visit, lease_id: str) -> Desk:
    with visit.server.store.glance() as tx:
        return desk_of(tx, lease_id, person_id=visit.person.person_id)


def _guidelines(visit: Visit, desk: Desk) -> str:
    with visit.server.store.read() as tx:
        current = guidelines.current(tx, desk.lease.job_id)
    return current.markdown if current else desk.task.guidelines


def _on(visit: Visit, desk: Desk) -> Response:
    if desk.lease.place == leases.MENDING:
        return visit.go("/reviews")
    lease = take_next(visit.server.store, job_id=desk.lease.job_id, person_id=visit.person.person_id)
    return visit.go(f"/leases/{lease.lease_id}" if lease else f"/jobs/{desk.lease.job_id}/done")


def _form(visit: Visit, desk: Desk, *, filled: dict[str, list[str]], problems: dict[str, list[str]]) -> Response:
    with visit.server.store.glance() as tx:
        n_done = progress.of_person(tx, desk.lease.job_id, visit.person.person_id)
    shown = {"desk": desk, "shown": desk.shown, "filled": filled, "problems": problems, "n_done": n_done}
    return visit.page("lease.html", shown, status=422 if problems else 200)
