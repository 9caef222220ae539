"""A rater's work: the list of jobs, a job's instructions, one unit after the other, and the last page of all.

An answer is stored before it is acknowledged.  Most tasks are a form; a task may bring a separate page (`DESKS`).

A rater who was ejected reads on the last page why, what would have been right, and the panel's code.  The answer that
ejected them ended their sessions, so the address of this page is signed with the study's key: it opens without a
session, after a form or the marking script, and cannot be guessed.

The essay marking page is filled by the modules under `static/marking`; this file tells them what they need in one
block of JSON, and takes the autosaved drafts.  A draft may be unfinished (a correction still owed), but its spans
must be right: a quote that is not what the text has there is refused at once, not at the end.  A draft made from an
older revision gets 409 with the newer one, and the annotator chooses.

With every draft come back the findings of `corpus lint` on it, as notes that the annotator can jump to (NUCLE,
section 4: annotators were asked to review corrections that appeared to contain mistakes).

Managers send a job's marks through the same check; an annotator then corrects an essay, or keeps a mark as it is.

Annotators see the essays that they handed in, and reopen them until their adjudication begins (`marks`).
"""

from __future__ import annotations

import hmac
import json
from dataclasses import asdict, dataclass
from typing import Annotated, Literal, Protocol

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints
from starlette.responses import JSONResponse, Response

from grater.annotate import (
    jobs,
    leases,
    marks,
    messages,
    panels,
    people,
    progress,
    standing,
    submissions,
    units,
    work,
)
from grater.annotate.adjudication import sent_edit
from grater.annotate.jobs import Job
from grater.annotate.panels import PanelPlace, conclude
from grater.annotate.people import Person
from grater.annotate.plans import AN_HOUR, seconds_each
from grater.annotate.protocol import restrictions
from grater.annotate.raters import pace_of
from grater.annotate.requests import LARGEST
from grater.annotate.standing import Trust, has_gold
from grater.annotate.store import Tx
from grater.annotate.submissions import Desk
from grater.annotate.tasks import TASKS
from grater.annotate.tasks import Field as FormField
from grater.annotate.tasks.marking import MOST_EDITS, REJECTED, SUGGESTED, suggestions_of, tagset_of
from grater.annotate.tasks.marking import TASK as MARKING
from grater.annotate.tasks.task import UNANSWERED, Unit
from grater.annotate.terms import Terms, money, quiz_needed, terms_of
from grater.annotate.units import StudyUnit
from grater.annotate.web.calls import (
    A_PAGE,
    Answer,
    Body,
    Edit,
    Most,
    Shape,
    Shown,
    Start,
    When,
    by_form,
    calls_about,
    example,
    list_at,
)
from grater.annotate.web.context import Changing, Context, Reading, RequestContext, Routes
from grater.annotate.web.errors import status_of
from grater.annotate.web.rendering import pager
from grater.annotate.web.security import ANYBODY, EVERYBODY, signed
from grater.annotate.work import DraftBody, EditSent, OwnJob
from grater.corpora.tagsets import Tag
from grater.errors import BadInput, Conflict, GraterError, NotFound, Stale
from grater.model import Json
from grater.options import Registry

pages = Routes(EVERYBODY)
without_session = Routes(ANYBODY)

ROWS = 50


@pages.get("/jobs")
def job_list(context: Context, tx: Reading, early: bool = False) -> Response:
    """`early`: the reader has just joined for a job that is not open yet."""
    own_jobs = [work.own_job(tx, job, context.person) for job in jobs.all(tx) if job.state == "open"]
    n_findings = len(marks.open_findings(tx, context.person_id))
    n_essays = marks.n_own_essays(tx, context.person_id)
    to_do = [mine for mine in own_jobs if mine.n_assigned != 0]
    return context.page("jobs.html", own_jobs=to_do, n_findings=n_findings, n_essays=n_essays, is_early=early)


