"""Units: what one page asks about, with a slot for each judgment that it is to get.

Practice and gold units have no slots: every rater sees each of them once. A random shuffle number orders each unit in
the queue (`leases`), so neither ids nor order reveal where a unit came from (P10).

Whenever a unit gets its last judgment, an event is written. The check locks the unit: if two raters submit its last
answers at once, the second sees what the first stored.

As answers arrive, a unit's slots follow the job's redundancy rule (`grater.annotate.terms`): from the valid labels it
computes how many more judgments are wanted, and that many slots are kept open, whether free or taken. Slots are
added, reopened or closed accordingly. A unit's `wanted` is the number of slots that are not closed. Raters can take
slots meanwhile without waiting for the unit: only a free slot that nobody is just taking is closed.

Managers can correct mistakes: turn a gold or practice unit back into work, or delete a job with its units. People's
work is never deleted (P1): both are refused once somebody has seen the unit or answered in the job, and database
triggers refuse to delete the units of a job with a submission (`migrations`). The log records deletions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from sqlalchemy import ColumnElement, Exists, Select, bindparam, exists, func, select

from grater.annotate import content, jobs, people
from grater.annotate.content import WORD, require_word
from grater.annotate.jobs import Job
from grater.annotate.store import events, schema
from grater.annotate.store.transaction import ONE, Record, Tx, chunks, new_id, new_shuffle
from grater.annotate.tasks import Unit
from grater.annotate.tasks.task import UnitItem
from grater.annotate.terms import Redundancy, still_wanted, terms_of
from grater.errors import Conflict, NotFound, UsageError
from grater.model import Essay, Json, item_at

SENT, UNIT, SLOT = schema.submissions.c, schema.units.c, schema.slots.c

Role: TypeAlias = Literal["work", "practice", "gold"]

NO_UNIT = "there is no such unit in this study"


@dataclass(frozen=True, slots=True)
class NewUnit:
    """A unit to add. `follows` is the `name` of another unit in the same call, which the same rater must have done
    `delay_ms` ago. `wanted` overrides the job's N. With `spread`, no unit gets a second judgment before every unit
    has its first.
    """

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
    spread: bool = False
    payload: Mapping[str, Json] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class StudyUnit:
    """A stored unit; `unit` is the part that a task sees."""

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


OWN = ("unit_id", "stage", "payload", "role", "batch", "overlap", "follows", "delay_ms", "wanted")
UNIT_COLUMNS = [UNIT[name].label(f"own_{name}") for name in OWN]
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
    """Units with their jobs, essays and items, one row per item, as `read` expects; `more` adds columns."""
    return (
        select(*more, *UNIT_COLUMNS, *JOB_COLUMNS, *content.ESSAY_COLUMNS, *ITEM_COLUMNS)
        .select_from(schema.units)
        .join(schema.jobs)
        .outerjoin(schema.essays)
        .outerjoin(schema.unit_items)
        .outerjoin(schema.items)
        .order_by(schema.unit_items.c.position)
    )


BY_ID = select_whole().where(UNIT.unit_id == bindparam("unit"))

FINISHED = "unit.finished"

N_VALID = select(func.count()).where(SENT.unit_id == UNIT.unit_id, SENT.status == "valid").scalar_subquery()
WHICH = select(UNIT.unit_id).where(UNIT.unit_id == bindparam("unit"))
JOB_OF_FINISHED = select(UNIT.job_id).where(
    UNIT.unit_id == bindparam("unit"), UNIT.role == "work", UNIT.wanted > 0, UNIT.wanted <= N_VALID
)


def add_all(tx: Tx, job_id: str, new_units: Iterable[NewUnit], *, state: str = "free") -> list[str]:
    """Add units with their slots to a job, which is locked so that positions are unique; return their ids."""
    job = jobs.lock(tx, job_id)
    added: list[str] = []
    by_name: dict[str, str] = {}
    position = int(tx.value(select(func.max(UNIT.position)).where(UNIT.job_id == job_id)) or 0)
    for portion in chunks(new_units):
        ids = [new_id() for _ in portion]
        by_name |= {new.name: unit_id for new, unit_id in zip(portion, ids, strict=True) if new.name}
        rows, item_rows, slot_rows = [], [], []
        for new, unit_id in zip(portion, ids, strict=True):
            position += 1
            if new.follows and new.follows not in by_name:
                raise UsageError(
                    f"unit {new.name or position}: follows {new.follows!r}, which must be added before it"
                )
            wanted = job.judgments if new.wanted is None else new.wanted
            own = {"unit_id": unit_id, "job_id": job_id, "batch": new.batch, "shuffle": new_shuffle()}
            rest = {
                name: getattr(new, name) for name in ("essay_id", "role", "stage", "delay_ms", "overlap", "payload")
            }
            place = {"position": position, "follows": by_name.get(new.follows)}
            rows.append({**own, **rest, **place, "wanted": wanted if new.role == "work" else 0})
            item_rows += [
                {"unit_id": unit_id, "position": number, "item_id": item_id, "payload": payload}
                for number, (item_id, payload) in enumerate(new.items)
            ]
            slot_rows += [
                {**own, "batch": new.batch + (n - 1) * new.spread, "n": n, "state": state}
                for n in range(1, rows[-1]["wanted"] + 1)
            ]
        tx.insert(schema.units, rows)
        tx.insert(schema.unit_items, item_rows)
        tx.insert(schema.slots, slot_rows)
        events.write(tx, None, "units.added", job_id, {"wanted": {row["unit_id"]: row["wanted"] for row in rows}})
        added += ids
    return added


def read(rows: Sequence[Record]) -> StudyUnit:
    """A unit from the rows of `select_whole`: one per item, or one row for a unit without items."""
    first = rows[0]
    asked = [
        UnitItem(
            item_at(row.item_essay_id or "", row.item_start or 0, row.item_end or 0, row.item_kind, row.item_id),
            row.item_payload,
        )
        for row in rows
        if row.item_id is not None
    ]
    return StudyUnit(
        unit=Unit(
            unit_id=first.own_unit_id,
            essay=Essay("", "") if first.essay_id is None else content.read_bare(first),
            items=tuple(asked),
            stage=first.own_stage,
            payload=first.own_payload,
        ),
        job=JOB_COLUMNS.read(first),
        **{name: first._mapping[f"own_{name}"] for name in OWN[3:]},
    )


def find(tx: Tx, unit_id: str) -> StudyUnit | None:
    """A unit with its items, job and essay without marks, since raters must not see others' marks (P9)."""
    rows = tx.all(BY_ID, unit=unit_id)
    return read(rows) if rows else None


