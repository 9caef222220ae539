"""Marks to look at again through the API: a manager has a job looked over, an annotator mends or keeps."""

from __future__ import annotations

from typing import Literal

from starlette.responses import JSONResponse

from grater.server.calls import Body, Shape, calls_about, example
from grater.server.context import Context
from grater.server.work.shapes import Taken, desk_json
from grater.store import jobs, revisions
from grater.study.adjudication import review
from grater.study.work import desk_of, revise
from grater.study.work import settle_finding as settle

router = calls_about("reviews")


class LookedOver(Shape):
    """How many new findings wait for their annotators."""

    findings: int


class Finding(Shape):
    """`rule` and `message` of `grater corpus check` on work of yours."""

    finding_id: str
    unit_id: str
    rule: str
    message: str


class Findings(Shape):
    findings: list[Finding]


class FindingSettled(Body):
    model_config = example(state="kept")
    state: Literal["kept"]


class FindingState(Shape):
    finding_id: str
    state: str


@router.post("/jobs/{job_id}/review")
def look_over(context: Context, job_id: str) -> LookedOver:
    """Run `corpus check` on a job's marks and return the findings to their annotators, once."""
    with context.server.store.read() as tx:
        name = jobs.get(tx, job_id).name
    return LookedOver(findings=review(context.store, name, actor=context.person.person_id))


@router.get("/findings")
def my_findings(context: Context) -> Findings:
    """Findings about your own marks that are not settled yet."""
    with context.server.store.read() as tx:
        return Findings(
            findings=[Finding.of(finding) for finding in revisions.open_findings(tx, context.person.person_id)]
        )


@router.post("/findings/{finding_id}")
def settle_finding(context: Context, finding_id: str, sent: FindingSettled) -> FindingState:
    """Keep a mark as it is."""
    with context.changing() as tx:
        settle(tx, finding_id, sent.state, person_id=context.person.person_id)
    return FindingState(finding_id=finding_id, state=sent.state)


@router.post("/units/{unit_id}/mend", response_model=Taken)
def mend(context: Context, unit_id: str) -> JSONResponse:
    """A lease for correcting your own marks; the new answer replaces the old one."""
    with context.changing() as tx:
        lease = revise(tx, unit_id, person_id=context.person.person_id)
        return JSONResponse({"lease": desk_json(desk_of(tx, lease.lease_id, person_id=context.person.person_id))})
