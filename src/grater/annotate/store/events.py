"""The event log: what happened, in order, never changed; and the webhooks that listen to it.

An event is written in the transaction that it tells of, so the two stand or fall together.  `actor` is a person's id,
or None where grater itself acted; `verb` is `noun.what` (`lease.taken`), one of `VERBS_ABOUT`; names and answers are
not repeated here.  The state of the work can be rebuilt from the log (`checks`).

A webhook is an address outside that wants to hear of events; it remembers the last event that was delivered to it,
and until when a process has claimed it.

People ask the log who did what, of which kind, when, in which job, the newest first.  An event belongs to a job if it
names the job, or a unit, lease, answer, panel, payment or dispute of it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Select,
    Table,
    Text,
    bindparam,
    func,
    or_,
    select,
    tuple_,
    type_coerce,
)
from sqlalchemy import text as sql

from grater.annotate.store import schema
from grater.annotate.store.ids import new_id, new_secret
from grater.annotate.store.transaction import Columns, Tx, insert_into
from grater.errors import NotFound
from grater.model import Json

VERBS_ABOUT = {
    "work": (
        "lease.taken",
        "lease.returned",
        "lease.expired",
        "lease.revoked",
        "submission.stored",
        "submission.status",
        "submissions.imported",
        "slots.changed",
        "unit.finished",
        "adjudication.saved",
        "findings.added",
        "finding.kept",
        "finding.mended",
    ),
    "jobs": (
        "job.added",
        "job.state",
        "job.options",
        "job.renamed",
        "job.archived",
        "job.restored",
        "job.deleted",
        "guidelines.added",
        "units.added",
        "unit.gold",
        "unit.practice",
        "unit.work",
        "assignments.added",
        "assignments.moved",
    ),
    "crowds": (
        "trust.changed",
        "gold.added",
        "gold.state",
        "gold.reason",
        "gold.pool",
        "gold.alert",
        "dispute.opened",
        "dispute.decided",
        "message.sent",
        "review.written",
        "payment.written",
        "payments.paid",
        "panel.added",
        "place.taken",
        "place.state",
    ),
    "people": (
        "person.added",
        "person.role",
        "person.state",
        "person.password",
        "person.about",
        "factor.on",
        "factor.off",
        "factor.recovered",
        "factor.required",
        "token.made",
        "token.ended",
        "invitation.made",
        "invitation.used",
        "invitation.ended",
    ),
    "the study": (
        "study.made",
        "study.renamed",
        "study.public",
        "essay.deleted",
        "run.added",
        "run.ended",
        "import.done",
        "decisions.added",
        "sample.drawn",
        "webhook.added",
        "webhook.active",
        "webhook.paused",
    ),
}

VERBS = frozenset(verb for verbs in VERBS_ABOUT.values() for verb in verbs)


PORTION = 10_000
"""Events read at a time, so that a long log passes through in flat memory."""


NUMBERED = (
    schema.events.insert()
    .values(
        {name: bindparam(name) for name in ("at", "actor", "verb", "noun", "payload")}
        | {"transaction_id": sql("pg_current_xact_id()::text::bigint")}
    )
    .inline()
)
"""On PostgreSQL an event knows its transaction (see `since`)."""
LATEST_PORTION = 1_000


@dataclass(frozen=True, slots=True)
class Event:
    n: int
    at: int
    actor: str | None
    verb: str
    noun: str
    payload: Mapping[str, Json]


COLUMNS = Columns(Event, schema.events)
IS_OVER = sql("events.transaction_id < pg_snapshot_xmin(pg_current_snapshot())::text::bigint")
_last = schema.events.alias("last")
LAST = select(_last.c.transaction_id).where(_last.c.n <= bindparam("number")).order_by(_last.c.n.desc()).limit(1)
CERTAIN = (
    select(*COLUMNS)
    .where(
        tuple_(schema.events.c.transaction_id, schema.events.c.n)
        > tuple_(func.coalesce(LAST.scalar_subquery(), 0), bindparam("number", type_=BigInteger)),
        IS_OVER,
    )
    .order_by(schema.events.c.transaction_id, schema.events.c.n)
)
"""What comes after event `number` on PostgreSQL, by one index."""


@dataclass(frozen=True, slots=True)
class Webhook:
    """`secret` signs what is sent.  `verbs` are the events that it wants; none means all."""

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
    problem: str = ""


WEBHOOK_COLUMNS = Columns(Webhook, schema.webhooks)
DELIVERY_COLUMNS = Columns(Delivery, schema.deliveries)


def write(tx: Tx, actor: str | None, verb: str, noun: str, payload: Mapping[str, Json] | None = None) -> None:
    """Log what this transaction does."""
    write_all(tx, [(actor, verb, noun, payload or {})])


def write_all(tx: Tx, entries: Sequence[tuple[str | None, str, str, Mapping[str, Json]]]) -> None:
    """Log many events at once: (actor, verb, noun, payload)."""
    if strange := {verb for _, verb, _, _ in entries} - VERBS:
        raise ValueError(f"no such verb in grater.annotate.store.events: {', '.join(sorted(strange))}")
    rows = [
        {"at": tx.now, "actor": actor, "verb": verb, "noun": noun, "payload": payload}
        for actor, verb, noun, payload in entries
    ]
    if rows:
        tx.execute(NUMBERED if tx.is_postgres else insert_into(schema.events), rows)


def all(tx: Tx) -> Iterator[Event]:  # noqa: A001  (read as events.all)
    """Every event of this snapshot, this transaction's own among them."""
    return _portions(tx, 0, sys.maxsize)


