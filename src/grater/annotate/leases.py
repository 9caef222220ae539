"""Leases reserve a slot for a rater until it is answered, returned or expired; also chooses the next unit.

A rater holds at most one lease at a time in a job (and place of a page): a reload and a second tab get the same one.
A lease ends when its time has passed, or if its issue time now lies in the future (the clock was set back by more
than `CLOCK_SLACK`). Expired leases are freed when somebody asks for work; until then the rater may still submit, or
come back and continue.

A unit that a rater returned, let expire or lost remains their next unit, whether gold or work, until they answer it:
the same lease is held again. Otherwise returning units would reveal gold by what comes again (P5). Meanwhile others
can take the slot; if they have filled it, a tested rater gets the unit without a slot, and the answer is surplus
unless a slot is free by then.

Two requests may end one lease at once (its rater returns it while another rater's request frees expired leases):
every change requires that the lease is still held, so the second changes nothing.

A slot is eligible if it is free, in an open job, and of a unit that this person has not judged and whose answers they
cannot have seen. In assigned jobs the unit must be assigned to them; if a unit follows another, the same person must
have done that one long enough ago. Batches come in order. Inside a batch of a pool, the next unit is the first by
random number after a freshly drawn starting point; an assigned rater has a fixed order: the unit's number times the
rater's factor, modulo a prime. Neither depends on decisions of a system, a stratum or a manager (P10), and an index
serves pools of any size.

No unit starves (P4): every free slot can be reached from every starting point, and expired leases are freed before
the queue is read. Ordering by "fewest raters left" would change nothing: each judgment uses up one slot and one
possible rater of its unit, so the surplus of raters is the same for all units.

Every page and answer needs these, so each is one query: a lease with its unit (`find_with_unit`), and everything
needed before a unit is handed out (`RATER_STATE`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Literal, TypeAlias

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    FromClause,
    Select,
    and_,
    bindparam,
    case,
    exists,
    func,
    literal_column,
    or_,
    select,
)
from sqlalchemy import text as sql

from grater.annotate import gold, jobs, people, standing, units
from grater.annotate.jobs import Job
from grater.annotate.people import Person
from grater.annotate.requests import LARGEST
from grater.annotate.store import events, schema
from grater.annotate.store.transaction import (
    MINUTE,
    ONE,
    PRIME,
    Columns,
    Record,
    Tx,
    multiplier,
    new_id,
    new_shuffle,
    of_rater,
)
from grater.annotate.terms import terms_of
from grater.annotate.units import StudyUnit
from grater.errors import Conflict, NotFound
from grater.model import Json

UNIT, LEASE, SLOT = schema.units.c, schema.leases.c, schema.slots.c

Which: TypeAlias = Literal["any", "after", "assigned", "first"]

FREE: ColumnElement[str] = literal_column("'free'")
"""A literal and no parameter, so that both engines know that the index of free slots will do."""


@dataclass(frozen=True, slots=True)
class UnitSlot:
    """A unit and the slot taken in it; None for practice and gold."""

    unit_id: str
    n: int | None


def next_unit(
    tx: Tx, job: Job, person_id: str, *, practice: str | None, state: str, n_answered: int
) -> UnitSlot | None:
    """The next unit: practice (`PRACTICE`) first, then work, or hidden gold if it is due.

    The slot is locked until the end of the transaction.

    Gold is looked up on every turn but given only if work is left, so that neither timing nor the end of the work
    reveals it (P5). If hidden gold is due but the rater has seen all of it, work comes instead.
    """
    if practice is not None:
        return UnitSlot(unit_id=practice, n=None)
    # What the rater has skipped comes when there is nothing else.
    work = _free_work(tx, job, person_id, left_out=SKIPPED) or _free_work(tx, job, person_id, left_out=NO_PLACE)
    if work is None or not standing.has_gold(job):
        return work
    due = standing.due(tx, job, person_id, state=state, n_answered=n_answered)
    unseen = _gold(tx, job, person_id, "quiz" if due == "quiz" else "hidden")
    return work if due == "work" or (unseen is None and due == "hidden") else unseen


def n_unseen_quiz(tx: Tx, job: Job, person_id: str) -> int:
    """The number of quiz questions that the rater has not seen."""
    query = GOLD.with_only_columns(func.count(schema.gold.c.unit_id.distinct())).order_by(None).limit(None)
    return int(tx.value(query, job=job.job_id, person=person_id, pool="quiz") or 0)


def lacks_quiz(tx: Tx, job: Job, person_id: str) -> bool:
    """Whether the quiz has no question left for the rater, so they get no work until there is more gold."""
    in_quiz = terms_of(job.options).is_in_quiz(standing.find(tx, job.job_id, person_id).state)
    return in_quiz and _gold(tx, job, person_id, "quiz") is None


def _gold(tx: Tx, job: Job, person_id: str, pool: str) -> UnitSlot | None:
    """Unseen gold in the same order as work: fixed if units are assigned, else freshly drawn."""
    factor = multiplier(tx.key, person_id) if job.access == "assigned" else new_shuffle()
    most = standing.exposure_of(job) if pool == "hidden" else LARGEST
    unit_id = tx.value(GOLD, job=job.job_id, person=person_id, factor=factor, pool=pool, most=most)
    return None if unit_id is None else UnitSlot(unit_id=unit_id, n=None)


def _free_work(tx: Tx, job: Job, person_id: str, *, left_out: int) -> UnitSlot | None:
    values: dict[str, str | int] = {"job": job.job_id, "person": person_id, "now": tx.now, "left_out": left_out}
    if job.access == "assigned":
        row = _waited_for(tx, "assigned", **values, factor=multiplier(tx.key, person_id))
    else:
        start = new_shuffle()
        row = _locked(tx, "first", **values, start=start)
        if row is None and (batch := tx.value(pool("any"), **values)) is not None:
            row = _locked(tx, "after", **values, start=start, batch=batch) or _waited_for(tx, "any", **values)
    return None if row is None else UnitSlot(unit_id=row.unit_id, n=row.n)


def _locked(tx: Tx, which: Which, **values: str | int) -> Record | None:
    return tx.first(tx.locked(pool(which), of=schema.slots, skip=True), **values)


def _waited_for(tx: Tx, which: Which, **values: str | int) -> Record | None:
    """The first slot, locked; slots that others hold briefly may become free, so they are waited for once."""
    found = _locked(tx, which, **values)
    return found or (tx.first(tx.locked(pool(which), of=schema.slots), **values) if tx.is_postgres else None)


@cache
def pool(which: Which) -> Select[Any]:
    """The first eligible slot: of `any` batch, `after` a starting point in one, or among those `assigned`.

    `first` is `after` in the first batch with a free slot for anybody, which usually suits the rater in one query.

    Built once, because building a query costs more than running it.
    """
    first = schema.submissions.alias("first")
    forerunner_done = exists().where(
        first.c.unit_id == UNIT.follows,
        first.c.person_id == bindparam("person"),
        first.c.status == "valid",
        first.c.at <= bindparam("now", type_=BigInteger) - UNIT.delay_ms,
    )
    query = (
        select(SLOT.batch, SLOT.unit_id, SLOT.n)
        .join(schema.units)
        .where(
            SLOT.job_id == bindparam("job"),
            SLOT.state == FREE,
            NOT_JUDGED,
            NOT_SEEN,
            NOT_SKIPPED,
            or_(UNIT.follows.is_(None), forerunner_done),
        )
    )
    order: list[ColumnElement[int]] = [SLOT.batch, SLOT.shuffle]
    if which == "after":
        query = query.where(SLOT.batch == bindparam("batch"), SLOT.shuffle >= bindparam("start"))
    if which == "first":
        query = query.where(SLOT.batch == FIRST_BATCH, SLOT.shuffle >= bindparam("start"))
    if which == "assigned":
        theirs = and_(
            schema.assignments.c.unit_id == UNIT.unit_id, schema.assignments.c.person_id == bindparam("person")
        )
        query = query.join(schema.assignments, theirs)
        order = [schema.assignments.c.batch, (SLOT.shuffle * bindparam("factor", type_=BigInteger)) % PRIME]
    return query.order_by(*order, SLOT.unit_id, SLOT.n).limit(ONE)


def _is_none(rows: FromClause, *where: ColumnElement[bool]) -> ColumnElement[bool]:
    """NOT EXISTS, looked up in an index for one unit at a time.

    PostgreSQL turns NOT EXISTS into a join; with a plan from when there were few answers, it would read everybody's
    answers whenever a rater takes a unit. It estimates IS NULL to be rare and would sort the whole pool; for a
    comparison it estimates that a third of the rows pass.
    """
    first = select(ONE).select_from(rows).where(*where).limit(ONE).correlate(schema.units).scalar_subquery()
    return func.coalesce(first, literal_column("0")) < ONE


_mine = schema.submissions.alias("mine")
NOT_JUDGED = _is_none(_mine, _mine.c.unit_id == UNIT.unit_id, _mine.c.person_id == bindparam("person"))
"""Whatever became of a judgment, nobody is asked twice."""


def _not_seen() -> ColumnElement[bool]:
    """Anyone who may adjudicate may have seen the answers to a unit that was once complete, even without deciding it.

    After an ejection such a unit is open again, and goes to somebody who cannot have seen any answer (P9).
    """
    sent, places = schema.submissions.alias("sent"), schema.slots.alias("places")
    n_sent = select(func.count()).where(
        sent.c.unit_id == UNIT.unit_id, sent.c.status.in_([literal_column("'valid'"), literal_column("'untrusted'")])
    )
    n_places = select(func.count()).where(places.c.unit_id == UNIT.unit_id)
    deciders: list[ColumnElement[str]] = [literal_column(f"'{role}'") for role in ("owner", "manager", "adjudicator")]
    may_decide = exists().where(schema.people.c.person_id == bindparam("person"), schema.people.c.role.in_(deciders))
    return or_(~may_decide, n_sent.scalar_subquery() < n_places.scalar_subquery())


NOT_SEEN = _not_seen()

SKIPPED, NO_PLACE = -2, -3
"""`SKIPPED` is the place of a lease on a unit that its rater skipped; no lease has `NO_PLACE`."""

_skipped = schema.leases.alias("skipped")
NOT_SKIPPED = _is_none(
    _skipped,
    _skipped.c.unit_id == UNIT.unit_id,
    _skipped.c.person_id == bindparam("person"),
    _skipped.c.place == bindparam("left_out"),
)

_free = schema.slots.alias("free")
FIRST_BATCH = (
    select(func.min(_free.c.batch)).where(_free.c.job_id == bindparam("job"), _free.c.state == FREE).scalar_subquery()
)

FREE_SLOT = (
    select(SLOT.n)
    .join(schema.units)
    .where(SLOT.unit_id == bindparam("unit"), SLOT.state == FREE, NOT_SEEN)
    .order_by(SLOT.n)
    .limit(ONE)
)
FREE_SLOT_ASSIGNED = FREE_SLOT.where(
    exists().where(
        schema.assignments.c.unit_id == bindparam("unit"), schema.assignments.c.person_id == bindparam("person")
    )
)

PRACTICE = (
    select(UNIT.unit_id)
    .where(UNIT.job_id == bindparam("job"), UNIT.role == literal_column("'practice'"), NOT_JUDGED)
    .order_by(UNIT.position)
    .limit(ONE)
)

_rests = or_(schema.gold.c.revealed > 0, bindparam("most") <= gold.N_MET)
GOLD = (
    gold.OF_JOB.with_only_columns(schema.gold.c.unit_id)
    .where(NOT_JUDGED, schema.gold.c.state == literal_column("'active'"), schema.gold.c.pool == bindparam("pool"))
    .order_by(
        case((_rests, schema.gold.c.revealed * LARGEST + gold.N_MET + 1), else_=literal_column("0")),
        (UNIT.shuffle * bindparam("factor", type_=BigInteger)) % PRIME,
        UNIT.unit_id,
    )
    .limit(ONE)
)
"""Resting gold comes last, the least seen first, and gold that ejected somebody after all other."""

REVISION = -1
"""The place of a lease on submitted work that its annotator revises (`marks`)."""

MOST_RETURNS = 20
NO_RETURNS = (
    f"you have given back {MOST_RETURNS} units of this job, the maximum; answer this one, or leave it: it is yours "
    "until its time runs out"
)
NO_SKIPPING = "units of this job cannot be skipped; answer this one, or give it back and continue another time"

CLOCK_SLACK = 5 * MINUTE
"""Clocks of two machines may differ by this much before a lease from the future counts as over."""

IS_HELD: ColumnElement[str] = literal_column("'held'")
"""A literal and no parameter, so that both engines know that the indexes of held leases will do."""

IS_GIVEN_UP = sql("given_up.state IN ('returned', 'expired', 'revoked')")


@dataclass(frozen=True, slots=True)
class Lease:
    """`kept` is stored here and never sent. `n` is None for practice, gold, and work without a free slot."""

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


COLUMNS = Columns(Lease, schema.leases)
OF_PERSON = select(*COLUMNS).where(LEASE.lease_id == bindparam("lease"), LEASE.person_id == bindparam("person"))
ALL_HELD = select(*COLUMNS).where(LEASE.state == IS_HELD)
ALL_HELD_BY = ALL_HELD.where(of_rater(schema.leases))
HELD = ALL_HELD_BY.where(LEASE.place == bindparam("place"))
OVER = ALL_HELD.where(
    LEASE.job_id == bindparam("job"),
    or_(LEASE.expires_at <= bindparam("now"), LEASE.expires_at > bindparam("latest")),
)
"""By one index alone: a lease lasts as long as its job says, so its end tells when it was issued."""
RENEW = (
    schema.leases.update()
    .where(LEASE.lease_id == bindparam("lease"), LEASE.state == IS_HELD)
    .values(issued_at=bindparam("since"), expires_at=bindparam("until"))
)
WITH_UNIT = (
    units.select_whole(*COLUMNS)
    .join(schema.leases, LEASE.unit_id == UNIT.unit_id)
    .where(LEASE.lease_id == bindparam("lease"), LEASE.person_id == bindparam("person"))
)


def take(tx: Tx, *, job_id: str, person_id: str, locked: Person | None = None) -> Lease | None:
    """The rater's lease in this job: the present one, else a new one, else None; `locked` is the rater if locked."""
    person = locked or people.lock(tx, person_id)
    # Ask when the person is locked: what the same rater did a moment ago is then in it.
    row = tx.first(RATER_STATE, job=job_id, person=person_id)
    if row is None:
        raise NotFound(jobs.NO_JOB)
    job, lease = jobs.COLUMNS.read(row), None if row.lease_lease_id is None else HELD_COLUMNS.read(row)
    terms, has_seat = terms_of(job.options), bool(row.has_joint_seat)
    is_limited = terms.gold is not None or terms.limit > 0
    counts = tx.first(standing.COUNTS, job=job_id, person=person_id) if is_limited else None
    if standing.refusal(tx, job, person, trust_state=row.trust, has_joint_seat=has_seat, counts=counts):
        return None
    if lease is not None and (lease.expires_at <= tx.now or lease.issued_at > tx.now + CLOCK_SLACK):
        lease = _renewed(tx, lease, job)
    if lease is not None:
        return lease
    free_expired(tx, job)
    if row.given_up_lease_id is not None:
        lease = _take_again(tx, job, row, person_id=person_id)
    if lease is not None:
        return lease
    n_answered = counts.n_answered if counts else 0
    unit = next_unit(tx, job, person_id, practice=row.practice_unit_id, state=row.trust, n_answered=n_answered)
    return None if unit is None else issue(tx, job, unit, person_id=person_id, version=row.guidelines_version)


