"""Gold: units with known answers, and how an answer does on them.

A gold answer is a set of accepted labels per item, with a reason to show after a miss.  Only active gold counts.

A work unit can become gold while nobody has touched it: no more judgments are asked for it.  Otherwise the item would
be gold and work at once, and a rater would meet it twice, the second time with the answer known.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import Select, exists, select

from grater.store import events, jobs, schema, slots, units
from grater.store.transaction import Record, Tx
from grater.tasks import TASKS
from grater.tasks.task import Answer


@dataclass(frozen=True, slots=True)
class Gold:
    unit_id: str
    item_id: str
    accepted: frozenset[str]
    reason: str = ""
    state: str = "active"


def add(tx: Tx, unit_id: str, item_id: str, accepted: Iterable[str], *, reason: str = "") -> None:
    """Make the known answers of one item of a gold or practice unit part of the study."""
    row = {"unit_id": unit_id, "item_id": item_id, "accepted": sorted(set(accepted)), "reason": reason}
    tx.insert(schema.gold, row)
    events.write(tx, None, "gold.added", unit_id, {"item_id": item_id, "state": "active"})


def set_reason(tx: Tx, unit_id: str, reason: str, *, actor: str | None = None) -> None:
    """What raters read after a miss, from now on."""
    tx.execute(schema.gold.update().where(schema.gold.c.unit_id == unit_id).values(reason=reason))
    events.write(tx, actor, "gold.reason", unit_id, {"reason": reason})


def of_unit(tx: Tx, unit_id: str) -> list[Gold]:
    query = select(schema.gold).where(schema.gold.c.unit_id == unit_id).order_by(schema.gold.c.item_id)
    return [read(row) for row in tx.all(query)]


def all(tx: Tx) -> list[tuple[str, Gold]]:  # noqa: A001  (read as gold.all)
    """Every known answer with the name of its job."""
    query = (
        select(schema.jobs.c.name, schema.gold)
        .join(schema.units, schema.units.c.unit_id == schema.gold.c.unit_id)
        .join(schema.jobs)
    )
    order = (tx.binary(schema.jobs.c.name), tx.binary(schema.gold.c.item_id), tx.binary(schema.gold.c.unit_id))
    return [(row.name, read(row)) for row in tx.all(query.order_by(*order))]


def read(row: Record) -> Gold:
    """The gold of a row of its table."""
    return Gold(
        unit_id=row.unit_id,
        item_id=row.item_id,
        accepted=frozenset(row.accepted),
        reason=row.reason,
        state=row.state,
    )


def grade(task: str, answers: Sequence[Answer], known: Iterable[Gold]) -> bool | None:
    """Whether the answers are right; None where nothing is known about the unit."""
    accepted: Mapping[str, frozenset[str]] = {gold.item_id: gold.accepted for gold in known}
    return TASKS[task].right(answers, accepted) if accepted else None


def work_with(tx: Tx, job_id: str, item_id: str) -> str | None:
    """The work unit of a job that asks about this item alone or with others."""
    unit_id: str | None = tx.value(_units_with(job_id, item_id).where(schema.units.c.role == "work").limit(1))
    return unit_id


def is_known(tx: Tx, job_id: str, item_id: str) -> bool:
    """Whether the item is gold or practice in this job already."""
    return tx.first(_units_with(job_id, item_id).where(schema.units.c.role != "work")) is not None


def _units_with(job_id: str, item_id: str) -> Select[Any]:
    return (
        select(schema.units.c.unit_id)
        .join(schema.unit_items, schema.unit_items.c.unit_id == schema.units.c.unit_id)
        .where(schema.units.c.job_id == job_id, schema.unit_items.c.item_id == item_id)
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
    jobs.lock(tx, units.get(tx, unit_id).job.job_id)
    traces = (schema.submissions.c.unit_id == unit_id, schema.leases.c.unit_id == unit_id)
    if not slots.hold(tx, unit_id) or any(tx.value(select(exists().where(trace))) for trace in traces):
        return False
    slots.close_all(tx, unit_id)
    tx.execute(schema.units.update().where(schema.units.c.unit_id == unit_id).values(role=role, batch=0))
    add(tx, unit_id, item_id, accepted, reason=reason)
    events.write(tx, actor, f"unit.{role}", unit_id)
    return True
