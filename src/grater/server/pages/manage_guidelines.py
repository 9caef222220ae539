"""The instructions of a job: written in Markdown, looked at, saved as a version; earlier versions stay readable."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from grater.errors import BadInput, Problem
from grater.server.visit import Visit, Visiting
from grater.store import guidelines, jobs
from grater.tasks import TASKS

router = APIRouter()

LONGEST_GUIDELINES = 100_000


@router.get("/manage/jobs/{job_id}/guidelines")
def guidelines_page(visit: Visiting, job_id: str, version: int = 0) -> Response:
    """The newest version, or an earlier one, which can be saved again as the newest."""
    return _page(visit, job_id, version=version)


@router.post("/manage/jobs/{job_id}/guidelines")
def new_guidelines(visit: Visiting, job_id: str) -> Response:
    """A new version, which judgments from now on know that they were made under; or only a look at it."""
    markdown = visit.text("markdown").replace("\r\n", "\n")
    if not 0 < len(markdown) <= LONGEST_GUIDELINES:
        words = f"markdown: expected 1 to {LONGEST_GUIDELINES} characters, found {len(markdown)}"
        raise BadInput(Problem("form", words))
    if visit.text("look"):
        return _page(visit, job_id, unsaved=markdown)
    with visit.server.store.write() as tx:
        guidelines.add(tx, job_id, markdown, actor=visit.person.person_id)
    return visit.go(f"/manage/jobs/{job_id}/guidelines")


def _page(visit: Visit, job_id: str, *, version: int = 0, unsaved: str = "") -> Response:
    with visit.server.store.read() as tx:
        job = jobs.the(tx, job_id)
        versions = guidelines.versions(tx, job_id)
    newest = versions[-1].markdown if versions else TASKS[job.task].guidelines
    earlier = next((each.markdown for each in versions if each.version == version), newest)
    shown = {"job": job, "versions": versions, "version": version, "unsaved": bool(unsaved)}
    return visit.page("manage_guidelines.html", shown, markdown=unsaved or earlier)
