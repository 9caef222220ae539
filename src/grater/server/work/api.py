"""Work through the API: take a unit, see what is asked, hand the answer in; a program judges as a person does."""

from __future__ import annotations

from starlette.responses import JSONResponse

from grater.errors import NotFound
from grater.server.calls import Answer, Shape, calls_about
from grater.server.context import Context, RequestContext
from grater.server.work.shapes import Answered, EssayLease, FormLease, Known, Receipt, Taken, desk_json, known_json
from grater.store import gold, judgments, submissions
from grater.study.work import Desk, desk_of, hand_in, is_told, take_desk, undo_answer
from grater.study.work import give_back as give_unit_back
from grater.study.work import skip as skip_unit

router = calls_about("work")
"""Raters call these all the time, so they answer with the bytes themselves: a shape checked again costs a thread."""


class GivenBack(Shape):
    """`was_held` is false where the lease was over already."""

    lease_id: str
    was_held: bool


class Feedback(Shape):
    is_right: bool | None
    known: list[Known]
    answers: list[Answer]


@router.post("/jobs/{job_id}/next", response_model=Taken)
def next_unit(context: Context, job_id: str) -> JSONResponse:
    """Take a unit: the one you hold in this job, or a new one; `null` if there is none for you now."""
    desk = take_desk(context.server.store, job_id=job_id, person_id=context.person.person_id)
    return JSONResponse({"lease": desk_json(desk) if desk else None})


@router.get("/leases/{lease_id}", response_model=FormLease | EssayLease)
def one_lease(context: Context, lease_id: str) -> JSONResponse:
    """One of your leases, in any state."""
    return JSONResponse(desk_json(_desk(context, lease_id)))


@router.post("/leases/{lease_id}", response_model=Receipt)
def submit(context: Context, lease_id: str, sent: Answered) -> JSONResponse:
    """Submit an answer; when this returns, it is stored.

    The same again gives the stored result; another answer under the same id is a conflict (409).
    """
    desk = _desk(context, lease_id)
    store, fields = context.server.store, sent.as_fields()
    receipt = hand_in(store, desk, fields, submission_id=sent.submission_id, seconds=sent.seconds)
    receipt_fields = {
        "submission_id": receipt.submission_id,
        "status": receipt.status,
        "is_replay": receipt.is_replay,
    }
    return JSONResponse({**receipt_fields, "has_feedback": is_told(desk, receipt.is_right)})


@router.post("/leases/{lease_id}/return")
def give_back(context: Context, lease_id: str) -> GivenBack:
    """Give a unit back unanswered; somebody else may take it."""
    _desk(context, lease_id)
    was_held = give_unit_back(context.store, lease_id, person_id=context.person.person_id)
    return GivenBack(lease_id=lease_id, was_held=was_held)


@router.post("/leases/{lease_id}/skip")
def skip(context: Context, lease_id: str) -> GivenBack:
    """Skip a unit; it comes back at the end. Refused (409) where raters are tested."""
    desk = _desk(context, lease_id)
    return GivenBack(lease_id=lease_id, was_held=skip_unit(context.store, desk))


@router.post("/leases/{lease_id}/undo", response_model=Taken)
def undo(context: Context, lease_id: str) -> JSONResponse:
    """Undo your last answer, until you give the next one; the unit is yours again under a new lease."""
    desk = undo_answer(context.store, lease_id, person_id=context.person.person_id)
    return JSONResponse({"lease": desk_json(desk)})


@router.get("/leases/{lease_id}/feedback")
def feedback(context: Context, lease_id: str) -> Feedback:
    """The expected answer, after practice and after a missed question with a known answer; otherwise 404."""
    with context.server.store.read() as tx:
        desk = desk_of(tx, lease_id, person_id=context.person.person_id)
        sent = submissions.of_unit(tx, desk.unit.unit_id)
        stored = next((row for row in sent if row.lease_id == lease_id), None)
        if stored is None or not is_told(desk, stored.is_right):
            raise NotFound("there is no feedback here")
        known = gold.of_unit(tx, desk.unit.unit_id)
        answers = judgments.answers_of(tx, stored.submission_id)
    given = [Answer.of(answer) for answer in answers]
    return Feedback(is_right=stored.is_right, known=known_json(known), answers=given)


def _desk(context: RequestContext, lease_id: str) -> Desk:
    with context.server.store.glance() as tx:
        return desk_of(tx, lease_id, person_id=context.person.person_id)
