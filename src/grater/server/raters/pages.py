"""The raters of a job: signals, the best of them; flag, reject, reinstate, bonus, message.

A rater's side of a job: missed questions with their reasons, disputes, messages, a review.
"""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from grater.errors import BadInput, Problem
from grater.server.context import Context, RequestContext, number_of
from grater.server.work.crowd_view import crowd_view
from grater.store import Tx, admission, ejection, gold_review, jobs, messages, payments
from grater.store.ids import new_id
from grater.store.jobs import Job
from grater.study.jobs import visible_job
from grater.study.limits import LONGEST_FACT, MOST_CENTS
from grater.study.messages import answer, missed_by
from grater.study.raters import best, line_of, rater_lines

router = APIRouter()

LONGEST_ID = 100


@router.get("/manage/jobs/{job_id}/raters")
def raters_page(context: Context, job_id: str) -> Response:
    with context.server.store.read() as tx:
        job = jobs.get(tx, job_id)
        lines = rater_lines(tx, job)
        others = [each for each in jobs.all(tx) if each.job_id != job_id and each.state != "closed"]
    return context.page("crowd_raters.html", job=job, lines=lines, top=best(lines), others=others)


@router.post("/manage/jobs/{job_id}/raters")
def write_to_raters(context: Context, job_id: str) -> Response:
    """A message to everybody, or to the best, who may be asked to another job."""
    actor, text = context.person.person_id, context.text("text")
    with context.server.store.write() as tx:
        job = jobs.get(tx, job_id)
        if context.text("to") == "best":
            write_to_best(tx, context, job, text, asked_to=context.text("job"))
        else:
            messages.send(tx, from_id=actor, job_id=job_id, text=text)
    return context.go(f"/manage/jobs/{job_id}/raters")


def write_to_best(tx: Tx, context: RequestContext, job: Job, text: str, *, asked_to: str = "") -> int:
    """A message to each of the best raters, with the way to another job if they are asked there; give how many."""
    link = f"\n{context.server.settings.link(f'/jobs/{jobs.get(tx, asked_to).job_id}')}" if asked_to else ""
    found = best(rater_lines(tx, job))
    for line in found:
        to_id = line.person.person_id
        messages.send(tx, from_id=context.person.person_id, to_id=to_id, job_id=job.job_id, text=text + link)
    return len(found)


@router.get("/manage/jobs/{job_id}/raters/{person_id}")
def rater_page(context: Context, job_id: str, person_id: str) -> Response:
    with context.server.store.read() as tx:
        job = jobs.get(tx, job_id)
        shown = {
            "line": line_of(tx, job, person_id),
            "answers": ejection.gold_answers(tx, job_id, person_id),
            "messages": messages.with_rater(tx, person_id),
            "payments": [each for each in payments.of_job(tx, job_id) if each.person_id == person_id],
        }
    return context.page("crowd_rater.html", shown, job=job, payment_id=new_id())


@router.post("/manage/jobs/{job_id}/raters/{person_id}")
def change_rater(context: Context, job_id: str, person_id: str) -> Response:
    with context.server.store.write() as tx:
        _change(tx, context, jobs.get(tx, job_id), person_id)
    return context.go(f"/manage/jobs/{job_id}/raters/{person_id}")


def _change(tx: Tx, context: RequestContext, job: Job, person_id: str) -> None:
    what, actor = context.text("what"), context.person.person_id
    if what == "flag":
        ejection.flag(tx, job.job_id, person_id, actor=actor)
    elif what == "reject":
        ejection.eject(tx, job, person_id, actor=actor)
    elif what == "reinstate":
        ejection.reinstate(tx, job, person_id, actor=actor)
    elif what == "bonus":
        cents = number_of(context, "cents", 0, most=MOST_CENTS)
        note, payment_id = context.text("note")[:200], context.text("payment_id")[:LONGEST_ID] or None
        payments.bonus(tx, job, person_id, cents, note=note, payment_id=payment_id, actor=actor)
    elif what == "message":
        answer(tx, job, person_id, context.text("text"), actor=actor)
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
    with context.server.store.write() as tx:
        gold_review.open_dispute(
            tx, context.text("submission_id"), person_id=context.person.person_id, text=context.text("text")
        )
    return context.go(f"/jobs/{job_id}/talk")


@router.post("/jobs/{job_id}/messages")
def send_message(context: Context, job_id: str) -> Response:
    """To whoever runs the study."""
    require_slow(context, "message")
    with context.server.store.write() as tx:
        visible_job(tx, job_id)
        messages.send(tx, from_id=context.person.person_id, job_id=job_id, text=context.text("text"))
        messages.read_by(tx, context.person.person_id)
    return context.go(f"/jobs/{job_id}/talk")


@router.post("/jobs/{job_id}/reviews")
def review(context: Context, job_id: str) -> Response:
    require_slow(context, "review")
    stars, clear = (number_of(context, name, 0, most=5) or None for name in ("stars", "clear"))
    with context.server.store.write() as tx:
        visible_job(tx, job_id)
        messages.add_review(tx, job_id, context.person.person_id, stars=stars, clear=clear, text=context.text("text"))
    return context.go(f"/jobs/{job_id}/talk#review")


@router.post("/jobs/{job_id}/about")
def say_about(context: Context, job_id: str) -> Response:
    """Country and languages, where the job asks for them."""
    country = context.text("country")[:LONGEST_FACT]
    languages = [each.strip() for each in context.text("languages")[:LONGEST_FACT].split(",") if each.strip()]
    with context.server.store.write() as tx:
        visible_job(tx, job_id)
        admission.say_about(tx, context.person.person_id, country=country, languages=languages)
    return context.go(f"/jobs/{job_id}")


def require_slow(context: RequestContext, what: str) -> None:
    """So many a minute, and no more: words are cheap to send."""
    if not context.server.logins.take(f"{what} {context.person.person_id}"):
        raise BadInput(Problem("form", "too many at once; wait a minute, then try again"))
