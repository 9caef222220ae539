"""Jobs for managers: the study at a glance, a new job, one job with its progress and agreement, its instructions.

A job is made from what the study holds: a task, its units, the number of judgments, for whom.  Instructions are
written in Markdown, looked at, and saved as a version; earlier versions stay readable.  Jobs are renamed, archived
and deleted here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Literal

from pydantic import AliasPath, Field
from starlette.responses import JSONResponse, Response

from grater.annotate import content, invitations, jobs, judgments, panels, people, progress, trust, units, webhooks
from grater.annotate.evaluation import agreement_of, live_marks
from grater.annotate.jobs import MOVES, Archived, NewGuidelines, NewJobState, NewNames
from grater.annotate.marks import Draft, marked_in, n_open_findings, review
from grater.annotate.people import Person
from grater.annotate.plans import NewJob, add_job, hand_over
from grater.annotate.raters import OwnPace
from grater.annotate.samples import names as sample_names
from grater.annotate.samples import of_sample
from grater.annotate.store import Tx
from grater.annotate.tasks import TASKS
from grater.annotate.tasks.marking import DEFAULT_TAGSET, MARKING
from grater.annotate.tasks.task import Answer, source_of, subject_of, summary_of
from grater.annotate.terms import terms_of
from grater.annotate.units import StudyUnit
from grater.annotate.web import calls, start
from grater.annotate.web.calls import Body, Job, Shape, by_form, calls_about, example, list_at, page_at
from grater.annotate.web.charts import time_chart
from grater.annotate.web.context import (
    Changing,
    ChangingEverybody,
    Context,
    Reading,
    RequestContext,
    Routes,
    number_of,
)
from grater.annotate.web.security import EVERYBODY, MANAGERS
from grater.annotate.web.work import QuizState, SentDraft, by_field, crowd_view, desk_json, instructions
from grater.annotate.work import DraftBody, checked, findings, own_job, shown_to_staff
from grater.corpora.tagsets import TAGSETS
from grater.errors import BadInput, NotFound, UsageError
from grater.reporting.answer import in_words
from grater.reporting.document import sentences
from grater.sheet import counted

pages = Routes(MANAGERS)

RATERS = ("annotator", "worker", "adjudicator", "manager", "owner")


def _wanted(context: RequestContext) -> NewJob:
    """The job that a form asks for; fields of tasks other than the chosen one are ignored."""
    text, task = context.text, context.text("task")
    subject = subject_of(TASKS[task]) if task in TASKS else ""
    about_items = subject in ("item", "suggestion")  # tasks that can ask about the items of a sample, or of a kind
    share = text("suggested_share") if subject == "essay" else ""
    system = {"essay": "offered", "suggestion": "system"}.get(subject)
    return context.sent(
        NewJob,
        kind=text("kind") or None if about_items else None,
        sample=text("sample") if about_items else None,
        system=text(system) or None if system else None,
        suggested_share=_percent(share) if share else 1,
        most=None if text("most") in ("", "0") else text("most"),
        grey=subject == "noun" and bool(text("grey")),
        pairs=subject == "ranking" and bool(text("pairs")),
        tagset=text("tagset") if subject == "essay" else None,
    )


def _percent(text: str) -> object:
    """A share; anything that is not a number is passed on, to be refused."""
    try:
        return float(text) / 100
    except ValueError:
        return text


@page_at(pages, "/manage/jobs/new")
def _new_job_page(context: RequestContext, tx: Reading, **previewed: object) -> Response:
    tagsets = {"" if name == DEFAULT_TAGSET else name: TAGSETS[name] for name in ("nucle", "errant", "clc")}
    shown = {
        "tasks": {name: (TASKS[name].title, summary_of(TASKS[name]), subject_of(TASKS[name])) for name in TASKS},
        "kinds": [kind for kind, _ in content.item_kinds(tx) if kind],
        "tagsets": [
            (name, f"{tags.title.partition(' (')[0]}: {len(list(tags))} kinds of error")
            for name, tags in tagsets.items()
        ],
        "systems": content.system_names(tx),
        "samples": sample_names(tx),
        "n_essays": content.n_essays(tx),
        "raters": [person for person in people.all(tx) if person.role in RATERS and person.state == "active"],
        "is_first": not jobs.all(tx),
        "filled": {**context.request.query_params, **context.first_values()},
        "chosen": context.fields().get("annotators", []),
        "preview": None,
        "preview_problem": "",
    }
    return context.page("manage_new_job.html", shown | previewed)


@pages.get("/manage")
def study_page(context: Context, tx: Reading) -> Response:
    all_jobs, systems = jobs.all(tx), content.system_names(tx)
    rows = [(job, TASKS[job.task], progress.counts_of(tx, job.job_id)) for job in all_jobs if job.archived_at is None]
    answer = context.server.live.answer(tx)
    far = [(job, far) for job, _, far in rows]
    forecast = start.needed(tx, context, answer.value, far)
    counts = {"essays": content.n_essays(tx), "items": content.n_items(tx), "people": people.count(tx)}
    failing = [each.url for each in webhooks.all(tx) if webhooks.is_failing(tx, each)]
    archived = [job for job in all_jobs if job.archived_at is not None]
    if not all_jobs and not counts["essays"] and not counts["items"]:
        return context.go("/manage/start")
    step = start.next_step(counts["essays"], systems, far, has_answer=bool(answer.value.systems))
    shown = {"rows": rows, "counts": counts, "failing": failing, "archived": archived, "step": step}
    return context.page(
        "manage.html",
        shown,
        scores=answer.value,
        in_words=in_words,
        notes=sentences(answer.value.warnings),
        behind=answer.behind,
        forecast=forecast,
    )


@page_at(pages, "/manage/jobs/{job_id}")
def job_view(context: RequestContext, tx: Reading, job_id: str, *, done: str = "") -> Response:
    """A job and its progress, with what has just happened or gone wrong, and what comes next."""
    job, far, everybody = jobs.get(tx, job_id), progress.counts_of(tx, job_id), people.all(tx)
    raters = progress.by_rater(tx, job_id)
    assigned = Counter(assignment.person_id for assignment in jobs.assignments_of(tx, job_id))
    begun, n_panels = {rater.person_id for rater in raters}, len(panels.of_job(tx, job_id))
    sent = [one for one in invitations.all(tx) if one.job_id == job.job_id and one.ended_at is None]
    links = [one for one in sent if one.used_at is not None or one.expires_at > tx.now]
    may_rate = [each for each in everybody if each.state == "active" and each.role in ("annotator", "worker")]
    has_people = bool(links or n_panels or assigned or may_rate)
    practice = units.ids_of_job(tx, job_id, role="practice")
    times = [row.at for row in judgments.submitted(tx, job_id) if (row.status, row.role) == ("valid", "work")]
    shown = {
        "job": job,
        "task": TASKS[job.task],
        "far": far,
        "raters": raters,
        "by_judgments": _by_judgments(progress.some_units(tx, job_id)),
        "curve": time_chart(times),
        "assigned": assigned,
        "idle": [people.get(tx, person_id) for person_id in assigned if person_id not in begun],
        "versions": jobs.guidelines_versions(tx, job_id),
        "moves": MOVES[job.state],
        "n_findings": n_open_findings(tx, job_id),
        "practice": [(unit_id, shown_to_staff(tx, unit_id)) for unit_id in practice],
        "done": done,
        "everybody": [person for person in everybody if person.kind != "program"] if assigned else [],
        "n_links": len(links),
        "n_unused": sum(one.used_at is None for one in links),
        "has_people": has_people,
        "n_gold": len(units.ids_of_job(tx, job_id, role="gold")),
        "n_panels": n_panels,
        "lacking_gold": trust.gold_warnings(tx, job),
        "terms": terms_of(job.options),
    }
    is_tried = context.asked("tried") or links or n_panels  # anyone who has invited people need not try it first
    step = "try" if not is_tried else "open" if has_people else "people"
    return context.page("manage_job.html", shown, step=step)


def _by_judgments(units: Sequence[progress.UnitProgress]) -> list[tuple[str, int]]:
    """The number of units with each number of judgments; none where that would be many lines."""
    wanted = max((unit.wanted for unit in units), default=0)
    is_same = all(unit.wanted == wanted for unit in units)  # not so where some are for all annotators
    counts = Counter(min(unit.valid, wanted) for unit in units)
    return [(f"{n} of {wanted}" if is_same else str(n), counts[n]) for n in range(wanted + 1)] if wanted < 12 else []


@pages.get("/manage/jobs/{job_id}/agreement")
def agreement_page(context: Context, tx: Reading, job_id: str) -> Response:
    job = jobs.get(tx, job_id)
    if job.task == MARKING:
        marks, reason = live_marks(marked_in(tx, job_id, names=True))
        return context.page("manage_agreement_marks.html", job=job, marks=marks, reason=reason)
    agreement = agreement_of(tx, job, names=True)
    return context.page("manage_agreement.html", job=job, agreement=agreement)


@page_at(pages, "/manage/jobs/{job_id}/guidelines")
def guidelines_page(context: RequestContext, tx: Reading, job_id: str, *, unsaved: str = "") -> Response:
    """The newest version, or an earlier one, which can be saved again as the newest."""
    job, versions = jobs.get(tx, job_id), jobs.guidelines_versions(tx, job_id)
    version = number_of(context, "version", 0)
    newest = versions[-1].markdown if versions else TASKS[job.task].guidelines
    earlier = next((past.markdown for past in versions if past.version == version), newest)
    shown = {"job": job, "versions": versions, "version": version, "unsaved": bool(unsaved)}
    shown["source"] = source_of(TASKS[job.task])
    return context.page("manage_guidelines.html", shown, markdown=unsaved or earlier)


@pages.post("/manage/jobs/{job_id}/guidelines")
def new_guidelines_form(context: Context, job_id: str) -> Response:
    """Save a new version, to which judgments from now on refer; or only preview it."""
    markdown = context.sent(NewGuidelines).markdown
    if context.text("look"):
        return guidelines_page(context, job_id, unsaved=markdown)
    with context.changing() as tx:
        jobs.add_guidelines(tx, job_id, markdown, actor=context.person_id)
    return context.go(f"/manage/jobs/{job_id}/guidelines")


api = calls_about("jobs", MANAGERS)
for_raters = calls_about("jobs", EVERYBODY)

State = Literal["draft", "open", "paused", "closed"]


class OwnJob(Job):
    """A job and your part in it; `assigned` is null where anybody may take a unit."""

    done: int
    assigned: int | None
    is_begun: bool


class OwnStanding(Shape):
    """`no_work` is the reason why you get no unit, as a word, and `words` as a sentence; both are empty if you may
    have one.

    `code` and `address` are the way back to the panel that you came from, once you are done.
    """

    state: str = calls.inside("standing", "state")
    no_work: str = calls.inside("reason")
    words: str = calls.inside("all_words")
    pay: str
    quiz: QuizState | None
    code: str = Field("", validation_alias=AliasPath("place", "code"))
    address: str = Field("", validation_alias=AliasPath("place", "address"))
    unread: int = calls.inside("n_unread")


class WholeJob(OwnJob):
    guidelines: jobs.Guidelines | None
    standing: OwnStanding


class Progress(Shape):
    """`done` units have all judgments that they want; `held` units are in raters' hands now."""

    units: int
    done: int
    wanted: int
    valid: int
    held: int
    raters: list[progress.RaterProgress]


