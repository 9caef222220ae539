"""A rater's footing in a job: all that must be known before a unit is handed out, by one question.

Ask when the person is locked: what the same rater did a moment ago is then in it.

Whether a rater may have work in a job now, and if not, why.

Reasons, the first that holds: `closed` (the job is not open), `left` (the person has left the study), `ejected`,
`flagged`, `program` (programs work in jobs of their own), `seat` (they, or half of their joint seat, have worked here
in their other shape), `hours`, `limit`, `about` (country or languages are not
known yet), `unqualified`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, Select, and_, bindparam, exists, func, literal_column, select

from grater.crowd.terms import Qualification, Terms, is_open, terms_of
from grater.errors import NotFound
from grater.model import Json
from grater.store import events, gold_schedule, jobs, people, schema, trust
from grater.store.clock import MINUTE
from grater.store.jobs import Job
from grater.store.people import Person
from grater.store.queue import PRACTICE
from grater.store.transaction import Tx

CLOCK_SLACK = 5 * MINUTE
"""Clocks of two machines may differ by this much before a lease from the future counts as over."""

HELD: ColumnElement[str] = literal_column("'held'")
"""A literal and no parameter, so that both engines know that the indexes of held leases will do."""

NOW = bindparam("now", type_=BigInteger)


@dataclass(frozen=True, slots=True)
class RaterState:
    """`trust` is the rater's state; `held` has the columns of the lease that they hold, and is empty without one."""

    job: Job
    trust: str
    has_seat: bool
    guidelines_version: int
    practice: str | None
    has_expired: bool
    held: Sequence[Any]


def rater_state_query(lease_columns: Sequence[ColumnElement[Any]]) -> Select[Any]:
    """The question, with the columns of the held lease at its end."""
    mine = and_(
        schema.leases.c.job_id == schema.jobs.c.job_id,
        schema.leases.c.person_id == bindparam("person"),
        schema.leases.c.place == 0,
        schema.leases.c.state == HELD,
    )
    theirs = and_(schema.trust.c.job_id == schema.jobs.c.job_id, schema.trust.c.person_id == bindparam("person"))
    return (
        select(
            *jobs.COLUMNS,
            func.coalesce(schema.trust.c.state, "new"),
            exists().where(schema.joint_members.c.member_id == bindparam("person")),
            func.coalesce(VERSION, 0),
            PRACTICE.scalar_subquery(),
            _over(schema.leases.alias("late").c, "ended") | _over(schema.leases.alias("early").c, "from the future"),
            *lease_columns,
        )
        .select_from(schema.jobs)
        .outerjoin(schema.trust, theirs)
        .outerjoin(schema.leases, mine)
        .where(schema.jobs.c.job_id == bindparam("job"))
    )


def rater_state(tx: Tx, asked: Select[Any], *, job_id: str, person_id: str) -> RaterState:
    row = tx.first(asked, job=job_id, person=person_id, now=tx.now)
    if row is None:
        raise NotFound(jobs.NO_JOB)
    n = len(jobs.COLUMNS)
    state, has_seat, version, practice, has_expired, *held = row[n:]
    held = held if held[0] is not None else []
    return RaterState(Job(*row[:n]), state, bool(has_seat), version, practice, bool(has_expired), held)


def _over(these: Any, how: str) -> ColumnElement[bool]:
    """Whether any lease of the job is over, by one index: its end tells when it was issued."""
    at = these.expires_at
    is_over = at <= NOW if how == "ended" else at > NOW + CLOCK_SLACK + schema.jobs.c.lease_ms
    return exists().where(these.job_id == bindparam("job"), these.state == HELD, is_over)


VERSION = (
    select(func.max(schema.guidelines.c.version))
    .where(schema.guidelines.c.job_id == schema.jobs.c.job_id)
    .scalar_subquery()
)


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


def refusal(tx: Tx, job: Job, person: Person, known: RaterState | None = None) -> str:
    """The same for a person who has been looked up already, and perhaps their footing in the job."""
    if job.state != "open":
        return "closed"
    if person.state != "active":
        return "left"
    state = known.trust if known else trust.find(tx, job.job_id, person.person_id).state
    if state in ("ejected", "flagged"):
        return state
    if person.kind == "program" and job.access != "assigned":
        return "program"
    may_sit_twice = known is None or known.has_seat or person.kind == "joint"
    if may_sit_twice and _is_at_both(tx, job, person):
        return "seat"
    return _by_terms(tx, job, person)


def _is_at_both(tx: Tx, job: Job, person: Person) -> bool:
    """Whether the same head would be asked twice: alone and on a joint seat."""
    partners = people.members(tx, person.person_id) if person.kind == "joint" else ()
    partners = partners or people.seat_ids(tx, person.person_id)
    return any(
        gold_schedule.sent(tx, job.job_id, each) or tx.value(HOLDS, job=job.job_id, person=each) for each in partners
    )


def _by_terms(tx: Tx, job: Job, person: Person) -> str:
    terms = terms_of(job.options)
    if not is_open(terms.opening, tx.now):
        return "hours"
    if terms.limit and gold_schedule.sent(tx, job.job_id, person.person_id) >= terms.limit:
        return "limit"
    if asks_about(terms, person):
        return "about"
    return "" if is_fit(tx, terms, person) else "unqualified"


def asks_about(terms: Terms, person: Person) -> bool:
    """Whether the job wants to know something of the person that nobody has said yet."""
    wants_country = bool(terms.countries) and not person.payload.get("country")
    return wants_country or (bool(terms.languages) and not person.payload.get("languages"))


def is_fit(tx: Tx, terms: Terms, person: Person) -> bool:
    """Whether country, languages and earlier work are what the job asks for."""
    country, languages = person.payload.get("country"), person.payload.get("languages") or ()
    if terms.countries and _plain(country) not in {_plain(each) for each in terms.countries}:
        return False
    spoken = {_plain(each) for each in languages} if isinstance(languages, Iterable) else set()
    if terms.languages and not spoken & {_plain(each) for each in terms.languages}:
        return False
    return all(_has(tx, each, person.person_id) for each in terms.qualifications)


def say_about(tx: Tx, person_id: str, *, country: str, languages: Iterable[str]) -> Person:
    """Remember what a person says of themselves; it is said once, so that nobody tries until it fits."""
    person = people.lock(tx, person_id)
    told: dict[str, Json] = {"country": country, "languages": list(languages)}
    payload = {**told, **{name: value for name, value in person.payload.items() if value}}
    tx.execute(schema.people.update().where(schema.people.c.person_id == person_id).values(payload=payload))
    events.write(tx, person_id, "person.about", person_id)
    return people.get(tx, person_id)


def _has(tx: Tx, wanted: Qualification, person_id: str) -> bool:
    job_id = tx.value(select(schema.jobs.c.job_id).where(schema.jobs.c.name == wanted.job))
    if job_id is None:
        return False
    theirs = (schema.submissions.c.job_id == job_id) & (schema.submissions.c.person_id == person_id)
    query = select(func.count()).join(schema.units, schema.units.c.unit_id == schema.submissions.c.unit_id)
    n_valid = tx.value(query.where(theirs, schema.submissions.c.status == "valid", schema.units.c.role == "work"))
    known = trust.find(tx, job_id, person_id)
    is_right = not wanted.accuracy or (known.seen > 0 and known.right >= wanted.accuracy * known.seen)
    return int(n_valid or 0) >= wanted.judgments and is_right


def _plain(word: object) -> str:
    return str(word or "").strip().casefold()
