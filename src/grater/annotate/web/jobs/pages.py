"""Jobs for managers: the study at a glance, a new job, one job with its progress and agreement, its instructions.

A job is made from what the study holds: a task, its units, the number of judgments, for whom.  Instructions are
written in Markdown, looked at, and saved as a version; earlier versions stay readable.  Jobs are renamed, archived
and deleted here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from fastapi import APIRouter
from starlette.responses import Response

from grater.annotate.store import (
    Tx,
    assignments,
    decisions,
    essays,
    events,
    invitations,
    items,
    jobs,
    judgments,
    panels,
    people,
    progress,
    revisions,
    samples,
    units,
)
from grater.annotate.store.columns import essay_columns
from grater.annotate.store.jobs import Job
from grater.annotate.store.people import Person
from grater.annotate.study.corpus import TASK as MARKING
from grater.annotate.study.corpus import marked_in
from grater.annotate.study.evaluation import live_agreement, live_marks
from grater.annotate.study.jobs import (
    MOVES,
    JobPlan,
    JobPreview,
    add_guidelines,
    add_job,
    archive_job,
    delete_job,
    hand_over,
    rename_job,
    require_guidelines,
)
from grater.annotate.study.jobs import set_state as set_job_state
from grater.annotate.study.samples import of_sample
from grater.annotate.study.tables import redundancy_of
from grater.annotate.study.webhooks import is_failing
from grater.annotate.study.work import shown_to_staff
from grater.annotate.tasks import TASKS
from grater.annotate.tasks.marking import DEFAULT_TAGSET
from grater.annotate.tasks.task import source_of, subject_of, summary_of
from grater.annotate.terms import terms_of
from grater.annotate.web.charts import job_charts
from grater.annotate.web.context import Context, RequestContext, decimal_of, number_of
from grater.annotate.web.errors import lines_of
from grater.corpora.tagsets import TAGSETS
from grater.errors import BadInput, Conflict, NotFound, UsageError
from grater.model import Json
from grater.sheet import counted

router = APIRouter()

RATERS = ("annotator", "worker", "adjudicator", "manager", "owner")


@router.get("/manage/jobs/new")
def new_job_page(context: Context) -> Response:
    return _new_job_page(context)


@router.post("/manage/jobs")
def make_job(context: Context) -> Response:
    try:
        job = add_job(context.store, _wanted(context), actor=context.person.person_id)
    except (BadInput, Conflict, NotFound, UsageError) as error:
        return _new_job_page(context, problems=lines_of(error))
    return context.go(f"/manage/jobs/{job.job_id}")


@router.post("/manage/jobs/preview")
def preview_job(context: Context) -> Response:
    """The same form again, with what the job would be; nothing is stored."""
    try:
        plan = _wanted(context)
        with context.server.store.read() as tx:
            return _new_job_page(context, preview=context.server.previews.of(tx, plan))
    except (BadInput, Conflict, NotFound, UsageError) as error:
        return _new_job_page(context, preview_problem=" ".join(lines_of(error)))


def _wanted(context: RequestContext) -> JobPlan:
    store, plan, sample = context.server.store, plan_of(context), context.text("sample")
    return of_sample(store, plan, sample) if sample and _subject(plan.task) in OF_ITEMS else plan


OF_ITEMS = ("item", "suggestion")
"""Subjects of tasks that can ask about the items of a sample, or of a kind."""


def _subject(task: str) -> str:
    return subject_of(TASKS[task]) if task in TASKS else ""


def plan_of(context: RequestContext) -> JobPlan:
    """The plan that a filled form asks for; fields of other tasks than the chosen one are passed over."""
    task, tagset = context.text("task"), context.text("tagset")
    subject = _subject(task)
    payload: dict[str, Json] = {"grey": True} if subject == "noun" and context.text("grey") else {}
    payload |= {"tagset": tagset} if subject == "essay" and tagset else {}
    return JobPlan(
        name=context.text("name"),
        task=task,
        title=context.text("title"),
        judgments=number_of(context, "judgments", 1),
        kind=(context.text("kind") or None) if subject in OF_ITEMS else None,
        system=_system(context, subject),
        suggested_share=decimal_of(context, "suggested_share", 100.0) / 100 if subject == "essay" else 1.0,
        most=number_of(context, "most", 0) or None,
        annotators=tuple(context.fields().get("annotators", ())),
        batch_size=number_of(context, "batch_size", 0),
        overlap_every=number_of(context, "overlap_every", 0),
        delay_days=decimal_of(context, "delay_days", 3.0),
        lease_minutes=decimal_of(context, "lease_minutes", 0.0) if context.text("lease_minutes") else None,
        payload=payload,
        seed=number_of(context, "seed", 0),
        is_open=bool(context.text("open")),
        is_fresh=bool(context.text("fresh")),
        cents=number_of(context, "cents", 0) if context.text("cents") else None,
    )


def _system(context: RequestContext, subject: str) -> str | None:
    field = {"essay": "offered", "suggestion": "system"}.get(subject)
    return (context.text(field) or None) if field else None


def tagset_choices() -> list[tuple[str, str]]:
    """The value and the words of each tag set; the default has no value."""
    sets = [(name, TAGSETS[name]) for name in ("nucle", "errant", "clc")]
    return [
        ("" if name == DEFAULT_TAGSET else name, f"{tags.title.partition(' (')[0]}: {len(list(tags))} kinds of error")
        for name, tags in sets
    ]


def _new_job_page(
    context: RequestContext,
    *,
    problems: Sequence[str] = (),
    preview: JobPreview | None = None,
    preview_problem: str = "",
) -> Response:
    with context.server.store.read() as tx:
        kinds = [kind for kind, _ in items.kinds(tx) if kind]
        shown = {
            "kinds": kinds,
            "tagsets": tagset_choices(),
            "systems": decisions.system_names(tx),
            "samples": samples.names(tx),
            "n_essays": essays.count(tx),
            "raters": [person for person in people.all(tx) if person.role in RATERS and person.state == "active"],
            "is_first": not jobs.all(tx),
        }
    filled = {name: values[0] for name, values in context.fields().items()}
    tasks = {name: (TASKS[name].title, summary_of(TASKS[name]), subject_of(TASKS[name])) for name in TASKS}
    values = {**shown, "tasks": tasks, "filled": filled, "chosen": context.fields().get("annotators", [])}
    more = {"problems": problems, "preview": preview, "preview_problem": preview_problem}
    return context.page("manage_new_job.html", {**values, **more}, status=422 if problems else 200)


@router.get("/manage")
def study_page(context: Context) -> Response:
    with context.server.store.read() as tx:
        all_jobs = jobs.all(tx)
        rows = [
            (job, TASKS[job.task], progress.of_job(tx, job.job_id)) for job in all_jobs if job.archived_at is None
        ]
        counts = {"essays": essays.count(tx), "items": items.count(tx), "people": people.count(tx)}
        failing = [webhook.url for webhook in events.all_webhooks(tx) if is_failing(tx, webhook)]
    archived = [job for job in all_jobs if job.archived_at is not None]
    if not all_jobs and not counts["essays"] and not counts["items"]:
        return context.go("/manage/start")
    return context.page("manage.html", rows=rows, counts=counts, failing=failing, archived=archived)


@router.get("/manage/jobs/{job_id}")
def job_page(context: Context, job_id: str, tried: bool = False) -> Response:
    """`tried`: whoever reads it comes from trying the job as a rater."""
    return job_view(context, job_id, is_tried=tried)


def job_view(
    context: RequestContext, job_id: str, *, told: str = "", problems: Sequence[str] = (), is_tried: bool = False
) -> Response:
    """A job and how far it is, with what has just happened or went wrong, and what comes next."""
    with context.server.store.read() as tx:
        job = jobs.get(tx, job_id)
        far = progress.of_job(tx, job_id)
        times = judgments.times(tx, job_id)
        assigned = Counter(assignment.person_id for assignment in assignments.of_job(tx, job_id))
        begun = {rater.person_id for rater in far.by_rater}
        idle = [people.get(tx, person_id) for person_id in assigned if person_id not in begun]
        everybody = [person for person in people.all(tx) if person.kind != "program"] if assigned else []
        versions = jobs.guidelines_versions(tx, job_id)
        n_findings = revisions.n_open_findings(tx, job_id)
        n_panels = len(panels.of_job(tx, job_id))
        crowd = {
            "n_gold": len(units.ids_of_job(tx, job_id, role="gold")),
            "n_panels": n_panels,
            "terms": terms_of(job.options),
        }
        reached = _reached(tx, job, n_panels=n_panels, is_assigned=bool(assigned))
        practice = [
            (unit_id, shown_to_staff(tx, unit_id)) for unit_id in units.ids_of_job(tx, job_id, role="practice")
        ]
    charts = job_charts(far, times)
    shown = {"job": job, "task": TASKS[job.task], "far": far, "charts": charts, "assigned": assigned, "idle": idle}
    more = {"versions": versions, "moves": MOVES[job.state], "n_findings": n_findings, "practice": practice}
    news = {"told": told, "problems": problems, "everybody": everybody, "reached": reached}
    step, status = reached.step(is_tried=is_tried), 422 if problems else 200
    return context.page("manage_job.html", {**shown, **more, **news, **crowd}, status=status, step=step)


@dataclass(frozen=True, slots=True)
class Reached:
    """Who can work on a job: by links for it, joined or not, by a crowd's link, or as others in the study."""

    n_links: int
    n_unused: int
    n_panels: int
    has_others: bool

    @property
    def has_people(self) -> bool:
        return bool(self.n_links or self.n_panels or self.has_others)

    def step(self, *, is_tried: bool) -> str:
        """The next step of a draft.  Whoever has invited people for it has no need to be told to try it."""
        if self.n_links or self.n_panels:
            return "open"
        if not is_tried:
            return "try"
        return "open" if self.has_people else "people"