def since(tx: Tx, n: int = 0, *, most: int = sys.maxsize) -> Iterator[Event]:
    """Events after the one with number `n`, in order; a listener that remembers the last number it got misses none.

    On PostgreSQL numbers are given before COMMIT, so that a smaller one may come to light after a larger.  There the
    order is that of the transactions, and events wait until no transaction that began before theirs is open.
    """
    return _certain(tx, n, most) if tx.is_postgres else _portions(tx, n, most)


def certain(tx: Tx) -> int:
    """The number after which a new listener hears of what is not over yet."""
    if not tx.is_postgres:
        return latest(tx)
    query = (
        select(schema.events.c.n)
        .where(IS_OVER)
        .order_by(schema.events.c.transaction_id.desc(), schema.events.c.n.desc())
    )
    return int(tx.value(query.limit(1)) or 0)


def _portions(tx: Tx, n: int, left: int) -> Iterator[Event]:
    query = select(*COLUMNS).order_by(schema.events.c.n)
    while rows := tx.all(query.where(schema.events.c.n > n).limit(min(left, PORTION))):
        yield from (COLUMNS.read(row) for row in rows)
        n, left = rows[-1].n, left - len(rows)


def _certain(tx: Tx, n: int, left: int) -> Iterator[Event]:
    while rows := tx.all(CERTAIN.limit(min(left, PORTION)), number=n):
        yield from (COLUMNS.read(row) for row in rows)
        n, left = rows[-1].n, left - len(rows)


def latest(tx: Tx) -> int:
    """The number of the newest event."""
    return int(tx.value(select(func.max(schema.events.c.n))) or 0)


def add_webhook(tx: Tx, *, url: str, verbs: Sequence[str] = (), actor: str | None = None) -> Webhook:
    """Add a webhook; it hears of what happens from now on."""
    webhook = Webhook(
        webhook_id=new_id(),
        url=url,
        secret=new_secret(),
        verbs=sorted(verbs),
        last_n=certain(tx),
        state="active",
    )
    tx.insert(schema.webhooks, WEBHOOK_COLUMNS.row(webhook) | {"added_at": tx.now})
    write(tx, actor, "webhook.added", webhook.webhook_id)
    return webhook


def all_webhooks(tx: Tx) -> list[Webhook]:
    query = select(*WEBHOOK_COLUMNS).order_by(schema.webhooks.c.added_at, schema.webhooks.c.webhook_id)
    return [WEBHOOK_COLUMNS.read(row) for row in tx.all(query)]


def webhook_state(tx: Tx, webhook_id: str) -> str:
    state = tx.value(select(schema.webhooks.c.state).where(schema.webhooks.c.webhook_id == webhook_id))
    if state is None:
        raise NotFound("there is no such webhook")
    return str(state)


def set_webhook_state(
    tx: Tx, webhook_id: str, state: Literal["active", "paused"], *, actor: str | None = None
) -> None:
    webhook_state(tx, webhook_id)
    tx.execute(schema.webhooks.update().where(schema.webhooks.c.webhook_id == webhook_id).values(state=state))
    write(tx, actor, f"webhook.{state}", webhook_id)


def claim_webhook(tx: Tx, webhook_id: str, *, until: int) -> Webhook | None:
    """The webhook, claimed for whoever asks until a moment; None where it is claimed already or not active."""
    this = schema.webhooks.c.webhook_id == webhook_id
    is_free = schema.webhooks.c.claimed_until.is_(None) | (schema.webhooks.c.claimed_until <= tx.now)
    claiming = schema.webhooks.update().where(this, schema.webhooks.c.state == "active", is_free)
    if not tx.execute(claiming.values(claimed_until=until)).rowcount:
        return None
    row = tx.first(select(*WEBHOOK_COLUMNS).where(this))
    return None if row is None else WEBHOOK_COLUMNS.read(row)


