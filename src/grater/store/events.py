"""The event log: what happened, in order, never changed; the state of the work can be rebuilt from it (`rebuild`).

An event is written in the transaction that it tells of, so the two stand or fall together.  `actor` is a person's id,
or None where grater itself acted; `verb` is `noun.what` (`lease.taken`); names and answers are not repeated here.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Select, bindparam, func, select
from sqlalchemy import text as sql

from grater.model import Json
from grater.store.schema import events
from grater.store.transaction import Tx, insert_into

PORTION = 10_000
"""Events read at a time, so that a long log passes through in flat memory."""


NUMBERED = (
    events.insert()
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


COLUMNS = [events.c[name] for name in Event.__dataclass_fields__]


def write(tx: Tx, actor: str | None, verb: str, noun: str, payload: Mapping[str, Json] | None = None) -> None:
    """Log what this transaction does."""
    write_all(tx, [(actor, verb, noun, payload or {})])


def write_all(tx: Tx, found: Sequence[tuple[str | None, str, str, Mapping[str, Json]]]) -> None:
    """Many events at once: (actor, verb, noun, payload)."""
    rows = [
        {"at": tx.now, "actor": actor, "verb": verb, "noun": noun, "payload": payload}
        for actor, verb, noun, payload in found
    ]
    if rows:
        tx.insert_by(NUMBERED if tx.is_postgres else insert_into(events), rows)


def all(tx: Tx) -> Iterator[Event]:  # noqa: A001  (read as events.all)
    """Every event of this snapshot, this transaction's own among them."""
    return _portions(tx, select(*COLUMNS), 0, sys.maxsize)


def since(tx: Tx, n: int = 0, *, most: int = sys.maxsize) -> Iterator[Event]:
    """Events after number `n`, in order; a listener that remembers the last number misses none.

    On PostgreSQL numbers are given before COMMIT, so events of transactions that began after one still open wait
    until that one has ended.
    """
    query = select(*COLUMNS)
    if tx.is_postgres:
        query = query.where(sql("transaction_id < pg_snapshot_xmin(pg_current_snapshot())::text::bigint"))
    return _portions(tx, query, n, most)


def _portions(tx: Tx, query: Select[Any], n: int, left: int) -> Iterator[Event]:
    query = query.order_by(events.c.n)
    while rows := tx.all(query.where(events.c.n > n).limit(min(left, PORTION))):
        yield from (Event(*row) for row in rows)
        n, left = rows[-1].n, left - len(rows)


def latest(tx: Tx) -> int:
    """The number of the newest event."""
    return int(tx.value(select(func.max(events.c.n))) or 0)