class LiveAgreement(Shape):
    """On labels, and on their verdicts, each as `grater agree --json` prints it; `reason` says why there is none yet.

    Of marked essays on `marks` alone: whether a word is part of an error (`identification`), of what kind
    (`classification`), and with which correction (`exact`).
    """

    labels: calls.Object | None = None
    verdicts: calls.Object | None = None
    marks: calls.Object | None = None
    reason: str


@list_at(for_raters, "/jobs", "jobs")
def job_list(
    context: Context, tx: Reading, state: State | None = None, task: str | None = None, name: str | None = None
) -> list[OwnJob]:
    """The jobs you may see, with your part in them, optionally by state, task or name."""
    all_jobs, is_manager = jobs.all(tx), context.role in MANAGERS
    known = [job for job in all_jobs if is_manager or (job.state != "draft" and job.archived_at is None)]
    wanted = [job for job in known if state in (None, job.state) and task in (None, job.task)]
    return [_own(tx, job, context.person) for job in wanted if name in (None, job.name)]


@for_raters.get("/jobs/{job_id}")
def one_job(context: Context, tx: Reading, job_id: str) -> WholeJob:
    """A job with its instructions, your part in it, and why there is no work for you, if there is none."""
    job = jobs.get(tx, job_id)
    if job.state == "draft" and context.role not in MANAGERS:
        raise NotFound(jobs.NO_JOB)
    current = jobs.current_guidelines(tx, job_id)
    own, view = _own(tx, job, context.person), crowd_view(tx, job, context.person)
    return WholeJob(**own.model_dump(), guidelines=current, standing=OwnStanding.of(view))


