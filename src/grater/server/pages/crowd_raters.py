"""The raters of a job: signals, the best of them; flag, reject, reinstate, bonus, message."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from grater.errors import BadInput, NotFound, Problem
from grater.server.numbers import number_of
from grater.server.visit import Visit, Visiting
from grater.store import Tx, jobs, messages, payments, standing
from grater.store.ids import new_id
from grater.store.jobs import Job
from grater.study.crowd_raters import RaterLine, best, rater_lines

router = APIRouter()

MOST_CENTS = 1_000_000
LONGEST_ID = 100


@router.get("/manage/jobs/{job_id}/raters")
def raters_page(visit: Visiting, job_id: str) -> Response:
    with visit.server.store.read() as tx:
        job = jobs.the(tx, job_id)
        lines = rater_lines(tx, job)
        others = [each for each in jobs.all(tx) if each.job_id != job_id and each.state != "closed"]
    return visit.page("crowd_raters.html", job=job, lines=lines, top=best(lines), others=others)


@router.post("/manage/jobs/{job_id}/raters")
def write_to_raters(visit: Visiting, job_id: str) -> Response:
    """A message to everybody, or to the best, who may be asked to another job."""
    actor, text = visit.person.person_id, visit.text("text")
    with visit.server.store.write() as tx:
        job = jobs.the(tx, job_id)
        if visit.text("to") == "best":
            write_to_best(tx, visit, job, text, asked_to=visit.text("job"))
        else:
            messages.send(tx, from_id=actor, job_id=job_id, text=text)
    return visit.go(f"/manage/jobs/{job_id}/raters")


def write_to_best(tx: Tx, visit: Visit, job: Job, text: str, *, asked_to: str = "") -> int:
    """A message to each of the best raters, with the way to another job if they are asked there; give how many."""
    link = f"\n{visit.server.settings.link(f'/jobs/{jobs.the(tx, asked_to).job_id}')}" if asked_to else ""
    found = best(rater_lines(tx, job))
    for line in found:
        to_id = line.person.person_id
        messages.send(tx, from_id=visit.person.person_id, to_id=to_id, job_id=job.job_id, text=text + link)
    return len(found)


@router.get("/manage/jobs/{job_id}/raters/{person_id}")
def rater_page(visit: Visiting, job_id: str, person_id: str) -> Response:
    with visit.server.store.read() as tx:
        job = jobs.the(tx, job_id)
        shown = {
            "line": line_of(tx, job, person_id),
            "answers": standing.answers(tx, job_id, person_id),
            "messages": messages.with_rater(tx, person_id),
            "payments": [each for each in payments.of_job(tx, job_id) if each.person_id == person_id],
        }
    return visit.page("crowd_rater.html", shown, job=job, payment_id=new_id())


def line_of(tx: Tx, job: Job, person_id: str) -> RaterLine:
    line = next((each for each in rater_lines(tx, job) if each.person.person_id == person_id), None)
    if line is None:
        raise NotFound("this person has done nothing in this job")
    return line


@router.post("/manage/jobs/{job_id}/raters/{person_id}")
def change_rater(visit: Visiting, job_id: str, person_id: str) -> Response:
    with visit.server.store.write() as tx:
        _change(tx, visit, jobs.the(tx, job_id), person_id)
    return visit.go(f"/manage/jobs/{job_id}/raters/{person_id}")


def _change(tx: Tx, visit: Visit, job: Job, person_id: str) -> None:
    what, actor = visit.text("what"), visit.person.person_id
    if what == "flag":
        standing.flag(tx, job.job_id, person_id, actor=actor)
    elif what == "reject":
        standing.put_out(tx, job, person_id, actor=actor)
    elif what == "reinstate":
        standing.take_back(tx, job, person_id, actor=actor)
    elif what == "bonus":
        cents = number_of(visit, "cents", 0, most=MOST_CENTS)
        note, payment_id = visit.text("note")[:200], visit.text("payment_id")[:LONGEST_ID] or None
        payments.bonus(tx, job, person_id, cents, note=note, payment_id=payment_id, actor=actor)
    elif what == "message":
        answer(tx, job, person_id, visit.text("text"), actor=actor)
    else:
        words = f"what: expected flag, reject, reinstate, bonus or message, found {what[:20]!r}"
        raise BadInput(Problem("form", words))


def answer(tx: Tx, job: Job, person_id: str, text: str, *, actor: str) -> None:
    """A message to one rater; what they wrote has been read by then."""
    messages.send(tx, from_id=actor, to_id=person_id, job_id=job.job_id, text=text)
    messages.read_by(tx, actor, from_id=person_id)
