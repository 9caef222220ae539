"""Webhooks of the study, for owners."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from grater.server.context import Context, RequestContext
from grater.server.webhooks.delivery import make_webhook
from grater.store import events
from grater.store.events import Webhook
from grater.store.units import FINISHED
from grater.study.webhooks import set_state as set_webhook_state

router = APIRouter()


@router.get("/manage/webhooks")
def webhook_page(context: Context) -> Response:
    return _page(context)


@router.post("/manage/webhooks")
def add_webhook(context: Context) -> Response:
    """A new webhook; its secret is shown this once."""
    return _page(context, made=make_webhook(context, url=context.text("url"), verbs=context.text("verbs").split()))


@router.post("/manage/webhooks/{webhook_id}/state")
def set_state(context: Context, webhook_id: str) -> Response:
    with context.server.store.write() as tx:
        set_webhook_state(tx, webhook_id, context.text("state"), actor=context.person.person_id)
    return context.go("/manage/webhooks")


def _page(context: RequestContext, *, made: Webhook | None = None) -> Response:
    with context.server.store.read() as tx:
        rows = [
            (webhook, events.deliveries_of(tx, webhook.webhook_id, most=5)) for webhook in events.all_webhooks(tx)
        ]
    return context.page("manage_webhooks.html", rows=rows, made=made, finished=FINISHED)
