"""Whether a rater may have work in a job now, and if not, why.

Reasons, the first that holds: `closed` (the job is not open), `left` (the person has left the study), `ejected`,
`flagged`, `program` (programs work in jobs of their own), `seat` (they have worked here on a joint seat, or one who
shares this joint seat has worked here alone), `hours`, `limit`, `about` (country or languages are not known yet),
`unqualified`.

Which unit a rater gets next, if any.

Eligible: a free slot of a unit in an open job that this person has not judged, and whose answers they cannot have
seen; where the job is assigned, one that is assigned to them; where the unit follows another, one whose forerunner
the same person did long enough ago.
Batches come in order.  Inside a batch of a pool the next unit is the first, by the units' random numbers, from a
starting point that is drawn anew each time; an assigned rater has a fixed order of their own, the product of the
unit's number and the rater's factor modulo a prime.  Neither depends on anything that a system, a stratum or a
manager decided (P10), and a pool of any size is answered from an index.

Nobody starves (P4): every free slot can be reached from every starting point, and expired leases are freed before the
queue is read.  An order by "fewest raters left" would change nothing: each judgment takes one slot and one possible
rater from its unit, so all units keep the same number to spare.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
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

from grater.annotate import people
from grater.annotate.jobs import Job
from grater.annotate.people import Person
from grater.annotate.store import events, gold, schema, trust
from grater.annotate.store.transaction import ONE, PRIME, Record, Tx, locking, multiplier, new_shuffle
from grater.annotate.terms import Qualification, Terms, is_open, terms_of
from grater.model import Json

LARGEST = 2**31 - 1

HOLDS = select(
    exists().where(
        schema.leases.c.job_id == bindparam("job"),
        schema.leases.c.person_id == bindparam("person"),
        schema.leases.c.state == "held",
    )
)
"""Whether somebody has a unit of the job in hand."""


def why_not(tx: Tx, job: Job, person_id: str) -> str:
    """The reason why this person gets no work here now; empty if they may have some."""
    return refusal(tx, job, people.get(tx, person_id))


def refusal(tx: Tx, job: Job, person: Person, *, trust_state: str | None = None, has_joint_seat: bool = True) -> str:
    """The same for a person who has been looked up already, and perhaps their trust and whether they share a seat."""
    if job.state != "open":
        return "closed"
    if person.state != "active":
        return "left"
    if trust_state is None:
        trust_state = trust.find(tx, job.job_id, person.person_id).state
    if trust_state in trust.OUT:
        return trust_state
    if person.kind == "program" and job.access != "assigned":
        return "program"
    if (has_joint_seat or person.kind == "joint") and _has_worked_on_other_seat(tx, job, person):
        return "seat"
    terms = terms_of(job.options)
    if not is_open(terms.opening, tx.now):
        return "hours"
    limit = gold.limit_of(tx, job)
    if limit and gold.n_valid(tx, job.job_id, person.person_id) >= limit:
        return "limit"
    if asks_about(terms, person):
        return "about"
    return "" if is_fit(tx, terms, person) else "unqualified"


def _has_worked_on_other_seat(tx: Tx, job: Job, person: Person) -> bool:
    """Whether the same human would be asked twice: alone and on a joint seat."""
    seats = people.members(tx, person.person_id) if person.kind == "joint" else ()
    seats = seats or people.seat_ids(tx, person.person_id)
    return any(gold.n_sent(tx, job.job_id, seat) or tx.value(HOLDS, job=job.job_id, person=seat) for seat in seats)


def asks_about(terms: Terms, person: Person) -> bool:
    """Whether the job must know something of the person that they have not said yet."""
    wants_country = bool(terms.countries) and not person.payload.get("country")
    return wants_country or (bool(terms.languages) and not person.payload.get("languages"))


def is_fit(tx: Tx, terms: Terms, person: Person) -> bool:
    """Whether country, languages and earlier work are what the job asks for."""
    country, languages = person.payload.get("country"), person.payload.get("languages") or ()
    if terms.countries and _plain(country) not in map(_plain, terms.countries):
        return False
    spoken = set(map(_plain, languages)) if isinstance(languages, Iterable) else set()
    if terms.languages and not spoken & set(map(_plain, terms.languages)):
        return False
    return all(_is_qualified(tx, qualification, person.person_id) for qualification in terms.qualifications)


def say_about(tx: Tx, person_id: str, *, country: str, languages: Iterable[str]) -> Person:
    """Remember what a person says of themselves; it is said once, so that nobody tries until it fits."""
    person = people.lock(tx, person_id)
    answers: dict[str, Json] = {"country": country, "languages": list(languages)}
    payload = {**answers, **{name: value for name, value in person.payload.items() if value}}
    tx.execute(schema.people.update().where(schema.people.c.person_id == person_id).values(payload=payload))
    events.write(tx, person_id, "person.about", person_id)
    return people.get(tx, person_id)


def _is_qualified(tx: Tx, wanted: Qualification, person_id: str) -> bool:
    job_id = tx.value(select(schema.jobs.c.job_id).where(schema.jobs.c.name == wanted.job))
    if job_id is None:
        return False
    theirs = (schema.submissions.c.job_id == job_id) & (schema.submissions.c.person_id == person_id)
    query = select(func.count()).join(schema.units, schema.units.c.unit_id == schema.submissions.c.unit_id)
    n_valid = tx.value(query.where(theirs, schema.submissions.c.status == "valid", schema.units.c.role == "work"))
    gold = trust.find(tx, job_id, person_id)
    is_right = not wanted.accuracy or (gold.seen > 0 and gold.right >= wanted.accuracy * gold.seen)
    return int(n_valid or 0) >= wanted.judgments and is_right


def _plain(word: object) -> str:
    return str(word or "").strip().casefold()


Which: TypeAlias = Literal["any", "after", "assigned", "first"]

FREE: ColumnElement[str] = literal_column("'free'")
"""A literal and no parameter, so that both engines know that the index of free slots will do."""


@dataclass(frozen=True, slots=True)
class UnitSlot:
    """A unit and the slot that is taken in it; no slot for practice and gold."""

    unit_id: str
    n: int | None


def next_unit(tx: Tx, job: Job, person_id: str, *, practice: str | None) -> UnitSlot | None:
    """The unit of `practice` (`PRACTICE`) first, then work, or hidden gold where it is due.

    The slot is locked until the end of the transaction.

    Gold is looked for on every turn and given only where work is left: neither time nor the end of the work tells
    which it is (P5).  Where hidden gold is due and the rater has met all of it, work comes instead.
    """
    if practice is not None:
        return UnitSlot(unit_id=practice, n=None)
    work = _work(tx, job, person_id)
    if work is None or not gold.has_gold(job):
        return work
    due = gold.due(tx, job, person_id)
    unseen = _gold(tx, job, person_id, "quiz" if due == "quiz" else "hidden")
    return work if due == "work" or (unseen is None and due == "hidden") else unseen


def n_unseen_quiz(tx: Tx, job: Job, person_id: str) -> int:
    """The questions of the quiz that the rater has not met."""
    query = GOLD.with_only_columns(func.count(schema.gold.c.unit_id.distinct())).order_by(None).limit(None)
    return int(tx.value(query, job=job.job_id, person=person_id, pool="quiz") or 0)


def lacks_quiz(tx: Tx, job: Job, person_id: str) -> bool:
    """Whether the rater gets no work since the quiz has no question for them: a manager has to make more gold."""
    return gold.due(tx, job, person_id) == "quiz" and _gold(tx, job, person_id, "quiz") is None


def _gold(tx: Tx, job: Job, person_id: str, pool: str) -> UnitSlot | None:
    """Unseen gold in the order in which work comes: fixed where units are assigned, else drawn anew."""
    factor = multiplier(tx.key, person_id) if job.access == "assigned" else new_shuffle()
    most = gold.exposure_of(job) if pool == "hidden" else LARGEST
    unit_id = tx.value(GOLD, job=job.job_id, person=person_id, factor=factor, pool=pool, most=most)
    return None if unit_id is None else UnitSlot(unit_id=unit_id, n=None)


def free_slot(tx: Tx, job: Job, unit_id: str, person_id: str) -> int | None:
    """A free slot of this unit that the rater may have, locked."""
    query = FREE_SLOT_ASSIGNED if job.access == "assigned" else FREE_SLOT
    query = locking(query, of=schema.slots, skip=True) if tx.is_postgres else query
    n: int | None = tx.value(query, unit=unit_id, person=person_id)
    return n


def _work(tx: Tx, job: Job, person_id: str) -> UnitSlot | None:
    """What the rater has skipped comes when there is nothing else."""
    return _free_work(tx, job, person_id, left_out=SKIPPED) or _free_work(tx, job, person_id, left_out=NO_PLACE)


def _free_work(tx: Tx, job: Job, person_id: str, *, left_out: int) -> UnitSlot | None:
    values: dict[str, str | int] = {"job": job.job_id, "person": person_id, "now": tx.now, "left_out": left_out}
    if job.access == "assigned":
        row = _locked(tx, "assigned", **values, factor=multiplier(tx.key, person_id))
    else:
        start = new_shuffle()
        row = _after(tx, "first", **values, start=start) or _in_order(tx, **values, start=start)
    return None if row is None else UnitSlot(unit_id=row.unit_id, n=row.n)


def _after(tx: Tx, which: Which, **values: str | int) -> Record | None:
    return tx.first(pool(which, "skip" if tx.is_postgres else "no"), **values)


def _in_order(tx: Tx, **values: str | int) -> Record | None:
    """Where the first batch with a free slot has nothing for this rater from the starting point on."""
    rest = {name: value for name, value in values.items() if name != "start"}
    batch = tx.value(pool("any", "no"), **rest)
    if batch is None:
        return None
    return _after(tx, "after", **values, batch=batch) or _locked(tx, "any", **rest)


def _locked(tx: Tx, which: Which, **values: str | int) -> Record | None:
    """The first slot, locked; what others hold for a moment may still become free, so they are waited for once."""
    if not tx.is_postgres:
        return tx.first(pool(which, "no"), **values)
    return tx.first(pool(which, "skip"), **values) or tx.first(pool(which, "wait"), **values)


@cache
def pool(which: Which, lock: Literal["no", "skip", "wait"]) -> Select[Any]:
    """The first eligible slot: of `any` batch, `after` a starting point in one, or among those `assigned`.

    `first` is `after` in the first batch that has a free slot for anybody: mostly the rater's own, by one query.

    Built once, since building a query costs more than running it.
    """
    first = schema.submissions.alias("first")
    forerunner_done = exists().where(
        first.c.unit_id == schema.units.c.follows,
        first.c.person_id == bindparam("person"),
        first.c.status == "valid",
        first.c.at <= bindparam("now", type_=BigInteger) - schema.units.c.delay_ms,
    )
    query = (
        select(schema.slots.c.batch, schema.slots.c.unit_id, schema.slots.c.n)
        .join(schema.units, schema.units.c.unit_id == schema.slots.c.unit_id)
        .where(
            schema.slots.c.job_id == bindparam("job"),
            schema.slots.c.state == FREE,
            NOT_JUDGED,
            NOT_SEEN,
            NOT_SKIPPED,
            or_(schema.units.c.follows.is_(None), forerunner_done),
        )
    )
    order: list[ColumnElement[int]] = [schema.slots.c.batch, schema.slots.c.shuffle]
    if which == "after":
        query = query.where(schema.slots.c.batch == bindparam("batch"), schema.slots.c.shuffle >= bindparam("start"))
    if which == "first":
        query = query.where(schema.slots.c.batch == FIRST_BATCH, schema.slots.c.shuffle >= bindparam("start"))
    if which == "assigned":
        theirs = and_(
            schema.assignments.c.unit_id == schema.units.c.unit_id,
            schema.assignments.c.person_id == bindparam("person"),
        )
        query = query.join(schema.assignments, theirs)
        order = [schema.assignments.c.batch, (schema.slots.c.shuffle * bindparam("factor", type_=BigInteger)) % PRIME]
    query = query.order_by(*order, schema.slots.c.unit_id, schema.slots.c.n).limit(ONE)
    return query if lock == "no" else locking(query, of=schema.slots, skip=lock == "skip")


def _is_none(rows: FromClause, *where: ColumnElement[bool]) -> ColumnElement[bool]:
    """NOT EXISTS, looked up in an index for one unit at a time.

    Of NOT EXISTS PostgreSQL makes a join, and with a plan from a time when there were few answers it would read the
    answers of everybody whenever a rater takes a unit.  IS NULL it takes for rare, and would sort the whole pool to
    look for it; of a comparison it thinks that a third of the rows pass.
    """
    first = select(ONE).select_from(rows).where(*where).limit(ONE).correlate(schema.units).scalar_subquery()
    return func.coalesce(first, literal_column("0")) < ONE


def _not_judged() -> ColumnElement[bool]:
    """Whatever became of a judgment, nobody is asked twice."""
    mine = schema.submissions.alias("mine")
    return _is_none(mine, mine.c.unit_id == schema.units.c.unit_id, mine.c.person_id == bindparam("person"))


NOT_JUDGED = _not_judged()


def _not_seen() -> ColumnElement[bool]:
    """Whoever may adjudicate may have seen the answers to a unit that was complete, and need not have decided it.

    After an ejection such a unit is open again, and asks somebody who can have seen none (P9).
    """
    sent, places = schema.submissions.alias("sent"), schema.slots.alias("places")
    n_sent = select(func.count()).where(
        sent.c.unit_id == schema.units.c.unit_id,
        sent.c.status.in_([literal_column("'valid'"), literal_column("'untrusted'")]),
    )
    n_places = select(func.count()).where(places.c.unit_id == schema.units.c.unit_id)
    deciders: list[ColumnElement[str]] = [literal_column(f"'{role}'") for role in ("owner", "manager", "adjudicator")]
    may_decide = exists().where(schema.people.c.person_id == bindparam("person"), schema.people.c.role.in_(deciders))
    return or_(~may_decide, n_sent.scalar_subquery() < n_places.scalar_subquery())


NOT_SEEN = _not_seen()

SKIPPED, NO_PLACE = -2, -3
"""`SKIPPED` is the place of a lease on a unit that its rater skipped; no lease has `NO_PLACE`."""

_skipped = schema.leases.alias("skipped")
NOT_SKIPPED = _is_none(
    _skipped,
    _skipped.c.unit_id == schema.units.c.unit_id,
    _skipped.c.person_id == bindparam("person"),
    _skipped.c.place == bindparam("left_out"),
)

_free = schema.slots.alias("free")
FIRST_BATCH = (
    select(func.min(_free.c.batch)).where(_free.c.job_id == bindparam("job"), _free.c.state == FREE).scalar_subquery()
)

FREE_SLOT = (
    select(schema.slots.c.n)
    .join(schema.units, schema.units.c.unit_id == schema.slots.c.unit_id)
    .where(schema.slots.c.unit_id == bindparam("unit"), schema.slots.c.state == FREE, NOT_SEEN)
    .order_by(schema.slots.c.n)
    .limit(ONE)
)
FREE_SLOT_ASSIGNED = FREE_SLOT.where(
    exists().where(
        schema.assignments.c.unit_id == bindparam("unit"), schema.assignments.c.person_id == bindparam("person")
    )
)

PRACTICE = (
    select(schema.units.c.unit_id)
    .where(schema.units.c.job_id == bindparam("job"), schema.units.c.role == literal_column("'practice'"), NOT_JUDGED)
    .order_by(schema.units.c.position)
    .limit(ONE)
)

_rests = or_(schema.gold.c.revealed > 0, bindparam("most") <= gold.N_MET)
GOLD = (
    gold.OF_JOB.with_only_columns(schema.gold.c.unit_id)
    .where(
        NOT_JUDGED,
        schema.gold.c.state == literal_column("'active'"),
        schema.gold.c.pool == bindparam("pool"),
    )
    .order_by(
        case((_rests, schema.gold.c.revealed * LARGEST + gold.N_MET + 1), else_=literal_column("0")),
        (schema.units.c.shuffle * bindparam("factor", type_=BigInteger)) % PRIME,
        schema.units.c.unit_id,
    )
    .limit(ONE)
)
"""What rests comes last, the least seen of it first, and what ejected somebody after all other."""
