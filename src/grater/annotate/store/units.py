"""Units: what one page asks about, with its slots.

Work units have N slots, one for each judgment that is wanted.  Practice and gold units have none: every rater meets
each of them once.  A unit's shuffle number is drawn at random when it is added and orders the queue (`queue`), so
neither ids nor order tell where a unit came from (P10).

Each time that a unit gets the last of its judgments, an event says so.  Whoever looks whether it has them locks the
unit: of two who submit its last answers at once, the second sees what the first stored.

Slots: one for each judgment that a unit is to get, free, leased, filled or closed; and the redundancy rule.

As answers come, a unit's slots follow the job's redundancy rule (`grater.annotate.terms`): it says from the valid
labels how many more judgments are wanted, and as many slots are kept open, free or in a rater's hands.  More slots
are made, closed ones opened again, or free ones closed.  `wanted` of the unit is the number of slots that are not
closed.  With a fixed number of judgments nothing changes.

Raters take slots meanwhile, and do not wait for a unit: only a slot that is free, and that nobody is just taking, is
closed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from sqlalchemy import ColumnElement, Select, bindparam, func, select

from grater.annotate.store import essays, events, jobs, schema
from grater.annotate.store.ids import new_id, new_shuffle
from grater.annotate.store.jobs import Job
from grater.annotate.store.transaction import ONE, Columns, Record, Tx, chunks, locking
from grater.annotate.tasks import Unit
from grater.annotate.tasks.task import UnitItem
from grater.annotate.terms import Redundancy, still_wanted, terms_of
from grater.errors import NotFound, UsageError
from grater.model import Essay, Item, Json, Span

Role: TypeAlias = Literal["work", "practice", "gold"]

NO_UNIT = "there is no such unit in this study"


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
class LeasedUnit:
    """What kind of unit a lease is on: the `place` of the lease, the role of the unit, their job."""

    place: int
    role: str
    job_id: str


@dataclass(frozen=True, slots=True)
class UnitRow:
    """The columns of a unit that its `StudyUnit` is made of."""

    unit_id: str
    stage: str
    payload: Mapping[str, Json]
    role: str
    batch: int
    overlap: bool
    follows: str | None
    delay_ms: int
    wanted: int


UNIT_COLUMNS = Columns(UnitRow, schema.units, prefix="unit_")
JOB_COLUMNS = jobs.COLUMNS.prefixed("job_")
ITEM_COLUMNS = [
    schema.items.c.item_id.label("item_id"),
    schema.items.c.essay_id.label("item_essay_id"),
    schema.items.c.start.label("item_start"),
    schema.items.c.end.label("item_end"),
    schema.items.c.kind.label("item_kind"),
    schema.unit_items.c.payload.label("item_payload"),
]


def select_whole(*more: ColumnElement[Any]) -> Select[Any]:
    """Units with their jobs, essays and items, one row per item, as `read` reads them; with the columns `more`."""
    return (
        select(*more, *UNIT_COLUMNS, *JOB_COLUMNS, *essays.COLUMNS, *ITEM_COLUMNS)
        .select_from(schema.units)
        .join(schema.jobs, schema.jobs.c.job_id == schema.units.c.job_id)
        .outerjoin(schema.essays, schema.essays.c.essay_id == schema.units.c.essay_id)
        .outerjoin(schema.unit_items, schema.unit_items.c.unit_id == schema.units.c.unit_id)
        .outerjoin(schema.items, schema.items.c.item_id == schema.unit_items.c.item_id)
        .order_by(schema.unit_items.c.position)
    )


BY_ID = select_whole().where(schema.units.c.unit_id == bindparam("unit"))
OF_LEASE = (
    select(schema.leases.c.place, schema.units.c.role, schema.units.c.job_id)
    .join(schema.units, schema.units.c.unit_id == schema.leases.c.unit_id)
    .where(schema.leases.c.lease_id == bindparam("lease"))
)

FINISHED = "unit.finished"

N_VALID = (
    select(func.count())
    .where(schema.submissions.c.unit_id == schema.units.c.unit_id, schema.submissions.c.status == "valid")
    .scalar_subquery()
)
UNIT = select(schema.units.c.unit_id).where(schema.units.c.unit_id == bindparam("unit"))
UNIT_LOCKED = locking(UNIT, of=schema.units)
JOB_OF_FINISHED = select(schema.units.c.job_id).where(
    schema.units.c.unit_id == bindparam("unit"),
    schema.units.c.role == "work",
    schema.units.c.wanted > 0,
    schema.units.c.wanted <= N_VALID,
)


def add_all(tx: Tx, job_id: str, new_units: Iterable[NewUnit], *, judgments: int | None = None) -> list[str]:
    """Add units with their slots to a job, which is locked so that no two get one position; return their ids."""
    job = jobs.lock(tx, job_id)
    added: list[str] = []
    by_name: dict[str, str] = {}
    position = int(tx.value(select(func.max(schema.units.c.position)).where(schema.units.c.job_id == job_id)) or 0)
    for portion in chunks(new_units):
        ids = [new_id() for _ in portion]
        by_name |= {new.name: unit_id for new, unit_id in zip(portion, ids, strict=True) if new.name}
        rows = [
            _row(new, unit_id, job_id, position + number, judgments or job.judgments, by_name)
            for number, (new, unit_id) in enumerate(zip(portion, ids, strict=True), 1)
        ]
        item_rows = [row for new, unit in zip(portion, rows, strict=True) for row in _item_rows(new, unit["unit_id"])]
        tx.insert(schema.units, list(rows))
        tx.insert(schema.unit_items, item_rows)
        tx.insert(schema.slots, [row for unit in rows for row in _slot_rows(unit)])
        events.write(tx, None, "units.added", job_id, {"wanted": {row["unit_id"]: row["wanted"] for row in rows}})
        position += len(portion)
        added += ids
    return added


def _row(
    new: NewUnit, unit_id: str, job_id: str, position: int, judgments: int, by_name: Mapping[str, str]
) -> dict[str, Any]:
    if new.follows and new.follows not in by_name:
        raise UsageError(f"unit {new.name or position}: follows {new.follows!r}, which must be added before it")
    wanted = new.wanted if new.wanted is not None else judgments
    return {
        "unit_id": unit_id,
        "job_id": job_id,
        "essay_id": new.essay_id,
        "role": new.role,
        "stage": new.stage,
        "follows": by_name.get(new.follows),
        "delay_ms": new.delay_ms,
        "batch": new.batch,
        "overlap": new.overlap,
        "position": position,
        "shuffle": new_shuffle(),
        "wanted": wanted if new.role == "work" else 0,
        "payload": new.payload,
    }


def _item_rows(new: NewUnit, unit_id: str) -> list[dict[str, Any]]:
    return [
        {"unit_id": unit_id, "position": number, "item_id": item_id, "payload": payload}
        for number, (item_id, payload) in enumerate(new.items)
    ]


def _slot_rows(unit: Mapping[str, Any]) -> list[dict[str, Any]]:
    own = {name: unit[name] for name in ("unit_id", "job_id", "batch", "shuffle")}
    return [{**own, "n": n, "state": "free"} for n in range(1, unit["wanted"] + 1)]


def find(tx: Tx, unit_id: str) -> StudyUnit | None:
    """A unit with its items, job and bare essay: no rater may meet the marks of others (P9)."""
    rows = tx.all(BY_ID, unit=unit_id)
    return read(rows) if rows else None


def read(rows: Sequence[Record]) -> StudyUnit:
    """A unit from the rows of `select_whole`, one per item; a unit without items has one row."""
    first = rows[0]
    unit = UNIT_COLUMNS.read(first)
    return StudyUnit(
        unit=Unit(
            unit_id=unit.unit_id,
            essay=Essay("", "") if first.essay_id is None else essays.read_bare(first),
            items=tuple(_item(row) for row in rows if row.item_id is not None),
            stage=unit.stage,
            payload=unit.payload,
        ),
        job=JOB_COLUMNS.read(first),
        role=unit.role,
        batch=unit.batch,
        overlap=unit.overlap,
        follows=unit.follows,
        delay_ms=unit.delay_ms,
        wanted=unit.wanted,
    )


def _item(row: Record) -> UnitItem:
    span = Span(row.item_start or 0, row.item_end or 0)
    return UnitItem(Item(row.item_essay_id or "", span, row.item_kind), row.item_payload)


def of_lease(tx: Tx, lease_id: str) -> LeasedUnit | None:
    """What kind of unit a lease is on; none of it ever changes."""
    row = tx.first(OF_LEASE, lease=lease_id)
    return None if row is None else LeasedUnit(place=row.place, role=row.role, job_id=row.job_id)


def get(tx: Tx, unit_id: str) -> StudyUnit:
    unit = find(tx, unit_id)
    if unit is None:
        raise NotFound(NO_UNIT)
    return unit


def ids_of_job(tx: Tx, job_id: str, *, role: Role | None = None) -> list[str]:
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
    query = (
        select(schema.units.c.essay_id).distinct().join(schema.jobs, schema.jobs.c.job_id == schema.units.c.job_id)
    )
    return {row[0] for row in tx.all(query.where(schema.jobs.c.task == task))}


def lock(tx: Tx, unit_id: str) -> None:
    """One change at a time for one unit."""
    if tx.first(UNIT_LOCKED if tx.is_postgres else UNIT, unit=unit_id) is None:
        raise NotFound(NO_UNIT)


def log_finished(tx: Tx, unit_ids: Iterable[str]) -> None:
    """Log which of these units, whose judgments have just changed, are finished."""
    for unit_id in sorted(set(unit_ids)):  # in one order, so that two who log the same units do not block each other
        if tx.is_postgres:
            tx.post(UNIT_LOCKED, {"unit": unit_id})  # what was counted by whoever held it is counted below
        job_id = tx.value(JOB_OF_FINISHED, unit=unit_id)
        if job_id is not None:
            events.write(tx, None, FINISHED, unit_id, {"job_id": job_id})


OF_UNIT = schema.slots.c.unit_id == bindparam("unit")
SET_SLOT = schema.slots.update().where(OF_UNIT, schema.slots.c.n == bindparam("slot")).values(state=bindparam("to"))
FREE_SLOT = (
    select(schema.slots.c.n).where(OF_UNIT, schema.slots.c.state == "free").order_by(schema.slots.c.n).limit(ONE)
)
FREE_SLOT_LOCKED = locking(FREE_SLOT, of=schema.slots, skip=True)

NO_SLOT = 0
"""Slots are counted from 1."""

LABEL_SEPARATOR = "|"
"""Between the labels of one submission, where it judges several items."""


def set_slot(tx: Tx, unit_id: str, n: int | None, state: str) -> None:
    """Of a unit without a slot, as gold is, nothing changes; but neither is quicker (P5)."""
    tx.post(SET_SLOT, {"to": state, "unit": unit_id, "slot": n or NO_SLOT})


def take_free_slot(tx: Tx, unit_id: str) -> int | None:
    """A free slot of the unit, filled from now on; None if there is none."""
    n: int | None = tx.value(FREE_SLOT_LOCKED if tx.is_postgres else FREE_SLOT, unit=unit_id)
    if n is not None:
        set_slot(tx, unit_id, n, "filled")
    return n


def free_units(tx: Tx, job_id: str) -> set[str]:
    query = select(schema.slots.c.unit_id).where(schema.slots.c.job_id == job_id, schema.slots.c.state == "free")
    return {row.unit_id for row in tx.all(query.distinct())}


def settle_slots(tx: Tx, job: Job, unit_ids: Iterable[str]) -> list[str]:
    """Open or close slots of these units, so that as many are open as the rule still wants; return changed units."""
    if _rule(job) is None:
        return []
    in_order = sorted(set(unit_ids))  # so that two who settle the same units do not block each other
    for unit_id in in_order:
        lock(tx, unit_id)
    rule = _rule(jobs.get(tx, job.job_id))  # only now: the terms may have changed while we waited
    return [] if rule is None else [unit_id for unit_id in in_order if _settle(tx, job, unit_id, rule)]


def hold_unit(tx: Tx, unit_id: str) -> bool:
    """Keep everybody from the unit's free slots until the end; False where somebody is taking one just now."""
    lock(tx, unit_id)
    return len(_free(tx, unit_id)) == list(_states(tx, unit_id).values()).count("free")