def get(tx: Tx, unit_id: str) -> StudyUnit:
    if (unit := find(tx, unit_id)) is None:
        raise NotFound(NO_UNIT)
    return unit


def ids_of_job(tx: Tx, job_id: str, *, role: Role | None = None) -> list[str]:
    query = select(UNIT.unit_id).where(UNIT.job_id == job_id).order_by(UNIT.position)
    return [row.unit_id for row in tx.all(query if role is None else query.where(UNIT.role == role))]


def of_essay(tx: Tx, essay_id: str) -> list[tuple[Job, list[str]]]:
    """The jobs that ask about an essay, each with the ids of its units there, in order."""
    query = select(UNIT.job_id, UNIT.unit_id).where(UNIT.essay_id == essay_id, UNIT.role == "work")
    by_job: dict[str, list[str]] = {}
    for row in tx.all(query.order_by(UNIT.job_id, UNIT.position)):
        by_job.setdefault(row.job_id, []).append(row.unit_id)
    return [(job, by_job[job.job_id]) for job in jobs.all(tx) if job.job_id in by_job]


def essays_of_task(tx: Tx, task: str) -> set[str]:
    query = select(UNIT.essay_id).join(schema.jobs)
    return {row.essay_id for row in tx.all(query.where(schema.jobs.c.task == task).distinct())}


