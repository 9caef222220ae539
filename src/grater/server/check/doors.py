"""Whether checks are open to the public, by the start of the server or by an owner of the study; the owner's page."""

from __future__ import annotations

from dataclasses import asdict

from fastapi import APIRouter
from starlette.responses import Response

from grater.errors import NotFound
from grater.server.context import Context, RequestContext
from grater.study.writing import Public, open_to_public, public_pages

router = APIRouter()


def opened_at_start(context: RequestContext) -> Public:
    """What the command that started the server opened."""
    settings = context.server.settings
    return Public(check_page=settings.check_page, editors=settings.editors)


def require_open(context: RequestContext, name: str) -> None:
    """Refuse what nobody has opened, as if it were not there."""
    if not is_open(context, name):
        raise NotFound("There is no such page.")


def is_open(context: RequestContext, name: str) -> bool:
    """Whether an owner, or whoever started the server, has opened it."""
    if asdict(opened_at_start(context))[name]:
        return True
    with context.server.store.read() as tx:
        return bool(asdict(public_pages(tx))[name])


@router.get("/manage/public")
def public_page(context: Context) -> Response:
    return _page(context)


@router.post("/manage/public")
def set_public(context: Context) -> Response:
    """Open and close; what the start of the server opened keeps its own switch."""
    wanted = Public(check_page=bool(context.text("check_page")), editors=bool(context.text("editors")))
    with context.changing() as tx:
        open_to_public(tx, wanted, actor=context.person.person_id)
    return _page(context, is_saved=True)


def _page(context: RequestContext, *, is_saved: bool = False) -> Response:
    with context.server.store.read() as tx:
        chosen = public_pages(tx)
    shown = {
        "chosen": chosen,
        "at_start": opened_at_start(context),
        "check_link": context.server.settings.link("/check"),
        "editors_link": context.server.settings.link("/v2"),
        "most": context.server.settings.checks_a_minute,
        "is_saved": is_saved,
    }
    return context.page("manage_public.html", shown)