def issue(
    tx: Tx,
    job: Job,
    unit: UnitSlot,
    *,
    person_id: str,
    place: int = 0,
    version: int | None = None,
    kept: Mapping[str, Json] | None = None,
) -> Lease:
    """Issue a lease; the caller has checked that the rater may have the unit."""
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
        kept=kept or {},
    )
    tx.insert(schema.leases, COLUMNS.row(lease))
    _log_taken(tx, lease)
    return lease


def _take_again(tx: Tx, job: Job, rater: Record, *, person_id: str) -> Lease | None:
    """Reissue the unit that the rater gave up, if it has a free slot; untested raters else get another unit."""
    lease_id = rater.given_up_lease_id
    given_up = find(tx, lease_id, person_id=person_id, lock=True)
    if given_up is None:
        return None
    slots = tx.locked(FREE_SLOT_ASSIGNED if job.access == "assigned" else FREE_SLOT, of=schema.slots, skip=True)
    n = tx.value(slots, unit=given_up.unit_id, person=person_id)
    if n is None and not standing.has_gold(job):
        return None
    lease = replace(
        given_up,
        n=n,
        issued_at=tx.now,
        expires_at=tx.now + job.lease_ms,
        state="held",
        guidelines_version=rater.guidelines_version,
    )
    tx.execute(schema.leases.update().where(LEASE.lease_id == lease_id).values(**COLUMNS.row(lease)))
    _log_taken(tx, lease)
    return lease