@pages.get("/jobs/{job_id}")
def job_page(context: Context, tx: Reading, job_id: str) -> Response:
    mine = work.own_job(tx, jobs.visible(tx, job_id), context.person)
    crowd = crowd_view(tx, mine.job, context.person)
    current = jobs.current_guidelines(tx, job_id)
    markdown = instructions(tx, mine.job)
    pace = pace_of(tx, mine.job, context.person_id, n_done=mine.n_done, pools=context.server.pools)
    version = current.version if current else 0
    return context.page("job.html", mine=mine, crowd=crowd, pace=pace, markdown=markdown, guidelines_version=version)


@pages.post("/jobs/{job_id}/next")
def next_unit_form(context: Context, job_id: str) -> Response:
    with context.server.store.glance() as tx:
        jobs.visible(tx, job_id)
    lease = submissions.take_next(context.server.store, job_id=job_id, person_id=context.person_id)
    return context.go(f"/leases/{lease.lease_id}" if lease else f"/jobs/{job_id}/done")


@pages.get("/jobs/{job_id}/done")
def done_page(context: Context, tx: Reading, job_id: str) -> Response:
    """The page for raters who have nothing more to do here, for now or for good."""
    mine = work.own_job(tx, jobs.visible(tx, job_id), context.person)
    crowd = crowd_view(tx, mine.job, context.person)
    undo_id = submissions.so_far(tx, job_id, context.person_id).undoable_lease_id or ""
    receipt = work.essay_receipt(tx, context.request.query_params.get("after", ""), person_id=context.person_id)
    has_all = has_answered_all(tx, mine)
    is_over = crowd.place is not None and crowd.place.state != "joined"
    shown = {"mine": mine, "crowd": crowd, "undo_id": "" if is_over else undo_id, "receipt": receipt}
    return context.page("done.html", shown, has_all=has_all)


def has_answered_all(tx: Tx, mine: OwnJob) -> bool:
    """Whether nothing of a job can ever return to this rater; unknown where gold is counted too."""
    if mine.job.task == "construction" or has_gold(mine.job):
        return False
    return 0 < progress.n_units(tx, mine.job.job_id) <= mine.n_done


def instructions(tx: Tx, job: Job) -> str:
    """The newest version, or those of the task where a job has none of its own."""
    current = jobs.current_guidelines(tx, job.job_id)
    return current.markdown if current else TASKS[job.task].guidelines


class WorkPage(Protocol):
    """The page for a unit that the person holds; it sends its answer to the lease like a form."""

    def __call__(
        self, context: RequestContext, lease: leases.Lease, study_unit: StudyUnit, *, guidelines: str
    ) -> Response: ...


DESKS: Registry[WorkPage] = Registry("desk", "grater.desks", {"marking": "grater.annotate.web.work:marking_page"})
"""Tasks whose work page is more than a form; those of third parties may bring theirs."""


def last_page(tx: Tx, person_id: str, lease_id: str) -> str:
    """Where a rater reads why they were ejected; it needs no session, for theirs has ended."""
    return f"/out/{person_id}/{lease_id}/{signed(tx.key, f'out|{person_id}|{lease_id}')}"


@without_session.get("/out/{person_id}/{lease_id}/{signature}")
def out_page(context: Context, tx: Reading, person_id: str, lease_id: str, signature: str) -> Response:
    if not hmac.compare_digest(signed(tx.key, f"out|{person_id}|{lease_id}").encode(), signature.encode()):
        raise NotFound("there is no such page")
    desk, person = submissions.desk_of(tx, lease_id, person_id=person_id), people.get(tx, person_id)
    crowd = crowd_view(tx, desk.unit.job, person)
    return context.page("crowd_out.html", job=desk.unit.job, crowd=crowd, has_login=bool(person.password_hash))


@pages.get("/leases/{lease_id}")
def work_page(context: Context, lease_id: str) -> Response:
    desk = _desk(context, lease_id)
    if desk.lease.state != "held":
        return context.page("over.html", desk=desk)
    if desk.task.name in DESKS:
        with context.server.store.read() as tx:
            guidelines = instructions(tx, desk.unit.job)
        return DESKS[desk.task.name](context, desk.lease, desk.unit, guidelines=guidelines)
    return _form(context, desk, filled={}, problems={})


