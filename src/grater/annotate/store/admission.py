"""Whether a rater may have work in a job now, and if not, why.

Reasons, the first that holds: `closed` (the job is not open), `left` (the person has left the study), `ejected`,
`flagged`, `program` (programs work in jobs of their own), `seat` (they have worked here on a joint seat, or one who
shares this joint seat has worked here alone), `hours`, `limit`, `about` (country or languages are not known yet),
`unqualified`.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import bindparam, exists, func, select

from grater.annotate.store import events, gold, people, schema, trust
from grater.annotate.store.jobs import Job
from grater.annotate.store.people import Person
from grater.annotate.store.transaction import Tx
from grater.annotate.terms import Qualification, Terms, is_open, terms_of
from grater.model import Json

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
    return _by_terms(tx, job, person)


def _has_worked_on_other_seat(tx: Tx, job: Job, person: Person) -> bool:
    """Whether the same human would be asked twice: alone and on a joint seat."""
    seats = people.members(tx, person.person_id) if person.kind == "joint" else ()
    seats = seats or people.seat_ids(tx, person.person_id)
    return any(gold.n_sent(tx, job.job_id, seat) or tx.value(HOLDS, job=job.job_id, person=seat) for seat in seats)


def _by_terms(tx: Tx, job: Job, person: Person) -> str:
    terms = terms_of(job.options)
    if not is_open(terms.opening, tx.now):
        return "hours"
    if terms.limit and gold.n_valid(tx, job.job_id, person.person_id) >= terms.limit:
        return "limit"
    if asks_about(terms, person):
        return "about"
    return "" if is_fit(tx, terms, person) else "unqualified"


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
