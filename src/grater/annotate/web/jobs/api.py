"""Jobs through the API: list, look, make, open and close, instructions, progress, agreement.

A new job is made from what the study holds.  Where somebody leaves a job, the work that they have not done becomes
another's.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from grater.annotate.store import Tx, jobs, judgments, people, progress
from grater.annotate.store.columns import essay_columns
from grater.annotate.store.people import Person
from grater.annotate.study import jobs as study_jobs
from grater.annotate.study.corpus import TASK as MARKING
from grater.annotate.study.corpus import marked_in
from grater.annotate.study.evaluation import live_agreement, live_marks
from grater.annotate.study.jobs import JobPlan, add_guidelines, add_job, hand_over
from grater.annotate.study.jobs import set_state as set_job_state
from grater.annotate.study.samples import of_sample
from grater.annotate.study.tables import redundancy_of
from grater.annotate.study.work import own_job
from grater.annotate.tasks import TASKS
from grater.annotate.web.calls import (
    Body,
    Deleted,
    Deleting,
    Interval,
    Job,
    Name,
    Number,
    Shape,
    When,
    at_most,
    calls_about,
    example,
    within,
)
from grater.annotate.web.context import Context, RequestContext
from grater.annotate.web.roles import MANAGERS
from grater.annotate.web.work.crowd_view import crowd_view
from grater.errors import NotFound
from grater.measure.agreement.summary import Agreement as Summary
from grater.model import Json

router = calls_about("jobs")

State = Literal["draft", "open", "paused", "closed"]


class NewJobState(Body):
    model_config = example(state="open")
    state: Literal["open", "paused", "closed"]


class NewGuidelines(Body):
    model_config = example(markdown="# What to do\n\nRead the sentence twice.")
    markdown: Annotated[str, at_most("job.guidelines", least=1)]


class OwnJob(Job):
    """A job and your part in it; `assigned` is null where anybody may take a unit."""

    done: int
    assigned: int | None
    is_begun: bool


class Jobs(Shape):
    jobs: list[OwnJob]


class Guidelines(Shape):
    version: int
    markdown: str
    at: When


class Quiz(Shape):
    """Questions with known answers that come first, how many must be right, and how many attempts are left."""

    questions: int
    needed: int
    tries: int


class OwnStanding(Shape):
    """`no_work` says in a word why you get no unit, and `words` in a sentence; both empty where you may.

    `code` and `address` are the way back to the panel that you came from, once you are done.
    """

    state: str
    no_work: str
    words: str
    pay: str
    quiz: Quiz | None
    code: str
    address: str
    unread: int


class WholeJob(OwnJob):
    guidelines: Guidelines | None
    standing: OwnStanding


class Versions(Shape):
    """The oldest first."""

    guidelines: list[Guidelines]


class RaterProgress(Shape):
    person_id: str
    name: str
    pseudonym: str
    kind: str
    valid: int
    untrusted: int
    surplus: int
    withdrawn: int
    seconds: float | None
    last_at: When


class Progress(Shape):
    """`done` units have all judgments that they want; `held` units are in raters' hands now."""

    units: int
    done: int
    wanted: int
    valid: int
    held: int
    raters: list[RaterProgress] = Field(validation_alias="by_rater")


class Coefficient(Interval):
    band: str = ""


class Pair(Shape):
    model_config = ConfigDict(extra="allow")
    raters: list[str]
    n: int
    observed: Number
    kappa: Coefficient


class Agreement(Shape):
    """As `grater agree --json` prints it: beside these keys every coefficient by its name."""

    model_config = ConfigDict(extra="allow")
    items: int
    judgments: int
    raters: list[str]
    labels: list[str]
    observed: Number
    pairs: list[Pair]
    warnings: list[str]
    signature: str


class MarkAgreement(Shape):
    """Of marked essays: is a word part of an error, of what kind, and how is it mended."""

    identification: Agreement
    classification: Agreement
    exact: Agreement


class LiveAgreement(Shape):
    """On labels, and on what they come to; of marked essays on `marks` alone; `reason` says why there is none yet."""

    labels: Agreement | None
    verdicts: Agreement | None
    marks: MarkAgreement | None
    reason: str


@router.get("/jobs")
def job_list(context: Context, state: State | None = None, task: str | None = None, name: str | None = None) -> Jobs:
    """The jobs you may see, with your part in them, optionally by state, task or name."""
    with context.server.store.read() as tx:
        all_jobs, is_manager = jobs.all(tx), context.role in MANAGERS
        known = [job for job in all_jobs if is_manager or (job.state != "draft" and job.archived_at is None)]
        wanted = [job for job in known if state in (None, job.state) and task in (None, job.task)]
        return Jobs(jobs=[_own(tx, job, context.person) for job in wanted if name in (None, job.name)])