@pages.post("/leases/{lease_id}")
def submit_form(context: Context, lease_id: str) -> Response:
    desk = _desk(context, lease_id)
    fields = context.fields()
    now = context.server.store.clock()
    try:
        receipt, lease = submissions.hand_in_and_take(
            context.server.store,
            desk,
            fields,
            submission_id=context.text("submission_id"),
            seconds=submissions.seconds_of(context.text("seconds"), desk.lease, now),
        )
    except BadInput as error:
        if desk.task.name in DESKS:
            raise
        return _form(context, desk, filled=fields, problems=by_field(error, desk.shown.fields))
    except Conflict:
        desk = _desk(context, lease_id)
        if desk.lease.state == "held":
            raise
        return context.page("over.html", status=409, desk=desk)  # another tab was first, and its answer counts
    if receipt.has_feedback:
        return context.go(f"/leases/{lease_id}/feedback")
    if lease is None:
        with context.server.store.write() as tx:  # after the answer that ejected the rater a panel's place ends
            if standing.find(tx, desk.lease.job_id, desk.lease.person_id).state == "ejected":
                conclude(tx, desk.lease.job_id, desk.lease.person_id)
                return context.go(last_page(tx, desk.lease.person_id, desk.lease.lease_id))
    return _next_page(context, desk, lease)


@pages.post("/leases/{lease_id}/skip")
def skip_form(context: Context, lease_id: str) -> Response:
    """Skip a unit: the rater wants another one first."""
    desk = _desk(context, lease_id)
    with context.changing() as tx:
        leases.skip(tx, lease_id, person_id=context.person_id)
    lease = submissions.take_next(context.server.store, job_id=desk.lease.job_id, person_id=desk.lease.person_id)
    return _next_page(context, desk, lease)


@pages.get("/leases/{lease_id}/feedback")
def feedback_page(context: Context, tx: Reading, lease_id: str) -> Response:
    """Show what would have been right, where raters may see it; never before the answer."""
    desk = submissions.desk_of(tx, lease_id, person_id=context.person_id)
    sent, known, answers = submissions.feedback_on(tx, desk)
    return context.page("feedback.html", desk=desk, known=known, answers=answers, is_right=sent.is_right)


def by_field(error: BadInput, fields: tuple[FormField, ...]) -> dict[str, list[str]]:
    """The problems of a form by field; those of no field are under the empty name."""
    names = {field.name for field in fields}
    by_name: dict[str, list[str]] = {}
    for problem in error.problems:
        name, _, words = problem.message.partition(": ")
        message = "Please answer this question." if words.startswith(UNANSWERED) else words or problem.message
        by_name.setdefault(name if name in names else "", []).append(message)
    return by_name


def _desk(context: RequestContext, lease_id: str) -> Desk:
    with context.server.store.glance() as tx:
        return submissions.desk_of(tx, lease_id, person_id=context.person_id)


def _next_page(context: RequestContext, desk: Desk, lease: leases.Lease | None) -> Response:
    if desk.lease.place == leases.REVISION:
        with context.server.store.read() as tx:
            has_more = marks.open_findings(tx, desk.lease.person_id)
        return context.go("/reviews" if has_more else f"/me/essays/{desk.unit.unit_id}?after={desk.lease.lease_id}")
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
        state = submissions.so_far(tx, desk.lease.job_id, desk.lease.person_id)
        pools = context.server.pools
        pace = pace_of(tx, desk.unit.job, context.person_id, n_done=state.n_done, pools=pools)
    shown = {"desk": desk, "shown": desk.shown, "filled": filled, "problems": problems}
    n_returns = leases.returns_left(desk.lease, state.n_returned)
    shown |= {"pace": pace, "n_returns": n_returns, "undo_id": state.undoable_lease_id or ""}
    shown |= {"may_skip": leases.may_skip(desk.unit.job)}
    return context.page("lease.html", shown)


class SentDraft(BaseModel):
    """What the page saves: its marks, and the revision that they were made on."""

    model_config = ConfigDict(extra="forbid", strict=True)
    revision: int
    body: dict[str, object]


