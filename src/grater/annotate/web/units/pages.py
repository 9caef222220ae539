"""The units of a job with their judgments, for managers.

Nobody sees others' answers to a unit that they may still judge themselves (P9): a manager sees those to units that
are not finished only after giving up to rate in the job.  A unit whose answer a manager knows can become practice,
which says what was expected, or hidden gold.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from fastapi import APIRouter
from starlette.responses import Response

from grater.annotate.store import adjudications, blinding, gold, jobs, progress, units
from grater.annotate.study import jobs as study_jobs
from grater.annotate.study.gold import make_gold
from grater.annotate.study.work import sent_for, shown_to_staff, unblind
from grater.annotate.tasks import TASKS
from grater.annotate.web.context import Context, RequestContext
from grater.annotate.web.rendering import pager
from grater.errors import Conflict, UsageError

router = APIRouter()

A_PAGE = 50
MET = "This unit cannot be changed: somebody has already worked on it, or its answer is known."


@router.get("/manage/jobs/{job_id}/units")
def unit_list(context: Context, job_id: str, page: int = 1) -> Response:
    with context.server.store.read() as tx:
        job = jobs.get(tx, job_id)
        here = pager(progress.n_units(tx, job_id), page, size=A_PAGE)
        on_page = progress.some_units(tx, job_id, start=here.start, most=here.size)
        rows = [(unit, shown_to_staff(tx, unit.unit_id)) for unit in on_page]
    return context.page("manage_units.html", job=job, rows=rows, pager=here)


@router.get("/manage/units/{unit_id}")
def unit_page(context: Context, unit_id: str) -> Response:
    return unit_view(context, unit_id)


def unit_view(context: RequestContext, unit_id: str, *, problems: Sequence[str] = ()) -> Response:
    """One unit with what was said of it and what is known of it, as far as the manager may see that."""
    with context.server.store.read() as tx:
        unit = units.get(tx, unit_id)
        may_see = blinding.may_see(tx, unit.job.job_id, unit_id, context.person.person_id)
        sent = sent_for(tx, unit_id) if may_see else []
        decided = adjudications.find(tx, unit_id) if may_see else None
        shown = shown_to_staff(tx, unit_id)
        known = gold.of_unit(tx, unit_id)
    values = {"unit": unit, "task": TASKS[unit.job.task], "shown": shown, "sent": sent, "decided": decided}
    status = 422 if problems else 200
    return context.page("manage_unit.html", values, status=status, may_see=may_see, known=known, problems=problems)


@router.post("/manage/units/{unit_id}/look")
def look(context: Context, unit_id: str) -> Response:
    """See the answers of the unit's job from now on, and rate in it no more."""
    with context.changing() as tx:
        unblind(tx, units.get(tx, unit_id).job.job_id, context.person.person_id)
    return context.go(f"/manage/units/{unit_id}")


@router.post("/manage/units/{unit_id}/known")
def make_known(context: Context, unit_id: str) -> Response:
    role: Literal["gold", "practice"] = "gold" if context.text("role") == "gold" else "practice"
    reason = context.text("reason")
    try:
        with context.changing() as tx:
            unit = units.get(tx, unit_id)
            item_id, accepted = unit.unit.items[0].item.item_id, accepted_by(context, unit.job.task)
            actor = context.person.person_id
            is_made = make_gold(tx, unit.job, item_id, accepted, reason=reason, role=role, actor=actor)
    except UsageError as error:
        return unit_view(context, unit_id, problems=[str(error)])
    return context.go(f"/manage/units/{unit_id}") if is_made else unit_view(context, unit_id, problems=[MET])


def accepted_by(context: RequestContext, task: str) -> list[str]:
    """The labels that are ticked, or the words of a task without a closed set."""
    if TASKS[task].labels:
        return context.fields().get("accepted", [])
    return [word.strip() for word in context.text("accepted").split(",") if word.strip()]


@router.post("/manage/units/{unit_id}/work")
def back_to_work(context: Context, unit_id: str) -> Response:
    try:
        with context.changing(beside="everybody") as tx:
            study_jobs.back_to_work(tx, unit_id, actor=context.person.person_id)
    except Conflict as error:
        return unit_view(context, unit_id, problems=[str(error)])
    return context.go(f"/manage/units/{unit_id}")