@router.get("/jobs/{job_id}")
def one_job(context: Context, job_id: str) -> WholeJob:
    """A job with its instructions, your part in it, and why there is no work for you, if there is none."""
    with context.server.store.read() as tx:
        job = jobs.get(tx, job_id)
        if job.state == "draft" and context.role not in MANAGERS:
            raise NotFound(jobs.NO_JOB)
        current = jobs.current_guidelines(tx, job_id)
        own, view = _own(tx, job, context.person), crowd_view(tx, job, context.person)
    standing = OwnStanding(
        state=view.standing.state,
        no_work=view.reason,
        words=" ".join(filter(None, (view.words, view.short_of_code if view.words else ""))),
        pay=view.pay,
        quiz=Quiz.of(view.quiz) if view.quiz else None,
        code=view.code,
        address=view.address,
        unread=view.n_unread,
    )
    return WholeJob(**own.model_dump(), guidelines=Guidelines.of(current) if current else None, standing=standing)


@router.post("/jobs/{job_id}/state")
def set_state(context: Context, job_id: str, sent: NewJobState) -> Job:
    """Open, pause or close a job; work in progress is still accepted."""
    with context.changing() as tx:
        return Job.of(set_job_state(tx, job_id, sent.state, actor=context.person.person_id))


@router.get("/jobs/{job_id}/guidelines")
def guideline_versions(context: Context, job_id: str) -> Versions:
    """Every version of the instructions."""
    with context.server.store.read() as tx:
        jobs.get(tx, job_id)
        return Versions(guidelines=[Guidelines.of(version) for version in jobs.guidelines_versions(tx, job_id)])


@router.post("/jobs/{job_id}/guidelines")
def new_guidelines(context: Context, job_id: str, sent: NewGuidelines) -> Guidelines:
    """Save a new version of the instructions, in Markdown."""
    with context.changing() as tx:
        return Guidelines.of(add_guidelines(tx, job_id, sent.markdown, actor=context.person.person_id))


@router.get("/jobs/{job_id}/progress")
def job_progress(context: Context, job_id: str) -> Progress:
    """The progress of a job, overall and by rater."""
    with context.server.store.read() as tx:
        jobs.get(tx, job_id)
        return Progress.of(progress.of_job(tx, job_id))


@router.get("/jobs/{job_id}/agreement")
def job_agreement(context: Context, job_id: str) -> LiveAgreement:
    """Agreement so far, as `grater agree --json` prints it, on labels and verdicts, or on marks; people only."""
    with context.server.store.read() as tx:
        job = jobs.get(tx, job_id)
        if job.task == MARKING:
            marks, reason = live_marks(marked_in(tx, job_id))
            shown_marks = None if marks is None else MarkAgreement.model_validate(marks.to_dict())
            return LiveAgreement(labels=None, verdicts=None, marks=shown_marks, reason=reason)
        rows = judgments.table(tx, job_id, payload=False)
        places = essay_columns(tx)
    agreement = live_agreement(rows, TASKS[job.task], name=job.name, first=redundancy_of([job]), places=places)
    labels, verdicts = _agreed(agreement.labels), _agreed(agreement.verdicts)
    return LiveAgreement(labels=labels, verdicts=verdicts, marks=None, reason=agreement.reason)


def _own(tx: Tx, job: jobs.Job, person: Person) -> OwnJob:
    mine = own_job(tx, job, person)
    fields = Job.of(job).model_dump()
    return OwnJob(**fields, done=mine.n_done, assigned=mine.n_assigned, is_begun=mine.is_begun)


def _agreed(summary: Summary | None) -> Agreement | None:
    return None if summary is None else Agreement.model_validate(summary.to_dict())


