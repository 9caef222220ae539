"""The gold studio: candidates one after another, taken or passed by a key, and the recommended rule by one button."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from grater.errors import UsageError
from grater.server.context import Context, RequestContext, number_of
from grater.server.units.pages import MET, accepted_by
from grater.store import jobs, units
from grater.study.candidates import QUIZ, candidates, earlier_reasons, use_recommended_rule
from grater.study.gold import make_gold
from grater.study.work import shown_to_staff
from grater.tasks import TASKS

router = APIRouter()

ENOUGH = 2 * QUIZ
"""Gold for the quiz of the recommended rule, and as many among the work."""


@router.get("/manage/jobs/{job_id}/gold/studio")
def studio_page(context: Context, job_id: str, n: int = 0) -> Response:
    """Candidate number `n`, from 0 on."""
    return _page(context, job_id, n)


@router.post("/manage/jobs/{job_id}/gold/studio")
def accept(context: Context, job_id: str) -> Response:
    """Make the candidate gold with the answers that are ticked; the next one takes its place."""
    n = number_of(context, "n", 0)
    try:
        with context.changing() as tx:
            job = jobs.get(tx, job_id)
            is_made = make_gold(
                tx,
                job,
                context.text("item"),
                accepted_by(context, job.task),
                reason=context.text("reason"),
                actor=context.person.person_id,
            )
    except UsageError as error:
        return _page(context, job_id, n, problem=str(error))
    return (
        context.go(f"/manage/jobs/{job_id}/gold/studio?n={n}") if is_made else _page(context, job_id, n, problem=MET)
    )


@router.post("/manage/jobs/{job_id}/gold/rule")
def use_rule(context: Context, job_id: str) -> Response:
    with context.changing() as tx:
        use_recommended_rule(tx, job_id, actor=context.person.person_id)
    return context.go(f"/manage/jobs/{job_id}/terms")


def _page(context: RequestContext, job_id: str, n: int, *, problem: str = "") -> Response:
    with context.server.store.read() as tx:
        job = jobs.get(tx, job_id)
        waiting = candidates(tx, job)
        n_gold = len(units.ids_of_job(tx, job_id, role="gold"))
        here = waiting[n] if 0 <= n < len(waiting) else None
        shown = shown_to_staff(tx, here.unit_id) if here else None
        reasons = earlier_reasons(tx)
    values = {"job": job, "task": TASKS[job.task], "here": here, "shown": shown, "n": n, "n_waiting": len(waiting)}
    more = {"n_gold": n_gold, "enough": ENOUGH, "reasons": reasons, "problems": [problem] if problem else []}
    return context.page("gold_studio.html", {**values, **more}, status=422 if problem else 200)
