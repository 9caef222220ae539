"""Marks to look at again: what `corpus check` found in an annotator's own work (NUCLE 2013, section 4).

The annotator mends an essay, or keeps a mark as it is.  Managers send a job's marks through the check.
"""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from grater.server.context import Context
from grater.server.jobs.pages import job_view
from grater.sheet import counted
from grater.store import jobs, revisions, units
from grater.study.adjudication import review
from grater.study.work import revise, settle_finding

router = APIRouter()


@router.get("/reviews")
def reviews_page(context: Context) -> Response:
    """What this person should look at again, essay by essay."""
    with context.server.store.read() as tx:
        findings = revisions.open_findings(tx, context.person.person_id)
        unit_ids = dict.fromkeys(finding.unit_id for finding in findings)
        by_unit = {unit_id: units.get(tx, unit_id) for unit_id in unit_ids}
    groups = [
        (unit, [finding for finding in findings if finding.unit_id == unit_id]) for unit_id, unit in by_unit.items()
    ]
    return context.page("reviews.html", groups=groups)


@router.post("/reviews/{finding_id}/keep")
def keep(context: Context, finding_id: str) -> Response:
    """The mark is as it should be."""
    with context.changing() as tx:
        settle_finding(tx, finding_id, "kept", person_id=context.person.person_id)
    return context.go("/reviews")


@router.post("/reviews/units/{unit_id}/mend")
def mend(context: Context, unit_id: str) -> Response:
    """The essay again, with the marks as they are."""
    with context.changing() as tx:
        lease = revise(tx, unit_id, person_id=context.person.person_id)
    return context.go(f"/leases/{lease.lease_id}")


@router.post("/manage/jobs/{job_id}/review")
def look_over(context: Context, job_id: str) -> Response:
    """Put what the check finds in the marks of a job into its annotators' queues."""
    with context.server.store.read() as tx:
        name = jobs.get(tx, job_id).name
    n_new = review(context.store, name, actor=context.person.person_id)
    told = f"{counted(n_new, 'mark')} returned to their annotators." if n_new else "No new unusual marks."
    return job_view(context, job_id, told=told)
