"""Jobs by the API: list, look, open and close, instructions, progress, agreement, judgments."""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict

from grater.agreement.as_json import agreement_json
from grater.errors import Conflict, NotFound
from grater.server.api.shapes import Reply, job_json, progress_json
from grater.server.live import live_agreement
from grater.server.pages.manage_jobs import LONGEST_GUIDELINES, MOVES
from grater.server.security.roles import API, MANAGERS
from grater.server.visit import Visiting
from grater.store import guidelines, jobs, judgments, looking, progress
from grater.study.tables import redundancy_of
from grater.tasks import TASKS

router = APIRouter(prefix=API, tags=["jobs"])


class NewState(BaseModel):
    model_config = ConfigDict(extra="forbid")
    state: Literal["open", "paused", "closed"]


class NewGuidelines(BaseModel):
    model_config = ConfigDict(extra="forbid")
    markdown: str


@router.get("/jobs")
def job_list(visit: Visiting) -> Reply:
    """Every job that you may know of."""
    with visit.server.store.read() as tx:
        found = [job_json(job) for job in jobs.all(tx) if job.state != "draft" or visit.role in MANAGERS]
    return {"jobs": list(found)}


@router.get("/jobs/{job_id}")
def one_job(visit: Visiting, job_id: str) -> Reply:
    """A job with its current instructions and how much of it you have done."""
    with visit.server.store.read() as tx:
        job = jobs.the(tx, job_id)
        if job.state == "draft" and visit.role not in MANAGERS:
            raise NotFound("there is no such job in this study")
        current = guidelines.current(tx, job_id)
        n_done = progress.of_person(tx, job_id, visit.person.person_id)
    words = {"version": current.version, "markdown": current.markdown} if current else None
    return {**job_json(job), "done": n_done, "guidelines": words}


@router.post("/jobs/{job_id}/state")
def set_state(visit: Visiting, job_id: str, sent: NewState) -> Reply:
    """Open, pause or close a job."""
    with visit.server.store.write() as tx:
        job = jobs.the(tx, job_id)
        if sent.state not in MOVES[job.state]:
            raise Conflict(f"expected {' or '.join(MOVES[job.state])} after {job.state}, found {sent.state}")
        return job_json(jobs.set_state(tx, job_id, sent.state, actor=visit.person.person_id))


@router.post("/jobs/{job_id}/guidelines")
def new_guidelines(visit: Visiting, job_id: str, sent: NewGuidelines) -> Reply:
    """A new version of the instructions, in Markdown."""
    with visit.server.store.write() as tx:
        made = guidelines.add(tx, job_id, sent.markdown[:LONGEST_GUIDELINES], actor=visit.person.person_id)
    return {"version": made.version}


@router.get("/jobs/{job_id}/progress")
def job_progress(visit: Visiting, job_id: str) -> Reply:
    """How far a job is, in all and by rater."""
    with visit.server.store.read() as tx:
        jobs.the(tx, job_id)
        return progress_json(progress.of_job(tx, job_id))


@router.get("/jobs/{job_id}/agreement")
def job_agreement(visit: Visiting, job_id: str) -> Reply:
    """The agreement so far, as `grater agree --json` prints it, on labels and on verdicts."""
    with visit.server.store.read() as tx:
        job = jobs.the(tx, job_id)
        rows = judgments.table(tx, job_id, payload=False)
    found = live_agreement(rows, TASKS[job.task], name=job.name, first=redundancy_of([job]))
    labels = agreement_json(found.labels) if found.labels else None
    return {
        "labels": labels,
        "verdicts": agreement_json(found.verdicts) if found.verdicts else None,
        "reason": found.reason,
    }


@router.get("/jobs/{job_id}/judgments")
def job_judgments(visit: Visiting, job_id: str, status: str = "valid") -> Reply:
    """Judgments as rows of the judgments table, raters by pseudonym; `status` is one, or several with commas.

    Units that are not finished are left out until you give up to rate in the job (`look`).
    """
    with visit.server.store.read() as tx:
        jobs.the(tx, job_id)
        rows = judgments.table(tx, job_id, status.split(","))
        if not looking.is_out(tx, job_id, visit.person.person_id):
            done = {each.unit_id for each in progress.of_job(tx, job_id).by_unit if each.is_done}
            rows = [row for row in rows if row["unit"] in done]
    return {"judgments": list(rows)}


@router.post("/jobs/{job_id}/look")
def look(visit: Visiting, job_id: str) -> Reply:
    """See the answers to units that are not finished, and rate in the job no more."""
    with visit.server.store.write() as tx:
        looking.look(tx, job_id, visit.person.person_id)
    return {"job_id": job_id, "looked": True}
