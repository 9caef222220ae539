"""The crowd by the API: terms, gold, standing and costs for managers, feedback for raters, programs as raters."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, StringConstraints
from pydantic import Field as Shape

from grater.crowd.terms import terms_json, terms_of
from grater.errors import NotFound
from grater.server.api.shapes import Reply
from grater.server.pages.crowd_panels import give_back
from grater.server.security.roles import API
from grater.server.visit import Visiting
from grater.server.work import desk_of, submission_id_of
from grater.store import gold, gold_states, jobs, people, submissions, tokens, trust
from grater.study.crowd_gold import REASON, gold_from_experts
from grater.study.crowd_money import job_costs
from grater.study.crowd_programs import program_job
from grater.study.crowd_protocol import protocol_sheet
from grater.study.crowd_terms import set_terms

router = APIRouter(prefix=API, tags=["crowd"])


class GoldWanted(BaseModel):
    """Items on which `least` experts or more all agree, `most` of them."""

    model_config = ConfigDict(extra="forbid")
    source: str | None = None
    least: int = Shape(default=2, ge=1)
    most: int | None = Shape(default=None, ge=1)
    reason: Annotated[str, StringConstraints(max_length=500)] = REASON


class NewProgram(BaseModel):
    model_config = ConfigDict(extra="forbid")
    name: Annotated[str, StringConstraints(min_length=1, max_length=80)]


class PlaceGivenBack(BaseModel):
    model_config = ConfigDict(extra="forbid")
    id: Annotated[str, StringConstraints(min_length=1, max_length=200)]
    state: Literal["returned", "timed-out"]


@router.get("/jobs/{job_id}/crowd")
def standing(visit: Visiting, job_id: str) -> Reply:
    """The terms of a job, its raters' standing, its gold, its costs and its protocol sheet."""
    with visit.server.store.read() as tx:
        job = jobs.the(tx, job_id)
        names = {person.person_id: person.pseudonym for person in people.all(tx)}
        raters = [
            {"rater": names[each.person_id], "state": each.state, "seen": each.seen, "right": each.right}
            for each in trust.of_job(tx, job_id)
        ]
        known = [
            {"unit": each.unit_id, "state": each.state, "seen": each.seen, "missed": each.missed}
            for each in gold_states.of_job(tx, job_id)
        ]
        return {
            "terms": terms_json(terms_of(job.options)),
            "raters": raters,
            "gold": known,
            "costs": job_costs(tx, job).as_json(),
            "protocol": dict(protocol_sheet(tx, job)),
        }


@router.post("/jobs/{job_id}/terms")
def change_terms(visit: Visiting, job_id: str, sent: dict[str, Any]) -> Reply:
    """Change some terms and keep the others; null takes one away."""
    with visit.server.store.write() as tx:
        job = set_terms(tx, job_id, sent, actor=visit.person.person_id)
    return {"terms": terms_json(terms_of(job.options))}


@router.post("/jobs/{job_id}/gold")
def make_gold(visit: Visiting, job_id: str, sent: GoldWanted) -> Reply:
    """Gold from what the experts of the study agree on."""
    with visit.server.store.write() as tx:
        job = jobs.the(tx, job_id)
        made = gold_from_experts(tx, job, **sent.model_dump(), actor=visit.person.person_id)
    return {"made": made.made, "met": made.met}


@router.post("/jobs/{job_id}/programs")
def new_program(visit: Visiting, job_id: str, sent: NewProgram) -> Reply:
    """A program as a rater: its own job beside the people's, and a token, told this once."""
    with visit.server.store.write() as tx:
        job, person = program_job(tx, jobs.the(tx, job_id), sent.name, actor=visit.person.person_id)
        token = tokens.make(tx, person.person_id, name="program", actor=visit.person.person_id)
    return {"job_id": job.job_id, "job": job.name, "person_id": person.person_id, "token": token}


@router.post("/panels/{panel_id}/places")
def place_given_back(visit: Visiting, panel_id: str, sent: PlaceGivenBack) -> Reply:
    """The panel says that a rater has returned their place, or that it timed out there; it is free again."""
    with visit.server.store.write() as tx:
        give_back(tx, panel_id, sent.id, sent.state, actor=visit.person.person_id)
    return {"id": sent.id, "state": sent.state}


@router.get("/leases/{lease_id}/feedback")
def feedback(visit: Visiting, lease_id: str) -> Reply:
    """What would have been right, after a missed question with a known answer; else 404."""
    with visit.server.store.read() as tx:
        desk = desk_of(tx, lease_id, person_id=visit.person.person_id)
        stored = submissions.find(tx, submission_id_of(lease_id))
        if stored is None or stored.is_right is not False:
            raise NotFound("there is no feedback here")
        known = gold.of_unit(tx, desk.unit.unit_id)
    return {"known": [{"accepted": sorted(each.accepted), "reason": each.reason} for each in known]}
