"""People by the API: yourself, everybody, invitations, roles."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, StringConstraints
from pydantic import Field as Shape

from grater.server.api.shapes import Reply, person_json
from grater.server.pages.manage_people import require_another_owner, require_may_give
from grater.server.security.roles import API
from grater.server.visit import Visiting
from grater.store import invitations, jobs, people, sessions
from grater.study.seating import add_seat

router = APIRouter(prefix=API, tags=["people"])

Role = Literal["owner", "manager", "adjudicator", "annotator", "worker"]


class NewInvitation(BaseModel):
    model_config = ConfigDict(extra="forbid")
    role: Role
    job_id: str | None = None
    days: float = Shape(default=14, gt=0, le=365)
    name: Annotated[str, StringConstraints(max_length=80)] = ""


class NewSeat(BaseModel):
    """`members` are the names of two people."""

    model_config = ConfigDict(extra="forbid")
    members: Annotated[list[str], Shape(min_length=2, max_length=2)]
    name: Annotated[str, StringConstraints(max_length=80)] = ""


class NewRole(BaseModel):
    model_config = ConfigDict(extra="forbid")
    role: Role


@router.get("/me")
def me(visit: Visiting) -> Reply:
    """Whose token this is."""
    return person_json(visit.person)


@router.get("/people")
def everybody(visit: Visiting) -> Reply:
    """Everybody in the study."""
    with visit.server.store.read() as tx:
        return {"people": [person_json(person) for person in people.all(tx)]}


@router.post("/invitations")
def invite(visit: Visiting, sent: NewInvitation) -> Reply:
    """A new invitation; its link is told this once."""
    require_may_give(visit.role, sent.role)
    with visit.server.store.write() as tx:
        if sent.job_id is not None:
            jobs.the(tx, sent.job_id)
        token = invitations.make(
            tx, role=sent.role, job_id=sent.job_id, days=sent.days, name=sent.name, actor=visit.person.person_id
        )
    return {"link": visit.server.settings.link(f"/join/{token}")}


@router.post("/seats")
def new_seat(visit: Visiting, sent: NewSeat) -> Reply:
    """A joint seat: two people, one agreed judgment."""
    return person_json(add_seat(visit.server.store, sent.members, name=sent.name, actor=visit.person.person_id))


@router.post("/people/{person_id}/role")
def set_role(visit: Visiting, person_id: str, sent: NewRole) -> Reply:
    """Give somebody another role."""
    with visit.server.store.write() as tx:
        if person_id == visit.person.person_id:
            require_another_owner(tx, person_id)
        person = people.set_role(tx, person_id, sent.role, actor=visit.person.person_id)
        sessions.end_all(tx, person_id)
    return person_json(person)