def lock(tx: Tx, unit_id: str) -> None:
    """Lock a unit, so that it changes one at a time."""
    if tx.first(tx.locked(WHICH, of=schema.units), unit=unit_id) is None:
        raise NotFound(NO_UNIT)


def log_finished(tx: Tx, unit_ids: Iterable[str]) -> None:
    """Log which of these units, whose judgments have just changed, are finished."""
    for unit_id in sorted(set(unit_ids)):  # in one order, so that two who log the same units do not block each other
        if tx.is_postgres:
            lock(tx, unit_id)  # what was counted by its former holder is counted below
        job_id = tx.value(JOB_OF_FINISHED, unit=unit_id)
        if job_id is not None:
            events.write(tx, None, FINISHED, unit_id, {"job_id": job_id})


OF_UNIT = SLOT.unit_id == bindparam("unit")
SET_SLOT = schema.slots.update().where(OF_UNIT, SLOT.n == bindparam("slot")).values(state=bindparam("to"))
FREE_SLOTS = select(SLOT.n).where(OF_UNIT, SLOT.state == "free").order_by(SLOT.n)

NO_SLOT = 0
"""Slots are counted from 1."""

LABEL_SEPARATOR = "|"
"""Between the labels of one submission, where it judges several items."""


def set_slot(tx: Tx, unit_id: str, n: int | None, state: str) -> None:
    """Set a slot's state; for units without slots, such as gold, the same work is done without effect (P5)."""
    tx.execute(SET_SLOT, {"to": state, "unit": unit_id, "slot": n or NO_SLOT})


def take_free_slot(tx: Tx, unit_id: str) -> int | None:
    """Fill a free slot of the unit and return it; None if there is none."""
    n: int | None = tx.value(tx.locked(FREE_SLOTS.limit(ONE), of=schema.slots, skip=True), unit=unit_id)
    if n is not None:
        set_slot(tx, unit_id, n, "filled")
    return n


def free_units(tx: Tx, job_id: str) -> set[str]:
    query = select(SLOT.unit_id).where(SLOT.job_id == job_id, SLOT.state == "free")
    return {row.unit_id for row in tx.all(query.distinct())}


def settle_slots(tx: Tx, job: Job, unit_ids: Iterable[str]) -> list[str]:
    """Open or close slots of these units to match the redundancy rule; return the changed units."""
    if _rule(job) is None:
        return []
    in_order = sorted(set(unit_ids))  # so that two who settle the same units do not block each other
    for unit_id in in_order:
        lock(tx, unit_id)
    rule = _rule(jobs.get(tx, job.job_id))  # only now: the terms may have changed while we waited
    return [] if rule is None else [unit_id for unit_id in in_order if _settle(tx, job, unit_id, rule)]


def close_unmet(tx: Tx, unit_id: str) -> bool:
    """Request no more judgments of a unit; False, with no change, if somebody has met it or is just taking it."""
    lock(tx, unit_id)
    free = _free(tx, unit_id)
    if len(free) < list(_states(tx, unit_id).values()).count("free") or is_met(tx, unit_id):
        return False
    _change(tx, unit_id, dict.fromkeys(free, "closed"))
    return True


def _open_slots(tx: Tx, job: Job, unit_id: str, n_more: int) -> bool:
    """Request more judgments of a unit: in slots that were closed, then in new ones, numbered on."""
    states = _states(tx, unit_id)
    closed = [n for n, state in states.items() if state == "closed"][:n_more]
    after = max(states, default=0) + 1
    new = list(range(after, after + n_more - len(closed)))
    unit = tx.first(select(UNIT.batch, UNIT.shuffle).where(UNIT.unit_id == unit_id))
    own = {"unit_id": unit_id, "job_id": job.job_id, "state": "free", **(unit._mapping if unit else {})}
    tx.insert(schema.slots, [{**own, "n": n} for n in new])
    return _change(tx, unit_id, dict.fromkeys([*closed, *new], "free"))


