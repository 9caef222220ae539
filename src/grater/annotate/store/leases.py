"""Leases: a slot in a rater's hands until it is answered, given back or run out.

A rater holds at most one lease at a time in a job (and place of a page): a reload and a second tab get the same one.
A lease is over when its time has passed, or when it was issued in what is now the future (the clock was set back by
more than `CLOCK_SLACK`).  Leases that are over are freed when somebody asks for work; until then the rater may still
submit, and a rater who comes back first simply goes on.

What a rater gave back, let run out or lost stays their next unit, gold and work alike, until they answer it: the same
lease is held again.  Otherwise whoever takes and returns could tell the two apart by what comes again (P5).  The
slot is free for others meanwhile; where they have filled it a rater who is tested gets the unit without one, and the
answer is surplus unless a slot is free by then.

Two may want to end one lease at once (its rater gives it back, another rater's request frees what has run out): every
change says that the lease must still be held, and whoever comes second changes nothing.

Raters come with every page and every answer, so each of these is one query: a lease with its unit
(`find_with_unit`), and all that must be known before a unit is handed out (`RaterState`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Select,
    Update,
    and_,
    bindparam,
    exists,
    func,
    literal_column,
    or_,
    select,
)
from sqlalchemy import text as sql

from grater.annotate import jobs, people, units
from grater.annotate.jobs import Job
from grater.annotate.people import Person
from grater.annotate.store import events, gold, queue, schema, trust
from grater.annotate.store.queue import PRACTICE, SKIPPED, UnitSlot, free_slot, next_unit
from grater.annotate.store.transaction import MINUTE, ONE, Columns, Tx, locking, new_id
from grater.annotate.units import StudyUnit
from grater.errors import NotFound
from grater.model import Json

REVISION = -1
"""The place of a lease on submitted work that its annotator revises (`marks`)."""

CLOCK_SLACK = 5 * MINUTE
"""Clocks of two machines may differ by this much before a lease from the future counts as over."""

IS_HELD: ColumnElement[str] = literal_column("'held'")
"""A literal and no parameter, so that both engines know that the indexes of held leases will do."""

IS_GIVEN_UP = sql("given_up.state IN ('returned', 'expired', 'revoked')")


@dataclass(frozen=True, slots=True)
class Lease:
    """`kept` is stored here and never sent.  `n` is None for practice, gold, and work without a slot left."""

    lease_id: str
    job_id: str
    unit_id: str
    n: int | None
    person_id: str
    place: int
    issued_at: int
    expires_at: int
    state: str
    guidelines_version: int
    kept: Mapping[str, Json] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class RaterState:
    """What a rater who asks for work in a job has there; `trust` is their state of trust."""

    job: Job
    trust: str
    has_joint_seat: bool
    guidelines_version: int
    practice_unit_id: str | None
    given_up_lease_id: str | None
    has_expired_leases: bool
    held: Lease | None


COLUMNS = Columns(Lease, schema.leases)
OF_PERSON = select(*COLUMNS).where(
    schema.leases.c.lease_id == bindparam("lease"), schema.leases.c.person_id == bindparam("person")
)
OF_PERSON_LOCKED = locking(OF_PERSON, of=schema.leases)
IN_JOB = select(*COLUMNS).where(schema.leases.c.job_id == bindparam("job"), schema.leases.c.state == IS_HELD)
HELD = IN_JOB.where(schema.leases.c.person_id == bindparam("person"), schema.leases.c.place == bindparam("place"))
OVER = IN_JOB.where(
    or_(schema.leases.c.expires_at <= bindparam("now"), schema.leases.c.expires_at > bindparam("latest"))
)
"""By one index alone: a lease lasts as long as its job says, so its end tells when it was issued."""
OVER_LOCKED = locking(OVER, of=schema.leases, skip=True)
WITH_UNIT = (
    units.select_whole(*COLUMNS)
    .join(schema.leases, schema.leases.c.unit_id == schema.units.c.unit_id)
    .where(schema.leases.c.lease_id == bindparam("lease"), schema.leases.c.person_id == bindparam("person"))
)


def take(tx: Tx, *, job_id: str, person_id: str, locked: Person | None = None) -> Lease | None:
    """The rater's lease in this job: the one they hold, else a new one, else None; they may be `locked` already."""
    person = locked or people.lock(tx, person_id)
    # Ask when the person is locked: what the same rater did a moment ago is then in it.
    row = tx.first(RATER_STATE, job=job_id, person=person_id, now=tx.now)
    if row is None:
        raise NotFound(jobs.NO_JOB)
    rater = RaterState(
        job=jobs.COLUMNS.read(row),
        trust=row.trust,
        has_joint_seat=bool(row.has_joint_seat),
        guidelines_version=row.guidelines_version,
        practice_unit_id=row.practice_unit_id,
        given_up_lease_id=row.given_up_lease_id,
        has_expired_leases=bool(row.has_expired_leases),
        held=None if row.lease_lease_id is None else HELD_COLUMNS.read(row),
    )
    job, lease = rater.job, rater.held
    if queue.refusal(tx, job, person, trust_state=rater.trust, has_joint_seat=rater.has_joint_seat):
        return None
    if lease is not None and (lease.expires_at <= tx.now or lease.issued_at > tx.now + CLOCK_SLACK):
        lease = _renewed(tx, lease, job)
    if lease is not None:
        return lease
    if rater.has_expired_leases:
        free_expired(tx, job)
    if rater.given_up_lease_id is not None:
        lease = _take_again(tx, rater, rater.given_up_lease_id, person_id=person_id)
    if lease is not None:
        return lease
    unit = next_unit(tx, job, person_id, practice=rater.practice_unit_id)
    return None if unit is None else issue(tx, job, unit, person_id=person_id, version=rater.guidelines_version)


