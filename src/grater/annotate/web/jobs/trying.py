"""A job tried out: its units as raters will see them, answered by a manager, and nothing stored.

Forms are read as a rater's would be, so that what is refused there is refused here.  An essay is marked on the page
that annotators get; its drafts are checked and go nowhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict
from starlette.responses import JSONResponse, Response

from grater.annotate.store import Tx, jobs, units
from grater.annotate.store.revisions import Draft
from grater.annotate.store.units import StudyUnit
from grater.annotate.study.corpus import TASK as MARKING
from grater.annotate.study.drafts import checked, findings
from grater.annotate.study.raters import OwnPace
from grater.annotate.study.work import shown_to_staff
from grater.annotate.tasks import TASKS
from grater.annotate.tasks.task import Answer
from grater.annotate.web.context import Context, RequestContext, number_of
from grater.annotate.web.work.pages import by_field, told
from grater.errors import BadInput, NotFound, UsageError
from grater.model import Json

router = APIRouter()


class TriedDraft(BaseModel):
    """What the page for marking saves."""

    model_config = ConfigDict(extra="forbid", strict=True)
    revision: int
    body: dict[str, object]


@router.get("/manage/jobs/{job_id}/try")
def try_page(context: Context, job_id: str, n: int = 1, marked: int = -1) -> Response:
    """Unit number `n` of a job; `marked` says how many marks were just made and thrown away."""
    with context.server.store.read() as tx:
        unit, n_units = _unit(tx, job_id, n)
    if unit.job.task == MARKING and marked < 0:
        return _essay_page(context, unit, n, n_units)
    return _form_page(context, unit, n, n_units, marked=marked)


@router.put("/manage/jobs/{job_id}/try")
def try_draft(context: Context, job_id: str, sent: TriedDraft, n: int = 1) -> Response:
    with context.server.store.read() as tx:
        unit, _ = _unit(tx, job_id, n)
    body = checked(unit.unit.essay.text, sent.body)
    return JSONResponse({"revision": sent.revision + 1, "findings": findings(unit.unit, body)})


@router.post("/manage/jobs/{job_id}/try")
def try_answer(context: Context, job_id: str, n: int = 1) -> Response:
    """Read the answer as a rater's would be, and show what would be stored."""
    with context.server.store.read() as tx:
        unit, n_units = _unit(tx, job_id, number_of(context, "n", n))
        shown = shown_to_staff(tx, unit.unit_id)
    n = number_of(context, "n", n)
    try:
        answers = TASKS[unit.job.task].read(unit.unit, context.fields(), kept=shown.kept)
    except BadInput as error:
        if unit.job.task == MARKING:
            raise
        return _form_page(context, unit, n, n_units, problems=by_field(error, shown.fields))
    if unit.job.task == MARKING:
        n_marks = sum(len(_edits(answer)) for answer in answers)
        return context.go(f"/manage/jobs/{job_id}/try?n={n}&marked={n_marks}")
    return _form_page(context, unit, n, n_units, answers=answers)


def _edits(answer: Answer) -> list[Json]:
    edits = answer.payload.get("edits")
    return list(edits) if isinstance(edits, list | tuple) else []


def _unit(tx: Tx, job_id: str, n: int) -> tuple[StudyUnit, int]:
    """Work unit number `n` from 1 on, or the nearest there is, and the number of all."""
    jobs.get(tx, job_id)
    unit_ids = units.ids_of_job(tx, job_id, role="work")
    if not unit_ids:
        raise NotFound("this job has no units to try")
    return units.get(tx, unit_ids[max(1, min(n, len(unit_ids))) - 1]), len(unit_ids)


def _form_page(
    context: RequestContext,
    unit: StudyUnit,
    n: int,
    n_units: int,
    *,
    problems: Mapping[str, Sequence[str]] | None = None,
    answers: tuple[Answer, ...] = (),
    marked: int = -1,
) -> Response:
    with context.server.store.read() as tx:
        shown = shown_to_staff(tx, unit.unit_id)
        guidelines = jobs.current_guidelines(tx, unit.job.job_id)
    if not shown.fields and marked < 0:
        raise UsageError(shown.before or "this unit cannot be shown")
    values = {"unit": unit, "task": TASKS[unit.job.task], "shown": shown, "n": n, "n_units": n_units}
    more = {"problems": problems or {}, "answers": answers, "marked": marked, "filled": context.fields()}
    text = guidelines.markdown if guidelines else TASKS[unit.job.task].guidelines
    return context.page("manage_try.html", {**values, **more}, status=422 if problems else 200, guidelines=text)


def _essay_page(context: RequestContext, unit: StudyUnit, n: int, n_units: int) -> Response:
    with context.server.store.read() as tx:
        guidelines = jobs.current_guidelines(tx, unit.job.job_id)
    address = f"/manage/jobs/{unit.job.job_id}/try?n={n}"
    name = f"try-{unit.unit_id}"
    sent: dict[str, Json] = told(unit.unit, Draft(0)) | {
        "lease": name,
        "person": context.person.person_id,
        "token": context.csrf,
        "submission": name,
        "urls": {"draft": address, "submit": address},
    }
    text = guidelines.markdown if guidelines else TASKS[MARKING].guidelines
    pace = OwnPace(n_done=max(1, min(n, n_units)) - 1, n_total=n_units, minutes_left=None, earned="")
    shown = {"sent": sent, "job": unit.job, "guidelines": text, "pace": pace, "receipt": None, "mends": True}
    return context.page("manage_try_essay.html", shown)
