"""A unit that has all its judgments: an event says so, each time that it gets there.

Whoever brings a unit to its end holds it while they look: of two who hand in its last answers at once, the second
sees what the first stored.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import bindparam, func, select

from grater.store import events, schema
from grater.store import units as study_units
from grater.store.transaction import Tx

FINISHED = "unit.finished"

N_VALID = (
    select(func.count())
    .where(schema.submissions.c.unit_id == schema.units.c.unit_id, schema.submissions.c.status == "valid")
    .scalar_subquery()
)
JOB_OF_FINISHED = select(schema.units.c.job_id).where(
    schema.units.c.unit_id == bindparam("unit"),
    schema.units.c.role == "work",
    schema.units.c.wanted > 0,
    schema.units.c.wanted <= N_VALID,
)


def tell(tx: Tx, unit_ids: Iterable[str]) -> None:
    """Log which of these units, where something has just changed, are finished."""
    for unit_id in sorted(set(unit_ids)):  # in one order, so that two who tell of the same units do not block
        if tx.is_postgres:
            study_units.lock(tx, unit_id)
        job_id = tx.value(JOB_OF_FINISHED, unit=unit_id)
        if job_id is not None:
            events.write(tx, None, FINISHED, unit_id, {"job_id": job_id})
