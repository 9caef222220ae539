"""What systems decided about items, as the decisions table has it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from sqlalchemy import case, func, select

from grater.model import Decision
from grater.store import events, schema
from grater.store.transaction import Tx, chunks


def add_all(tx: Tx, found: Iterable[Decision], *, signature: str = "") -> int:
    """Add decisions with their systems; one that is there already must say the same, and is left alone."""
    n_added = 0
    for some in chunks(found):
        _add_systems(tx, {decision.system for decision in some}, signature)
        old = _known(tx, some)
        rows = [_row(decision) for decision in some if (decision.system, decision.item_id) not in old]
        tx.insert(schema.decisions, rows)
        n_added += len(rows)
    events.write(tx, None, "decisions.added", "", {"n": n_added})
    return n_added


def all(tx: Tx, *, system: str | None = None) -> Iterator[Decision]:  # noqa: A001  (read as decisions.all)
    """Decisions by system and item."""
    order = (tx.binary(schema.decisions.c.system), tx.binary(schema.decisions.c.item_id))
    query = select(schema.decisions).order_by(*order)
    for row in tx.all(query if system is None else query.where(schema.decisions.c.system == system)):
        yield Decision(row.item_id, row.system, row.flagged, row.score, row.type, row.suggestion)


def system_names(tx: Tx) -> list[str]:
    """The systems of the study."""
    return [
        row.system for row in tx.all(select(schema.systems.c.system).order_by(tx.binary(schema.systems.c.system)))
    ]


def count(tx: Tx) -> int:
    return int(tx.value(select(func.count()).select_from(schema.decisions)))


def _known(tx: Tx, some: list[Decision]) -> set[tuple[str, str]]:
    items = [decision.item_id for decision in some]
    query = select(schema.decisions.c.system, schema.decisions.c.item_id).where(schema.decisions.c.item_id.in_(items))
    return {(row.system, row.item_id) for row in tx.all(query)}


def _add_systems(tx: Tx, found: set[str], signature: str) -> None:
    new = sorted(found - set(system_names(tx)))
    tx.insert(schema.systems, [{"system": name, "signature": signature, "added_at": tx.now} for name in new])


def _row(decision: Decision) -> dict[str, Any]:
    return {
        "system": decision.system,
        "item_id": decision.item_id,
        "flagged": decision.flagged,
        "score": decision.score,
        "type": decision.type,
        "suggestion": decision.suggestion,
    }


def flags_by_system(tx: Tx) -> dict[str, tuple[int, int]]:
    """The places that each system decided on, and how many of them it flagged."""
    flagged = func.sum(case((schema.decisions.c.flagged, 1), else_=0))
    query = select(schema.decisions.c.system, func.count(), flagged).group_by(schema.decisions.c.system)
    return {row[0]: (int(row[1]), int(row[2])) for row in sorted(tuple(row) for row in tx.all(query))}
