"""The items of the study, for managers: what each is and where it stands."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from grater.model import Essay
from grater.server.paging import pager
from grater.server.visit import Visiting
from grater.store import Tx, essays, items
from grater.store.items import StudyItem

router = APIRouter()

A_PAGE = 50
LONGEST = 80


@router.get("/manage/items")
def item_list(visit: Visiting, page: int = 1, kind: str = "") -> Response:
    with visit.server.store.read() as tx:
        kinds = items.kinds(tx)
        here = pager(items.count(tx, kind=kind or None), page, size=A_PAGE)
        found = items.some(tx, kind=kind or None, start=here.start, most=here.size)
        rows = list(zip(found, targets_of(tx, found), strict=True))
    return visit.page("manage_items.html", rows=rows, kinds=kinds, kind=kind, pager=here)


def targets_of(tx: Tx, found: list[StudyItem]) -> list[str]:
    """The words of each item."""
    texts = {each.essay_id: each for each in essays.of_ids(tx, [e.item.essay_id for e in found if e.item])}
    return [_target(each, texts) for each in found]


def _target(each: StudyItem, texts: dict[str, Essay]) -> str:
    """The words of an item, cut where they are long."""
    if each.item is None or each.item.essay_id not in texts:
        return ""
    words = each.item.span.of(texts[each.item.essay_id].text)
    return words if len(words) <= LONGEST else f"{words[:LONGEST]}…"
