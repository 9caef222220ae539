"""Marks to look at again by the API: a manager has a job looked over, an annotator mends or keeps."""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict

from grater.server.api.shapes import Reply, desk_json
from grater.server.security.roles import API
from grater.server.visit import Visiting
from grater.server.work import desk_of
from grater.store import findings, jobs, mending
from grater.study.reviewing import review

router = APIRouter(prefix=API, tags=["reviews"])


class Settled(BaseModel):
    model_config = ConfigDict(extra="forbid")
    state: Literal["kept"]


@router.post("/jobs/{job_id}/review")
def look_over(visit: Visiting, job_id: str) -> Reply:
    """Put what `corpus check` finds in the marks of a job into its annotators' queues."""
    with visit.server.store.read() as tx:
        name = jobs.the(tx, job_id).name
    return {"findings": review(visit.server.store, name, actor=visit.person.person_id)}


@router.get("/findings")
def mine(visit: Visiting) -> Reply:
    """What was found in your own work and waits for you."""
    with visit.server.store.read() as tx:
        found = findings.open_of(tx, visit.person.person_id)
    return {
        "findings": [
            {"finding_id": each.finding_id, "unit": each.unit_id, "rule": each.rule, "message": each.message}
            for each in found
        ]
    }


@router.post("/findings/{finding_id}")
def settle(visit: Visiting, finding_id: str, sent: Settled) -> Reply:
    """Keep a mark as it is."""
    with visit.server.store.write() as tx:
        findings.settle(tx, finding_id, sent.state, person_id=visit.person.person_id)
    return {"finding_id": finding_id, "state": sent.state}


@router.post("/units/{unit_id}/mend")
def mend(visit: Visiting, unit_id: str) -> Reply:
    """A lease on your own work with open findings; hand it in as any other, and it takes the place of the old."""
    with visit.server.store.write() as tx:
        lease = mending.begin(tx, unit_id=unit_id, person_id=visit.person.person_id)
        return {"lease": desk_json(desk_of(tx, lease.lease_id, person_id=visit.person.person_id))}
