"""Whether a rater may have work in a job now, and if not, why.

Reasons, the first that holds: `closed` (the job is not open), `left` (the person has left the study), `ejected`,
`flagged`, `program` (programs work in jobs of their own), `seat` (they, or half of their joint seat, have worked here
in their other shape), `hours`, `limit`, `about` (country or languages are not
known yet), `unqualified`.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import bindparam, exists, func, select

from grater.crowd.terms import Qualification, Terms, is_open, terms_of
from grater.model import Json
from grater.store import events, people, schema, trust, turns
from grater.store.footing import Footing
from grater.store.jobs import Job
from grater.store.people import Person
from grater.store.transaction import Tx

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
    return refusal(tx, job, people.the(tx, person_id))


def refusal(tx: Tx, job: Job, person: Person, known: Footing | None = None) -> str:
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
    return any(turns.sent(tx, job.job_id, each) or tx.value(HOLDS, job=job.job_id, person=each) for each in partners)


def _by_terms(tx: Tx, job: Job, person: Person) -> str:
    terms = terms_of(job.options)
    if not is_open(terms.opening, tx.now):
        return "hours"
    if terms.limit and turns.sent(tx, job.job_id, person.person_id) >= terms.limit:
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
    return people.the(tx, person_id)


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