def marking_page(context: RequestContext, lease: leases.Lease, study_unit: StudyUnit, *, guidelines: str) -> Response:
    with context.server.store.read() as tx:
        draft = marks.find_draft(tx, unit_id=lease.unit_id, person_id=lease.person_id) or marks.Draft(0)
        pace = pace_of(tx, study_unit.job, lease.person_id)
        receipt = work.essay_receipt(tx, context.request.query_params.get("after", ""), person_id=lease.person_id)
        n_returns = leases.returns_left(lease, standing.find(tx, lease.job_id, lease.person_id).returns)
        kept = Desk(lease, study_unit, MARKING, tx.key).shown.kept
    offered = suggestions_of(study_unit.unit) if kept.get(SUGGESTED) else ()
    submission_id, address = submissions.submission_id_of(lease.lease_id), f"/leases/{lease.lease_id}"
    sent = desk_json(context, study_unit.unit, draft, lease_id=lease.lease_id, submission_id=submission_id) | {
        "suggestions": [suggestion.as_json() for suggestion in offered],
        "urls": {"draft": f"{address}/draft", "submit": address},
    }
    shown = {"sent": sent, "job": study_unit.job, "guidelines": guidelines, "pace": pace, "receipt": receipt}
    shown |= {
        "mends": lease.place == leases.REVISION,
        "n_returns": n_returns,
        "may_skip": leases.may_skip(study_unit.job),
    }
    return context.page("marking.html", shown)


@pages.put("/leases/{lease_id}/draft")
def save_draft_form(context: Context, lease_id: str, sent: SentDraft) -> Response:
    person_id = context.person_id
    try:
        body = DraftBody.checked(**sent.body)
        saved = work.save_draft(context.store, lease_id, person_id=person_id, revision=sent.revision, body=body)
        return JSONResponse(saved)
    except Stale:
        with context.server.store.read() as tx:
            newer = work.draft_of(tx, lease_id, person_id=person_id)[1]
        return JSONResponse({"revision": newer.revision, "body": newer.body}, 409)
    except GraterError as error:
        return JSONResponse({"message": str(error)}, status_of(error))


def desk_json(
    context: RequestContext, unit: Unit, draft: marks.Draft, *, lease_id: str, submission_id: str
) -> dict[str, Json]:
    """The data of an essay for its page: its text, the tags, the draft, the notes on it; nobody else's."""
    return {
        "text": unit.essay.text,
        "tags": [asdict(tag) for tag in tagset_of(unit)],
        "draft": {"revision": draft.revision, "body": draft.body},
        "findings": work.findings(unit, draft.body),
        "lease": lease_id,
        "person": context.person_id,
        "token": context.csrf,
        "submission": submission_id,
    }


@pages.get("/reviews")
def reviews_page(context: Context, tx: Reading) -> Response:
    """The marks that this person should review, essay by essay."""
    findings = marks.open_findings(tx, context.person_id)
    groups = [
        (units.get(tx, unit_id), [finding for finding in findings if finding.unit_id == unit_id])
        for unit_id in dict.fromkeys(finding.unit_id for finding in findings)
    ]
    return context.page("reviews.html", groups=groups)


@pages.get("/me/essays")
def own_essays_page(context: Context, tx: Reading, page: int = 1, q: str = "") -> Response:
    """The essays that this person has handed in, newest first."""
    who = context.person_id
    here = pager(marks.n_own_essays(tx, who, words=q), page, size=ROWS)
    essays = marks.own_essays(tx, who, words=q, start=here.start, most=here.size)
    return context.page("me_essays.html", essays=essays, pager=here, q=q)


@pages.get("/me/essays/{unit_id}")
def own_essay_page(context: Context, tx: Reading, unit_id: str, after: str = "") -> Response:
    """Their marks, the adjudicator's comments, and a button to reopen the essay."""
    who = context.person_id
    essay = marks.find_own_essay(tx, unit_id, person_id=who)
    receipt = work.essay_receipt(tx, after, person_id=who)
    kept, marked = marks.why_kept(tx, essay.unit, who), marks.remarks_for(tx, essay)
    n_versions = marks.n_versions(tx, unit_id, who)
    shown = {"essay": essay, "marked": marked, "n_versions": n_versions, "kept": kept, "receipt": receipt}
    return context.page("me_essay.html", shown, is_late=receipt is not None and receipt.status == "surplus")


