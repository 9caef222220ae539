"""The items of the study, for managers: what each is and where it stands."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from grater.model import Essay
from grater.server.visit import Visiting
from grater.store import essays, items
from grater.store.items import StudyItem

router = APIRouter()

A_PAGE = 50
LONGEST = 80


@router.get("/manage/items")
def item_list(visit: Visiting, page: int = 1, kind: str = "") -> Response:
    with visit.server.store.read() as tx:
        kinds = items.kinds(tx)
        n_pages = max(1, -(-items.count(tx, kind=kind or None) // A_PAGE))
        page = max(1, min(page, n_pages))
        found = items.some(tx, kind=kind or None, start=(page - 1) * A_PAGE, most=A_PAGE)
        texts = {each.essay_id: each for each in essays.of_ids(tx, [e.item.essay_id for e in found if e.item])}
    rows = [(each, _target(each, texts)) for each in found]
    return visit.page("manage_items.html", rows=rows, kinds=kinds, kind=kind, page=page, n_pages=n_pages)


def _target(each: StudyItem, texts: dict[str, Essay]) -> str:
    """The words of an item, cut where they are long."""
    if each.item is None or each.item.essay_id not in texts:
        return ""
    words = each.item.span.of(texts[each.item.essay_id].text)
    return words if len(words) <= LONGEST else f"{words[:LONGEST]}…"
