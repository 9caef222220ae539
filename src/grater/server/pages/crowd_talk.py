"""A rater's side of a job: missed questions with their reasons, disputes, messages, a review."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import APIRouter
from starlette.responses import Response

from grater.errors import BadInput, NotFound, Problem
from grater.server.crowd_view import crowd_view
from grater.server.numbers import number_of
from grater.server.visit import Visit, Visiting
from grater.server.work import shown_to_staff
from grater.store import Tx, admission, disputes, gold, jobs, judgments, messages, reviews, standing, units
from grater.store.disputes import Dispute
from grater.store.gold import Gold
from grater.store.jobs import Job
from grater.store.units import StudyUnit
from grater.tasks import Answer, Shown

router = APIRouter()

LONGEST_FACT = 200


@dataclass(frozen=True, slots=True)
class Missed:
    """A question with a known answer that the rater missed, and the dispute about it, if there is one."""

    submission_id: str
    unit: StudyUnit
    shown: Shown
    answers: tuple[Answer, ...]
    known: tuple[Gold, ...]
    dispute: Dispute | None


@router.get("/jobs/{job_id}/talk")
def talk_page(visit: Visiting, job_id: str) -> Response:
    with visit.server.store.read() as tx:
        job = visible_job(tx, job_id)
        shown = {
            "job": job,
            "crowd": crowd_view(tx, job, visit.person),
            "missed": missed_by(tx, job, visit.person.person_id),
            "messages": messages.of_rater(tx, visit.person.person_id),
        }
    return visit.page("crowd_talk.html", shown)


@router.post("/jobs/{job_id}/disputes")
def dispute(visit: Visiting, job_id: str) -> Response:
    with visit.server.store.write() as tx:
        disputes.add(tx, visit.text("submission_id"), person_id=visit.person.person_id, text=visit.text("text"))
    return visit.go(f"/jobs/{job_id}/talk")


@router.post("/jobs/{job_id}/messages")
def send_message(visit: Visiting, job_id: str) -> Response:
    """To whoever runs the study."""
    require_slow(visit, "message")
    with visit.server.store.write() as tx:
        visible_job(tx, job_id)
        messages.send(tx, from_id=visit.person.person_id, job_id=job_id, text=visit.text("text"))
        messages.read_by(tx, visit.person.person_id)
    return visit.go(f"/jobs/{job_id}/talk")


@router.post("/jobs/{job_id}/reviews")
def review(visit: Visiting, job_id: str) -> Response:
    require_slow(visit, "review")
    stars, clear = (number_of(visit, name, 0, most=5) or None for name in ("stars", "clear"))
    with visit.server.store.write() as tx:
        visible_job(tx, job_id)
        reviews.add(tx, job_id, visit.person.person_id, stars=stars, clear=clear, text=visit.text("text"))
    return visit.go(f"/jobs/{job_id}/talk#review")


@router.post("/jobs/{job_id}/about")
def say_about(visit: Visiting, job_id: str) -> Response:
    """Country and languages, where the job asks for them."""
    country = visit.text("country")[:LONGEST_FACT]
    languages = [each.strip() for each in visit.text("languages")[:LONGEST_FACT].split(",") if each.strip()]
    with visit.server.store.write() as tx:
        visible_job(tx, job_id)
        admission.say_about(tx, visit.person.person_id, country=country, languages=languages)
    return visit.go(f"/jobs/{job_id}")


def missed_by(tx: Tx, job: Job, person_id: str) -> list[Missed]:
    """The questions with known answers that a rater missed in a job."""
    own = disputes.of_person(tx, person_id)
    return [
        Missed(
            each.submission_id,
            units.the(tx, each.unit_id),
            shown_to_staff(tx, each.unit_id),
            judgments.answers_of(tx, each.submission_id),
            tuple(gold.of_unit(tx, each.unit_id)),
            own.get(each.submission_id),
        )
        for each in standing.answers(tx, job.job_id, person_id)
        if not each.is_right
    ]


def visible_job(tx: Tx, job_id: str) -> Job:
    """Raters know of no drafts."""
    job = jobs.find(tx, job_id)
    if job is None or job.state == "draft":
        raise NotFound("there is no such job")
    return job


def require_slow(visit: Visit, what: str) -> None:
    """So many a minute, and no more: words are cheap to send."""
    if not visit.server.logins.take(f"{what} {visit.person.person_id}"):
        raise BadInput(Problem("form", "too many at once; wait a minute, then try again"))