@by_form(pages, "/manage/jobs/{job_id}/state", then="/manage/jobs/{job_id}")
@api.post("/jobs/{job_id}/state")
def set_state(context: Context, tx: Changing, job_id: str, sent: NewJobState) -> Job:
    """Open, pause or close a job; work in progress is still accepted."""
    return Job.of(jobs.move(tx, job_id, sent.state, actor=context.person_id))


@list_at(api, "/jobs/{job_id}/guidelines", "guidelines", name="Versions")
def guideline_versions(tx: Reading, job_id: str) -> list[jobs.Guidelines]:
    """Every version of the instructions, the oldest first."""
    jobs.get(tx, job_id)
    return jobs.guidelines_versions(tx, job_id)


@api.post("/jobs/{job_id}/guidelines")
def new_guidelines(context: Context, tx: Changing, job_id: str, sent: NewGuidelines) -> jobs.Guidelines:
    """Save a new version of the instructions, in Markdown."""
    return jobs.add_guidelines(tx, job_id, sent.markdown, actor=context.person_id)


@api.get("/jobs/{job_id}/progress")
def job_progress(tx: Reading, job_id: str) -> Progress:
    """The progress of a job, overall and by rater."""
    jobs.get(tx, job_id)
    far = asdict(progress.counts_of(tx, job_id))
    return Progress.model_validate({**far, "raters": progress.by_rater(tx, job_id)})


