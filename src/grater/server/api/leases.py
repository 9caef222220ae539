"""Work by the API: take a unit, see what is asked, hand the answer in; a program judges as a person does."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, StringConstraints
from pydantic import Field as Shape
from starlette.responses import JSONResponse

from grater.server.api.shapes import Reply, desk_json
from grater.server.security.roles import API
from grater.server.visit import Visit, Visiting
from grater.server.work import Desk, desk_of, hand_in, take_desk

router = APIRouter(prefix=API, tags=["work"])
"""Raters call these all the time, so they answer with the bytes themselves: a shape checked again costs a thread."""

Text = Annotated[str, StringConstraints(max_length=1_000_000)]


class Answered(BaseModel):
    """`fields` are those of the lease, each a list of values; with a `submission_id` sending again does no harm."""

    model_config = ConfigDict(extra="forbid")
    fields: dict[str, list[Text]] = Shape(max_length=100)
    submission_id: Annotated[str, StringConstraints(max_length=100)] = ""
    seconds: float | None = Shape(default=None, ge=0)


@router.post("/jobs/{job_id}/next", response_model=Reply)
def next_unit(visit: Visiting, job_id: str) -> JSONResponse:
    """The unit that you hold in this job, or a new one; `null` where there is none for you now."""
    desk = take_desk(visit.server.store, job_id=job_id, person_id=visit.person.person_id)
    return JSONResponse({"lease": desk_json(desk) if desk else None})


@router.get("/leases/{lease_id}")
def one_lease(visit: Visiting, lease_id: str) -> Reply:
    """A piece of your work."""
    return desk_json(_desk(visit, lease_id))


@router.post("/leases/{lease_id}", response_model=Reply)
def submit(visit: Visiting, lease_id: str, sent: Answered) -> JSONResponse:
    """Hand in an answer; the same again gives the stored result, another answer under the id is a conflict."""
    desk = _desk(visit, lease_id)
    receipt = hand_in(visit.server.store, desk, sent.fields, submission_id=sent.submission_id, seconds=sent.seconds)
    told = {"submission_id": receipt.submission_id, "status": receipt.status, "is_replay": receipt.is_replay}
    return JSONResponse(told)


def _desk(visit: Visit, lease_id: str) -> Desk:
    with visit.server.store.glance() as tx:
        return desk_of(tx, lease_id, person_id=visit.person.person_id)