def change_claim(tx: Tx, webhook_id: str, *, held_until: int, until: int | None) -> bool:
    """Keep a claim until another moment, or end it; False where it has run out and somebody else took the webhook.

    Nobody can claim a webhook before the claim on it runs out, so a later claim ends later: the moment until which it
    is held tells whose it is.
    """
    mine = (schema.webhooks.c.webhook_id == webhook_id) & (schema.webhooks.c.claimed_until == held_until)
    return bool(tx.execute(schema.webhooks.update().where(mine).values(claimed_until=until)).rowcount)


def record_delivery(
    tx: Tx,
    webhook_id: str,
    n: int,
    *,
    http_status: int | None,
    is_delivered: bool,
    tries: int = 1,
    problem: str = "",
) -> None:
    """Remember that event `n` was delivered, or how that failed; the next one is only sent after this one."""
    state = "delivered" if is_delivered else "failed"
    row = {"delivery_id": new_id(), "webhook_id": webhook_id, "n": n, "tries": tries, "state": state}
    tx.insert(schema.deliveries, row | {"http_status": http_status, "at": tx.now, "problem": problem})
    if is_delivered:
        skip_events(tx, webhook_id, n)


def skip_events(tx: Tx, webhook_id: str, n: int) -> None:
    """Events up to `n` are behind this webhook, delivered or not meant for it."""
    tx.execute(schema.webhooks.update().where(schema.webhooks.c.webhook_id == webhook_id).values(last_n=n))


def deliveries_of(tx: Tx, webhook_id: str, *, most: int = 50) -> list[Delivery]:
    """The latest attempts, the newest first."""
    newest = (schema.deliveries.c.at.desc(), schema.deliveries.c.n.desc(), schema.deliveries.c.tries.desc())
    query = select(*DELIVERY_COLUMNS).where(schema.deliveries.c.webhook_id == webhook_id)
    return [DELIVERY_COLUMNS.read(row) for row in tx.all(query.order_by(*newest).limit(most))]


OF_A_JOB: tuple[tuple[Table, str], ...] = (
    (schema.units, "unit_id"),
    (schema.leases, "lease_id"),
    (schema.submissions, "submission_id"),
    (schema.panels, "panel_id"),
    (schema.payments, "payment_id"),
)


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """What is asked for; whatever is not named is not asked.  `since` counts, `until` does not."""

    person_id: str | None = None
    verbs: Sequence[str] | None = None
    since: int | None = None
    until: int | None = None
    job_id: str | None = None


def latest_events(tx: Tx, wanted: AuditFilter, *, before: int | None = None, most: int) -> list[Event]:
    """The newest events, those before number `before` where it is given."""
    query = _query(wanted)
    if before is not None:
        query = query.where(schema.events.c.n < before)
    return [COLUMNS.read(row) for row in tx.all(query.order_by(schema.events.c.n.desc()).limit(most))]


def walk(tx: Tx, wanted: AuditFilter) -> Iterator[Event]:
    """All of them, the newest first, in flat memory."""
    before = None
    while portion := latest_events(tx, wanted, before=before, most=LATEST_PORTION):
        yield from portion
        before = portion[-1].n


def _query(wanted: AuditFilter) -> Select[*tuple[object, ...]]:
    query = select(*COLUMNS)
    if wanted.person_id is not None:
        query = query.where(schema.events.c.actor == wanted.person_id)
    if wanted.verbs is not None:
        query = query.where(schema.events.c.verb.in_(list(wanted.verbs)))
    if wanted.since is not None:
        query = query.where(schema.events.c.at >= wanted.since)
    if wanted.until is not None:
        query = query.where(schema.events.c.at < wanted.until)
    if wanted.job_id is not None:
        query = query.where(_is_of_job(wanted.job_id))
    return query


def _is_of_job(job_id: str) -> ColumnElement[bool]:
    noun, payload = schema.events.c.noun, type_coerce(schema.events.c.payload, Text)
    parts = [noun.in_(select(table.c[key]).where(table.c.job_id == job_id)) for table, key in OF_A_JOB]
    disputed = select(schema.disputes.c.dispute_id).join(
        schema.submissions, schema.submissions.c.submission_id == schema.disputes.c.submission_id
    )
    parts.append(noun.in_(disputed.where(schema.submissions.c.job_id == job_id)))
    return or_(noun == job_id, payload.contains(f'"job_id":"{job_id}"', autoescape=True), *parts)
