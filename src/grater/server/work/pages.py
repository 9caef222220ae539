"""A rater's work: the list of jobs, a job's instructions, one unit after the other, and the last page of all.

An answer is stored before anybody says so.  Most tasks are a form; a task may bring a page of its own (`DESKS`).

A rater who was ejected reads on the last page why, what would have been right, and the panel's code.  Their sessions
have ended with the answer that ejected them, so the way to this page is signed with the study's key: it opens without
a session, in a form and after the script of the marking page alike, and for nobody who guesses.
"""

from __future__ import annotations

import hashlib
import hmac
from typing import Protocol

from fastapi import APIRouter
from starlette.responses import Response

from grater.errors import BadInput, Conflict, NotFound
from grater.registry import Registry
from grater.server.context import Context, RequestContext
from grater.server.work.crowd_view import crowd_view
from grater.store import Tx, gold, jobs, judgments, leases, people, revisions, submissions, trust
from grater.store.leases import Lease
from grater.store.units import StudyUnit
from grater.study.jobs import visible_job
from grater.study.panels import conclude
from grater.study.raters import pace_of
from grater.study.work import (
    Desk,
    desk_of,
    essay_receipt,
    hand_in_and_take,
    is_told,
    may_skip,
    own_job,
    page_state,
    seconds_of,
    submission_id_of,
    take_next,
    undo_answer,
    undoable_lease,
)
from grater.study.work import give_back as give_unit_back
from grater.study.work import skip as skip_unit
from grater.tasks import TASKS, Field
from grater.tasks.form import UNANSWERED
from grater.tasks.marking import TASK as MARKING

router = APIRouter()

OPEN_STATES = ("held",)


@router.get("/jobs")
def job_list(context: Context) -> Response:
    with context.server.store.read() as tx:
        own_jobs = [own_job(tx, job, context.person) for job in jobs.all(tx) if job.state == "open"]
        n_findings = len(revisions.open_findings(tx, context.person.person_id))
    to_do = [mine for mine in own_jobs if mine.n_assigned != 0]
    return context.page("jobs.html", own_jobs=to_do, n_findings=n_findings)


@router.get("/jobs/{job_id}")
def job_page(context: Context, job_id: str) -> Response:
    with context.server.store.read() as tx:
        mine = own_job(tx, visible_job(tx, job_id), context.person)
        crowd = crowd_view(tx, mine.job, context.person)
        current = jobs.current_guidelines(tx, job_id)
    markdown = current.markdown if current else TASKS[mine.job.task].guidelines
    version = current.version if current else 0
    return context.page("job.html", mine=mine, crowd=crowd, markdown=markdown, guidelines_version=version)


@router.post("/jobs/{job_id}/next")
def next_unit(context: Context, job_id: str) -> Response:
    with context.server.store.glance() as tx:
        visible_job(tx, job_id)
    lease = take_next(context.server.store, job_id=job_id, person_id=context.person.person_id)
    return context.go(f"/leases/{lease.lease_id}" if lease else f"/jobs/{job_id}/done")


@router.get("/jobs/{job_id}/done")
def done_page(context: Context, job_id: str) -> Response:
    """Nothing more to do here, for now or for good."""
    with context.server.store.read() as tx:
        mine = own_job(tx, visible_job(tx, job_id), context.person)
        crowd = crowd_view(tx, mine.job, context.person)
        undo_id = undoable_lease(tx, job_id, context.person.person_id)
        receipt = essay_receipt(tx, context.request.query_params.get("after", ""), person_id=context.person.person_id)
    is_over = crowd.place is not None and crowd.place.state != "joined"
    return context.page("done.html", mine=mine, crowd=crowd, undo_id="" if is_over else undo_id, receipt=receipt)


class WorkPage(Protocol):
    """The page for a unit that the person holds; it sends its answer to the lease like a form."""

    def __call__(
        self, context: RequestContext, lease: Lease, study_unit: StudyUnit, *, guidelines: str
    ) -> Response: ...


DESKS: Registry[WorkPage] = Registry("desk", "grater.desks", {"marking": "grater.server.marking.pages:marking_page"})
"""Tasks whose work page is more than a form; those of third parties may bring theirs."""


def is_out(context: RequestContext, job_id: str) -> bool:
    with context.server.store.read() as tx:
        return trust.find(tx, job_id, context.person.person_id).state == "ejected"


def put_out(context: RequestContext, desk: Desk) -> Response:
    """After the answer that put the rater out: a panel's place ends with it, and the last page tells the rest."""
    lease = desk.lease
    with context.server.store.write() as tx:
        conclude(tx, lease.job_id, lease.person_id)
        return context.go(last_page(tx, lease.person_id, lease.lease_id))


def last_page(tx: Tx, person_id: str, lease_id: str) -> str:
    """Where a rater reads why they were ejected; it needs no session, for theirs has ended."""
    return f"/out/{person_id}/{lease_id}/{_signature(tx, person_id, lease_id)}"


@router.get("/out/{person_id}/{lease_id}/{signature}")
def out_page(context: Context, person_id: str, lease_id: str, signature: str) -> Response:
    with context.server.store.read() as tx:
        if not hmac.compare_digest(_signature(tx, person_id, lease_id).encode(), signature.encode()):
            raise NotFound("there is no such page")
        desk, person = desk_of(tx, lease_id, person_id=person_id), people.get(tx, person_id)
        crowd = crowd_view(tx, desk.unit.job, person)
        known = gold.of_unit(tx, desk.unit.unit_id)
    shown = {
        "job": desk.unit.job,
        "unit": desk.unit,
        "shown": desk.shown,
        "crowd": crowd,
        "known": known,
        "has_login": bool(person.password_hash),
    }
    return context.page("crowd_out.html", shown)