def issue(tx: Tx, job: Job, unit: UnitSlot, *, person_id: str, place: int = 0, version: int | None = None) -> Lease:
    """Hand a unit to a rater; the caller has seen that they may have it, and perhaps the guidelines' `version`."""
    lease = Lease(
        lease_id=new_id(),
        job_id=job.job_id,
        unit_id=unit.unit_id,
        n=unit.n,
        person_id=person_id,
        place=place,
        issued_at=tx.now,
        expires_at=tx.now + job.lease_ms,
        state="held",
        guidelines_version=jobs.guidelines_version(tx, job.job_id) if version is None else version,
    )
    tx.insert(schema.leases, COLUMNS.row(lease))
    _log_taken(tx, lease)
    return lease


def _take_again(tx: Tx, rater: RaterState, lease_id: str, *, person_id: str) -> Lease | None:
    """The unit that the rater gave up, with a slot of it if one is free for them; without, where nobody is tested,
    they get something else."""
    job, given_up = rater.job, find(tx, lease_id, person_id=person_id, lock=True)
    n = None if given_up is None else free_slot(tx, job, given_up.unit_id, person_id)
    if given_up is None or (n is None and not gold.has_gold(job)):
        return None
    lease = replace(
        given_up,
        n=n,
        issued_at=tx.now,
        expires_at=tx.now + job.lease_ms,
        state="held",
        guidelines_version=rater.guidelines_version,
    )
    tx.execute(schema.leases.update().where(schema.leases.c.lease_id == lease_id).values(**COLUMNS.row(lease)))
    _log_taken(tx, lease)
    return lease


def _log_taken(tx: Tx, lease: Lease) -> None:
    units.set_slot(tx, lease.unit_id, lease.n, "leased")
    payload = {name: getattr(lease, name) for name in ("job_id", "unit_id", "n", "person_id")}
    events.write(tx, lease.person_id, "lease.taken", lease.lease_id, payload)


def find(tx: Tx, lease_id: str, *, person_id: str, lock: bool = False) -> Lease | None:
    """The lease, whatever its state, if it is this person's; `lock` keeps it as it is until the end."""
    row = tx.first(OF_PERSON_LOCKED if lock and tx.is_postgres else OF_PERSON, lease=lease_id, person=person_id)
    return None if row is None else COLUMNS.read(row)


def find_with_unit(tx: Tx, lease_id: str, *, person_id: str) -> tuple[Lease, StudyUnit] | None:
    """The lease, whatever its state, with its unit, if it is this person's."""
    rows = tx.all(WITH_UNIT, lease=lease_id, person=person_id)
    return (COLUMNS.read(rows[0]), units.read(rows)) if rows else None


def held(tx: Tx, *, job_id: str, person_id: str, place: int = 0) -> Lease | None:
    """What the rater holds in this job; asking changes nothing."""
    row = tx.first(HELD, job=job_id, person=person_id, place=place)
    return None if row is None else COLUMNS.read(row)


def keep(tx: Tx, lease_id: str, kept: Mapping[str, Json]) -> None:
    """Remember with the lease what the page must not tell (the sides of `choice`)."""
    tx.execute(schema.leases.update().where(schema.leases.c.lease_id == lease_id).values(kept=kept))


def renew(tx: Tx, lease: Lease) -> Lease | None:
    """Start the time of the lease again, since its rater is at work; None if it is no longer held.

    When the unit was handed out stays known: an answer cannot have taken longer than since then.
    """
    return _renewed(tx, lease, jobs.get(tx, lease.job_id), issued_at=min(lease.issued_at, tx.now))


def give_back(tx: Tx, lease_id: str, *, person_id: str) -> bool:
    """The rater does not want this one now, and that is counted; True if they held it."""
    people.lock(tx, person_id)
    lease = find(tx, lease_id, person_id=person_id)
    if lease is None or not close(tx, lease, "returned", actor=person_id):
        return False
    if lease.place != REVISION:
        trust.count_return(tx, lease.job_id, person_id)
    return True


def skip(tx: Tx, lease_id: str, *, person_id: str) -> bool:
    """The same, and something else comes first; for jobs without gold, where nothing can be told from what comes."""
    if not give_back(tx, lease_id, person_id=person_id):
        return False
    tx.execute(schema.leases.update().where(schema.leases.c.lease_id == lease_id).values(place=SKIPPED))
    return True


