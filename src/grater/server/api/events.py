"""The event log and webhooks by the API."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict

from grater.model import Json
from grater.server.api.shapes import Reply, event_json
from grater.server.pages.manage_webhooks import make_webhook
from grater.server.security.roles import API
from grater.server.visit import Visiting
from grater.store import events, webhooks
from grater.store.webhooks import Webhook

router = APIRouter(prefix=API, tags=["events"])


class NewWebhook(BaseModel):
    model_config = ConfigDict(extra="forbid")
    url: str
    verbs: list[str] = []


@router.get("/events")
def event_list(visit: Visiting, after: int = 0, most: Annotated[int, Query(ge=1, le=1000)] = 200) -> Reply:
    """What happened after event number `after`, in order."""
    with visit.server.store.read() as tx:
        return {"events": [event_json(event) for event in events.since(tx, after, most=most)]}


@router.get("/webhooks")
def webhook_list(visit: Visiting) -> Reply:
    """The webhooks of the study, without their secrets."""
    with visit.server.store.read() as tx:
        return {"webhooks": [_json(webhook) for webhook in webhooks.all(tx)]}


@router.post("/webhooks")
def add_webhook(visit: Visiting, sent: NewWebhook) -> Reply:
    """A new webhook; its secret is told this once."""
    made = make_webhook(visit, url=sent.url, verbs=sent.verbs)
    return {**_json(made), "secret": made.secret}


def _json(webhook: Webhook) -> dict[str, Json]:
    told: dict[str, Json] = {"webhook_id": webhook.webhook_id, "url": webhook.url, "state": webhook.state}
    return {**told, "verbs": list(webhook.verbs), "last_n": webhook.last_n}
