"""Drafts: unfinished work, saved under a revision number, so that no tab silently overwrites another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlalchemy import select

from grater.errors import Conflict, NotFound, Stale
from grater.model import Json
from grater.store import leases, people, schema
from grater.store.transaction import Tx


@dataclass(frozen=True, slots=True)
class Draft:
    revision: int
    body: Mapping[str, Json] = field(default_factory=dict, hash=False)
    at: int = 0


def save(tx: Tx, *, unit_id: str, person_id: str, revision: int, body: Mapping[str, Json]) -> int:
    """Save a draft made from `revision` (0: the first) and give its new number; it also keeps the lease alive.

    The same body sent twice for one revision is a replay.  A draft made from any other revision is stale.
    """
    people.lock(tx, person_id)
    _require_at_work(tx, unit_id, person_id)
    stored = find(tx, unit_id=unit_id, person_id=person_id)
    newest = stored.revision if stored else 0
    if stored and revision == newest - 1 and stored.body == body:
        return newest
    if revision != newest:
        raise Stale(f"a newer draft (revision {newest}) was saved, perhaps in another tab; yours is {revision}")
    return put(tx, unit_id=unit_id, person_id=person_id, body=body)


def put(tx: Tx, *, unit_id: str, person_id: str, body: Mapping[str, Json]) -> int:
    """Store a draft over the newest, whatever that is; give its revision."""
    stored = find(tx, unit_id=unit_id, person_id=person_id)
    revision = stored.revision + 1 if stored else 1
    row = {"revision": revision, "body": body, "at": tx.now}
    if stored is None:
        tx.insert(schema.drafts, row | {"unit_id": unit_id, "person_id": person_id})
    else:
        mine = (schema.drafts.c.unit_id == unit_id) & (schema.drafts.c.person_id == person_id)
        tx.execute(schema.drafts.update().where(mine).values(**row))
    return revision


def find(tx: Tx, *, unit_id: str, person_id: str) -> Draft | None:
    query = select(schema.drafts).where(schema.drafts.c.unit_id == unit_id, schema.drafts.c.person_id == person_id)
    row = tx.first(query)
    return None if row is None else Draft(row.revision, row.body, row.at)


def _require_at_work(tx: Tx, unit_id: str, person_id: str) -> None:
    """The rater has or had the unit, and has not handed it in; a lease still held starts its time again."""
    mine = (schema.leases.c.unit_id == unit_id) & (schema.leases.c.person_id == person_id)
    rows = tx.all(select(*leases.COLUMNS).where(mine))
    if not rows:
        raise NotFound("there is no such piece of work, or it is not yours")
    held = [lease for lease in (leases.Lease(*row) for row in rows) if lease.state == "held"]
    sent = (schema.submissions.c.unit_id == unit_id) & (schema.submissions.c.person_id == person_id)
    is_sent = tx.first(select(schema.submissions.c.submission_id).where(sent)) is not None
    if is_sent and all(lease.place != leases.MENDING for lease in held):
        raise Conflict("this work has been handed in already; a draft of it can no longer be saved")
    for lease in held:
        leases.renew(tx, lease)