def _rule(job: Job) -> Redundancy | None:
    """The job's rule, if it has an effect."""
    rule = terms_of(job.options).redundancy
    return None if rule is None or (rule.is_fixed and rule.most == job.judgments) else rule


def _settle(tx: Tx, job: Job, unit_id: str, rule: Redundancy) -> bool:
    is_work = tx.value(select(UNIT.role).where(UNIT.unit_id == unit_id)) == "work"
    n_open = sum(state in ("free", "leased") for state in _states(tx, unit_id).values())
    missing = still_wanted(rule, _labels(tx, unit_id)) - n_open
    if not is_work:  # only now: gold must not be quicker (P5)
        return False
    if missing > 0:
        return _open_slots(tx, job, unit_id, missing)
    return missing < 0 and _change(tx, unit_id, dict.fromkeys(_free(tx, unit_id)[missing:], "closed"))


def _change(tx: Tx, unit_id: str, states: dict[int, str]) -> bool:
    if not states:
        return False
    for n, state in states.items():
        set_slot(tx, unit_id, n, state)
    wanted = sum(state != "closed" for state in _states(tx, unit_id).values())
    tx.execute(schema.units.update().where(UNIT.unit_id == unit_id).values(wanted=wanted))
    by_number = {str(n): state for n, state in states.items()}
    events.write(tx, None, "slots.changed", unit_id, {"slots": by_number, "wanted": wanted})
    return True


def _free(tx: Tx, unit_id: str) -> list[int]:
    """The unit's free slots, locked, except those that somebody is just taking."""
    return [row.n for row in tx.all(tx.locked(FREE_SLOTS, of=schema.slots, skip=True), unit=unit_id)]


def _states(tx: Tx, unit_id: str) -> dict[int, str]:
    query = select(SLOT.n, SLOT.state).where(OF_UNIT).order_by(SLOT.n)
    return {row.n: row.state for row in tx.all(query, unit=unit_id)}


def _labels(tx: Tx, unit_id: str) -> list[str]:
    """One label per valid submission; for a unit with several items, all labels joined."""
    query = (
        select(schema.judgments.c.submission_id, schema.judgments.c.label)
        .join(schema.submissions)
        .where(SENT.unit_id == unit_id, SENT.status == "valid")
        .order_by(schema.judgments.c.submission_id, schema.judgments.c.item_id)
    )
    by_submission: dict[str, list[str]] = {}
    for row in tx.all(query):
        by_submission.setdefault(row.submission_id, []).append(row.label)
    return [LABEL_SEPARATOR.join(labels) for labels in by_submission.values()]


# Mistakes mended


def wait_for_everybody(tx: Tx, job_id: str) -> None:
    """Wait for everyone who is just taking or answering a unit; later requests wait for this change.

    Every action of a rater begins with a lock on the person. With everybody locked first, no rater holds anything
    that this change waits for. Managers who change units lock the job before any of them. SQLite has one writer
    anyway.
    """
    if tx.is_postgres:
        people.lock_all(tx)
        tx.value(select(schema.jobs.c.job_id).where(schema.jobs.c.job_id == job_id).with_for_update())


def of_one_item(tx: Tx, job_id: str, *, are_unmet: bool = False) -> Sequence[Record]:
    """Item, unit and essay of every work unit of one item, in their order; or only of those that nobody has met."""
    own = schema.units.c
    query = (
        select(func.min(schema.unit_items.c.item_id).label("item_id"), own.unit_id, own.essay_id)
        .join(schema.unit_items)
        .where(own.job_id == job_id, own.role == "work")
        .group_by(own.unit_id, own.position, own.essay_id)
        .having(func.count() == 1)
        .order_by(own.position)
    )
    return tx.all(query.where(*(~trace for trace in _traces(own.unit_id))) if are_unmet else query)


