"""The event log: the audit page and its file for managers, webhooks for owners, both also through the API."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Annotated, Literal
from urllib.parse import urlencode

from fastapi import Query
from pydantic import ConfigDict, Field
from starlette.responses import Response, StreamingResponse

from grater.annotate import jobs, people, webhooks
from grater.annotate.audit import AuditEntry, audit_filter, csv_parts, entries
from grater.annotate.store import Tx, events
from grater.annotate.store.events import VERBS_ABOUT
from grater.annotate.units import FINISHED
from grater.annotate.web.calls import A_PAGE, MOST, Body, Object, Shape, When, by_form, calls_about, list_at, page_at
from grater.annotate.web.context import Changing, Context, Reading, RequestContext, Routes
from grater.annotate.web.errors import lines_of
from grater.annotate.web.security import MANAGERS, OWNERS
from grater.annotate.webhooks import NewWebhook, NewWebhookState
from grater.errors import NotFound, UnknownName, UsageError

pages = Routes(MANAGERS)
of_owners = Routes(OWNERS)
N_DELIVERIES = 5


@page_at(of_owners, "/manage/webhooks")
def _page(context: RequestContext, tx: Reading, *, made: Shape | None = None) -> Response:
    rows = [
        (each, webhooks.deliveries_of(tx, each.webhook_id, most=N_DELIVERIES), webhooks.failures_of(tx, each))
        for each in webhooks.all(tx)
    ]
    shown = {"rows": rows, "made": made, "finished": FINISHED}
    return context.page("manage_webhooks.html", shown)


class AuditAsked(Body):
    """Which events somebody wants to see."""

    model_config = ConfigDict(str_strip_whitespace=True, str_max_length=100)
    person: str = Field("", description="Name or id of the person who acted.")
    kind: str = Field("", description="A verb, the part before its dot, or a group of verbs.")
    since: str = Field("", description="The first day, or the moment to start at.")
    until: str = Field("", description="The last day (included whole), or the moment to stop before.")
    job: str = Field("", description="Name or id of a job.")
    search: str = Field("", description="Words in an event, or in a name that it is about.")
    before: int | None = Field(None, ge=1, le=2**62, description="`next` of the page before.")
    most: int = Field(A_PAGE, ge=1, le=MOST, description="Maximum number of entries to return.")

    @property
    def words(self) -> dict[str, str]:
        return self.model_dump(exclude={"before", "most"})


Asked = Annotated[AuditAsked, Query()]


@pages.get("/manage/audit")
def audit_page(context: Context, tx: Reading, asked: Asked) -> Response:
    """The newest first; an unknown name gives an empty list with a message."""
    rows: list[AuditEntry] = []
    problems: list[str] = []
    try:
        rows = entries(tx, audit_filter(tx, **asked.words), before=asked.before, most=asked.most + 1)
    except (NotFound, UnknownName, UsageError) as error:
        problems = lines_of(error)
    shown = {"people": people.all(tx), "jobs": jobs.all(tx), "groups": VERBS_ABOUT}
    query = {name: value for name, value in asked.words.items() if value}
    older = urlencode({**query, "before": rows[asked.most - 1].event.n}) if len(rows) > asked.most else ""
    more = {"rows": rows[: asked.most], "asked": asked, "query": urlencode(query), "older": older}
    return context.page("audit.html", {**shown, **more}, problems=problems)


@pages.get("/manage/audit.csv")
def audit_file(context: Context, asked: Asked) -> Response:
    """Everything that passes the filter, for a spreadsheet."""
    with context.server.store.read() as tx:
        wanted = audit_filter(tx, **asked.words)

    def parts() -> Iterator[str]:
        with context.server.store.read() as tx:
            yield from csv_parts(tx, wanted)

    headers = {"content-disposition": 'attachment; filename="audit.csv"'}
    return StreamingResponse(parts(), media_type="text/csv; charset=utf-8", headers=headers)


api = calls_about("events", MANAGERS)
api_of_owners = calls_about("events", OWNERS)


class Event(Shape):
    """What happened: `verb` is `noun.what`, `noun` the id of the thing; `actor` is null where grater itself acted."""

    n: int
    at: When
    actor: str | None
    verb: str
    noun: str
    payload: Object


class Events(Shape):
    """`latest` is the number to continue from (`after`), unchanged if nothing is new."""

    events: list[Event]
    latest: int


class Webhook(Shape):
    """`last_n` is the last event that it has received, or that was not for it."""

    webhook_id: str
    url: str
    state: Literal["active", "paused"]
    verbs: list[str]
    last_n: int
    deliveries: list[webhooks.Delivery]


class MadeWebhook(Webhook):
    """`secret` signs what is sent, and is shown only once."""

    secret: str


@api.get("/events")
def event_list(
    tx: Reading,
    after: Annotated[int, Query(ge=0, le=2**62, description="The `latest` that you know; 0 for all.")] = 0,
    most: Annotated[int, Query(ge=1, le=MOST)] = 200,
    verb: Annotated[list[str] | None, Query(description="Only these; repeatable.")] = None,
) -> Events:
    """Events after a given one, in order; continue from `latest`."""
    news = list(events.since(tx, after, most=most))
    wanted = [Event.of(event) for event in news if verb is None or event.verb in verb]
    return Events(events=wanted, latest=news[-1].n if news else after)


@list_at(api_of_owners, "/webhooks", "webhooks")
def webhook_list(tx: Reading) -> list[Webhook]:
    """The webhooks with their latest deliveries, without their secrets."""
    return [Webhook.model_validate(_shown(tx, each)) for each in webhooks.all(tx)]


@by_form(
    of_owners,
    "/manage/webhooks",
    sent=lambda context: context.sent(NewWebhook, verbs=context.text("verbs").split()),
    then=lambda context, made: _page(context, made=made),
    refused=_page,
)
@api_of_owners.post("/webhooks")
def add_webhook(context: Context, sent: NewWebhook) -> MadeWebhook:
    """Add a webhook for events from now on; its secret is shown only once."""
    # The address is checked as before every delivery, outside of the transaction: it is looked up.
    webhooks.destination(sent.url, allow_private=context.server.settings.private_webhooks)
    with context.changing() as tx:
        made = webhooks.add(tx, url=sent.url, verbs=sent.verbs, actor=context.person_id)
        return MadeWebhook.model_validate(_shown(tx, made))


@by_form(of_owners, "/manage/webhooks/{webhook_id}/state", then="/manage/webhooks")
@api_of_owners.post("/webhooks/{webhook_id}/state")
def set_webhook_state(context: Context, tx: Changing, webhook_id: str, sent: NewWebhookState) -> Webhook:
    """Pause a webhook, or resume where it stopped."""
    changed = webhooks.set_state(tx, webhook_id, sent.state, actor=context.person_id)
    return Webhook.model_validate(_shown(tx, changed))


def _shown(tx: Tx, webhook: webhooks.Webhook) -> dict[str, object]:
    return {**asdict(webhook), "deliveries": webhooks.deliveries_of(tx, webhook.webhook_id, most=N_DELIVERIES)}


class AuditEvent(Event):
    """An event in words: who acted (`person`, `role`; empty where grater itself did), and what it is `about`."""

    person: str
    role: str
    about: str


class AuditEvents(Shape):
    """`next` is the `before` of the next page, null on the last."""

    events: list[AuditEvent]
    next: int | None


@api.get("/audit")
def audit(tx: Reading, asked: Asked) -> AuditEvents:
    """The audit log, newest first, by person, kind, day, job and words."""
    most = asked.most
    rows = entries(tx, audit_filter(tx, **asked.words), before=asked.before, most=most + 1)
    shown = [AuditEvent.model_validate(row.to_dict()) for row in rows[:most]]
    return AuditEvents(events=shown, next=rows[most - 1].event.n if len(rows) > most else None)
