"""Leases: a slot in a rater's hands until it is answered, given back or run out.

A rater holds at most one lease at a time in a job (and place of a page): a reload and a second tab get the same one.
A lease is over when its time has passed, or when it was issued in what is now the future (the clock was set back by
more than `CLOCK_SLACK`).  Leases that are over are freed when somebody asks for work; until then the rater may still
submit, and a rater who comes back first simply goes on.

Two may want to end one lease at once (its rater gives it back, another rater's request frees what has run out): every
change says that the lease must still be held, and whoever comes second changes nothing.

A desk: a lease with its unit and all that belongs to it, by one question.

Raters come to their desk with every page and every answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from sqlalchemy import Update, bindparam, literal_column, or_, select

from grater.model import Json
from grater.store import admission, events, jobs, people, schema, slots, units
from grater.store.admission import CLOCK_SLACK
from grater.store.ids import new_id
from grater.store.jobs import Job
from grater.store.queue import Place, next_place
from grater.store.transaction import Tx, locking
from grater.store.units import StudyUnit

NO_SLOT = 0
"""Slots are counted from 1."""

MENDING = -1
"""The place of a lease on work that was handed in and is being mended (`mending`)."""


@dataclass(frozen=True, slots=True)
class Lease:
    """`kept` is stored here and never sent.  `n` is None for practice and gold."""

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


COLUMNS = [schema.leases.c[name] for name in Lease.__dataclass_fields__]
MINE = select(*COLUMNS).where(
    schema.leases.c.lease_id == bindparam("lease"), schema.leases.c.person_id == bindparam("person")
)
MINE_LOCKED = locking(MINE, of=schema.leases)
IN_JOB = select(*COLUMNS).where(
    schema.leases.c.job_id == bindparam("job"), schema.leases.c.state == literal_column("'held'")
)
HELD = IN_JOB.where(schema.leases.c.person_id == bindparam("person"), schema.leases.c.place == bindparam("place"))
OVER = IN_JOB.where(
    or_(schema.leases.c.expires_at <= bindparam("now"), schema.leases.c.expires_at > bindparam("latest"))
)
"""By one index alone: a lease lasts as long as its job says, so its end tells when it was issued."""
OVER_LOCKED = locking(OVER, of=schema.leases, skip=True)
FOOTING = admission.rater_state_query(COLUMNS)


def take(tx: Tx, *, job_id: str, person_id: str) -> Lease | None:
    """The rater's lease in this job: the one they hold, else a new one, else None."""
    person = people.lock(tx, person_id)
    known = admission.rater_state(tx, FOOTING, job_id=job_id, person_id=person_id)
    job = known.job
    if admission.refusal(tx, job, person, known):
        return None
    mine = Lease(*known.held) if known.held else None
    if mine is not None and _is_over(mine, tx.now):
        mine = _renewed(tx, mine, job)
    if mine is not None:
        return mine
    if known.has_expired:
        free_expired(tx, job)
    place = next_place(tx, job, person_id, practice=known.practice)
    return None if place is None else issue(tx, job, place, person_id=person_id, version=known.guidelines_version)


def issue(tx: Tx, job: Job, at: Place, *, person_id: str, place: int = 0, version: int | None = None) -> Lease:
    """Hand a unit to a rater; the caller has seen that they may have it, and perhaps the guidelines' `version`."""
    lease = Lease(
        new_id(),
        job.job_id,
        at.unit_id,
        at.n,
        person_id,
        place,
        tx.now,
        tx.now + job.lease_ms,
        "held",
        jobs.guidelines_version(tx, job.job_id) if version is None else version,
    )
    tx.insert(schema.leases, {name: getattr(lease, name) for name in Lease.__dataclass_fields__})
    slots.set_state(tx, at.unit_id, at.n or NO_SLOT, "leased")  # for gold too: neither is quicker (P5)
    payload = {"job_id": job.job_id, "unit_id": at.unit_id, "n": at.n, "person_id": person_id}
    events.write(tx, person_id, "lease.taken", lease.lease_id, payload)
    return lease