@api.get("/jobs/{job_id}/agreement")
def job_agreement(tx: Reading, job_id: str) -> LiveAgreement:
    """Agreement so far, as `grater agree --json` prints it, on labels and verdicts, or on marks; people only."""
    job = jobs.get(tx, job_id)
    if job.task == MARKING:
        marks, reason = live_marks(marked_in(tx, job_id))
        return LiveAgreement.model_validate({"marks": marks and marks.to_dict(), "reason": reason})
    found = agreement_of(tx, job)
    shown = {name: each.to_dict() for name, each in (("labels", found.labels), ("verdicts", found.verdicts)) if each}
    return LiveAgreement.model_validate({**shown, "reason": found.reason})


def _own(tx: Tx, job: jobs.Job, person: Person) -> OwnJob:
    mine = own_job(tx, job, person)
    fields = Job.of(job).model_dump()
    return OwnJob(**fields, done=mine.n_done, assigned=mine.n_assigned, is_begun=mine.is_begun)


@by_form(pages, "/manage/jobs", sent=_wanted, then="/manage/jobs/{made.job_id}", refused=_new_job_page)
@api.post("/jobs")
def make_job(context: Context, sent: NewJob) -> Job:
    """Create a job; a name that is taken is a conflict (409), so a repeated request creates no second one."""
    plan = of_sample(context.server.store, sent)
    return Job.of(add_job(context.store, plan, actor=context.person_id))


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