def _log_taken(tx: Tx, lease: Lease) -> None:
    units.set_slot(tx, lease.unit_id, lease.n, "leased")
    payload = {name: getattr(lease, name) for name in ("job_id", "unit_id", "n", "person_id")}
    events.write(tx, lease.person_id, "lease.taken", lease.lease_id, payload)


def find(tx: Tx, lease_id: str, *, person_id: str, lock: bool = False) -> Lease | None:
    """The lease, in any state, if it is this person's; `lock` keeps it unchanged until the end of the transaction."""
    query = tx.locked(OF_PERSON, of=schema.leases) if lock else OF_PERSON
    return COLUMNS.find(tx, query, lease=lease_id, person=person_id)


def find_with_unit(tx: Tx, lease_id: str, *, person_id: str) -> tuple[Lease, StudyUnit] | None:
    """The lease, in any state, with its unit, if it is this person's."""
    rows = tx.all(WITH_UNIT, lease=lease_id, person=person_id)
    return (COLUMNS.read(rows[0]), units.read(rows)) if rows else None


def held(tx: Tx, *, job_id: str, person_id: str, place: int = 0) -> Lease | None:
    """The rater's lease in this job; reading changes nothing."""
    return COLUMNS.find(tx, HELD, job=job_id, person=person_id, place=place)


