"""Work through the API: take a unit, see what is asked, hand the answer in; a program judges as a person does.

Drafts of marked essays are saved under a revision, so that no program silently overwrites a page.  Marks can be
looked at again: a manager has a job looked over, an annotator mends or keeps.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field
from starlette.responses import JSONResponse

from grater.annotate.store import gold, jobs, judgments, revisions, submissions
from grater.annotate.study import drafts
from grater.annotate.study.adjudication import review
from grater.annotate.study.drafts import draft_of, findings
from grater.annotate.study.limits import LARGEST
from grater.annotate.study.work import Desk, desk_of, hand_in, is_told, revise, take_desk, undo_answer
from grater.annotate.study.work import give_back as give_unit_back
from grater.annotate.study.work import settle_finding as settle
from grater.annotate.study.work import skip as skip_unit
from grater.annotate.tasks.marking import MOST_EDITS
from grater.annotate.web.calls import Answer, Body, Edit, Shape, calls_about, example
from grater.annotate.web.context import Context, RequestContext
from grater.annotate.web.work.shapes import (
    Answered,
    EditSent,
    EssayLease,
    FormLease,
    Known,
    Receipt,
    Taken,
    desk_json,
    known_json,
)
from grater.errors import NotFound

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


class DraftSent(Body):
    """`revision` is the one that this draft was made from, 0 for the first."""

    model_config = example(revision=0, edits=[])
    revision: int = Field(ge=0, le=LARGEST)
    edits: list[EditSent] = Field(max_length=MOST_EDITS)
    set_aside: bool = False
    rejected: list[int] = Field(
        default_factory=list, max_length=MOST_EDITS, description="Suggestions that were turned down."
    )


class Note(Shape):
    """What `grater corpus check` asks about an edit."""

    message: str
    start: int
    end: int


class Draft(Shape):
    revision: int
    edits: list[Edit]
    set_aside: bool
    rejected: list[int] = Field(default_factory=list)
    findings: list[Note]


class DraftSaved(Shape):
    revision: int
    findings: list[Note]


@router.get("/leases/{lease_id}/draft")
def one_draft(context: Context, lease_id: str) -> Draft:
    """Your unfinished marks on an essay, with notes on them; revision 0 if nothing is saved yet."""
    with context.server.store.read() as tx:
        unit, draft = draft_of(tx, lease_id, person_id=context.person.person_id)
    body = {"edits": [], "set_aside": False, **draft.body}
    return Draft.model_validate({**body, "revision": draft.revision, "findings": findings(unit, draft.body)})


@router.put("/leases/{lease_id}/draft")
def save_draft(context: Context, lease_id: str, sent: DraftSent) -> DraftSaved:
    """Save unfinished marks; corrections may be missing, spans and quotes must be right.

    It also keeps the lease alive. One made from an older revision is a conflict (409): get the newer one and choose.
    """
    body = sent.model_dump(exclude={"revision"}, exclude_none=True)
    with context.changing() as tx:
        saved = drafts.save_draft(tx, lease_id, person_id=context.person.person_id, revision=sent.revision, body=body)
    return DraftSaved.model_validate(saved.reply())


reviews_router = calls_about("reviews")


class LookedOver(Shape):
    """How many new findings wait for their annotators."""

    findings: int


class Finding(Shape):
    """`rule` and `message` of `grater corpus check` on work of yours."""

    finding_id: str
    unit_id: str
    rule: str
    message: str


class Findings(Shape):
    findings: list[Finding]


class FindingSettled(Body):
    model_config = example(state="kept")
    state: Literal["kept"]


class FindingState(Shape):
    finding_id: str
    state: str


@reviews_router.post("/jobs/{job_id}/review")
def look_over(context: Context, job_id: str) -> LookedOver:
    """Run `corpus check` on a job's marks and return the findings to their annotators, once."""
    with context.server.store.read() as tx:
        name = jobs.get(tx, job_id).name
    return LookedOver(findings=review(context.store, name, actor=context.person.person_id))


@reviews_router.get("/findings")
def my_findings(context: Context) -> Findings:
    """Findings about your own marks that are not settled yet."""
    with context.server.store.read() as tx:
        return Findings(
            findings=[Finding.of(finding) for finding in revisions.open_findings(tx, context.person.person_id)]
        )


@reviews_router.post("/findings/{finding_id}")
def settle_finding(context: Context, finding_id: str, sent: FindingSettled) -> FindingState:
    """Keep a mark as it is."""
    with context.changing() as tx:
        settle(tx, finding_id, sent.state, person_id=context.person.person_id)
    return FindingState(finding_id=finding_id, state=sent.state)


@reviews_router.post("/units/{unit_id}/mend", response_model=Taken)
def mend(context: Context, unit_id: str) -> JSONResponse:
    """A lease for correcting your own marks; the new answer replaces the old one."""
    with context.changing() as tx:
        lease = revise(tx, unit_id, person_id=context.person.person_id)
        return JSONResponse({"lease": desk_json(desk_of(tx, lease.lease_id, person_id=context.person.person_id))})
