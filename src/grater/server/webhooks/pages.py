"""Webhooks of the study, for owners."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from grater.errors import BadInput, Problem
from grater.registry import unknown
from grater.server.context import Context, RequestContext
from grater.server.webhooks.delivery import require_outside
from grater.store import events
from grater.store.events import VERBS, Webhook
from grater.store.units import FINISHED
from grater.study.limits import LONGEST_URL, LONGEST_VERB, MOST_VERBS

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
    state = context.text("state")
    if state not in ("active", "paused"):
        raise BadInput(Problem("form", f"state: expected active or paused, found {state[:20]!r}"))
    with context.server.store.write() as tx:
        events.set_webhook_state(
            tx, webhook_id, "paused" if state == "paused" else "active", actor=context.person.person_id
        )
    return context.go("/manage/webhooks")


def make_webhook(context: RequestContext, *, url: str, verbs: list[str]) -> Webhook:
    if len(url) > LONGEST_URL or len(verbs) > MOST_VERBS:
        raise BadInput(
            Problem("webhook", f"expected an address of at most {LONGEST_URL} characters, {MOST_VERBS} verbs")
        )
    for verb in verbs:
        if verb not in VERBS:
            raise BadInput(Problem("webhook", unknown("verb", verb[:LONGEST_VERB], sorted(VERBS))))
    require_outside(url, allow_private=context.server.settings.private_webhooks)
    with context.server.store.write() as tx:
        return events.add_webhook(tx, url=url, verbs=verbs or [FINISHED], actor=context.person.person_id)


def _page(context: RequestContext, *, made: Webhook | None = None) -> Response:
    with context.server.store.read() as tx:
        found = [(each, events.deliveries_of(tx, each.webhook_id, most=5)) for each in events.all_webhooks(tx)]
    return context.page("manage_webhooks.html", found=found, made=made, finished=FINISHED)
