"""Gold: units with known answers, and how an answer does on them.

A gold answer is a set of accepted labels per item, with a reason to show after a miss.  Only active gold counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import select

from grater.store import events, schema
from grater.store.transaction import Tx
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
    rows = tx.all(select(schema.gold).where(schema.gold.c.unit_id == unit_id).order_by(schema.gold.c.item_id))
    return [Gold(row.unit_id, row.item_id, frozenset(row.accepted), row.reason, row.state) for row in rows]


def all(tx: Tx) -> list[tuple[str, Gold]]:  # noqa: A001  (read as gold.all)
    """Every known answer with the name of its job."""
    query = (
        select(schema.jobs.c.name, schema.gold)
        .join(schema.units, schema.units.c.unit_id == schema.gold.c.unit_id)
        .join(schema.jobs)
    )
    order = (tx.binary(schema.jobs.c.name), tx.binary(schema.gold.c.item_id), tx.binary(schema.gold.c.unit_id))
    return [
        (row.name, Gold(row.unit_id, row.item_id, frozenset(row.accepted), row.reason, row.state))
        for row in tx.all(query.order_by(*order))
    ]


def grade(task: str, answers: Sequence[Answer], known: Iterable[Gold]) -> bool | None:
    """Whether the answers are right; None where nothing is known about the unit."""
    accepted: Mapping[str, frozenset[str]] = {each.item_id: each.accepted for each in known}
    return TASKS[task].right(answers, accepted) if accepted else None
