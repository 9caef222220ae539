"""The event log: what happened, in order, never changed. Webhooks and the audit log (`audit`) read it.

An event is written in the transaction that it describes, so both are stored or neither.  `actor` is a person's id,
or None where grater itself acted; `verb` is `noun.what` (`lease.taken`), one of `VERBS_ABOUT`; names and answers are
not repeated here.  The state of the work can be rebuilt from the log (`checks`).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sqlalchemy import BigInteger, bindparam, func, select, tuple_
from sqlalchemy import text as sql

from grater.annotate.store import schema
from grater.annotate.store.transaction import Columns, Tx, insert_into
from grater.model import Json

VERBS_ABOUT = {
    about: tuple(verbs.split())
    for about, verbs in {
        "work": """
            lease.taken lease.returned lease.expired lease.revoked submission.stored submission.status
            submissions.imported slots.changed unit.finished adjudication.saved findings.added finding.kept
            finding.mended
        """,
        "jobs": """
            job.added job.state job.options job.renamed job.archived job.restored job.deleted guidelines.added
            units.added unit.gold unit.practice unit.work assignments.added assignments.moved
        """,
        "crowds": """
            trust.changed gold.added gold.state gold.reason gold.pool gold.alert dispute.opened
            dispute.decided message.sent review.written payment.written payments.paid panel.added place.taken
            place.state collusion.found
        """,
        "people": """
            person.added person.role person.state person.password person.about factor.on factor.off
            factor.recovered factor.required token.made token.ended invitation.made invitation.used
            invitation.ended
        """,
        "the study": """
            study.made study.renamed study.public essay.deleted run.added run.ended import.done
            decisions.added sample.drawn webhook.added webhook.active webhook.paused
        """,
    }.items()
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
IN_ORDER = select(*COLUMNS).where(schema.events.c.n > bindparam("number")).order_by(schema.events.c.n)
CERTAIN = (
    select(*COLUMNS)
    .where(
        tuple_(schema.events.c.transaction_id, schema.events.c.n)
        > tuple_(func.coalesce(LAST.scalar_subquery(), 0), bindparam("number", type_=BigInteger)),
        IS_OVER,
    )
    .order_by(schema.events.c.transaction_id, schema.events.c.n)
)
"""The events after event `number` on PostgreSQL, by one index."""


def write(tx: Tx, actor: str | None, verb: str, noun: str, payload: Mapping[str, Json] | None = None) -> None:
    """Log what this transaction does."""
    if verb not in VERBS:
        raise ValueError(f"no such verb in grater.annotate.store.events: {verb}")
    row = {"at": tx.now, "actor": actor, "verb": verb, "noun": noun, "payload": payload or {}}
    tx.execute(NUMBERED if tx.is_postgres else insert_into(schema.events), row)


def all(tx: Tx) -> Iterator[Event]:  # noqa: A001  (read as events.all)
    """Every event of this snapshot, including this transaction's own."""
    return _portions(tx, 0, sys.maxsize, certain=False)


def since(tx: Tx, n: int = 0, *, most: int = sys.maxsize) -> Iterator[Event]:
    """Events after number `n`, in order; a listener that remembers the last number it received misses none.

    PostgreSQL assigns numbers before COMMIT, so a smaller one may appear after a larger. There the order is that of
    the transactions, and events wait until no earlier transaction is open.
    """
    return _portions(tx, n, most, certain=tx.is_postgres)


def certain(tx: Tx) -> int:
    """The event number from which a new listener also gets the events of unfinished transactions."""
    if not tx.is_postgres:
        return latest(tx)
    query = (
        select(schema.events.c.n)
        .where(IS_OVER)
        .order_by(schema.events.c.transaction_id.desc(), schema.events.c.n.desc())
    )
    return int(tx.value(query.limit(1)) or 0)


def _portions(tx: Tx, n: int, left: int, *, certain: bool) -> Iterator[Event]:
    query = CERTAIN if certain else IN_ORDER
    while rows := tx.all(query.limit(min(left, PORTION)), number=n):
        yield from (COLUMNS.read(row) for row in rows)
        n, left = rows[-1].n, left - len(rows)


def latest(tx: Tx) -> int:
    """The number of the newest event."""
    return int(tx.value(select(func.max(schema.events.c.n))) or 0)