WORDS = {
    "closed": "This job is not giving out work at the moment.",
    "ejected": "You have been removed from this job because you missed too many questions with known answers.",
    "flagged": "The people who run this job have stopped your work here. Your answers stay.",
    "program": "Programs work in separate jobs.",
    "seat": "You have already worked in this job, alone or on a joint seat. Nobody is asked twice.",
    "limit": "You have done as much as one person may do in this job. Thank you.",
    "gold": "The quiz of this job has no questions for you at the moment. The people who run this job can see this.",
    "unqualified": "You do not meet a requirement of this job yet.",
}


@dataclass(frozen=True, slots=True)
class QuizState:
    """Questions with known answers that come first, how many must be right, and how many attempts are left."""

    questions: int
    needed: int
    tries: int


@dataclass(frozen=True, slots=True)
class CrowdView:
    """`reason` is why there is no work now, in a word; `words` says it to the rater.

    `limit`: the answers that one rater may give, 0 for any number.
    `lacks_consent`: the information about the job is to be agreed to; the pay amounts to `an_hour`.
    `questions` of the job to answer before its work, and `questions_after`.
    """

    terms: Terms
    standing: Trust
    reason: str
    place: PanelPlace | None
    n_valid: int
    n_unread: int
    limit: int
    lacks_consent: bool
    an_hour: str
    questions: tuple[str, ...]
    questions_after: tuple[str, ...]

    @property
    def pay(self) -> str:
        agreed = self.terms.pay
        return f"{money(agreed.cents, agreed.currency)} for each" if agreed and agreed.cents else ""

    @property
    def words(self) -> str:
        if self.reason == "ejected" and self.standing.why == "manager":
            return "The people who run this job have removed you from it."
        if self.reason == "unqualified":
            return f"{WORDS[self.reason]} Wanted: {restrictions(self.terms)}."
        return WORDS.get(self.reason, "")

    @property
    def short_of_code(self) -> str:
        """What the panel's code is for, where there is no more work and the rater has not given that."""
        is_working = self.place is not None and self.place.state == "joined"
        if not is_working or self.reason not in ("", "gold", "flagged", "closed", "seat"):
            return ""
        agreed = f"for {self.limit} valid answers" if self.limit else "for all the work of this job"
        given = f"Your panel’s code is {agreed}; you have given {self.n_valid}."
        if not self.reason:
            given += " Come back later with the same link: units that others do not finish are given out again."
        return f"{given} The people who run this job can see this, and can end your part: write to them."

    @property
    def all_words(self) -> str:
        return f"{self.words} {self.short_of_code}".strip() if self.words else ""

    @property
    def quiz(self) -> QuizState | None:
        rule, current = self.terms.gold, self.standing
        if rule is None or not self.terms.is_in_quiz(current.state):
            return None
        return QuizState(questions=rule.quiz, needed=quiz_needed(rule), tries=rule.attempts - current.attempts)


def crowd_view(tx: Tx, job: Job, person: Person) -> CrowdView:
    terms = terms_of(job.options)
    reason = standing.why_not(tx, job, person.person_id)
    if not reason and leases.lacks_quiz(tx, job, person.person_id):
        reason = "gold"
    place = panels.place_in_job(tx, job.job_id, person.person_id)
    letters = messages.of_rater(tx, person.person_id)
    lacks_consent, an_hour = standing.lacks_consent(terms, person), ""
    if lacks_consent and terms.pay and (seconds := seconds_each(tx, job.task)[0]):
        an_hour = money(terms.pay.cents * AN_HOUR / seconds, terms.pay.currency)
    return CrowdView(
        terms=terms,
        standing=standing.find(tx, job.job_id, person.person_id),
        reason=reason,
        limit=standing.limit_of(tx, job),
        n_valid=standing.n_valid(tx, job.job_id, person.person_id) if place else 0,
        lacks_consent=lacks_consent,
        an_hour=an_hour,
        questions=standing.open_questions(job, terms, person, standing.BEFORE),
        questions_after=standing.open_questions(job, terms, person, standing.AFTER),
        place=place,
        n_unread=sum(letter.to_id == person.person_id and not letter.read_at for letter in letters),
    )