def _traces(unit_id: ColumnElement[str] | str) -> list[Exists]:
    """What somebody who has met a unit leaves."""
    return [exists().where(column == unit_id) for column in (schema.leases.c.unit_id, SENT.unit_id)]


def is_met(tx: Tx, unit_id: str) -> bool:
    return any(tx.value(select(trace)) for trace in _traces(unit_id))


def return_to_work(tx: Tx, unit_id: str, *, actor: str | None = None) -> None:
    """Turn a gold or practice unit back into work; refused if somebody has seen it with its answer.

    Raters taking gold hold no lock on it, so this waits for everybody.
    """
    unit = get(tx, unit_id)
    if unit.role == "work":
        return
    wait_for_everybody(tx, unit.job.job_id)
    if is_met(tx, unit_id):
        raise Conflict("somebody has met this unit, and knows what was expected: it stays as it is")
    wanted = unit.job.judgments
    if unit.job.access == "assigned":
        wanted = int(tx.value(select(func.count()).where(schema.assignments.c.unit_id == unit_id)))
    if not wanted:
        raise Conflict("the annotators of this job are named, and nobody is assigned to this unit: it stays as it is")
    tx.execute(schema.gold.delete().where(schema.gold.c.unit_id == unit_id))
    tx.execute(schema.units.update().where(UNIT.unit_id == unit_id).values(role="work"))
    events.write(tx, actor, "unit.work", unit_id)
    _open_slots(tx, unit.job, unit_id, wanted)


def delete_job(tx: Tx, job_id: str, *, word: str = WORD, actor: str | None = None) -> Job:
    """Delete a job without any answers, with its units, guidelines and pending invitations."""
    require_word(word)
    wait_for_everybody(tx, job_id)
    job = jobs.lock(tx, job_id)
    of_units = select(UNIT.unit_id).where(UNIT.job_id == job_id)
    of_panels = select(schema.panels.c.panel_id).where(schema.panels.c.job_id == job_id)
    traces: dict[str, ColumnElement[bool]] = {
        "judgments": SENT.job_id == job_id,
        "decisions of adjudicators": schema.adjudications.c.unit_id.in_(of_units),
        "payments": schema.payments.c.job_id == job_id,
        "messages": schema.messages.c.job_id == job_id,
        "reviews": schema.reviews.c.job_id == job_id,
        "raters of a panel": schema.panel_places.c.panel_id.in_(of_panels),
    }
    kept = [words for words, trace in traces.items() if tx.value(select(exists().where(trace)))]
    if kept:
        raise Conflict(f"{job.name}: has {' and '.join(kept)}, which are kept; close and archive it instead")
    unit_ids = [row.unit_id for row in tx.all(of_units)]
    of_leases = select(schema.leases.c.lease_id).where(schema.leases.c.job_id == job_id)
    lease_ids = [row.lease_id for row in tx.all(of_leases)]
    for table in (schema.gold, schema.drafts, schema.findings, schema.unit_items):
        tx.execute(table.delete().where(table.c.unit_id.in_(of_units)))
    for table in (schema.assignments, schema.last_answers, schema.leases, schema.slots, schema.trust):
        tx.execute(table.delete().where(table.c.job_id == job_id))
    tx.execute(schema.units.delete().where(UNIT.job_id == job_id, UNIT.follows.is_not(None)))
    for table in (schema.units, schema.guidelines, schema.panels):
        tx.execute(table.delete().where(table.c.job_id == job_id))
    tx.execute(schema.invitations.update().where(schema.invitations.c.job_id == job_id).values(job_id=None))
    tx.execute(schema.jobs.delete().where(schema.jobs.c.job_id == job_id))
    gone = {"name": job.name, "task": job.task, "units": unit_ids, "leases": lease_ids}
    events.write(tx, actor, "job.deleted", job_id, gone)
    return job
