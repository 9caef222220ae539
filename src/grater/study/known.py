"""Known answers from a gold table: the units of a job that hold these items become gold, or practice with feedback.

Practice comes first, once for everybody, and says what was expected.  An item that a rater has met as work stays
work.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from grater.errors import UsageError
from grater.model import Json
from grater.store import Tx, gold, gold_units, items, jobs, units
from grater.store.units import NewUnit, Role
from grater.study.pages import shown
from grater.tables import Table
from grater.tables.schema import LIST_SEPARATOR

LOOKS = ("grey", "tagset")
"""What a job says of all its units alike."""


def add_gold(
    tx: Tx, table: Table, ids: Mapping[str, str], *, job: str | None, role: Literal["gold", "practice"] = "gold"
) -> tuple[int, int]:
    """A gold (or practice) unit of the job for every row; give how many are new and how many were met already."""
    if job is None:
        raise UsageError(f"{table.name}: {role} belongs to a job; name it with --job")
    job_id = jobs.named(tx, job).job_id
    n_new = 0
    for row in table.frame.iter_rows(named=True):
        item_id, reason = ids[str(row["item"])], str(row.get("reason") or "")
        accepted = [label.strip() for label in str(row["label"]).split(LIST_SEPARATOR) if label.strip()]
        unit_id = gold_units.work_with(tx, job_id, item_id)
        if gold_units.is_known(tx, job_id, item_id):
            continue
        if unit_id is not None:
            n_new += gold_units.convert(tx, unit_id, item_id, accepted, reason=reason, role=role)
        else:
            add_known(tx, job_id, item_id, accepted, reason=reason, role=role)
            n_new += 1
    return n_new, len(table) - n_new


def looks_of(tx: Tx, job_id: str) -> dict[str, Json]:
    """How the units of a job are shown: what is known must look like all other work, and offer the same answers."""
    unit_ids = units.ids_of_job(tx, job_id, role="work")
    payload = units.the(tx, unit_ids[0]).unit.payload if unit_ids else {}
    return {name: payload[name] for name in LOOKS if name in payload}


def add_known(tx: Tx, job_id: str, item_id: str, accepted: list[str], *, reason: str, role: Role = "gold") -> str:
    """One gold (or practice) unit of one item, with its known answers."""
    found = items.find(tx, item_id)
    essay_id = found.item.essay_id if found and found.item else None
    asked = ((item_id, shown(found) if found else {}),)
    new = NewUnit(asked, essay_id, role=role, payload=looks_of(tx, job_id))
    (unit_id,) = units.add_all(tx, job_id, [new])
    gold.add(tx, unit_id, item_id, accepted, reason=reason)
    return unit_id
