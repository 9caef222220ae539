"""The gold of a job: made from what experts agree on, the trouble list, disputes.

In the studio candidates come one after another, taken or passed by a key, and one button sets the recommended rule.
"""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from grater.annotate.store import gold_review, jobs, people, units
from grater.annotate.study.gold import (
    QUIZ,
    candidates,
    earlier_reasons,
    known_gold,
    make_gold,
    set_gold_state,
    use_recommended_rule,
)
from grater.annotate.study.gold import set_reason as set_gold_reason
from grater.annotate.study.messages import decide_dispute
from grater.annotate.study.work import shown_to_staff
from grater.annotate.tasks import TASKS
from grater.annotate.terms import terms_of
from grater.annotate.web.context import Context, RequestContext, number_of
from grater.annotate.web.units.pages import MET, accepted_by
from grater.errors import UsageError

router = APIRouter()
ENOUGH = 2 * QUIZ
"""Gold for the quiz of the recommended rule, and as many among the work."""


@router.get("/manage/jobs/{job_id}/gold")
def gold_page(context: Context, job_id: str) -> Response:
    return _page(context, job_id, problems=[], told="")


@router.post("/manage/jobs/{job_id}/gold")
def make_known_gold(context: Context, job_id: str) -> Response:
    """Items on which the experts of the study all agree; essays by their known errors."""
    reason, actor = context.text("reason"), context.person.person_id
    try:
        with context.changing() as tx:
            least, most = number_of(context, "least", 2), number_of(context, "most", 0)
            made = known_gold(tx, jobs.get(tx, job_id), least=least, most=most or None, reason=reason, actor=actor)
    except UsageError as error:
        return _page(context, job_id, problems=[str(error)], told="")
    left = f"; {made.met} skipped: already gold, or already seen by raters" if made.met else ""
    return _page(context, job_id, problems=[], told=f"{made.made} gold units made{left}.")


@router.post("/manage/gold/{unit_id}/state")
def set_state(context: Context, unit_id: str) -> Response:
    with context.changing() as tx:
        job = set_gold_state(tx, unit_id, context.text("state"), actor=context.person.person_id)
    return context.go(f"/manage/jobs/{job.job_id}/gold")


@router.post("/manage/gold/{unit_id}/reason")
def set_reason(context: Context, unit_id: str) -> Response:
    """A reason that teaches, in place of the one that all gold was made with."""
    with context.changing() as tx:
        job = set_gold_reason(tx, unit_id, context.text("reason"), actor=context.person.person_id)
    return context.go(f"/manage/jobs/{job.job_id}/gold")


@router.post("/manage/disputes/{dispute_id}")
def decide(context: Context, dispute_id: str) -> Response:
    with context.changing() as tx:
        dispute = decide_dispute(
            tx,
            dispute_id,
            is_granted=context.text("decision") == "grant",
            answer=context.text("answer"),
            actor=context.person.person_id,
        )
        job_id = units.get(tx, dispute.unit_id).job.job_id
    return context.go(f"/manage/jobs/{job_id}/gold")


def _page(context: RequestContext, job_id: str, *, problems: list[str], told: str) -> Response:
    with context.server.store.read() as tx:
        job = jobs.get(tx, job_id)
        gold = [(record, shown_to_staff(tx, record.unit_id)) for record in gold_review.of_job(tx, job_id)]
        asked = [
            (dispute, people.get(tx, dispute.person_id), shown_to_staff(tx, dispute.unit_id))
            for dispute in gold_review.disputes_of_job(tx, job_id)
        ]
    status = 422 if problems else 200
    shown = {"job": job, "gold": gold, "asked": asked, "rule": terms_of(job.options).gold}
    return context.page("crowd_gold.html", shown, status=status, problems=problems, told=told)


# The studio


@router.get("/manage/jobs/{job_id}/gold/studio")
def studio_page(context: Context, job_id: str, n: int = 0) -> Response:
    """Candidate number `n`, from 0 on."""
    return _candidate_page(context, job_id, n)


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
        return _candidate_page(context, job_id, n, problem=str(error))
    return (
        context.go(f"/manage/jobs/{job_id}/gold/studio?n={n}")
        if is_made
        else _candidate_page(context, job_id, n, problem=MET)
    )


@router.post("/manage/jobs/{job_id}/gold/rule")
def use_rule(context: Context, job_id: str) -> Response:
    with context.changing() as tx:
        use_recommended_rule(tx, job_id, actor=context.person.person_id)
    return context.go(f"/manage/jobs/{job_id}/terms")


def _candidate_page(context: RequestContext, job_id: str, n: int, *, problem: str = "") -> Response:
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
