"""Adjudications: the answer that counts in the end for a unit, under the annotator `gold`; the originals stay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import cast

from sqlalchemy import select

from grater.errors import Stale
from grater.model import Json
from grater.store import events, people, schema, units
from grater.store.transaction import Record, Tx
from grater.tasks.task import Answer

ANNOTATOR = "gold"
"""What exports call the annotator of adjudicated work."""


@dataclass(frozen=True, slots=True)
class Adjudication:
    unit_id: str
    version: int
    person_id: str
    answers: tuple[Answer, ...]
    comment: str
    at: int


def save(
    tx: Tx, *, unit_id: str, person_id: str, answers: Sequence[Answer], version: int | None = None, comment: str = ""
) -> Adjudication:
    """Store a decision; `version` is the one it was made from (0: none), and an older one is stale."""
    people.lock(tx, person_id)
    units.lock(tx, unit_id)
    newest = find(tx, unit_id)
    known = newest.version if newest else 0
    if version is not None and version != known:
        raise Stale(
            f"somebody adjudicated this unit in the meantime (version {known}); yours was made from {version}"
        )
    made = Adjudication(unit_id, known + 1, person_id, tuple(answers), comment, tx.now)
    row = {"unit_id": unit_id, "version": made.version, "person_id": person_id, "comment": comment, "at": tx.now}
    tx.insert(schema.adjudications, row | {"answers": [asdict(answer) for answer in answers]})
    events.write(tx, person_id, "adjudication.saved", unit_id, {"version": made.version})
    return made


def find(tx: Tx, unit_id: str) -> Adjudication | None:
    """The newest decision about a unit."""
    query = select(schema.adjudications).where(schema.adjudications.c.unit_id == unit_id)
    row = tx.first(query.order_by(schema.adjudications.c.version.desc()).limit(1))
    return None if row is None else _record(row)


def all(tx: Tx) -> list[Adjudication]:  # noqa: A001  (read as adjudications.all)
    """The newest decision about every unit that has one."""
    order = (tx.binary(schema.adjudications.c.unit_id), schema.adjudications.c.version)
    newest = {row.unit_id: row for row in tx.all(select(schema.adjudications).order_by(*order))}
    return [_record(row) for row in newest.values()]


def _record(row: Record) -> Adjudication:
    answers = tuple(answer_of(each) for each in row.answers)
    return Adjudication(row.unit_id, row.version, row.person_id, answers, row.comment, row.at)


def answer_of(each: Mapping[str, Json]) -> Answer:
    """An answer back from its JSON."""
    return Answer(
        str(each["item_id"]),
        str(each["label"]),
        str(each.get("confidence") or ""),
        tuple(cast("list[str]", each.get("flags") or [])),
        tuple(cast("list[str]", each.get("alternatives") or [])),
        cast("Mapping[str, Json]", each.get("payload") or {}),
    )