def close_slots(tx: Tx, unit_id: str) -> None:
    """Ask for nothing more: every slot that is free is closed; hold the unit first."""
    _change(tx, unit_id, dict.fromkeys(_free(tx, unit_id), "closed"))


def open_slots(tx: Tx, job: Job, unit_id: str, wanted: int) -> None:
    """Ask for this number of judgments of a unit that asked for none."""
    states = _states(tx, unit_id)
    closed = list(states)[:wanted]
    new = _add(tx, job, unit_id, wanted - len(closed), after=max(states, default=0))
    _change(tx, unit_id, dict.fromkeys([*closed, *new], "free"))


def _add(tx: Tx, job: Job, unit_id: str, n_new: int, *, after: int) -> list[int]:
    """More slots of a unit, numbered on."""
    numbers = list(range(after + 1, after + 1 + n_new))
    unit = tx.first(select(schema.units.c.batch, schema.units.c.shuffle).where(schema.units.c.unit_id == unit_id))
    own = {"unit_id": unit_id, "job_id": job.job_id, "state": "free", **(unit._mapping if unit else {})}
    tx.insert(schema.slots, [{**own, "n": n} for n in numbers])
    return numbers


def _rule(job: Job) -> Redundancy | None:
    """The job's rule, where it changes anything."""
    rule = terms_of(job.options).redundancy
    return None if rule is None or (rule.is_fixed and rule.most == job.judgments) else rule


