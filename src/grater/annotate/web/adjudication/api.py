"""Adjudication through the API: what is undecided, what was said, and a decision on the task's own form."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from grater.annotate.store import Tx, jobs
from grater.annotate.store.jobs import Job
from grater.annotate.study.adjudication import MARKING, Waiting, done_of, finished_unit, save, shown_by, waiting
from grater.annotate.study.essay_adjudication import Kind, Place, letter_of, sent_edit, table_of
from grater.annotate.study.limits import LARGEST
from grater.annotate.tasks import TASKS
from grater.annotate.web.calls import (
    A_PAGE,
    Edit,
    Most,
    Page,
    Shape,
    Shown,
    Start,
    at_most,
    calls_about,
    cut,
    example,
)
from grater.annotate.web.context import Context
from grater.annotate.web.units.api import Decision, SentAnswers, decision_json, sent_json
from grater.annotate.web.work.shapes import Said

router = calls_about("adjudication")

Show = Literal["undecided", "differ", "decided"]


class Undecided(Shape):
    """`differs`: raters said different things of it; `labels` counts them by item, for an essay there are none."""

    unit_id: str
    differs: bool
    labels: dict[str, dict[str, int]]


class UndecidedUnits(Page):
    """Those on which raters differ first."""

    units: list[Undecided]


class Finished(Shape):
    unit_id: str
    differs: bool
    is_decided: bool


class FinishedUnits(Page):
    """Those on which raters differ first."""

    units: list[Finished]


class Opinion(Shape):
    """What one annotator says at a place; no edits: nothing is wrong there."""

    rater: str
    edits: list[Edit]


class Difference(Shape):
    """A place of an essay, and in what annotators differ there, `same` where they do not."""

    start: int
    end: int
    kind: Kind
    opinions: list[Opinion]


class Case(Shape):
    """A finished unit: what its raters, by letters, said; `places` for an essay.  Decide it from this `version`."""

    unit_id: str
    job_id: str
    task: str
    shown: Shown
    sent: list[SentAnswers]
    places: list[Difference]
    version: int
    decision: Decision | None


class NewDecision(Said):
    """An answer as for a lease; `version` is the decision that this one was made from, 0 for none."""

    model_config = example(fields={"label": ["ok"]}, version=0, comment="The writer means the place.")
    version: int | None = Field(default=None, ge=0, le=LARGEST)
    comment: Annotated[str, at_most("adjudication.comment")] = ""


class DecisionSaved(Shape):
    unit_id: str
    version: int


@router.get("/jobs/{job_id}/undecided")
def undecided(context: Context, job_id: str, start: Start = 0, most: Most = A_PAGE) -> UndecidedUnits:
    """Finished, undecided units; those on which raters disagree first."""
    with context.server.store.read() as tx:
        job = jobs.get(tx, job_id)
        units = _essays(tx, job) if job.task == MARKING else [_item(unit) for unit in waiting(tx, job)]
    here, following = cut(units[start : start + most + 1], start, most)
    return UndecidedUnits(units=list(here), next=following)


@router.get("/jobs/{job_id}/finished")
def finished_units(
    context: Context, job_id: str, show: Show | None = None, start: Start = 0, most: Most = A_PAGE
) -> FinishedUnits:
    """Finished units of a job, decided or not."""
    with context.server.store.read() as tx:
        units = shown_by(done_of(tx, jobs.get(tx, job_id)))[show or ""]
    here, following = cut(units[start : start + most + 1], start, most)
    return FinishedUnits(units=[Finished.of(unit) for unit in here], next=following)


@router.get("/units/{unit_id}/decision")
def one_case(context: Context, unit_id: str) -> Case:
    """The answers to a finished unit side by side, and the decision, if there is one."""
    places: list[Difference] = []
    with context.server.store.read() as tx:
        unit, shown, sent, decided = finished_unit(tx, unit_id)
        if unit.job.task == MARKING:
            table = table_of(tx, unit)
            places = [_place(table.text, place) for place in table.places]
    return Case(
        unit_id=unit_id,
        job_id=unit.job.job_id,
        task=unit.job.task,
        shown=Shown.of(shown),
        sent=[sent_json(answered, letter_of(number)) for number, answered in enumerate(sent)],
        places=places,
        version=decided.version if decided else 0,
        decision=decision_json(decided),
    )


@router.post("/units/{unit_id}/decision")
def decide(context: Context, unit_id: str, sent: NewDecision) -> DecisionSaved:
    """Save the final answer, as the annotator `gold`; the originals stay.

    With a `version` a decision that somebody made in the meantime is a conflict (409), not overwritten.
    """
    with context.changing() as tx:
        unit, shown, _, _ = finished_unit(tx, unit_id)
        answers = TASKS[unit.job.task].read(unit.unit, sent.as_fields(), kept=shown.kept)
        made = save(tx, unit_id, context.person, answers, version=sent.version, comment=sent.comment)
    return DecisionSaved(unit_id=unit_id, version=made.version)


def _essays(tx: Tx, job: Job) -> list[Undecided]:
    units = shown_by(done_of(tx, job))["undecided"]
    return [Undecided(unit_id=unit.unit_id, differs=unit.differs, labels={}) for unit in units]


def _item(unit: Waiting) -> Undecided:
    return Undecided.model_validate({**unit.to_dict(), "unit_id": unit.unit_id})


def _place(text: str, place: Place) -> Difference:
    opinions = [
        Opinion(rater=opinion.rater, edits=[Edit.model_validate(sent_edit(text, edit)) for edit in opinion.edits])
        for opinion in place.opinions
    ]
    return Difference(start=place.span.start, end=place.span.end, kind=place.kind, opinions=opinions)
