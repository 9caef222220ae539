"""Jobs made, files imported and the study exported by the API."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, StringConstraints
from pydantic import Field as Shape
from starlette.responses import Response

from grater.model import Json
from grater.server.api.shapes import Reply, job_json
from grater.server.pages.manage_export import zipped_study
from grater.server.pages.manage_import import brought_in
from grater.server.pages.manage_new_job import MOST_JUDGMENTS
from grater.server.security.roles import API
from grater.server.visit import Visiting
from grater.study.planning import JobPlan, add_job

router = APIRouter(prefix=API, tags=["study"])

Name = Annotated[str, StringConstraints(min_length=1, max_length=80)]


class NewJob(BaseModel):
    """As on the form for a new job; `annotators` are names, and none means anybody."""

    model_config = ConfigDict(extra="forbid")
    name: Name
    task: str
    title: Annotated[str, StringConstraints(max_length=80)] = ""
    judgments: int = Shape(default=1, ge=1, le=MOST_JUDGMENTS)
    kind: str | None = None
    system: str | None = None
    item_ids: list[str] = []
    essay_ids: list[str] = []
    most: int | None = Shape(default=None, ge=1)
    annotators: list[str] = []
    batch_size: int = Shape(default=0, ge=0)
    overlap_every: int = Shape(default=0, ge=0)
    delay_days: float = Shape(default=3, ge=0, le=365)
    lease_minutes: float | None = Shape(default=None, gt=0)
    guidelines: str | None = None
    grey: bool = False
    tagset: str | None = None
    seed: int = Shape(default=0, ge=0)
    open: bool = True


@router.post("/jobs")
def make_job(visit: Visiting, sent: NewJob) -> Reply:
    """A new job from what the study holds."""
    asked = sent.model_dump(exclude={"grey", "tagset", "open"})
    payload: dict[str, Json] = {"grey": True} if sent.grey else {}
    payload |= {"tagset": sent.tagset} if sent.tagset else {}
    plan = JobPlan(**asked, payload=payload, is_open=sent.open)
    return job_json(add_job(visit.server.store, plan, actor=visit.person.person_id))


@router.post("/import")
def bring_in(visit: Visiting) -> Reply:
    """Files as `multipart/form-data`: `kind`, `files`, and `format`, `job`, `task` where they are wanted."""
    return {"imported": [each.as_json() for each in brought_in(visit)]}


@router.get("/export")
def download(visit: Visiting, names: bool = False, raw: bool = False) -> Response:
    """The whole study as a zip."""
    return zipped_study(visit.server.store, names=names, raw=raw)