Word = Annotated[str, StringConstraints(max_length=100)]


class Lease(Shape):
    """A unit in your hands until `expires_at`; `submission_id` is the id of its answer unless you choose another."""

    lease_id: str
    job_id: str
    state: Literal["held", "done", "expired", "returned", "revoked"]
    expires_at: When
    submission_id: str
    task: str
    stage: str


class FormLease(Lease, Shown):
    """A page with questions: answer each field by its name."""


class SuggestedMark(Shape):
    """A system's mark, offered where the job says so; an edit made of it names its place in the list, from 0."""

    start: int
    end: int
    tag: str
    replacements: list[str]


class EssayLease(Lease):
    """A whole essay to mark; offsets are code points of `text`."""

    text: str
    tags: list[Tag]
    suggestions: list[SuggestedMark] = Field(default_factory=list)


class Taken(Shape):
    """`lease` is null where there is no work for you now; `GET /jobs/{job_id}` says why."""

    lease: FormLease | EssayLease | None


class Reply(Body):
    """An answer: `fields` of a form, each a list of values; or for an essay `edits`, or `set_aside`.

    `rejected` are the numbers of suggestions that were turned down.
    """

    fields: dict[Word, list[str]] = Field(default_factory=dict, max_length=100)
    edits: list[EditSent] | None = Field(default=None, max_length=MOST_EDITS)
    set_aside: bool = False
    rejected: list[int] = Field(default_factory=list, max_length=MOST_EDITS)

    def as_fields(self) -> dict[str, list[str]]:
        """As a page would send it."""
        fields = dict(self.fields)
        if self.edits is not None:
            rows = [edit.model_dump(exclude_none=True) for edit in self.edits]
            fields["edits"] = [json.dumps(rows, ensure_ascii=False)]
        fields |= {REJECTED: [json.dumps(self.rejected)]} if self.rejected else {}
        return fields | ({"set_aside": ["1"]} if self.set_aside else {})


class Answered(Reply):
    """With a `submission_id` of your own, or none, sending the same again does no harm."""

    model_config = example(fields={"label": ["error"]}, submission_id="my-program-000017", seconds=3.2)
    submission_id: Annotated[str, StringConstraints(max_length=100)] = ""
    seconds: float | None = Field(default=None, ge=0, allow_inf_nan=False)


class Receipt(Shape):
    """`status` is valid, surplus (it came late and is kept), untrusted or withdrawn.

    In a job with gold a surplus answer is called valid, as late gold is: else it would tell work from gold (P5).
    `is_replay`: it was stored before.  `has_feedback`: `GET /leases/{lease_id}/feedback` shows the expected answer.
    """

    submission_id: str
    status: Literal["valid", "untrusted", "surplus", "withdrawn"]
    is_replay: bool
    has_feedback: bool


class Known(Shape):
    """One item's accepted answers, and why; for an essay the places `start-end:tag` of its errors."""

    item_id: str
    accepted: Annotated[list[str], BeforeValidator(sorted)]
    reason: str


def shape_of(desk: Desk) -> FormLease | EssayLease:
    """A piece of work as its page shows it; for an essay, its text and the tags to mark with."""
    unit, lease = desk.unit.unit, asdict(desk.lease)
    lease |= {"submission_id": desk.submission_id, "task": desk.task.name, "stage": unit.stage}
    if desk.task.name != MARKING.name:
        return FormLease.model_validate({**lease, **dict(Shown.of(desk.shown))})
    offered = suggestions_of(unit) if desk.shown.kept.get(SUGGESTED) else ()
    suggestions = [each.as_json() for each in offered]
    tags = list(tagset_of(unit))
    return EssayLease.model_validate({**lease, "text": unit.essay.text, "tags": tags, "suggestions": suggestions})


