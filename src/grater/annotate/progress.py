"""Progress of a job by slot, unit and rater; finished units; and counts over the whole study.

A unit is finished when it has all its judgments; for adjudicators it also records whether its raters differ and
whether it is decided. Each count over the study is a single query.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from sqlalchemy import ColumnElement, Select, and_, bindparam, case, exists, func, literal_column, select, union_all

from grater.annotate.requests import Moment
from grater.annotate.store import schema
from grater.annotate.store.transaction import Tx, of_rater
from grater.annotate.terms import UnitsAnswered

SENT, UNIT, SLOT = schema.submissions.c, schema.units.c, schema.slots.c


@dataclass(frozen=True, slots=True)
class UnitProgress:
    unit_id: str
    wanted: int
    valid: int

    @property
    def is_done(self) -> bool:
        return self.valid >= self.wanted


@dataclass(frozen=True, slots=True)
class RaterProgress:
    person_id: str
    name: str
    pseudonym: str
    kind: str
    valid: int
    untrusted: int
    surplus: int
    withdrawn: int
    seconds: float | None
    last_at: Moment


@dataclass(frozen=True, slots=True)
class FinishedUnit:
    unit_id: str
    differs: bool
    is_decided: bool


BY_UNIT = (
    select(UNIT.unit_id, UNIT.wanted, func.count(SENT.submission_id).label("valid"))
    .outerjoin(schema.submissions, and_(SENT.unit_id == UNIT.unit_id, SENT.status == "valid"))
    .where(UNIT.role == "work")
    .group_by(UNIT.unit_id, UNIT.wanted, UNIT.position)
)

DONE = BY_UNIT.having(func.count(SENT.submission_id) >= UNIT.wanted).with_only_columns(UNIT.unit_id)
"""Work units that have all their judgments."""

OF_RATER = of_rater(schema.submissions)

N_RECENT = 20


def _times(newest: Select[Any]) -> Select[Any]:
    """The seconds that raters took for units of some answers, summed over all their answers to each unit.

    A revised essay has two answers; the revision alone would look like a very quick one.
    """
    unit, sent = newest.subquery("newest"), schema.submissions.alias("sent")
    is_theirs = and_(sent.c.unit_id == unit.c.unit_id, sent.c.person_id == unit.c.person_id)
    times = select(func.sum(sent.c.seconds)).select_from(unit.join(sent, is_theirs))
    return times.where(sent.c.seconds.is_not(None)).group_by(unit.c.unit_id, unit.c.person_id)


RECENT = _times(
    select(SENT.unit_id, SENT.person_id)
    .where(OF_RATER, SENT.status == literal_column("'valid'"))
    .order_by(SENT.at.desc())
    .limit(literal_column(str(N_RECENT)))
)

_again = schema.leases.alias("again")
TAKEN_BACK = (SENT.status == literal_column("'withdrawn'")) & exists().where(
    _again.c.unit_id == SENT.unit_id, _again.c.person_id == SENT.person_id, _again.c.lease_id != SENT.lease_id
)
"""An answer whose rater got its unit again, by another lease: it is paid only as the answer that came after it.

