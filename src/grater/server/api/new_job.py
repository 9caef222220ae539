"""A new job by the API, from what the study holds."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from grater.model import Json
from grater.server.api.calls import LARGEST, Body, Name, calls_about, example
from grater.server.api.shapes import Job
from grater.server.pages.manage_new_job import MINUTES_OF_A_MONTH, MOST_JUDGMENTS, MOST_UNITS
from grater.server.visit import Visiting
from grater.study.drawing import of_sample
from grater.study.planning import JobPlan, add_job

router = calls_about("jobs")


class NewJob(Body):
    """As on the form for a new job.

    Units are made from the items of a `kind` (the task's own by default), from those that a `system` flagged, from
    `item_ids`, from a `sample`, or for marking from essays (`essay_ids`, or all); `most` of them at random.
    `annotators` are names: each unit goes to `judgments` of them; with none, anybody may take it.
    """

    model_config = example(name="prepositions", task="error", title="Is it an error?", judgments=3, open=False)
    name: Name
    task: str
    title: Annotated[str, StringConstraints(max_length=80)] = ""
    judgments: int = Field(default=1, ge=1, le=MOST_JUDGMENTS, description="Wanted for each unit.")
    kind: str | None = None
    system: str | None = None
    sample: str | None = Field(default=None, description="The items of this sample that nobody has judged yet.")
    item_ids: tuple[str, ...] = ()
    essay_ids: tuple[str, ...] = ()
    most: int | None = Field(default=None, ge=1, le=MOST_UNITS)
    fresh: bool = Field(default=False, description="Only essays that no job of this task asks about yet.")
    annotators: tuple[str, ...] = ()
    batch_size: int = Field(default=0, ge=0, le=MOST_UNITS)
    overlap_every: int = Field(default=0, ge=0, le=MOST_UNITS, description="Every k-th batch is the same for all.")
    delay_days: float = Field(default=3, ge=0, le=365, description="Between the two stages of constructions.")
    lease_minutes: float | None = Field(default=None, gt=0, le=MINUTES_OF_A_MONTH)
    guidelines: str | None = Field(default=None, description="In Markdown; the task's own by default.")
    grey: bool = Field(default=False, description="Constructions: offer the grey answer.")
    tagset: str | None = Field(default=None, description="Marking: the tags to mark with, NUCLE's by default.")
    seed: int = Field(default=0, ge=0, le=LARGEST)
    open: bool = Field(default=True, description="False leaves a draft that raters do not see.")


@router.post("/jobs")
def make_job(visit: Visiting, sent: NewJob) -> Job:
    """Make a job; a name that is taken is a conflict (409), so sending again makes no second one."""
    asked = sent.model_dump(exclude={"grey", "tagset", "open", "sample", "fresh"})
    payload: dict[str, Json] = {"grey": True} if sent.grey else {}
    payload |= {"tagset": sent.tagset} if sent.tagset else {}
    plan = JobPlan(**asked, payload=payload, is_open=sent.open, is_fresh=sent.fresh)
    store = visit.server.store
    wanted = of_sample(store, plan, sent.sample) if sent.sample else plan
    return Job.of(add_job(store, wanted, actor=visit.person.person_id))
