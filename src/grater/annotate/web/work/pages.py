"""A rater's work: the list of jobs, a job's instructions, one unit after the other, and the last page of all.

An answer is stored before anybody says so.  Most tasks are a form; a task may bring a page of its own (`DESKS`).

A rater who was ejected reads on the last page why, what would have been right, and the panel's code.  Their sessions
have ended with the answer that ejected them, so the way to this page is signed with the study's key: it opens without
a session, in a form and after the script of the marking page alike, and for nobody who guesses.

The essay marking page is filled by the modules under `static/marking`; this file tells them what they need in one
block of JSON, and takes the autosaved drafts.  A draft may be unfinished (a correction still owed), but its spans
must be right: a quote that is not what the text has there is refused at once, not at the end.  A draft made from an
older revision gets 409 with the newer one, and the annotator chooses.

With every draft come back the findings of `corpus check` on it, as notes that the annotator can jump to (NUCLE,
section 4: annotators were asked to review corrections that appeared to contain mistakes).

Managers send a job's marks through the same check; an annotator then mends an essay, or keeps a mark as it is.
"""

from __future__ import annotations

import hashlib
import hmac
from typing import Protocol

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict
from starlette.responses import JSONResponse, Response

from grater.annotate.store import (
    Tx,
    gold,
    jobs,
    judgments,
    leases,
    people,
    progress,
    revisions,
    submissions,
    trust,
    units,
)
from grater.annotate.store.gold import has_gold
from grater.annotate.store.leases import Lease
from grater.annotate.store.revisions import Draft
from grater.annotate.store.units import StudyUnit
from grater.annotate.study import drafts
from grater.annotate.study.adjudication import review
from grater.annotate.study.drafts import findings, tag_json
from grater.annotate.study.jobs import visible_job
from grater.annotate.study.panels import conclude
from grater.annotate.study.raters import pace_of
from grater.annotate.study.work import (
    Desk,
    OwnJob,
    desk_of,
    essay_receipt,
    hand_in_and_take,
    is_told,
    may_skip,
    own_job,
    page_state,
    returns_left,
    revise,
    seconds_of,
    settle_finding,
    submission_id_of,
    take_next,
    undo_answer,
    undoable_lease,
)
from grater.annotate.study.work import give_back as give_unit_back
from grater.annotate.study.work import skip as skip_unit
from grater.annotate.tasks import TASKS, Field
from grater.annotate.tasks.form import UNANSWERED
from grater.annotate.tasks.marking import TASK as MARKING
from grater.annotate.tasks.marking import tagset_of
from grater.annotate.tasks.suggestions import SUGGESTED, suggestions_of
from grater.annotate.tasks.task import Unit
from grater.annotate.web.context import Context, RequestContext
from grater.annotate.web.errors import status_of
from grater.annotate.web.jobs.pages import job_view
from grater.annotate.web.work.crowd_view import crowd_view
from grater.errors import BadInput, Conflict, GraterError, NotFound, Stale
from grater.model import Json
from grater.registry import Registry
from grater.sheet import counted

router = APIRouter()

OPEN_STATES = ("held",)


@router.get("/jobs")
def job_list(context: Context, early: bool = False) -> Response:
    """`early`: whoever reads it has just joined for a job that is not open yet."""
    with context.server.store.read() as tx:
        own_jobs = [own_job(tx, job, context.person) for job in jobs.all(tx) if job.state == "open"]
        n_findings = len(revisions.open_findings(tx, context.person.person_id))
    to_do = [mine for mine in own_jobs if mine.n_assigned != 0]
    return context.page("jobs.html", own_jobs=to_do, n_findings=n_findings, is_early=early)


@router.get("/jobs/{job_id}")
def job_page(context: Context, job_id: str) -> Response:
    with context.server.store.read() as tx:
        mine = own_job(tx, visible_job(tx, job_id), context.person)
        crowd = crowd_view(tx, mine.job, context.person)
        current = jobs.current_guidelines(tx, job_id)
        pace = pace_of(tx, mine.job, context.person.person_id, n_done=mine.n_done, pools=context.server.pools)
    markdown = current.markdown if current else TASKS[mine.job.task].guidelines
    version = current.version if current else 0
    return context.page("job.html", mine=mine, crowd=crowd, pace=pace, markdown=markdown, guidelines_version=version)


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
        has_all = has_answered_all(tx, mine)
    is_over = crowd.place is not None and crowd.place.state != "joined"
    shown = {"mine": mine, "crowd": crowd, "undo_id": "" if is_over else undo_id, "receipt": receipt}
    return context.page("done.html", shown, has_all=has_all)


def has_answered_all(tx: Tx, mine: OwnJob) -> bool:
    """Whether nothing of a job can ever come back to this rater; where gold is counted too, nobody knows."""
    if mine.job.task == "construction" or has_gold(mine.job):
        return False
    return 0 < progress.n_units(tx, mine.job.job_id) <= mine.n_done