def _signature(tx: Tx, person_id: str, lease_id: str) -> str:
    return hmac.new(tx.key.encode(), f"out|{person_id}|{lease_id}".encode(), hashlib.sha256).hexdigest()


@router.get("/leases/{lease_id}")
def work_page(context: Context, lease_id: str) -> Response:
    desk = _desk(context, lease_id)
    if desk.lease.state not in OPEN_STATES:
        return context.page("over.html", desk=desk)
    if desk.task.name in DESKS:
        return DESKS[desk.task.name](context, desk.lease, desk.unit, guidelines=_guidelines(context, desk))
    return _form(context, desk, filled={}, problems={})


@router.post("/leases/{lease_id}")
def submit(context: Context, lease_id: str) -> Response:
    desk = _desk(context, lease_id)
    fields = context.fields()
    now = context.server.store.clock()
    try:
        receipt, lease = hand_in_and_take(
            context.server.store,
            desk,
            fields,
            submission_id=context.text("submission_id"),
            seconds=seconds_of(context.text("seconds"), desk.lease, now),
        )
    except BadInput as error:
        if desk.task.name in DESKS:
            raise
        return _form(context, desk, filled=fields, problems=by_field(error, desk.shown.fields))
    except Conflict:
        desk = _desk(context, lease_id)
        if desk.lease.state in OPEN_STATES:
            raise
        return context.page("over.html", status=409, desk=desk)  # another tab was first, and its answer counts
    if not is_told(desk, receipt.is_right):
        return _next_page(context, desk, lease)
    if is_out(context, desk.lease.job_id):
        return put_out(context, desk)
    return context.go(f"/leases/{lease_id}/feedback")


@router.post("/leases/{lease_id}/return")
def give_back(context: Context, lease_id: str) -> Response:
    """The rater would rather not do this one."""
    desk = _desk(context, lease_id)
    give_unit_back(context.store, lease_id, person_id=context.person.person_id)
    return context.go(f"/jobs/{desk.lease.job_id}")


@router.post("/leases/{lease_id}/skip")
def skip(context: Context, lease_id: str) -> Response:
    """The rater would rather do another one first."""
    desk = _desk(context, lease_id)
    skip_unit(context.store, desk)
    lease = take_next(context.server.store, job_id=desk.lease.job_id, person_id=desk.lease.person_id)
    return _next_page(context, desk, lease)


@router.post("/leases/{lease_id}/undo")
def undo(context: Context, lease_id: str) -> Response:
    """The rater takes back their last answer, and gives another."""
    desk = undo_answer(context.store, lease_id, person_id=context.person.person_id)
    return context.go(f"/leases/{desk.lease.lease_id}")


@router.get("/leases/{lease_id}/feedback")
def feedback_page(context: Context, lease_id: str) -> Response:
    """What would have been right: after practice, and after a miss on gold; never before the answer."""
    desk = _desk(context, lease_id)
    with context.server.store.read() as tx:
        stored = submissions.find(tx, submission_id_of(lease_id))
        if stored is None or not is_told(desk, stored.is_right):
            raise NotFound("there is no feedback here")
        known = gold.of_unit(tx, desk.unit.unit_id)
        answers = judgments.answers_of(tx, stored.submission_id)
    return context.page("feedback.html", desk=desk, known=known, answers=answers, is_right=stored.is_right)


def by_field(error: BadInput, fields: tuple[Field, ...]) -> dict[str, list[str]]:
    """The problems of a form under the names of their fields; what belongs to none is under the empty name."""
    names = {field.name for field in fields}
    by_name: dict[str, list[str]] = {}
    for problem in error.problems:
        name, _, words = problem.message.partition(": ")
        message = "Please answer this question." if words.startswith(UNANSWERED) else words or problem.message
        by_name.setdefault(name if name in names else "", []).append(message)
    return by_name


def _desk(context: RequestContext, lease_id: str) -> Desk:
    with context.server.store.glance() as tx:
        return desk_of(tx, lease_id, person_id=context.person.person_id)


def _guidelines(context: RequestContext, desk: Desk) -> str:
    with context.server.store.read() as tx:
        current = jobs.current_guidelines(tx, desk.lease.job_id)
    return current.markdown if current else desk.task.guidelines


def _next_page(context: RequestContext, desk: Desk, lease: Lease | None) -> Response:
    if desk.lease.place == leases.REVISION:
        return context.go("/reviews")
    after = f"?after={desk.lease.lease_id}" if desk.task.name == MARKING.name else ""
    if lease is None:
        return context.go(f"/jobs/{desk.lease.job_id}/done{after}")
    address = f"/leases/{lease.lease_id}{after}"
    if context.request.headers.get("x-next") != "here":
        return context.go(address)
    response = work_page(context, lease.lease_id)
    response.headers["Content-Location"] = address
    return response


def _form(
    context: RequestContext, desk: Desk, *, filled: dict[str, list[str]], problems: dict[str, list[str]]
) -> Response:
    with context.server.store.glance() as tx:
        state = page_state(tx, desk.lease)
        pools = context.server.pools
        pace = pace_of(tx, desk.unit.job, context.person.person_id, n_done=state.n_done, pools=pools)
    shown = {"desk": desk, "shown": desk.shown, "filled": filled, "problems": problems}
    shown |= {"pace": pace, "n_returns": state.n_returns, "undo_id": state.undo_id}
    shown |= {"may_skip": may_skip(desk.unit.job)}
    return context.page("lease.html", shown, status=422 if problems else 200)