def _settle(tx: Tx, job: Job, unit_id: str, rule: Redundancy) -> bool:
    if tx.value(select(schema.units.c.role).where(schema.units.c.unit_id == unit_id)) != "work":
        return False
    states = _states(tx, unit_id)
    n_open = sum(state in ("free", "leased") for state in states.values())
    missing = still_wanted(rule, _labels(tx, unit_id)) - n_open
    if missing > 0:
        closed = [n for n, state in states.items() if state == "closed"][:missing]
        new = _add(tx, job, unit_id, missing - len(closed), after=max(states, default=0))
        return _change(tx, unit_id, dict.fromkeys([*closed, *new], "free"))
    return missing < 0 and _change(tx, unit_id, dict.fromkeys(_free(tx, unit_id)[missing:], "closed"))


def _change(tx: Tx, unit_id: str, states: dict[int, str]) -> bool:
    if not states:
        return False
    for n, state in states.items():
        set_slot(tx, unit_id, n, state)
    wanted = sum(state != "closed" for state in _states(tx, unit_id).values())
    tx.execute(schema.units.update().where(schema.units.c.unit_id == unit_id).values(wanted=wanted))
    by_number = {str(n): state for n, state in states.items()}
    events.write(tx, None, "slots.changed", unit_id, {"slots": by_number, "wanted": wanted})
    return True


