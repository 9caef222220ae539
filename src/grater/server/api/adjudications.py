"""Adjudication by the API: what is undecided, and a decision on the task's own form."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, StringConstraints
from pydantic import Field as Shape

from grater.errors import NotFound
from grater.server.api.leases import Text
from grater.server.api.shapes import Reply
from grater.server.pages.manage_units import is_finished
from grater.server.security.roles import API
from grater.server.visit import Visiting
from grater.server.work import shown_to_staff
from grater.store import adjudications, jobs, units
from grater.study.adjudicating import waiting
from grater.tasks import TASKS

router = APIRouter(prefix=API, tags=["adjudication"])


class Decided(BaseModel):
    """`fields` as for a lease; `version` is the decision that this one was made from, 0 for none."""

    model_config = ConfigDict(extra="forbid")
    fields: dict[str, list[Text]] = Shape(max_length=100)
    version: int | None = Shape(default=None, ge=0)
    comment: Annotated[str, StringConstraints(max_length=2000)] = ""


@router.get("/jobs/{job_id}/undecided")
def undecided(visit: Visiting, job_id: str) -> Reply:
    """Finished units that nobody has decided, with their labels; those on which raters differ first."""
    with visit.server.store.read() as tx:
        return {"units": [each.as_json() for each in waiting(tx, jobs.the(tx, job_id))]}


@router.post("/units/{unit_id}/decision")
def decide(visit: Visiting, unit_id: str, sent: Decided) -> Reply:
    """The answer that counts in the end, under the annotator `gold`; the originals stay."""
    with visit.server.store.write() as tx:
        unit = units.the(tx, unit_id)
        if unit.role != "work" or not is_finished(tx, unit_id):
            raise NotFound("there is no such unit to adjudicate, or its judgments are not complete yet")
        answers = TASKS[unit.job.task].read(unit.unit, sent.fields, kept=shown_to_staff(tx, unit_id).kept)
        made = adjudications.save(
            tx,
            unit_id=unit_id,
            person_id=visit.person.person_id,
            answers=answers,
            version=sent.version,
            comment=sent.comment,
        )
    return {"unit": unit_id, "version": made.version}
