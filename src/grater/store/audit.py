"""The event log as people ask it: who did what, of which kind, when, in which job; the newest first.

An event belongs to a job if it names the job, or a unit, lease, answer, panel, payment or dispute of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Select, Table, Text, or_, select, type_coerce

from grater.store import schema
from grater.store.events import COLUMNS, Event
from grater.store.transaction import Tx

PORTION = 1_000
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
    while portion := latest_events(tx, wanted, before=before, most=PORTION):
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