class WorkPage(Protocol):
    """The page for a unit that the person holds; it sends its answer to the lease like a form."""

    def __call__(
        self, context: RequestContext, lease: Lease, study_unit: StudyUnit, *, guidelines: str
    ) -> Response: ...


DESKS: Registry[WorkPage] = Registry(
    "desk", "grater.desks", {"marking": "grater.annotate.web.work.pages:marking_page"}
)
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


class SentDraft(BaseModel):
    """What the page saves: its marks, and the revision that they were made on."""

    model_config = ConfigDict(extra="forbid", strict=True)
    revision: int
    body: dict[str, object]


def marking_page(context: RequestContext, lease: Lease, study_unit: StudyUnit, *, guidelines: str) -> Response:
    """The page for an essay that the person holds."""
    with context.server.store.read() as tx:
        draft = revisions.find_draft(tx, unit_id=lease.unit_id, person_id=lease.person_id) or Draft(0)
        pace = pace_of(tx, study_unit.job, lease.person_id)
        receipt = essay_receipt(tx, context.request.query_params.get("after", ""), person_id=lease.person_id)
        n_returns = returns_left(tx, lease)
        kept = Desk(lease, study_unit, MARKING, tx.key).shown.kept
    offered = suggestions_of(study_unit.unit) if kept.get(SUGGESTED) else ()
    sent = told(study_unit.unit, draft) | {
        "suggestions": [suggestion.as_json() for suggestion in offered],
        "lease": lease.lease_id,
        "person": lease.person_id,
        "token": context.csrf,
        "submission": submission_id_of(lease.lease_id),
        "urls": {"draft": f"/leases/{lease.lease_id}/draft", "submit": f"/leases/{lease.lease_id}"},
    }
    shown = {"sent": sent, "job": study_unit.job, "guidelines": guidelines, "pace": pace, "receipt": receipt}
    shown |= {"mends": lease.place == leases.REVISION, "n_returns": n_returns, "may_skip": may_skip(study_unit.job)}
    return context.page("marking.html", shown)


@router.put("/leases/{lease_id}/draft")
def save_draft(context: Context, lease_id: str, sent: SentDraft) -> Response:
    store, person_id = context.server.store, context.person.person_id
    try:
        with context.changing() as tx:
            saved = drafts.save_draft(tx, lease_id, person_id=person_id, revision=sent.revision, body=sent.body)
        return JSONResponse(saved.reply())
    except Stale:
        with store.read() as tx:
            newer = drafts.draft_of(tx, lease_id, person_id=person_id)[1]
        return JSONResponse({"revision": newer.revision, "body": newer.body}, 409)
    except GraterError as error:
        return JSONResponse({"message": str(error)}, status_of(error))


def told(unit: Unit, draft: Draft) -> dict[str, Json]:
    """What the page is told of an essay: its text, the tags, the draft, the notes on it; nothing of anybody else."""
    return {
        "text": unit.essay.text,
        "tags": [tag_json(tag) for tag in tagset_of(unit)],
        "draft": {"revision": draft.revision, "body": draft.body},
        "findings": findings(unit, draft.body),
    }


@router.get("/reviews")
def reviews_page(context: Context) -> Response:
    """What this person should look at again, essay by essay."""
    with context.server.store.read() as tx:
        findings = revisions.open_findings(tx, context.person.person_id)
        unit_ids = dict.fromkeys(finding.unit_id for finding in findings)
        by_unit = {unit_id: units.get(tx, unit_id) for unit_id in unit_ids}
    groups = [
        (unit, [finding for finding in findings if finding.unit_id == unit_id]) for unit_id, unit in by_unit.items()
    ]
    return context.page("reviews.html", groups=groups)


@router.post("/reviews/{finding_id}/keep")
def keep(context: Context, finding_id: str) -> Response:
    """The mark is as it should be."""
    with context.changing() as tx:
        settle_finding(tx, finding_id, "kept", person_id=context.person.person_id)
    return context.go("/reviews")


@router.post("/reviews/units/{unit_id}/mend")
def mend(context: Context, unit_id: str) -> Response:
    """The essay again, with the marks as they are."""
    with context.changing() as tx:
        lease = revise(tx, unit_id, person_id=context.person.person_id)
    return context.go(f"/leases/{lease.lease_id}")


@router.post("/manage/jobs/{job_id}/review")
def look_over(context: Context, job_id: str) -> Response:
    """Put what the check finds in the marks of a job into its annotators' queues."""
    with context.server.store.read() as tx:
        name = jobs.get(tx, job_id).name
    n_new = review(context.store, name, actor=context.person.person_id)
    told = f"{counted(n_new, 'mark')} returned to their annotators." if n_new else "No new unusual marks."
    return job_view(context, job_id, told=told)
