"""Units: what one page asks about, with its slots.

Work units have N slots, one for each judgment that is wanted.  Practice and gold units have none: every rater meets
each of them once.  A unit's shuffle number is drawn at random when it is added and orders the queue (`leases`), so
neither ids nor order tell where a unit came from (P10).

A unit that has all its judgments: an event says so, each time that it gets there.

Whoever brings a unit to its end holds it while they look: of two who hand in its last answers at once, the second
sees what the first stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from sqlalchemy import ColumnElement, Select, bindparam, func, select

from grater.errors import NotFound, UsageError
from grater.model import Essay, Item, Json, Span
from grater.store import essays, events, jobs, schema
from grater.store.ids import new_id, new_shuffle
from grater.store.jobs import Job
from grater.store.transaction import Tx, chunks
from grater.tasks.task import Unit, UnitItem

Role: TypeAlias = Literal["work", "practice", "gold"]

NO_UNIT = "there is no such unit in this study"

OWN_NAMES = ("unit_id", "stage", "payload", "role", "batch", "overlap", "follows", "delay_ms", "wanted")
OWN = [schema.units.c[name] for name in OWN_NAMES]
ITEM = [
    schema.items.c.item_id,
    schema.items.c.essay_id,
    schema.items.c.start,
    schema.items.c.end,
    schema.items.c.kind,
    schema.unit_items.c.payload,
]
WHOLE = [*OWN, *jobs.COLUMNS, *essays.BARE, *ITEM]


def whole(*more: ColumnElement[Any]) -> Select[Any]:
    """Units with all that belongs to them: the columns `WHOLE` after `more`, a row an item, as `read` reads them."""
    return (
        select(*more, *WHOLE)
        .select_from(schema.units)
        .join(schema.jobs, schema.jobs.c.job_id == schema.units.c.job_id)
        .outerjoin(schema.essays, schema.essays.c.essay_id == schema.units.c.essay_id)
        .outerjoin(schema.unit_items, schema.unit_items.c.unit_id == schema.units.c.unit_id)
        .outerjoin(schema.items, schema.items.c.item_id == schema.unit_items.c.item_id)
        .order_by(schema.unit_items.c.position)
    )


BY_ID = whole().where(schema.units.c.unit_id == bindparam("unit"))
OF_LEASE = (
    select(schema.leases.c.place, schema.units.c.role, schema.units.c.job_id)
    .join(schema.units, schema.units.c.unit_id == schema.leases.c.unit_id)
    .where(schema.leases.c.lease_id == bindparam("lease"))
)


@dataclass(frozen=True, slots=True)
class NewUnit:
    """A unit to add.  `follows` is the `name` of another unit in the same call: the same rater must have done that
    one `delay_ms` ago.  `wanted` overrides the job's N."""

    items: tuple[tuple[str, Mapping[str, Json]], ...]
    essay_id: str | None = None
    role: Role = "work"
    stage: str = ""
    name: str = ""
    follows: str = ""
    delay_ms: int = 0
    batch: int = 0
    overlap: bool = False
    wanted: int | None = None
    payload: Mapping[str, Json] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class StudyUnit:
    """A unit as the store knows it; `unit` is what a task sees of it."""

    unit: Unit
    job: Job
    role: str
    batch: int
    overlap: bool
    follows: str | None
    delay_ms: int
    wanted: int

    @property
    def unit_id(self) -> str:
        return self.unit.unit_id


@dataclass(frozen=True, slots=True)
class About:
    """The place of a lease, the role of its unit, and their job."""

    place: int
    role: str
    job_id: str


def add_all(tx: Tx, job_id: str, new: Iterable[NewUnit], *, judgments: int | None = None) -> list[str]:
    """Add units with their slots to a job; give their ids in order."""
    job = jobs.get(tx, job_id)
    added: list[str] = []
    by_name: dict[str, str] = {}
    position = int(tx.value(select(func.max(schema.units.c.position)).where(schema.units.c.job_id == job_id)) or 0)
    for some in chunks(new):
        ids = [new_id() for _ in some]
        by_name |= {each.name: unit_id for each, unit_id in zip(some, ids, strict=True) if each.name}
        rows = [
            _row(each, unit_id, job_id, position + number, judgments or job.judgments, by_name)
            for number, (each, unit_id) in enumerate(zip(some, ids, strict=True), 1)
        ]
        _insert(tx, job_id, some, rows)
        position += len(some)
        added += ids
    return added


def _insert(tx: Tx, job_id: str, some: Sequence[NewUnit], rows: Sequence[Mapping[str, Any]]) -> None:
    tx.insert(schema.units, list(rows))
    tx.insert(
        schema.unit_items, [row for each, unit in zip(some, rows, strict=True) for row in _item_rows(each, unit)]
    )
    tx.insert(schema.slots, [row for unit in rows for row in _slot_rows(unit)])
    told = {row["unit_id"]: row["wanted"] for row in rows}
    events.write(tx, None, "units.added", job_id, {"wanted": told})


