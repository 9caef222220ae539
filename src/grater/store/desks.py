"""A desk: a lease with its unit and all that belongs to it, by one question.

Raters come to their desk with every page and every answer.
"""

from __future__ import annotations

from sqlalchemy import bindparam

from grater.store import leases, schema, units
from grater.store.leases import Lease
from grater.store.transaction import Tx
from grater.store.units import StudyUnit

MINE = (
    units.whole(*leases.COLUMNS)
    .join(schema.leases, schema.leases.c.unit_id == schema.units.c.unit_id)
    .where(schema.leases.c.lease_id == bindparam("lease"), schema.leases.c.person_id == bindparam("person"))
)


def find(tx: Tx, lease_id: str, *, person_id: str) -> tuple[Lease, StudyUnit] | None:
    """The lease, whatever its state, with its unit, if it is this person's."""
    rows = tx.all(MINE, lease=lease_id, person=person_id)
    if not rows:
        return None
    n = len(leases.COLUMNS)
    return Lease(*rows[0][:n]), units.read([row[n:] for row in rows])
