"""The essays of the study by the API: as their writers left them, with the marks that came with them."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query

from grater.errors import NotFound
from grater.server.api.calls import A_PAGE, Most, Start, calls_about, cut
from grater.server.api.shapes import Edit, Page, Shape
from grater.server.pages.adjudicate_essays import sent_edit
from grater.server.visit import Visiting
from grater.store import essays, units

router = calls_about("study")

EssayId = Annotated[str, Query(description="Whatever its file called it.")]


class Essay(Shape):
    essay_id: str
    text: str
    metadata: dict[str, str]


class Essays(Page):
    essays: list[Essay]


class Marks(Shape):
    """What one annotator marked before the essay came in; no edits: nothing was wrong."""

    annotator: str
    edits: list[Edit]


class AskedIn(Shape):
    """A job that asks about the essay, in these units."""

    job_id: str
    unit_ids: list[str]


class WholeEssay(Essay):
    """Marks that were made here are in the units."""

    marks: list[Marks]
    asked: list[AskedIn]


@router.get("/essays")
def essay_list(visit: Visiting, start: Start = 0, most: Most = A_PAGE) -> Essays:
    """The essays of the study, in the order in which they came."""
    with visit.server.store.read() as tx:
        here, following = cut(essays.some(tx, start=start, most=most + 1), start, most)
    return Essays(essays=[Essay.of(each) for each in here], next=following)


@router.get("/essay")
def one_essay(visit: Visiting, essay_id: EssayId) -> WholeEssay:
    """An essay with the marks that came with it, and the units that ask about it."""
    with visit.server.store.read() as tx:
        found = essays.find(tx, essay_id)
        if found is None:
            raise NotFound("there is no such essay in this study")
        asked = [AskedIn(job_id=job.job_id, unit_ids=ids) for job, ids in units.of_essay(tx, essay_id)]
    by_annotator = {name: [edit for edit in found.edits if edit.rater == name] for name in found.annotators}
    marks = [
        Marks(annotator=name, edits=[Edit.model_validate(sent_edit(found.text, edit)) for edit in edits])
        for name, edits in by_annotator.items()
    ]
    return WholeEssay(**Essay.of(found).model_dump(), marks=marks, asked=asked)
