"""Gold that is doubted: missed too often, disputed, forgiven; and everybody who saw it counted anew.

Gold missed by more than half of the raters who saw it, five at the least, suspends itself; a manager may forgive it
for good, suspend it, or make it active again.  Each change recounts the trust of all who answered it.  Whom the rules
had put out and now would not is taken back; nobody is put out by such a change, only by their next answer to gold.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import bindparam, case, func, select

from grater.crowd.trust import is_suspect
from grater.errors import NotFound, UsageError
from grater.registry import unknown
from grater.store import ejection, events, jobs, schema
from grater.store.gold import Gold
from grater.store.transaction import Tx, locking

COUNTED = ("valid", "untrusted")


@dataclass(frozen=True, slots=True)
class GoldRecord:
    """A gold unit and how raters did on it."""

    unit_id: str
    known: tuple[Gold, ...]
    seen: int
    missed: int
    disputes: int

    @property
    def state(self) -> str:
        return self.known[0].state

    @property
    def is_trouble(self) -> bool:
        return self.state != "active" or self.disputes > 0 or 2 * self.missed > self.seen


def of_job(tx: Tx, job_id: str) -> list[GoldRecord]:
    """The gold of a job, the most missed first."""
    known: dict[str, list[Gold]] = {}
    query = select(schema.gold).join(schema.units, schema.units.c.unit_id == schema.gold.c.unit_id)
    for row in tx.all(
        query.where(schema.units.c.job_id == job_id, schema.units.c.role == "gold").order_by(schema.units.c.position)
    ):
        one = Gold(row.unit_id, row.item_id, frozenset(row.accepted), row.reason, row.state)
        known.setdefault(row.unit_id, []).append(one)
    counts, open_ones = _counts(tx, job_id), _disputes(tx, job_id)
    found = [
        GoldRecord(unit_id, tuple(each), *counts.get(unit_id, (0, 0)), open_ones.get(unit_id, 0))
        for unit_id, each in known.items()
    ]
    return sorted(found, key=lambda each: (-each.missed, -each.seen))


def doubt(tx: Tx, unit_id: str) -> bool:
    """Suspend gold that is missed too often; True if it was suspended now."""
    if _state(tx, unit_id) != "active":
        return False
    seen, missed = _count(tx, unit_id)
    if not is_suspect(seen=seen, missed=missed):
        return False
    set_state(tx, unit_id, "suspended")
    return True


def set_state(tx: Tx, unit_id: str, state: str, *, actor: str | None = None) -> None:
    """Forgive, suspend or reactivate a gold unit, and count everybody who saw it anew."""
    if state not in schema.GOLD_STATES:
        raise UsageError(unknown("state", state, list(schema.GOLD_STATES)))
    if _state(tx, unit_id) == state:
        return
    tx.execute(schema.gold.update().where(schema.gold.c.unit_id == unit_id).values(state=state))
    for item_id in [
        row.item_id for row in tx.all(select(schema.gold.c.item_id).where(schema.gold.c.unit_id == unit_id))
    ]:
        events.write(tx, actor, "gold.state", unit_id, {"item_id": item_id, "state": state})
    job = jobs.get(tx, str(tx.value(select(schema.units.c.job_id).where(schema.units.c.unit_id == unit_id))))
    for person_id in _who_saw(tx, unit_id):
        ejection.judge_again(tx, job, person_id)


def hold(tx: Tx, lease_id: str) -> None:
    """The gold of a lease, if it is gold, stays as it is until the end: its rater is counted by what counts then.

    Gold is held before people, here and where its state changes, so that no two wait for each other.
    """
    if tx.is_postgres:
        tx.all(OF_LEASE, lease=lease_id)


def _state(tx: Tx, unit_id: str) -> str:
    """Held until the end, so that two who change it wait for each other."""
    query = tx.locked(
        select(schema.gold.c.state).where(schema.gold.c.unit_id == unit_id).order_by(schema.gold.c.item_id),
        of=schema.gold,
    )
    rows = tx.all(query)
    if not rows:
        raise NotFound("there is no such gold in this study")
    return str(rows[0].state)


def _who_saw(tx: Tx, unit_id: str) -> list[str]:
    saw = (schema.submissions.c.unit_id == unit_id) & schema.submissions.c.status.in_(COUNTED)
    return sorted({row.person_id for row in tx.all(select(schema.submissions.c.person_id).where(saw))})


def _count(tx: Tx, unit_id: str) -> tuple[int, int]:
    row = tx.first(
        select(func.count(), MISSED).where(
            schema.submissions.c.unit_id == unit_id, schema.submissions.c.status.in_(COUNTED)
        )
    )
    return (0, 0) if row is None else (int(row[0]), int(row[1]))


def _counts(tx: Tx, job_id: str) -> dict[str, tuple[int, int]]:
    query = select(schema.submissions.c.unit_id, func.count(), MISSED).join(
        schema.units, schema.units.c.unit_id == schema.submissions.c.unit_id
    )
    query = query.where(
        schema.submissions.c.job_id == job_id, schema.units.c.role == "gold", schema.submissions.c.status.in_(COUNTED)
    )
    return {row[0]: (int(row[1]), int(row[2])) for row in tx.all(query.group_by(schema.submissions.c.unit_id))}


def _disputes(tx: Tx, job_id: str) -> dict[str, int]:
    query = (
        select(schema.submissions.c.unit_id, func.count())
        .join(schema.disputes, schema.disputes.c.submission_id == schema.submissions.c.submission_id)
        .where(schema.submissions.c.job_id == job_id, schema.disputes.c.state == "open")
        .group_by(schema.submissions.c.unit_id)
    )
    return {row[0]: int(row[1]) for row in tx.all(query)}


MISSED = func.coalesce(func.sum(case((schema.submissions.c.is_right.is_(False), 1), else_=0)), 0)

OF_LEASE = locking(
    select(schema.gold.c.item_id)
    .join(schema.leases, schema.leases.c.unit_id == schema.gold.c.unit_id)
    .where(schema.leases.c.lease_id == bindparam("lease"))
    .order_by(schema.gold.c.item_id),
    of=schema.gold,
)