class NewJob(Body):
    """As on the form for a new job.

    Units are made from the items of a `kind` (the task's own by default), from those that a `system` flagged, from
    `item_ids`, from a `sample`, or for marking from essays (`essay_ids`, or all); `most` of them at random.
    `annotators` are names: each unit goes to `judgments` of them; with none, anybody may take it.
    """

    model_config = example(name="prepositions", task="error", title="Is it an error?", judgments=3, open=False)
    name: Name
    task: str
    title: Annotated[str, at_most("job.title")] = ""
    judgments: Annotated[int, within("job.judgments")] = Field(default=1, description="Wanted for each unit.")
    kind: str | None = None
    system: str | None = Field(
        default=None, description="Whose suggestions choice and verify ask about, and marking offers."
    )
    suggested_share: Annotated[float, within("job.suggested_share")] = Field(
        default=1, description="Marking with a system: the share of essays for which an annotator sees its marks."
    )
    sample: str | None = Field(default=None, description="The items of this sample that nobody has judged yet.")
    item_ids: tuple[str, ...] = ()
    essay_ids: tuple[str, ...] = ()
    most: Annotated[int, within("job.most")] | None = None
    fresh: bool = Field(default=False, description="Only essays that no job of this task asks about yet.")
    annotators: tuple[str, ...] = ()
    batch_size: Annotated[int, within("job.batch_size")] = 0
    overlap_every: Annotated[int, within("job.overlap_every")] = Field(
        default=0, description="Every k-th batch is the same for all."
    )
    delay_days: Annotated[float, within("job.delay_days")] = Field(
        default=3, description="Between the two stages of constructions."
    )
    lease_minutes: Annotated[float, within("job.lease_minutes")] | None = None
    guidelines: Annotated[str, at_most("job.guidelines", least=1)] | None = Field(
        default=None, description="In Markdown; the task's own by default."
    )
    grey: bool = Field(default=False, description="Constructions: offer the grey answer.")
    tagset: str | None = Field(default=None, description="Marking: the tags to mark with, NUCLE's by default.")
    seed: Annotated[int, within("seed")] = 0
    open: bool = Field(default=True, description="False leaves a draft that raters do not see.")
    cents: Annotated[int, within("terms.pay.cents")] | None = Field(
        default=None, description="Pay per judgment; null agrees on none."
    )


@router.post("/jobs")
def make_job(context: Context, sent: NewJob) -> Job:
    """Create a job; a name that is taken is a conflict (409), so a repeated request creates no second one."""
    return Job.of(add_job(context.store, _plan(context, sent), actor=context.person.person_id))


def _plan(context: RequestContext, sent: NewJob) -> JobPlan:
    asked = sent.model_dump(exclude={"grey", "tagset", "open", "sample", "fresh"})
    payload: dict[str, Json] = {"grey": True} if sent.grey else {}
    payload |= {"tagset": sent.tagset} if sent.tagset else {}
    plan = JobPlan(**asked, payload=payload, is_open=sent.open, is_fresh=sent.fresh)
    return of_sample(context.server.store, plan, sent.sample) if sent.sample else plan


class JobPreview(Shape):
    """`seconds_each` were measured in this study or are a rough guess; `cents` are of one judgment."""

    units: int
    judgments: int
    hours: float
    seconds_each: float
    is_measured: bool
    cents: int | None
    currency: str
    words: str


@router.post("/jobs/preview")
def preview_job(context: Context, sent: NewJob) -> JobPreview:
    """Preview a job: units, hours and cost; nothing is stored."""
    plan = _plan(context, sent)
    with context.server.store.read() as tx:
        return JobPreview.of(context.server.previews.of(tx, plan))


class NewNames(Body):
    """What is left empty stays."""

    model_config = example(name="prepositions-1", title="Prepositions")
    name: Annotated[str, at_most("name")] = ""
    title: Annotated[str, at_most("job.title")] = ""


@router.post("/jobs/{job_id}/rename")
def rename_job(context: Context, job_id: str, sent: NewNames) -> Job:
    """Change a job's name and title."""
    with context.changing() as tx:
        return Job.of(study_jobs.rename_job(tx, job_id, **sent.model_dump(), actor=context.person.person_id))


class Archived(Body):
    model_config = example(archived=True)
    archived: bool


@router.post("/jobs/{job_id}/archive")
def archive_job(context: Context, job_id: str, sent: Archived) -> Job:
    """Archive or restore a job; its judgments stay in reports and exports."""
    with context.changing() as tx:
        return Job.of(study_jobs.archive_job(tx, job_id, sent.archived, actor=context.person.person_id))


@router.post("/jobs/{job_id}/delete")
def delete_job(context: Context, job_id: str, sent: Deleting) -> Deleted:
    """Delete a job without judgments."""
    with context.changing(beside="everybody") as tx:
        job = study_jobs.delete_job(tx, job_id, word=sent.word, actor=context.person.person_id)
    return Deleted(deleted=job.name)


class HandOver(Body):
    """`giver` and `taker` are names."""

    model_config = example(giver="Annotator", taker="Worker")
    giver: Name
    taker: Name


class HandedOver(Shape):
    units: int


@router.post("/jobs/{job_id}/hand-over")
def hand_over_units(context: Context, job_id: str, sent: HandOver) -> HandedOver:
    """Reassign a person's remaining units; returns their number."""
    with context.changing() as tx:
        giver, taker = people.named(tx, sent.giver), people.named(tx, sent.taker)
        return HandedOver(units=hand_over(tx, jobs.get(tx, job_id), giver, taker, actor=context.person.person_id))