@by_form(
    pages,
    "/manage/jobs/preview",
    sent=_wanted,
    then=lambda context, made: _new_job_page(context, preview=made),
    refused=lambda context: _new_job_page(context, problems=(), preview_problem=" ".join(context.problems)),
)
@api.post("/jobs/preview")
def preview_job(context: Context, sent: NewJob) -> JobPreview:
    """Preview a job: units, hours and cost; nothing is stored."""
    plan = of_sample(context.server.store, sent)
    with context.server.store.read() as tx:
        return JobPreview.of(context.server.previews.of(tx, plan))


@by_form(pages, "/manage/jobs/{job_id}/rename", then="/manage/jobs/{job_id}", refused=job_view)
@api.post("/jobs/{job_id}/rename")
def rename_job(context: Context, tx: Changing, job_id: str, sent: NewNames) -> Job:
    """Change a job's name and title."""
    return Job.of(jobs.rename(tx, job_id, sent, actor=context.person_id))


def _after_archiving(context: RequestContext, job: Job) -> Response:
    return context.go("/manage" if job.archived_at else f"/manage/jobs/{job.job_id}")


@by_form(pages, "/manage/jobs/{job_id}/archive", then=_after_archiving, refused=job_view)
@api.post("/jobs/{job_id}/archive")
def archive_job(context: Context, tx: Changing, job_id: str, sent: Archived) -> Job:
    """Archive or restore a job; its judgments stay in reports and exports."""
    return Job.of(jobs.archive(tx, job_id, sent.archived, actor=context.person_id))


@by_form(pages, "/manage/jobs/{job_id}/delete", then="/manage", refused=job_view)
@api.post("/jobs/{job_id}/delete", status_code=204)
def delete_job(context: Context, tx: ChangingEverybody, job_id: str, sent: calls.Deleting) -> None:
    """Delete a job without judgments."""
    units.delete_job(tx, job_id, word=sent.word, actor=context.person_id)


calls_of_reviews = calls_about("reviews", MANAGERS)


class LookedOver(Shape):
    """How many new findings wait for their annotators."""

    findings: int


def _after_looking_over(context: RequestContext, done: LookedOver) -> Response:
    n_new = done.findings
    words = f"{counted(n_new, 'mark')} returned to their annotators." if n_new else "No new unusual marks."
    return job_view(context, context.request.path_params["job_id"], done=words)


@by_form(pages, "/manage/jobs/{job_id}/review", then=_after_looking_over)
@calls_of_reviews.post("/jobs/{job_id}/review")
def look_over(context: Context, job_id: str) -> LookedOver:
    """Run `corpus lint` on a job's marks and return the findings to their annotators, once."""
    with context.server.store.read() as tx:
        name = jobs.get(tx, job_id).name
    return LookedOver(findings=review(context.store, name, actor=context.person_id))


class HandOver(Body):
    """`giver` and `taker` are names."""

    model_config = example(giver="Annotator", taker="Worker")
    giver: calls.Name
    taker: calls.Name


class HandedOver(Shape):
    units: int


def _after_handing_over(context: RequestContext, done: HandedOver) -> Response:
    words = f"{counted(done.units, 'unit')} reassigned from {context.text('giver')} to {context.text('taker')}."
    return job_view(context, context.request.path_params["job_id"], done=words)


