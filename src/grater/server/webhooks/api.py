"""The event log and webhooks through the API."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Query

from grater.server.calls import MOST, Body, Object, Shape, When, calls_about, example
from grater.server.context import Context
from grater.server.webhooks.delivery import make_webhook
from grater.store import Tx, events
from grater.store.events import Webhook as Stored
from grater.study.webhooks import set_state

router = calls_about("events")

N_DELIVERIES = 5


class Event(Shape):
    """What happened: `verb` is `noun.what`, `noun` the id of the thing; `actor` is null where grater itself acted."""

    n: int
    at: When
    actor: str | None
    verb: str
    noun: str
    payload: Object


class Events(Shape):
    """`latest` is the number to ask on from (`after`); it is the one asked with where nothing is new."""

    events: list[Event]
    latest: int


class NewWebhook(Body):
    """`verbs` of the events to be told of; with none, `unit.finished`."""

    model_config = example(url="https://hooks.example.org/grater", verbs=["unit.finished"])
    url: str
    verbs: tuple[str, ...] = ()


class Delivery(Shape):
    """One attempt to tell event `n`; `http_status` is null where nobody answered, `problem` says why it failed."""

    n: int
    tries: int
    state: str
    http_status: int | None
    at: When
    problem: str


class Webhook(Shape):
    """`last_n` is the last event that it has heard, or that was not for it."""

    webhook_id: str
    url: str
    state: Literal["active", "paused"]
    verbs: list[str]
    last_n: int
    deliveries: list[Delivery]


class MadeWebhook(Webhook):
    """`secret` signs what is sent, and is told this once."""

    secret: str


class Webhooks(Shape):
    webhooks: list[Webhook]


class NewWebhookState(Body):
    model_config = example(state="paused")
    state: Literal["active", "paused"]


@router.get("/events")
def event_list(
    context: Context,
    after: Annotated[int, Query(ge=0, le=2**62, description="The `latest` that you know; 0 for all.")] = 0,
    most: Annotated[int, Query(ge=1, le=MOST)] = 200,
    verb: Annotated[list[str] | None, Query(description="Only these; repeatable.")] = None,
) -> Events:
    """Events after a given one, in order; continue from `latest`."""
    with context.server.store.read() as tx:
        news = list(events.since(tx, after, most=most))
    wanted = [Event.of(event) for event in news if verb is None or event.verb in verb]
    return Events(events=wanted, latest=news[-1].n if news else after)


@router.get("/webhooks")
def webhook_list(context: Context) -> Webhooks:
    """The webhooks with their latest deliveries, without their secrets."""
    with context.server.store.read() as tx:
        return Webhooks(webhooks=[_webhook(tx, webhook) for webhook in events.all_webhooks(tx)])


@router.post("/webhooks")
def add_webhook(context: Context, sent: NewWebhook) -> MadeWebhook:
    """Add a webhook for events from now on; its secret is shown only once."""
    made = make_webhook(context, url=sent.url, verbs=list(sent.verbs))
    with context.server.store.read() as tx:
        return MadeWebhook(**_webhook(tx, made).model_dump(), secret=made.secret)


@router.post("/webhooks/{webhook_id}/state")
def set_webhook_state(context: Context, webhook_id: str, sent: NewWebhookState) -> Webhook:
    """Pause a webhook, or resume where it stopped."""
    with context.changing() as tx:
        set_state(tx, webhook_id, sent.state, actor=context.person.person_id)
        return next(_webhook(tx, hook) for hook in events.all_webhooks(tx) if hook.webhook_id == webhook_id)


def _webhook(tx: Tx, webhook: Stored) -> Webhook:
    tried = events.deliveries_of(tx, webhook.webhook_id, most=N_DELIVERIES)
    return Webhook(
        webhook_id=webhook.webhook_id,
        url=webhook.url,
        state="paused" if webhook.state == "paused" else "active",
        verbs=list(webhook.verbs),
        last_n=webhook.last_n,
        deliveries=[Delivery.of(delivery) for delivery in tried],
    )
