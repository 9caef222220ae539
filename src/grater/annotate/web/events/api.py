"""The event log, who did what, and webhooks through the API."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Query

from grater.annotate.store import Tx, events
from grater.annotate.store.events import Webhook as Stored
from grater.annotate.study.audit import audit_filter, entries
from grater.annotate.study.webhooks import set_state
from grater.annotate.web.calls import A_PAGE, MOST, Body, Most, Object, Shape, When, calls_about, example
from grater.annotate.web.context import Context
from grater.annotate.web.events.delivery import make_webhook

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


Word = Annotated[str, Query(max_length=100)]


class AuditEvent(Shape):
    """An event in words: who acted (`person`, `role`; empty where grater itself did), and what it is `about`."""

    n: int
    at: When
    actor: str | None
    person: str
    role: str
    verb: str
    noun: str
    about: str
    payload: Object


class AuditEvents(Shape):
    """`next` is the `before` of the next page, null on the last."""

    events: list[AuditEvent]
    next: int | None


@router.get("/audit")
def audit(
    context: Context,
    person: Annotated[Word, Query(description="Name or id of the person who acted.")] = "",
    kind: Annotated[Word, Query(description="A verb, the part before its dot, or a group of verbs.")] = "",
    since: Annotated[Word, Query(description="The first day, or the moment to start at.")] = "",
    until: Annotated[Word, Query(description="The last day (included whole), or the moment to stop before.")] = "",
    job: Annotated[Word, Query(description="Name or id of a job.")] = "",
    before: Annotated[int | None, Query(ge=1, le=2**62, description="`next` of the page before.")] = None,
    most: Most = A_PAGE,
) -> AuditEvents:
    """The audit log, newest first, by person, kind, day and job."""
    with context.server.store.read() as tx:
        wanted = audit_filter(tx, person=person, kind=kind, since=since, until=until, job=job)
        rows = entries(tx, wanted, before=before, most=most + 1)
    shown = [AuditEvent.model_validate(row.to_dict()) for row in rows[:most]]
    return AuditEvents(events=shown, next=rows[most - 1].event.n if len(rows) > most else None)