def _free(tx: Tx, unit_id: str) -> list[int]:
    """The free slots, ours until the end, without those that somebody is taking."""
    query = (
        select(schema.slots.c.n)
        .where(schema.slots.c.unit_id == unit_id, schema.slots.c.state == "free")
        .order_by(schema.slots.c.n)
    )
    return [row.n for row in tx.all(tx.locked(query, of=schema.slots, skip=True))]


def _states(tx: Tx, unit_id: str) -> dict[int, str]:
    query = (
        select(schema.slots.c.n, schema.slots.c.state)
        .where(schema.slots.c.unit_id == unit_id)
        .order_by(schema.slots.c.n)
    )
    return {row.n: row.state for row in tx.all(query)}


def _labels(tx: Tx, unit_id: str) -> list[str]:
    """One label per valid submission; of a unit with several items all of them joined."""
    query = (
        select(schema.judgments.c.submission_id, schema.judgments.c.label)
        .join(schema.submissions, schema.submissions.c.submission_id == schema.judgments.c.submission_id)
        .where(schema.submissions.c.unit_id == unit_id, schema.submissions.c.status == "valid")
        .order_by(schema.judgments.c.submission_id, schema.judgments.c.item_id)
    )
    by_submission: dict[str, list[str]] = {}
    for row in tx.all(query):
        by_submission.setdefault(row.submission_id, []).append(row.label)
    return [LABEL_SEPARATOR.join(labels) for labels in by_submission.values()]
