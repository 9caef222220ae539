"""The raters of a job, from both sides.

Managers see signals and the best raters, and flag, reject, reinstate, pay a bonus or write.  A rater sees the missed
questions with their reasons, disputes them, writes to those who run the study, and reviews the job.
"""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from grater.annotate.store import Tx, ejection, jobs, messages, payments
from grater.annotate.store.ids import new_id
from grater.annotate.store.jobs import Job
from grater.annotate.study.jobs import visible_job
from grater.annotate.study.messages import dispute as dispute_gold
from grater.annotate.study.messages import (
    missed_by,
    review_job,
    say_about_oneself,
    write_to_all,
    write_to_best,
    write_to_rater,
    write_to_staff,
)
from grater.annotate.study.money import pay_bonus
from grater.annotate.study.raters import CHANGES, best, change_standing, line_of
from grater.annotate.web.context import Context, RequestContext, number_of, require_slow
from grater.annotate.web.work.crowd_view import crowd_view
from grater.errors import BadInput, Problem

router = APIRouter()


@router.get("/manage/jobs/{job_id}/raters")
def raters_page(context: Context, job_id: str) -> Response:
    with context.server.store.read() as tx:
        job = jobs.get(tx, job_id)
        lines, behind = context.server.live.lines(tx, job)
        others = [other for other in jobs.all(tx) if other.job_id != job_id and other.state != "closed"]
    return context.page("crowd_raters.html", job=job, lines=lines, top=best(lines), others=others, behind=behind)


@router.post("/manage/jobs/{job_id}/raters")
def write_to_raters(context: Context, job_id: str) -> Response:
    """A message to everybody, or to the best, who may be asked to another job."""
    actor, text = context.person.person_id, context.text("text")
    with context.changing() as tx:
        job = jobs.get(tx, job_id)
        if context.text("to") == "best":
            asked_to = context.text("job")
            link = context.server.settings.link(f"/jobs/{jobs.get(tx, asked_to).job_id}") if asked_to else ""
            write_to_best(tx, job, text, link=link, actor=actor)
        else:
            write_to_all(tx, job, text, actor=actor)
    return context.go(f"/manage/jobs/{job_id}/raters")


@router.get("/manage/jobs/{job_id}/raters/{person_id}")
def rater_page(context: Context, job_id: str, person_id: str) -> Response:
    with context.server.store.read() as tx:
        job = jobs.get(tx, job_id)
        shown = {
            "line": line_of(tx, job, person_id),
            "answers": ejection.gold_answers(tx, job_id, person_id),
            "messages": messages.with_rater(tx, person_id),
            "payments": [payment for payment in payments.of_job(tx, job_id) if payment.person_id == person_id],
        }
    return context.page("crowd_rater.html", shown, job=job, payment_id=new_id())


@router.post("/manage/jobs/{job_id}/raters/{person_id}")
def change_rater(context: Context, job_id: str, person_id: str) -> Response:
    with context.changing() as tx:
        _change(tx, context, jobs.get(tx, job_id), person_id)
    return context.go(f"/manage/jobs/{job_id}/raters/{person_id}")


def _change(tx: Tx, context: RequestContext, job: Job, person_id: str) -> None:
    what, actor = context.text("what"), context.person.person_id
    if what in CHANGES:
        change_standing(tx, job, person_id, what, actor=actor)
    elif what == "bonus":
        cents = number_of(context, "cents", 0)
        note, payment_id = context.text("note"), context.text("payment_id") or None
        pay_bonus(tx, job, person_id, cents, note=note, payment_id=payment_id, actor=actor)
    elif what == "message":
        write_to_rater(tx, job, person_id, context.text("text"), actor=actor)
    else:
        words = f"what: expected flag, reject, reinstate, bonus or message, found {what[:20]!r}"
        raise BadInput(Problem("form", words))


@router.get("/jobs/{job_id}/talk")
def talk_page(context: Context, job_id: str) -> Response:
    with context.server.store.read() as tx:
        job = visible_job(tx, job_id)
        shown = {
            "job": job,
            "crowd": crowd_view(tx, job, context.person),
            "missed": missed_by(tx, job, context.person.person_id),
            "messages": messages.of_rater(tx, context.person.person_id),
        }
    return context.page("crowd_talk.html", shown)


@router.post("/jobs/{job_id}/disputes")
def dispute(context: Context, job_id: str) -> Response:
    with context.changing() as tx:
        dispute_gold(tx, context.text("submission_id"), context.text("text"), person_id=context.person.person_id)
    return context.go(f"/jobs/{job_id}/talk")


@router.post("/jobs/{job_id}/messages")
def send_message(context: Context, job_id: str) -> Response:
    """To whoever runs the study."""
    require_slow(context, "message")
    with context.changing() as tx:
        write_to_staff(tx, job_id, context.text("text"), person_id=context.person.person_id)
    return context.go(f"/jobs/{job_id}/talk")


@router.post("/jobs/{job_id}/reviews")
def review(context: Context, job_id: str) -> Response:
    require_slow(context, "review")
    stars, clear = (number_of(context, name, 0) or None for name in ("stars", "clear"))
    with context.changing() as tx:
        person_id, text = context.person.person_id, context.text("text")
        review_job(tx, job_id, person_id=person_id, stars=stars, clear=clear, text=text)
    return context.go(f"/jobs/{job_id}/talk#review")


@router.post("/jobs/{job_id}/about")
def say_about(context: Context, job_id: str) -> Response:
    """Country and languages, where the job asks for them."""
    languages = [word.strip() for word in context.text("languages").split(",") if word.strip()]
    with context.changing() as tx:
        say_about_oneself(
            tx, job_id, person_id=context.person.person_id, country=context.text("country"), languages=languages
        )
    return context.go(f"/jobs/{job_id}")