def free_expired(tx: Tx, job: Job) -> int:
    """Free the slots of leases that are over; one that its rater is just submitting is left alone."""
    times = {"now": tx.now, "latest": tx.now + CLOCK_SLACK + job.lease_ms}
    rows = tx.all(OVER_LOCKED if tx.is_postgres else OVER, job=job.job_id, **times)
    for row in rows:
        close(tx, COLUMNS.read(row), "expired", actor=None)
    return len(rows)


def close(tx: Tx, lease: Lease, state: str, *, actor: str | None) -> bool:
    """End a held lease without an answer and free its slot; False, and nothing changes, if it is no longer held."""
    if not tx.execute(_still_held(lease).values(state=state)).rowcount:
        return False
    units.set_slot(tx, lease.unit_id, lease.n, "free")
    events.write(tx, actor, f"lease.{state}", lease.lease_id)
    return True


def held_by(tx: Tx, person_id: str, *, job_id: str) -> list[Lease]:
    """Everything that a rater holds in a job, locked."""
    query = select(*COLUMNS).where(
        schema.leases.c.person_id == person_id, schema.leases.c.job_id == job_id, schema.leases.c.state == "held"
    )
    return [COLUMNS.read(row) for row in tx.all(tx.locked(query, of=schema.leases))]


def _renewed(tx: Tx, lease: Lease, job: Job, *, issued_at: int | None = None) -> Lease | None:
    since = tx.now if issued_at is None else issued_at
    renewed = replace(lease, issued_at=since, expires_at=tx.now + job.lease_ms)
    times = {"issued_at": renewed.issued_at, "expires_at": renewed.expires_at}
    return renewed if tx.execute(_still_held(lease).values(**times)).rowcount else None


def _still_held(lease: Lease) -> Update:
    return schema.leases.update().where(schema.leases.c.lease_id == lease.lease_id, schema.leases.c.state == "held")


def _is_any_over(leases: Any, *, is_from_future: bool) -> ColumnElement[bool]:
    """Whether any lease of the job is over, by one index: its end tells when it was issued."""
    now = bindparam("now", type_=BigInteger)
    end = leases.c.expires_at
    is_over = end > now + CLOCK_SLACK + schema.jobs.c.lease_ms if is_from_future else end <= now
    return exists().where(leases.c.job_id == bindparam("job"), leases.c.state == IS_HELD, is_over)


def _given_up() -> Select[Any]:
    """The newest lease that ended without an answer; one that was taken back (`withdrawn`) is to come again."""
    given_up, sent = schema.leases.alias("given_up"), schema.submissions.alias("sent")
    is_theirs = (sent.c.unit_id == given_up.c.unit_id) & (sent.c.person_id == bindparam("person"))
    is_answered = (sent.c.lease_id == given_up.c.lease_id) | (sent.c.status != literal_column("'withdrawn'"))
    return (
        select(given_up.c.lease_id)
        .where(
            given_up.c.job_id == bindparam("job"),
            given_up.c.person_id == bindparam("person"),
            given_up.c.place == literal_column("0"),
            IS_GIVEN_UP,
            ~exists().where(is_theirs, is_answered),
        )
        .order_by(given_up.c.issued_at.desc(), given_up.c.lease_id.desc())
        .limit(ONE)
    )


GIVEN_UP = _given_up()
HELD_COLUMNS = COLUMNS.prefixed("lease_")
VERSION = (
    select(func.max(schema.guidelines.c.version))
    .where(schema.guidelines.c.job_id == schema.jobs.c.job_id)
    .scalar_subquery()
)
RATER_STATE = (
    select(
        *jobs.COLUMNS,
        func.coalesce(schema.trust.c.state, "new").label("trust"),
        exists().where(schema.joint_members.c.member_id == bindparam("person")).label("has_joint_seat"),
        func.coalesce(VERSION, 0).label("guidelines_version"),
        PRACTICE.scalar_subquery().label("practice_unit_id"),
        GIVEN_UP.scalar_subquery().label("given_up_lease_id"),
        (
            _is_any_over(schema.leases.alias("late"), is_from_future=False)
            | _is_any_over(schema.leases.alias("early"), is_from_future=True)
        ).label("has_expired_leases"),
        *HELD_COLUMNS,
    )
    .select_from(schema.jobs)
    .outerjoin(
        schema.trust,
        and_(schema.trust.c.job_id == schema.jobs.c.job_id, schema.trust.c.person_id == bindparam("person")),
    )
    .outerjoin(
        schema.leases,
        and_(
            schema.leases.c.job_id == schema.jobs.c.job_id,
            schema.leases.c.person_id == bindparam("person"),
            schema.leases.c.place == 0,
            schema.leases.c.state == IS_HELD,
        ),
    )
    .where(schema.jobs.c.job_id == bindparam("job"))
)