api = calls_about("work", EVERYBODY)
"""Raters call these all the time, so they answer with the bytes themselves: a shape checked again costs a thread."""


class GivenBack(Shape):
    """`was_held` is false where the lease was over already."""

    lease_id: str
    was_held: bool


class Feedback(Shape):
    is_right: bool | None
    known: list[Known]
    answers: list[Answer]


@api.post("/jobs/{job_id}/next", response_model=Taken)
def next_unit(context: Context, job_id: str) -> JSONResponse:
    """Take a unit: the one you hold in this job, or a new one; `null` if there is none for you now."""
    desk = submissions.take_desk(context.server.store, job_id=job_id, person_id=context.person_id)
    return JSONResponse(Taken(lease=shape_of(desk) if desk else None).model_dump(mode="json"))


@api.get("/leases/{lease_id}", response_model=FormLease | EssayLease)
def one_lease(context: Context, lease_id: str) -> JSONResponse:
    """One of your leases, in any state."""
    return JSONResponse(shape_of(_desk(context, lease_id)).model_dump(mode="json"))


@api.post("/leases/{lease_id}", response_model=Receipt)
def submit(context: Context, lease_id: str, sent: Answered) -> JSONResponse:
    """Submit an answer; when this returns, it is stored.

    The same again gives the stored result; another answer under the same id is a conflict (409).
    """
    desk = _desk(context, lease_id)
    store, fields = context.server.store, sent.as_fields()
    receipt = submissions.hand_in(store, desk, fields, submission_id=sent.submission_id, seconds=sent.seconds)
    is_hidden = receipt.status == "surplus" and has_gold(desk.unit.job)
    status = "valid" if is_hidden else receipt.status
    shown = {"submission_id": receipt.submission_id, "status": status, "is_replay": receipt.is_replay}
    return JSONResponse({**shown, "has_feedback": receipt.has_feedback})


def _after_giving_back(context: RequestContext, done: GivenBack) -> Response:
    desk = _desk(context, done.lease_id)
    is_revision = desk.lease.place == leases.REVISION
    return context.go(f"/me/essays/{desk.unit.unit_id}" if is_revision else f"/jobs/{desk.lease.job_id}")


@by_form(pages, "/leases/{lease_id}/return", then=_after_giving_back)
@api.post("/leases/{lease_id}/return")
def give_back(context: Context, tx: Changing, lease_id: str) -> GivenBack:
    """Give a unit back unanswered; somebody else may take it."""
    desk = submissions.desk_of(tx, lease_id, person_id=context.person_id)
    was_held = leases.give_back(tx, desk.lease.lease_id, person_id=context.person_id)
    return GivenBack(lease_id=lease_id, was_held=was_held)


@api.post("/leases/{lease_id}/skip")
def skip(context: Context, tx: Changing, lease_id: str) -> GivenBack:
    """Skip a unit; it returns at the end. Refused (409) where raters are tested."""
    desk = submissions.desk_of(tx, lease_id, person_id=context.person_id)
    was_held = leases.skip(tx, desk.lease.lease_id, person_id=context.person_id)
    return GivenBack(lease_id=lease_id, was_held=was_held)


@by_form(pages, "/leases/{lease_id}/undo", then="/leases/{made.lease.lease_id}")
@api.post("/leases/{lease_id}/undo")
def undo(context: Context, lease_id: str) -> Taken:
    """Undo your last answer, until you give the next one; the unit is yours again under a new lease."""
    return Taken(lease=shape_of(submissions.undo_answer(context.store, lease_id, person_id=context.person_id)))


@api.get("/leases/{lease_id}/feedback")
def feedback(context: Context, tx: Reading, lease_id: str) -> Feedback:
    """The expected answer, after practice and where a job shows missed gold; otherwise 404."""
    desk = submissions.desk_of(tx, lease_id, person_id=context.person_id)
    sent, known, answers = submissions.feedback_on(tx, desk)
    return Feedback.model_validate({"is_right": sent.is_right, "known": known, "answers": answers})