def _row(
    each: NewUnit, unit_id: str, job_id: str, position: int, judgments: int, by_name: Mapping[str, str]
) -> dict[str, Any]:
    if each.follows and each.follows not in by_name:
        raise UsageError(f"unit {each.name or position}: follows {each.follows!r}, which must be added before it")
    wanted = each.wanted if each.wanted is not None else judgments
    return {
        "unit_id": unit_id,
        "job_id": job_id,
        "essay_id": each.essay_id,
        "role": each.role,
        "stage": each.stage,
        "follows": by_name.get(each.follows),
        "delay_ms": each.delay_ms,
        "batch": each.batch,
        "overlap": each.overlap,
        "position": position,
        "shuffle": new_shuffle(),
        "wanted": wanted if each.role == "work" else 0,
        "payload": each.payload,
    }


def _item_rows(each: NewUnit, unit: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [
        {"unit_id": unit["unit_id"], "position": number, "item_id": item_id, "payload": payload}
        for number, (item_id, payload) in enumerate(each.items)
    ]


def _slot_rows(unit: Mapping[str, Any]) -> list[dict[str, Any]]:
    own = {name: unit[name] for name in ("unit_id", "job_id", "batch", "shuffle")}
    return [{**own, "n": n, "state": "free"} for n in range(1, unit["wanted"] + 1)]


def find(tx: Tx, unit_id: str) -> StudyUnit | None:
    """A unit with its items, job and bare essay: no rater may meet the marks of others (P9)."""
    rows = tx.all(BY_ID, unit=unit_id)
    return read(rows) if rows else None


def read(rows: Sequence[Sequence[Any]]) -> StudyUnit:
    """A unit from the columns `WHOLE`, a row an item; one without items has one row."""
    own, job, written, _ = _parted(rows[0])
    unit_id, stage, payload, *rest = own
    essay = Essay("", "") if written[0] is None else essays.bare_of(*written)
    found = (_parted(row)[-1] for row in rows)
    unit_items = tuple(_item(*each[1:]) for each in found if each[0] is not None)
    return StudyUnit(Unit(unit_id, essay, unit_items, stage, payload), Job(*job), *rest)


def _parted(row: Sequence[Any]) -> tuple[Sequence[Any], Sequence[Any], Sequence[Any], Sequence[Any]]:
    """A row of `WHOLE` by what it is about: the unit, its job, its essay, an item."""
    ends = (len(OWN), len(OWN) + len(jobs.COLUMNS), len(WHOLE) - len(ITEM))
    return row[: ends[0]], row[ends[0] : ends[1]], row[ends[1] : ends[2]], row[ends[2] :]


def of_lease(tx: Tx, lease_id: str) -> About | None:
    """What kind of unit a lease is on; none of it ever changes."""
    row = tx.first(OF_LEASE, lease=lease_id)
    return None if row is None else About(*row)


def get(tx: Tx, unit_id: str) -> StudyUnit:
    """The unit with this id, which must be there."""
    unit = find(tx, unit_id)
    if unit is None:
        raise NotFound(NO_UNIT)
    return unit


def ids_of_job(tx: Tx, job_id: str, *, role: Role | None = None) -> list[str]:
    """The units of a job in the order in which they were added."""
    query = select(schema.units.c.unit_id).where(schema.units.c.job_id == job_id).order_by(schema.units.c.position)
    return [row.unit_id for row in tx.all(query if role is None else query.where(schema.units.c.role == role))]


def of_essay(tx: Tx, essay_id: str) -> list[tuple[Job, list[str]]]:
    """The jobs that ask about an essay, each with the ids of its units there, in order."""
    query = select(schema.units.c.job_id, schema.units.c.unit_id).where(
        schema.units.c.essay_id == essay_id, schema.units.c.role == "work"
    )
    by_job: dict[str, list[str]] = {}
    for row in tx.all(query.order_by(schema.units.c.job_id, schema.units.c.position)):
        by_job.setdefault(row.job_id, []).append(row.unit_id)
    return [(job, by_job[job.job_id]) for job in jobs.all(tx) if job.job_id in by_job]


def essays_of_task(tx: Tx, task: str) -> set[str]:
    """The essays that some job of this task asks about."""
    query = (
        select(schema.units.c.essay_id).distinct().join(schema.jobs, schema.jobs.c.job_id == schema.units.c.job_id)
    )
    return {row[0] for row in tx.all(query.where(schema.jobs.c.task == task))}


def _item(
    essay_id: str | None, start: int | None, end: int | None, kind: str, payload: Mapping[str, Json]
) -> UnitItem:
    return UnitItem(Item(essay_id or "", Span(start or 0, end or 0), kind), payload)


def lock(tx: Tx, unit_id: str) -> None:
    """One change at a time for one unit."""
    query = select(schema.units.c.unit_id).where(schema.units.c.unit_id == unit_id)
    if tx.first(tx.locked(query, of=schema.units)) is None:
        raise NotFound(NO_UNIT)


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


def log_finished(tx: Tx, unit_ids: Iterable[str]) -> None:
    """Log which of these units, where something has just changed, are finished."""
    for unit_id in sorted(set(unit_ids)):  # in one order, so that two who tell of the same units do not block
        if tx.is_postgres:
            lock(tx, unit_id)
        job_id = tx.value(JOB_OF_FINISHED, unit=unit_id)
        if job_id is not None:
            events.write(tx, None, FINISHED, unit_id, {"job_id": job_id})
