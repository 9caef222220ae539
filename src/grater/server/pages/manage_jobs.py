"""The study at a glance, and one job: its state, progress with charts, agreement so far, guidelines."""

from __future__ import annotations

from typing import cast

from fastapi import APIRouter
from starlette.responses import Response

from grater.errors import BadInput, Problem
from grater.server.live import live_agreement, rater_chart, time_chart, unit_chart
from grater.server.visit import Visiting
from grater.store import assignments, essays, findings, guidelines, items, jobs, judgments, people, progress
from grater.store.jobs import JobState
from grater.study.tables import redundancy_of
from grater.tasks import TASKS

router = APIRouter()

LONGEST_GUIDELINES = 100_000
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
    with visit.server.store.read() as tx:
        job = jobs.the(tx, job_id)
        far = progress.of_job(tx, job_id)
        rows = judgments.table(tx, job_id, payload=False)
        n_assigned = len(assignments.of_job(tx, job_id)) if job.access == "assigned" else None
        versions = guidelines.versions(tx, job_id)
        n_findings = findings.n_open(tx, job_id)
    drawn = {
        "Judgments a unit": unit_chart(far),
        "Judgments a rater": rater_chart(far),
        "Over time": time_chart(rows),
    }
    charts = [(title, chart) for title, chart in drawn.items() if chart]
    shown = {"job": job, "task": TASKS[job.task], "far": far, "charts": charts, "n_assigned": n_assigned}
    return visit.page("manage_job.html", shown, versions=versions, moves=MOVES[job.state], n_findings=n_findings)


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


@router.get("/manage/jobs/{job_id}/guidelines")
def guidelines_page(visit: Visiting, job_id: str) -> Response:
    with visit.server.store.read() as tx:
        job = jobs.the(tx, job_id)
        versions = guidelines.versions(tx, job_id)
    markdown = versions[-1].markdown if versions else TASKS[job.task].guidelines
    return visit.page("manage_guidelines.html", job=job, versions=versions, markdown=markdown)


@router.post("/manage/jobs/{job_id}/guidelines")
def new_guidelines(visit: Visiting, job_id: str) -> Response:
    """A new version; judgments from now on know that they were made under it."""
    markdown = visit.text("markdown").replace("\r\n", "\n")
    if not 0 < len(markdown) <= LONGEST_GUIDELINES:
        words = f"markdown: expected 1 to {LONGEST_GUIDELINES} characters, found {len(markdown)}"
        raise BadInput(Problem("form", words))
    with visit.server.store.write() as tx:
        guidelines.add(tx, job_id, markdown, actor=visit.person.person_id)
    return visit.go(f"/manage/jobs/{job_id}/guidelines")


@router.get("/manage/jobs/{job_id}/agreement")
def agreement_page(visit: Visiting, job_id: str) -> Response:
    with visit.server.store.read() as tx:
        job = jobs.the(tx, job_id)
        rows = judgments.table(tx, job_id, names=True, payload=False)
    found = live_agreement(rows, TASKS[job.task], name=job.name, first=redundancy_of([job]))
    return visit.page("manage_agreement.html", job=job, found=found)
