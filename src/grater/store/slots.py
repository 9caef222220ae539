"""Slots: the places for a unit's judgments, each free, leased, filled or closed."""

from __future__ import annotations

from sqlalchemy import bindparam, select

from grater.store import schema
from grater.store.transaction import ONE, Tx, locking

OF_UNIT = schema.slots.c.unit_id == bindparam("unit")
SET = schema.slots.update().where(OF_UNIT, schema.slots.c.n == bindparam("slot")).values(state=bindparam("to"))
FREE = select(schema.slots.c.n).where(OF_UNIT, schema.slots.c.state == "free").order_by(schema.slots.c.n).limit(ONE)
FREE_LOCKED = locking(FREE, of=schema.slots, skip=True)


def set_state(tx: Tx, unit_id: str, n: int, state: str) -> None:
    tx.execute(SET, {"to": state, "unit": unit_id, "slot": n})


def take_free(tx: Tx, unit_id: str) -> int | None:
    """A free slot of the unit, filled from now on; None if there is none."""
    n: int | None = tx.value(FREE_LOCKED if tx.is_postgres else FREE, unit=unit_id)
    if n is not None:
        set_state(tx, unit_id, n, "filled")
    return n


def fill_all(tx: Tx, job_id: str) -> None:
    """Every slot of a job that comes into the study with its judgments."""
    tx.execute(schema.slots.update().where(schema.slots.c.job_id == job_id).values(state="filled"))


def free_units(tx: Tx, job_id: str) -> set[str]:
    """The units of a job with a free slot."""
    query = select(schema.slots.c.unit_id).where(schema.slots.c.job_id == job_id, schema.slots.c.state == "free")
    return {row.unit_id for row in tx.all(query.distinct())}