def _reached(tx: Tx, job: Job, *, n_panels: int, is_assigned: bool) -> Reached:
    sent = [one for one in invitations.all(tx) if one.job_id == job.job_id and one.ended_at is None]
    links = [one for one in sent if one.used_at is not None or one.expires_at > tx.now]
    return Reached(
        n_links=len(links),
        n_unused=sum(one.used_at is None for one in links),
        n_panels=n_panels,
        has_others=is_assigned or any(map(_may_rate, people.all(tx))),
    )


def _may_rate(person: Person) -> bool:
    return person.state == "active" and person.role in ("annotator", "worker")


@router.post("/manage/jobs/{job_id}/hand-over")
def hand_over_units(context: Context, job_id: str) -> Response:
    """What a named annotator has not done becomes somebody else's."""
    try:
        with context.changing() as tx:
            giver, taker = (people.get(tx, context.text(name)) for name in ("giver", "taker"))
            n_units = hand_over(tx, jobs.get(tx, job_id), giver, taker, actor=context.person.person_id)
    except UsageError as error:
        return job_view(context, job_id, problems=[str(error)])
    return job_view(context, job_id, told=f"{counted(n_units, 'unit')} reassigned from {giver.name} to {taker.name}.")


@router.post("/manage/jobs/{job_id}/state")
def set_state(context: Context, job_id: str) -> Response:
    with context.changing() as tx:
        set_job_state(tx, job_id, context.text("state"), actor=context.person.person_id)
    return context.go(f"/manage/jobs/{job_id}")