class DraftSent(DraftBody):
    """`revision` is the one that this draft was made from, 0 for the first."""

    model_config = example(revision=0, edits=[])
    revision: int = Field(ge=0, le=LARGEST)


class Note(Shape):
    """What `grater corpus lint` asks about an edit."""

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


@api.get("/leases/{lease_id}/draft")
def one_draft(context: Context, tx: Reading, lease_id: str) -> Draft:
    """Your unfinished marks on an essay, with notes on them; revision 0 if nothing is saved yet."""
    unit, draft = work.draft_of(tx, lease_id, person_id=context.person_id)
    body = {"edits": [], "set_aside": False, **draft.body}
    return Draft.model_validate({**body, "revision": draft.revision, "findings": work.findings(unit, draft.body)})


@api.put("/leases/{lease_id}/draft")
def save_draft(context: Context, lease_id: str, sent: DraftSent) -> DraftSaved:
    """Save unfinished marks; corrections may be missing, spans and quotes must be right.

    It also keeps the lease alive. One made from an older revision is a conflict (409): get the newer one and choose.
    """
    who = context.person_id
    saved = work.save_draft(context.store, lease_id, person_id=who, revision=sent.revision, body=sent)
    return DraftSaved.model_validate(saved)


reviews_api = calls_about("reviews", EVERYBODY)


@list_at(reviews_api, "/findings", "findings")
def my_findings(context: Context, tx: Reading) -> list[marks.Finding]:
    """Findings about your own marks that are not settled yet."""
    return marks.open_findings(tx, context.person_id)


@by_form(pages, "/reviews/{finding_id}/keep", then="/reviews")
@reviews_api.post("/findings/{finding_id}/keep", status_code=204)
def settle_finding(context: Context, tx: Changing, finding_id: str) -> None:
    """Keep a mark as it is."""
    marks.settle_finding(tx, finding_id, "kept", person_id=context.person_id)


@by_form(pages, "/reviews/units/{unit_id}/mend", then="/leases/{made.lease.lease_id}")
@reviews_api.post("/units/{unit_id}/mend")
def mend(context: Context, tx: Changing, unit_id: str) -> Taken:
    """A lease for changing your own marks; the new answer replaces the old one.

    Refused (409) once the essay's adjudication has begun, and in jobs that test their annotators.
    """
    lease = marks.begin_revision(tx, unit_id=unit_id, person_id=context.person_id)
    return Taken(lease=shape_of(submissions.desk_of(tx, lease.lease_id, person_id=context.person_id)))


class HandedIn(Shape):
    """An essay of yours, by its first words."""

    unit_id: str
    title: str
    status: Literal["valid", "untrusted"]
    at: When


class OwnMark(Shape):
    """A mark of yours; `remarks` are what the adjudicator said of its place."""

    edit: Edit
    remarks: list[str]


class OwnEssay(HandedIn):
    """`kept`: why you can no longer change it; empty where you can."""

    marks: list[OwnMark]
    versions: int
    kept: str


@list_at(reviews_api, "/me/essays", "essays", name="HandedInEssays")
def my_essays(context: Context, tx: Reading, start: Start = 0, most: Most = A_PAGE) -> list[HandedIn]:
    """The essays that you handed in, the newest first."""
    return [HandedIn.of(each) for each in marks.own_essays(tx, context.person_id, start=start, most=most)]


@reviews_api.get("/me/essays/{unit_id}")
def my_essay(context: Context, tx: Reading, unit_id: str) -> OwnEssay:
    """Your marks on an essay, with the adjudicator's remarks on them once it is decided."""
    who = context.person_id
    essay = marks.find_own_essay(tx, unit_id, person_id=who)
    text, marked = essay.unit.unit.essay.text, marks.remarks_for(tx, essay)
    return OwnEssay(
        **HandedIn.of(essay).model_dump(),
        marks=[OwnMark(edit=Edit.model_validate(sent_edit(text, edit)), remarks=remarks) for edit, remarks in marked],
        versions=marks.n_versions(tx, unit_id, who),
        kept=marks.why_kept(tx, essay.unit, who),
    )