def keep(tx: Tx, lease_id: str, kept: Mapping[str, Json]) -> None:
    """Store data with the lease that the page must not reveal (the sides of `choice`)."""
    tx.execute(schema.leases.update().where(LEASE.lease_id == lease_id).values(kept=kept))


def renew(tx: Tx, lease: Lease) -> Lease | None:
    """Restart the time of the lease while its rater is working; None if it is no longer held.

    The original issue time is kept, since an answer cannot have taken longer.
    """
    return _renewed(tx, lease, jobs.get(tx, lease.job_id), issued_at=min(lease.issued_at, tx.now))


def give_back(tx: Tx, lease_id: str, *, person_id: str) -> bool:
    """Return a unit unanswered, so that somebody else can take it; False if the lease had already ended.

    It stays the rater's next unit. Returns are counted by rater and job, and limited.
    """
    people.lock(tx, person_id)
    lease = find(tx, lease_id, person_id=person_id)
    if lease is None:
        return False
    n_returned = standing.find(tx, lease.job_id, person_id).returns
    if lease.state == "held" and not returns_left(lease, n_returned):
        raise Conflict(NO_RETURNS)
    if not close(tx, lease, "returned", actor=person_id):
        return False
    if lease.place != REVISION:
        standing.change(tx, lease.job_id, person_id, returns=n_returned + 1)
    return True