@router.get("/manage/jobs/{job_id}/agreement")
def agreement_page(context: Context, job_id: str) -> Response:
    with context.server.store.read() as tx:
        job = jobs.get(tx, job_id)
        if job.task == MARKING:
            marks, reason = live_marks(marked_in(tx, job_id, names=True))
            return context.page("manage_agreement_marks.html", job=job, marks=marks, reason=reason)
        rows = judgments.table(tx, job_id, names=True, payload=False)
        places = essay_columns(tx)
    agreement = live_agreement(rows, TASKS[job.task], name=job.name, first=redundancy_of([job]), places=places)
    return context.page("manage_agreement.html", job=job, agreement=agreement)


@router.get("/manage/jobs/{job_id}/guidelines")
def guidelines_page(context: Context, job_id: str, version: int = 0) -> Response:
    """The newest version, or an earlier one, which can be saved again as the newest."""
    return _guidelines_page(context, job_id, version=version)


@router.post("/manage/jobs/{job_id}/guidelines")
def new_guidelines(context: Context, job_id: str) -> Response:
    """A new version, which judgments from now on know that they were made under; or only a look at it."""
    markdown = require_guidelines(context.text("markdown"))
    if context.text("look"):
        return _guidelines_page(context, job_id, unsaved=markdown)
    with context.changing() as tx:
        add_guidelines(tx, job_id, markdown, actor=context.person.person_id)
    return context.go(f"/manage/jobs/{job_id}/guidelines")


def _guidelines_page(context: RequestContext, job_id: str, *, version: int = 0, unsaved: str = "") -> Response:
    with context.server.store.read() as tx:
        job = jobs.get(tx, job_id)
        versions = jobs.guidelines_versions(tx, job_id)
    newest = versions[-1].markdown if versions else TASKS[job.task].guidelines
    earlier = next((past.markdown for past in versions if past.version == version), newest)
    shown = {"job": job, "versions": versions, "version": version, "unsaved": bool(unsaved)}
    shown["source"] = source_of(TASKS[job.task])
    return context.page("manage_guidelines.html", shown, markdown=unsaved or earlier)


@router.post("/manage/jobs/{job_id}/rename")
def rename(context: Context, job_id: str) -> Response:
    name, title = context.text("name"), context.text("title")
    try:
        with context.changing() as tx:
            rename_job(tx, job_id, name=name, title=title, actor=context.person.person_id)
    except (Conflict, UsageError) as error:
        return job_view(context, job_id, problems=[str(error)])
    return context.go(f"/manage/jobs/{job_id}")


@router.post("/manage/jobs/{job_id}/archive")
def archive(context: Context, job_id: str) -> Response:
    """Out of sight, or back."""
    is_archived = context.text("archived") == "1"
    try:
        with context.changing() as tx:
            archive_job(tx, job_id, is_archived, actor=context.person.person_id)
    except Conflict as error:
        return job_view(context, job_id, problems=[str(error)])
    return context.go("/manage" if is_archived else f"/manage/jobs/{job_id}")


@router.post("/manage/jobs/{job_id}/delete")
def delete(context: Context, job_id: str) -> Response:
    try:
        with context.changing(beside="everybody") as tx:
            delete_job(tx, job_id, word=context.text("word"), actor=context.person.person_id)
    except (Conflict, UsageError) as error:
        return job_view(context, job_id, problems=[str(error)])
    return context.go("/manage")