def find(tx: Tx, lease_id: str, *, person_id: str, lock: bool = False) -> Lease | None:
    """The lease, whatever its state, if it is this person's; `lock` keeps it as it is until the end."""
    row = tx.first(MINE_LOCKED if lock and tx.is_postgres else MINE, lease=lease_id, person=person_id)
    return None if row is None else Lease(*row)


def held(tx: Tx, *, job_id: str, person_id: str, place: int = 0) -> Lease | None:
    """What the rater holds in this job; asking changes nothing."""
    row = tx.first(HELD, job=job_id, person=person_id, place=place)
    return None if row is None else Lease(*row)


def keep(tx: Tx, lease_id: str, kept: Mapping[str, Json]) -> None:
    """Remember with the lease what the page must not tell (the sides of `choice`)."""
    tx.execute(schema.leases.update().where(schema.leases.c.lease_id == lease_id).values(kept=kept))


def renew(tx: Tx, lease: Lease) -> Lease | None:
    """Somebody is at work on it: its time starts again; None if it is held no more."""
    return _renewed(tx, lease, jobs.get(tx, lease.job_id))


def give_back(tx: Tx, lease_id: str, *, person_id: str) -> bool:
    """The rater does not want this one; True if they held it."""
    people.lock(tx, person_id)
    lease = find(tx, lease_id, person_id=person_id)
    return lease is not None and close(tx, lease, "returned", actor=person_id)


def free_expired(tx: Tx, job: Job) -> int:
    """Free the slots of leases that are over; one that its rater is just submitting is left alone."""
    times = {"now": tx.now, "latest": tx.now + CLOCK_SLACK + job.lease_ms}
    found = [Lease(*row) for row in tx.all(OVER_LOCKED if tx.is_postgres else OVER, job=job.job_id, **times)]
    for lease in found:
        close(tx, lease, "expired", actor=None)
    return len(found)


def close(tx: Tx, lease: Lease, state: str, *, actor: str | None) -> bool:
    """End a held lease without an answer and free its slot; False, and nothing changes, if it is held no more."""
    if not tx.execute(_still_held(lease).values(state=state)).rowcount:
        return False
    if lease.n is not None:
        slots.set_state(tx, lease.unit_id, lease.n, "free")
    events.write(tx, actor, f"lease.{state}", lease.lease_id)
    return True


def held_by(tx: Tx, person_id: str, *, job_id: str) -> list[Lease]:
    """Everything that a rater holds in a job, locked."""
    mine = (
        (schema.leases.c.person_id == person_id)
        & (schema.leases.c.job_id == job_id)
        & (schema.leases.c.state == "held")
    )
    return [Lease(*row) for row in tx.all(tx.locked(select(*COLUMNS).where(mine), of=schema.leases))]


def _renewed(tx: Tx, lease: Lease, job: Job) -> Lease | None:
    now = replace(lease, issued_at=tx.now, expires_at=tx.now + job.lease_ms)
    times = {"issued_at": now.issued_at, "expires_at": now.expires_at}
    return now if tx.execute(_still_held(lease).values(**times)).rowcount else None


def _still_held(lease: Lease) -> Update:
    return schema.leases.update().where(schema.leases.c.lease_id == lease.lease_id, schema.leases.c.state == "held")


def _is_over(lease: Lease, now: int) -> bool:
    return lease.expires_at <= now or lease.issued_at > now + CLOCK_SLACK


WITH_UNIT = (
    units.whole(*COLUMNS)
    .join(schema.leases, schema.leases.c.unit_id == schema.units.c.unit_id)
    .where(schema.leases.c.lease_id == bindparam("lease"), schema.leases.c.person_id == bindparam("person"))
)


def find_with_unit(tx: Tx, lease_id: str, *, person_id: str) -> tuple[Lease, StudyUnit] | None:
    """The lease, whatever its state, with its unit, if it is this person's."""
    rows = tx.all(WITH_UNIT, lease=lease_id, person=person_id)
    if not rows:
        return None
    n = len(COLUMNS)
    return Lease(*rows[0][:n]), units.read([row[n:] for row in rows])