def returns_left(lease: Lease, n_returned: int) -> int:
    """How often the rater may still return a unit of the job; revisions can always be returned."""
    return MOST_RETURNS if lease.place == REVISION else max(0, MOST_RETURNS - n_returned)


def may_skip(job: Job) -> bool:
    """Whether a rater may do another unit first: not where raters are tested, since that would reveal gold (P5)."""
    return not standing.has_gold(job)


def skip(tx: Tx, lease_id: str, *, person_id: str) -> bool:
    """Return a unit and do others first; it comes again at the end. It counts like every return."""
    lease = find(tx, lease_id, person_id=person_id)
    if lease is not None and not may_skip(jobs.get(tx, lease.job_id)):
        raise Conflict(NO_SKIPPING)
    if not give_back(tx, lease_id, person_id=person_id):
        return False
    tx.execute(schema.leases.update().where(LEASE.lease_id == lease_id).values(place=SKIPPED))
    return True


def free_expired(tx: Tx, job: Job) -> int:
    """Free the slots of expired leases, except one that its rater is just submitting."""
    times = {"now": tx.now, "latest": tx.now + CLOCK_SLACK + job.lease_ms}
    over = COLUMNS.all(tx, tx.locked(OVER, of=schema.leases, skip=True), job=job.job_id, **times)
    for lease in over:
        close(tx, lease, "expired", actor=None)
    return len(over)


