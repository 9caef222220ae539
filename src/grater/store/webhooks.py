"""Webhooks: addresses outside that want to hear of events; each remembers the last event it was told of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from sqlalchemy import select

from grater.errors import NotFound
from grater.store import events, schema
from grater.store.ids import new_id, new_secret
from grater.store.transaction import Tx


@dataclass(frozen=True, slots=True)
class Webhook:
    """`secret` signs what is sent.  `verbs` are the events to tell of; none means all."""

    webhook_id: str
    url: str
    secret: str = field(repr=False)
    verbs: list[str] = field(hash=False)
    last_n: int
    state: str


@dataclass(frozen=True, slots=True)
class Delivery:
    delivery_id: str
    webhook_id: str
    n: int
    tries: int
    state: str
    http_status: int | None
    at: int


COLUMNS = [schema.webhooks.c[name] for name in Webhook.__dataclass_fields__]


def add(tx: Tx, *, url: str, verbs: Sequence[str] = (), actor: str | None = None) -> Webhook:
    """A new webhook; it hears of what happens from now on."""
    made = Webhook(new_id(), url, new_secret(), sorted(verbs), events.certain(tx), "active")
    row = {name: getattr(made, name) for name in Webhook.__dataclass_fields__}
    tx.insert(schema.webhooks, row | {"added_at": tx.now})
    events.write(tx, actor, "webhook.added", made.webhook_id)
    return made


def all(tx: Tx) -> list[Webhook]:  # noqa: A001  (read as webhooks.all)
    query = select(*COLUMNS).order_by(schema.webhooks.c.added_at, schema.webhooks.c.webhook_id)
    return [Webhook(*row) for row in tx.all(query)]


def set_state(tx: Tx, webhook_id: str, state: Literal["active", "paused"], *, actor: str | None = None) -> None:
    if tx.value(select(schema.webhooks.c.url).where(schema.webhooks.c.webhook_id == webhook_id)) is None:
        raise NotFound("there is no such webhook")
    tx.execute(schema.webhooks.update().where(schema.webhooks.c.webhook_id == webhook_id).values(state=state))
    events.write(tx, actor, f"webhook.{state}", webhook_id)


def told(tx: Tx, webhook_id: str, n: int, *, http_status: int | None, is_delivered: bool, tries: int = 1) -> None:
    """Remember that event `n` was told, or how telling it failed; the next one is only told after this one."""
    state = "delivered" if is_delivered else "failed"
    row = {"delivery_id": new_id(), "webhook_id": webhook_id, "n": n, "tries": tries, "state": state}
    tx.insert(schema.deliveries, row | {"http_status": http_status, "at": tx.now})
    if is_delivered:
        skip(tx, webhook_id, n)


def skip(tx: Tx, webhook_id: str, n: int) -> None:
    """Events up to `n` are behind this webhook, told or not for it."""
    tx.execute(schema.webhooks.update().where(schema.webhooks.c.webhook_id == webhook_id).values(last_n=n))


def deliveries_of(tx: Tx, webhook_id: str, *, most: int = 50) -> list[Delivery]:
    """The latest attempts, the newest first."""
    columns = [schema.deliveries.c[name] for name in Delivery.__dataclass_fields__]
    newest = (schema.deliveries.c.at.desc(), schema.deliveries.c.n.desc(), schema.deliveries.c.tries.desc())
    query = select(*columns).where(schema.deliveries.c.webhook_id == webhook_id).order_by(*newest).limit(most)
    return [Delivery(*row) for row in tx.all(query)]
