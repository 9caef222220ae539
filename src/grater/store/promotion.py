"""Surplus work takes slots that have become free: what was done well need not be asked of somebody else.

After an ejection or a withdrawal a unit may have free slots again while late work on it lies there as surplus.  The
oldest surplus answers of raters who are in good standing, and have no other answer to the unit that counts, become
valid, as many as there are free slots.  So a unit still has at most N valid judgments, at most one a rater (P3).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from sqlalchemy import func, select

from grater.store import before, schema, submissions, trust
from grater.store.chunks import chunks
from grater.store.transaction import Record, Tx


def promote(tx: Tx, unit_ids: Iterable[str], *, actor: str | None = None) -> int:
    """Fill free slots of these units with surplus work; give how many."""
    return sum(_promote(tx, some, actor) for some in chunks(sorted(set(unit_ids))))


def _promote(tx: Tx, unit_ids: list[str], actor: str | None) -> int:
    query = select(
        schema.submissions.c.submission_id,
        schema.submissions.c.job_id,
        schema.submissions.c.unit_id,
        schema.submissions.c.person_id,
    ).where(schema.submissions.c.unit_id.in_(unit_ids), schema.submissions.c.status == "surplus")
    found = tx.all(query.order_by(schema.submissions.c.at, tx.binary(schema.submissions.c.submission_id)))
    free = _n_free(tx, unit_ids) if found else Counter[str]()
    n_before = free.total()
    for row in found:
        if free[row.unit_id] > 0 and _may_count(tx, row):
            became = submissions.set_status(tx, row.submission_id, "valid", actor=actor, why="a slot became free")
            free[row.unit_id] -= became == "valid"
    return n_before - free.total()


def _may_count(tx: Tx, row: Record) -> bool:
    """In good standing, and no answer to the unit that counts; somebody who is just changing is left alone."""
    person = select(schema.people.c.person_id).where(schema.people.c.person_id == row.person_id)
    if tx.first(tx.locked(person, of=schema.people, skip=True)) is None:
        return False
    if trust.find(tx, row.job_id, row.person_id).state == "ejected":
        return False
    return tx.first(before.COUNTING, unit=row.unit_id, person=row.person_id) is None


def _n_free(tx: Tx, unit_ids: list[str]) -> Counter[str]:
    query = select(schema.slots.c.unit_id, func.count()).where(
        schema.slots.c.unit_id.in_(unit_ids), schema.slots.c.state == "free"
    )
    return Counter({row[0]: row[1] for row in tx.all(query.group_by(schema.slots.c.unit_id))})