@by_form(pages, "/manage/jobs/{job_id}/hand-over", then=_after_handing_over, refused=job_view)
@api.post("/jobs/{job_id}/hand-over")
def hand_over_units(context: Context, tx: Changing, job_id: str, sent: HandOver) -> HandedOver:
    """Reassign a person's remaining units; returns their number."""
    giver, taker = people.named(tx, sent.giver), people.named(tx, sent.taker)
    return HandedOver(units=hand_over(tx, jobs.get(tx, job_id), giver, taker, actor=context.person_id))


@pages.get("/manage/jobs/{job_id}/try")
def try_page(context: Context, tx: Reading, job_id: str, n: int = 1, marked: int = -1) -> Response:
    """Unit number `n` of a job; `marked` says how many marks were just made and thrown away."""
    unit, n_units = _unit(tx, job_id, n)
    if unit.job.task != MARKING or marked >= 0:
        return _form_page(context, tx, unit, n, n_units, marked=marked)
    address, name = f"/manage/jobs/{unit.job.job_id}/try?n={n}", f"try-{unit.unit_id}"
    sent = desk_json(context, unit.unit, Draft(0), lease_id=name, submission_id=name)
    sent |= {"urls": {"draft": address, "submit": address}}
    pace = OwnPace(n_done=max(1, min(n, n_units)) - 1, n_total=n_units, minutes_left=None, earned="")
    shown = {"sent": sent, "job": unit.job, "pace": pace, "receipt": None, "mends": True}
    return context.page("manage_try_essay.html", shown, guidelines=instructions(tx, unit.job))


@pages.put("/manage/jobs/{job_id}/try")
def try_draft(tx: Reading, job_id: str, sent: SentDraft, n: int = 1) -> Response:
    unit, _ = _unit(tx, job_id, n)
    body = checked(unit.unit.essay.text, DraftBody.checked(**sent.body))
    return JSONResponse({"revision": sent.revision + 1, "findings": findings(unit.unit, body)})


@pages.post("/manage/jobs/{job_id}/try")
def try_answer(context: Context, tx: Reading, job_id: str) -> Response:
    """Read the answer like a rater's, and show what would be stored."""
    n = number_of(context, "n", 1)
    unit, n_units = _unit(tx, job_id, n)
    shown = shown_to_staff(tx, unit.unit_id)
    try:
        answers = TASKS[unit.job.task].read(unit.unit, context.fields(), kept=shown.kept)
    except BadInput as error:
        if unit.job.task == MARKING:
            raise
        return _form_page(context, tx, unit, n, n_units, problems=by_field(error, shown.fields))
    if unit.job.task != MARKING:
        return _form_page(context, tx, unit, n, n_units, answers=answers)
    edits = [answer.payload.get("edits") for answer in answers]
    n_marks = sum(len(some) for some in edits if isinstance(some, list | tuple))
    return context.go(f"/manage/jobs/{job_id}/try?n={n}&marked={n_marks}")


def _unit(tx: Tx, job_id: str, n: int) -> tuple[StudyUnit, int]:
    """Work unit number `n` from 1 on, or the nearest there is, and the number of all."""
    jobs.get(tx, job_id)
    unit_ids = units.ids_of_job(tx, job_id, role="work")
    if not unit_ids:
        raise NotFound("this job has no units to try")
    return units.get(tx, unit_ids[max(1, min(n, len(unit_ids))) - 1]), len(unit_ids)


def _form_page(
    context: RequestContext,
    tx: Tx,
    unit: StudyUnit,
    n: int,
    n_units: int,
    *,
    problems: Mapping[str, Sequence[str]] | None = None,
    answers: tuple[Answer, ...] = (),
    marked: int = -1,
) -> Response:
    shown = shown_to_staff(tx, unit.unit_id)
    if not shown.fields and marked < 0:
        raise UsageError(shown.before or "this unit cannot be shown")
    values = {"unit": unit, "task": TASKS[unit.job.task], "shown": shown, "n": n, "n_units": n_units}
    values |= {"problems": problems or {}, "answers": answers, "marked": marked, "filled": context.fields()}
    return context.page("manage_try.html", values, guidelines=instructions(tx, unit.job))
