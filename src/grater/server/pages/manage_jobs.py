"""The study at a glance, and one job: its state, progress with charts, agreement so far."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import cast

from fastapi import APIRouter
from starlette.responses import Response

from grater.errors import BadInput, Problem, UsageError
from grater.server.live import live_agreement, live_marks, rater_chart, time_chart, unit_chart
from grater.server.visit import Visit, Visiting
from grater.server.work import shown_to_staff
from grater.store import assignments, essays, findings, guidelines, items, jobs, judgments, people, progress, units
from grater.store.jobs import JobState
from grater.study.corpus import TASK as MARKING
from grater.study.corpus import marked_in
from grater.study.handing_over import hand_over
from grater.study.tables import redundancy_of
from grater.tasks import TASKS

router = APIRouter()

MOVES: dict[str, tuple[str, ...]] = {
    "draft": ("open",),
    "open": ("paused", "closed"),
    "paused": ("open", "closed"),
    "closed": ("open",),
}
"""What a manager may make of a job in each state."""


@router.get("/manage")
def study_page(visit: Visiting) -> Response:
    with visit.server.store.read() as tx:
        found = [(job, TASKS[job.task], progress.of_job(tx, job.job_id)) for job in jobs.all(tx)]
        counts = {"essays": essays.count(tx), "items": items.count(tx), "people": people.count(tx)}
    return visit.page("manage.html", found=found, counts=counts)


@router.get("/manage/jobs/{job_id}")
def job_page(visit: Visiting, job_id: str) -> Response:
    return job_view(visit, job_id)


def job_view(visit: Visit, job_id: str, *, told: str = "", problems: Sequence[str] = ()) -> Response:
    """A job and how far it is, with what has just happened or went wrong."""
    with visit.server.store.read() as tx:
        job = jobs.the(tx, job_id)
        far = progress.of_job(tx, job_id)
        rows = judgments.table(tx, job_id, payload=False)
        assigned = Counter(each.person_id for each in assignments.of_job(tx, job_id))
        begun = {rater.person_id for rater in far.by_rater}
        idle = [people.the(tx, person_id) for person_id in assigned if person_id not in begun]
        everybody = [each for each in people.all(tx) if each.kind != "program"] if assigned else []
        versions = guidelines.versions(tx, job_id)
        n_findings = findings.n_open(tx, job_id)
        practice = [(each, shown_to_staff(tx, each)) for each in units.ids_of_job(tx, job_id, role="practice")]
    drawn = {
        "Judgments a unit": unit_chart(far),
        "Judgments a rater": rater_chart(far),
        "Over time": time_chart(rows),
    }
    charts = [(title, chart) for title, chart in drawn.items() if chart]
    shown = {"job": job, "task": TASKS[job.task], "far": far, "charts": charts, "assigned": assigned, "idle": idle}
    more = {"versions": versions, "moves": MOVES[job.state], "n_findings": n_findings, "practice": practice}
    news = {"told": told, "problems": problems, "everybody": everybody}
    return visit.page("manage_job.html", {**shown, **more, **news}, status=422 if problems else 200)


@router.post("/manage/jobs/{job_id}/hand-over")
def hand_over_units(visit: Visiting, job_id: str) -> Response:
    """What a named annotator has not done becomes somebody else's."""
    try:
        with visit.server.store.write() as tx:
            giver, taker = (people.the(tx, visit.text(name)) for name in ("giver", "taker"))
            n_units = hand_over(tx, jobs.the(tx, job_id), giver, taker, actor=visit.person.person_id)
    except UsageError as error:
        return job_view(visit, job_id, problems=[str(error)])
    return job_view(visit, job_id, told=f"{n_units} unit{'s' * (n_units != 1)} of {giver.name} went to {taker.name}.")


@router.post("/manage/jobs/{job_id}/state")
def set_state(visit: Visiting, job_id: str) -> Response:
    wanted = visit.text("state")
    with visit.server.store.write() as tx:
        job = jobs.the(tx, job_id)
        if wanted not in MOVES[job.state]:
            words = f"state: expected {' or '.join(MOVES[job.state])} after {job.state}, found {wanted[:20]!r}"
            raise BadInput(Problem("form", words))
        jobs.set_state(tx, job_id, cast(JobState, wanted), actor=visit.person.person_id)
    return visit.go(f"/manage/jobs/{job_id}")


@router.get("/manage/jobs/{job_id}/agreement")
def agreement_page(visit: Visiting, job_id: str) -> Response:
    with visit.server.store.read() as tx:
        job = jobs.the(tx, job_id)
        if job.task == MARKING:
            marks, reason = live_marks(marked_in(tx, job_id, names=True))
            return visit.page("manage_agreement_marks.html", job=job, found=marks, reason=reason)
        rows = judgments.table(tx, job_id, names=True, payload=False)
    found = live_agreement(rows, TASKS[job.task], name=job.name, first=redundancy_of([job]))
    return visit.page("manage_agreement.html", job=job, found=found)
