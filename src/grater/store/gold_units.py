"""Work that becomes gold: a unit that nobody has touched yet is asked for nothing more, and known from now on.

Only so can an item be gold without being work as well, which a rater would meet twice, once with the answer told.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from sqlalchemy import exists, select

from grater.store import asking, events, gold, schema
from grater.store.transaction import Tx


def work_with(tx: Tx, job_id: str, item_id: str) -> str | None:
    """The work unit of a job that asks about this item alone or with others."""
    query = select(schema.units.c.unit_id).join(
        schema.unit_items, schema.unit_items.c.unit_id == schema.units.c.unit_id
    )
    here = (
        (schema.units.c.job_id == job_id) & (schema.units.c.role == "work") & (schema.unit_items.c.item_id == item_id)
    )
    return None if (found := tx.value(query.where(here).limit(1))) is None else str(found)


def is_known(tx: Tx, job_id: str, item_id: str) -> bool:
    """Whether the item is gold or practice in this job already."""
    query = select(schema.units.c.unit_id).join(
        schema.unit_items, schema.unit_items.c.unit_id == schema.units.c.unit_id
    )
    return (
        tx.first(
            query.where(
                schema.units.c.job_id == job_id, schema.units.c.role != "work", schema.unit_items.c.item_id == item_id
            )
        )
        is not None
    )


def convert(
    tx: Tx,
    unit_id: str,
    item_id: str,
    accepted: Iterable[str],
    *,
    reason: str,
    role: Literal["gold", "practice"] = "gold",
    actor: str | None = None,
) -> bool:
    """Make an untouched work unit gold (or practice); False, and nothing done, where somebody has met it already."""
    touched = (schema.submissions.c.unit_id == unit_id, schema.leases.c.unit_id == unit_id)
    if not asking.hold(tx, unit_id) or any(tx.value(select(exists().where(each))) for each in touched):
        return False
    asking.close_all(tx, unit_id)
    tx.execute(schema.units.update().where(schema.units.c.unit_id == unit_id).values(role=role, batch=0))
    gold.add(tx, unit_id, item_id, accepted, reason=reason)
    events.write(tx, actor, f"unit.{role}", unit_id)
    return True