Units whose answers are withdrawn at the quiz do not come again."""

UNITS_ANSWERED = select(
    func.count(SENT.unit_id.distinct()).filter(~TAKEN_BACK).label("n_units"),
    func.count().filter(SENT.status == literal_column("'valid'")).label("n_valid"),
    func.count().filter(SENT.status == literal_column("'untrusted'")).label("n_untrusted"),
).where(OF_RATER)

MOST_FREE = 300
"""A pool with more free slots than this is not counted to its end: every page of every rater would wait for it."""


def _work_left() -> Select[Any]:
    """Counts slots along their index and stops at the limit, however large the job is."""
    mine, held = schema.submissions.alias("mine"), schema.leases
    order = (SLOT.batch, SLOT.shuffle, SLOT.unit_id, SLOT.n)
    free = (
        select(SLOT.unit_id)
        .where(SLOT.job_id == bindparam("job"), SLOT.state == literal_column("'free'"))
        .order_by(*order)
        .limit(literal_column(str(MOST_FREE + 1)))
        .cte("free")
        .prefix_with("MATERIALIZED", dialect="postgresql")
    )
    is_judged = exists().where(mine.c.unit_id == free.c.unit_id, mine.c.person_id == bindparam("person"))
    in_hand = select(held.c.unit_id).where(
        of_rater(held), held.c.n.is_not(None), held.c.state == literal_column("'held'")
    )
    open_units = union_all(select(free.c.unit_id).where(~is_judged), in_hand).subquery("open_units")
    n_free = select(func.count()).select_from(free).scalar_subquery()
    n_left = select(func.count(open_units.c.unit_id.distinct())).scalar_subquery()
    return select(case((n_free <= literal_column(str(MOST_FREE)), n_left)))


WORK_LEFT = _work_left()


@dataclass(frozen=True, slots=True)
class JobCounts:
    """`units` are work units; `held` is the number of active leases."""

    units: int
    done: int
    wanted: int
    valid: int
    held: int
    raters: int


def counts_of(tx: Tx, job_id: str) -> JobCounts:
    """The progress of a job, counted by the database."""
    by_unit = BY_UNIT.where(UNIT.job_id == job_id).subquery()
    is_done = case((by_unit.c.valid >= by_unit.c.wanted, 1), else_=0)
    row = tx.first(
        select(
            func.count().label("units"),
            func.sum(is_done).label("done"),
            func.sum(by_unit.c.wanted).label("wanted"),
            func.sum(by_unit.c.valid).label("valid"),
        ).select_from(by_unit)
    )
    whole = {name: int(value or 0) for name, value in row._mapping.items()} if row else {}
    held = select(func.count()).where(schema.leases.c.job_id == job_id, schema.leases.c.state == "held")
    n_raters = select(func.count(SENT.person_id.distinct())).where(SENT.job_id == job_id)
    return JobCounts(**whole, held=int(tx.value(held) or 0), raters=int(tx.value(n_raters) or 0))


def n_submitted(tx: Tx, job_id: str = "") -> int:
    """The number of submissions of a job, or in total."""
    query = select(func.count()).select_from(schema.submissions)
    return int(tx.value(query.where(SENT.job_id == job_id) if job_id else query) or 0)


def seconds_of_task(tx: Tx, task: str, *, most: int, job_id: str = "") -> list[float]:
    """How long the units of the latest valid answers took, in all jobs of a task or in one."""
    query = (
        select(SENT.unit_id, SENT.person_id)
        .join(schema.jobs)
        .where(schema.jobs.c.task == task, SENT.status == "valid")
        .where(SENT.seconds.is_not(None))
        .order_by(SENT.at.desc())
    )
    query = query.where(SENT.job_id == job_id) if job_id else query
    return [float(seconds) for (seconds,) in tx.all(_times(query.limit(most)))]


def recent_seconds(tx: Tx, job_id: str, person_id: str) -> list[float]:
    """How long the rater took for the latest units in a job, at most `N_RECENT`."""
    return [float(seconds) for (seconds,) in tx.all(RECENT, job=job_id, person=person_id)]


def work_left(tx: Tx, job_id: str, person_id: str) -> int | None:
    """The number of units that this rater could still do or holds; None if there are too many to count."""
    n_left: int | None = tx.value(WORK_LEFT, job=job_id, person=person_id)
    return n_left


def units_answered(tx: Tx, job_id: str, person_id: str) -> UnitsAnswered:
    """The units that a rater has answered in a job, counted from an index, for pay by unit."""
    row = tx.first(UNITS_ANSWERED, job=job_id, person=person_id)
    return UnitsAnswered(**row._mapping) if row else UnitsAnswered(n_units=0, n_valid=0, n_untrusted=0)


def of_unit(tx: Tx, unit_id: str) -> UnitProgress | None:
    return next(iter(_units(tx, BY_UNIT.where(UNIT.unit_id == unit_id))), None)


def some_units(tx: Tx, job_id: str, *, start: int = 0, most: int | None = None) -> tuple[UnitProgress, ...]:
    """Work units of a job in order, at most `most` from number `start` on."""
    query = BY_UNIT.where(UNIT.job_id == job_id).order_by(UNIT.position).offset(start).limit(most)
    return _units(tx, query)


def _units(tx: Tx, query: Select[Any]) -> tuple[UnitProgress, ...]:
    return tuple(UnitProgress(**row._mapping) for row in tx.all(query))


def n_units(tx: Tx, job_id: str) -> int:
    query = select(func.count()).where(UNIT.job_id == job_id, UNIT.role == "work")
    return int(tx.value(query) or 0)


def by_rater(tx: Tx, job_id: str) -> tuple[RaterProgress, ...]:
    status = SENT.status
    by_status = [func.sum(case((status == name, 1), else_=0)).label(name) for name in schema.STATUSES]
    sums = (
        select(
            SENT.person_id, *by_status, func.sum(SENT.seconds).label("seconds"), func.max(SENT.at).label("last_at")
        )
        .where(SENT.job_id == job_id)
        .group_by(SENT.person_id)
        .subquery()
    )
    query = (
        select(schema.people.c.name, schema.people.c.pseudonym, schema.people.c.kind, *sums.c)
        .join(sums, sums.c.person_id == schema.people.c.person_id)
        .order_by(tx.binary(schema.people.c.name))
    )
    return tuple(RaterProgress(**row._mapping) for row in tx.all(query))


def recounted(tx: Tx, job_id: str, before: Sequence[RaterProgress]) -> tuple[RaterProgress, ...]:
    """The same raters with current submission counts, from an index; seconds and last time are unchanged."""
    by_status = select(SENT.person_id, SENT.status, func.count().label("n_rows"))
    counts: dict[str, dict[str, Any]] = {rater.person_id: dict.fromkeys(schema.STATUSES, 0) for rater in before}
    grouped = by_status.group_by(SENT.person_id, SENT.status)
    for row in tx.all(grouped.where(SENT.job_id == job_id)):
        if row.person_id in counts:
            counts[row.person_id][row.status] = row.n_rows
    return tuple(replace(rater, **counts[rater.person_id]) for rater in before)


def finished_units(tx: Tx, job_id: str, *, by: Literal["label", "payload"] = "label") -> list[FinishedUnit]:
    """The finished units of a job with at least two judgments, those on which raters differ first.

    Raters differ if an item has two labels, or for marked essays two payloads.
    """
    # The number of different valid answers to each item of each unit of a job.
    answers = (
        select(
            SENT.unit_id,
            schema.judgments.c.item_id,
            func.count(schema.judgments.c[by].distinct()).label("n_different"),
        )
        .join(schema.judgments)
        .where(SENT.job_id == job_id, SENT.status == "valid")
        .group_by(SENT.unit_id, schema.judgments.c.item_id)
        .subquery()
    )
    n_valid = select(func.count()).where(SENT.unit_id == UNIT.unit_id, SENT.status == "valid").scalar_subquery()
    query = (
        select(
            UNIT.unit_id,
            func.max(answers.c.n_different).label("n_different"),
            exists().where(schema.adjudications.c.unit_id == UNIT.unit_id).label("is_decided"),
        )
        .join(answers, answers.c.unit_id == UNIT.unit_id)
        .where(UNIT.job_id == job_id, UNIT.role == "work")
        .where(UNIT.wanted > 1, n_valid >= UNIT.wanted)
        .group_by(UNIT.unit_id, UNIT.position)
        .order_by(UNIT.position)
    )
    finished = [
        FinishedUnit(unit_id=row.unit_id, differs=row.n_different > 1, is_decided=bool(row.is_decided))
        for row in tx.all(query)
    ]
    return sorted(finished, key=lambda unit: not unit.differs)


def slots_by_job(tx: Tx) -> dict[str, dict[str, int]]:
    return _counts_by_job(tx, SLOT.job_id, SLOT.state)


def submissions_by_job(tx: Tx) -> dict[str, dict[str, int]]:
    """Submissions of each job by status, including practice and gold.

    They are counted by person, in index order; any other order would require a sort.
    """
    own = schema.submissions.c
    counted = select(own.job_id, own.status, func.count().label("n_rows"))
    by_job: dict[str, Counter[str]] = defaultdict(Counter)
    for row in tx.all(counted.group_by(own.job_id, own.person_id, own.status)):
        by_job[row.job_id][row.status] += row.n_rows
    return {job_id: dict(sorted(by_job[job_id].items())) for job_id in sorted(by_job)}


def units_by_job(tx: Tx) -> dict[str, dict[str, int]]:
    return _counts_by_job(tx, UNIT.job_id, UNIT.role)


def _counts_by_job(tx: Tx, job_id: ColumnElement[str], kind: ColumnElement[str]) -> dict[str, dict[str, int]]:
    query = select(job_id.label("job_id"), kind.label("kind"), func.count().label("n_rows")).group_by(job_id, kind)
    by_job: dict[str, dict[str, int]] = {}
    for row in sorted(tx.all(query), key=lambda row: (str(row.job_id), str(row.kind))):
        by_job.setdefault(row.job_id, {})[row.kind] = row.n_rows
    return by_job
