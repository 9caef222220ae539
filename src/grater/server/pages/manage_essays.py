"""The essays of the study, for managers: what came in, with its marks, and where each is asked about.

Marks that were made here are not on these pages: those of a unit that is not finished stay hidden (P9), and the
others are on the unit's own page.
"""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from grater.errors import NotFound
from grater.server.paging import pager
from grater.server.visit import Visit, Visiting
from grater.store import essays, units

router = APIRouter()

A_PAGE = 50


@router.get("/manage/essays")
def essay_list(visit: Visiting, page: int = 1, essay: str = "") -> Response:
    """A page of essays, or one of them: ids are whatever files called them, and stand in no path."""
    if essay:
        return _one(visit, essay)
    with visit.server.store.read() as tx:
        here = pager(essays.count(tx), page, size=A_PAGE)
        found = essays.some(tx, start=here.start, most=here.size)
    return visit.page("manage_essays.html", found=found, pager=here)


def _one(visit: Visit, essay_id: str) -> Response:
    with visit.server.store.read() as tx:
        essay = essays.find(tx, essay_id)
        if essay is None:
            raise NotFound("there is no such essay in this study")
        asked = units.of_essay(tx, essay_id)
    return visit.page("manage_essay.html", essay=essay, asked=asked)
