"""Webhooks of the study, for owners."""

from __future__ import annotations

from collections.abc import Sequence

from fastapi import APIRouter
from starlette.responses import Response

from grater.errors import BadInput, UnknownName, UsageError
from grater.server.context import Context, RequestContext
from grater.server.errors import lines_of
from grater.server.webhooks.delivery import make_webhook
from grater.store import events
from grater.store.events import Webhook
from grater.store.units import FINISHED
from grater.study.webhooks import failures_of
from grater.study.webhooks import set_state as set_webhook_state

router = APIRouter()


@router.get("/manage/webhooks")
def webhook_page(context: Context) -> Response:
    return _page(context)


@router.post("/manage/webhooks")
def add_webhook(context: Context) -> Response:
    """A new webhook; its secret is shown this once."""
    try:
        made = make_webhook(context, url=context.text("url"), verbs=context.text("verbs").split())
    except (BadInput, UnknownName, UsageError) as error:
        return _page(context, problems=lines_of(error))
    return _page(context, made=made)


@router.post("/manage/webhooks/{webhook_id}/state")
def set_state(context: Context, webhook_id: str) -> Response:
    with context.changing() as tx:
        set_webhook_state(tx, webhook_id, context.text("state"), actor=context.person.person_id)
    return context.go("/manage/webhooks")


def _page(context: RequestContext, *, made: Webhook | None = None, problems: Sequence[str] = ()) -> Response:
    with context.server.store.read() as tx:
        rows = [
            (webhook, events.deliveries_of(tx, webhook.webhook_id, most=5), failures_of(tx, webhook))
            for webhook in events.all_webhooks(tx)
        ]
    shown = {"rows": rows, "made": made, "finished": FINISHED, "problems": problems}
    return context.page("manage_webhooks.html", shown, status=422 if problems else 200)