def close(tx: Tx, lease: Lease, state: str, *, actor: str | None) -> bool:
    """End a held lease without an answer and free its slot; False, with no change, if it is no longer held."""
    this = (LEASE.lease_id == lease.lease_id) & (LEASE.state == "held")
    if not tx.execute(schema.leases.update().where(this).values(state=state)).rowcount:
        return False
    units.set_slot(tx, lease.unit_id, lease.n, "free")
    events.write(tx, actor, f"lease.{state}", lease.lease_id)
    return True


def held_by(tx: Tx, person_id: str, *, job_id: str) -> list[Lease]:
    """All leases that a rater holds in a job, locked."""
    query = tx.locked(ALL_HELD_BY, of=schema.leases)
    return COLUMNS.all(tx, query, job=job_id, person=person_id)


def _renewed(tx: Tx, lease: Lease, job: Job, *, issued_at: int | None = None) -> Lease | None:
    since = tx.now if issued_at is None else issued_at
    renewed = replace(lease, issued_at=since, expires_at=tx.now + job.lease_ms)
    times = {"lease": lease.lease_id, "since": renewed.issued_at, "until": renewed.expires_at}
    return renewed if tx.execute(RENEW, times).rowcount else None


def _given_up() -> Select[Any]:
    """The newest lease that ended without an answer; a unit with a `withdrawn` answer comes again."""
    given_up, sent = schema.leases.alias("given_up"), schema.submissions.alias("sent")
    is_theirs = (sent.c.unit_id == given_up.c.unit_id) & (sent.c.person_id == bindparam("person"))
    is_answered = (sent.c.lease_id == given_up.c.lease_id) | (sent.c.status != literal_column("'withdrawn'"))
    return (
        select(given_up.c.lease_id)
        .where(
            of_rater(given_up),
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
        *HELD_COLUMNS,
    )
    .select_from(schema.jobs)
    .outerjoin(schema.trust, of_rater(schema.trust))
    .outerjoin(schema.leases, and_(of_rater(schema.leases), LEASE.place == 0, LEASE.state == IS_HELD))
    .where(schema.jobs.c.job_id == bindparam("job"))
)
