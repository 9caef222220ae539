"""A rater's standing in a job: how far they are trusted, whether they get work now, and if not, why.

Trust consists of gold seen, gold right, and a state set by people or rules. The counts are never incremented: after
each answer of a tested rater they are recomputed from the stored submissions, so stored trust always equals trust
computed from scratch. This happens after work answers too, so that timing does not reveal gold (P5); for the same
reason there is an event for a new state, but not for each count. Only active gold counts; withdrawn answers do not.
The number of units returned unanswered is stored as well.

The gold schedule decides whether work or hidden gold is due next for a rater (docs/crowd.md). A job with a gold rule
begins with its quiz, which is all gold. Then every turn is gold with the same probability, derived from the study's
key for this rater and turn: nobody can predict it, it is the same on every visit, and earlier turns reveal nothing
(P5). A turn ends when its unit is answered: a unit that was returned, expired or withdrawn comes again in the same
turn, whether gold or work (`leases`). A rater sees each gold unit once, so their limit is what the hidden gold covers
(`limit_of`), and nobody who has seen all of it is blocked before that.

Reasons to get no work, in order of precedence: `closed` (the job is not open), `left` (the person has left the
study), `ejected`, `flagged`, `program` (programs work in separate jobs), `seat` (they worked here on a joint seat, or
a member of this joint seat worked here alone), `limit`, `about` (country or languages are not known yet),
`unqualified`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from sqlalchemy import bindparam, case, exists, func, literal_column, select

from grater.annotate import gold, jobs, people
from grater.annotate.jobs import Job
from grater.annotate.people import Person
from grater.annotate.store import events, schema
from grater.annotate.store.transaction import PRIME, Columns, Record, Tx, multiplier, of_rater
from grater.annotate.terms import Qualification, Terms, gold_rate, terms_of
from grater.model import Json

UNIT, TRUST, KNOWN = schema.units.c, schema.trust.c, schema.gold.c


@dataclass(frozen=True, slots=True)
class Trust:
    job_id: str
    person_id: str
    seen: int = 0
    right: int = 0
    state: str = "new"
    attempts: int = 0
    why: str = ""
    returns: int = 0


OUT = ("ejected", "flagged")
"""States in which a rater gets no more work in the job."""

COLUMNS = Columns(Trust, schema.trust)
OF_RATER = of_rater(schema.trust)
BY_KEY = select(*COLUMNS).where(OF_RATER)


@dataclass(frozen=True, slots=True)
class GoldAnswer:
    """A rater's answer to gold; only `is_active` gold counts."""

    submission_id: str
    unit_id: str
    is_right: bool
    is_active: bool
    pool: str


ANSWERS = (
    select(
        schema.submissions.c.submission_id,
        schema.submissions.c.unit_id,
        schema.submissions.c.is_right,
        case((func.min(KNOWN.state) == literal_column("'active'"), True), else_=False).label("is_active"),
        func.min(KNOWN.pool).label("pool"),
    )
    .join(schema.gold, KNOWN.unit_id == schema.submissions.c.unit_id)
    .where(
        schema.submissions.c.unit_id.in_(
            select(UNIT.unit_id).where(UNIT.job_id == bindparam("job"), UNIT.role == literal_column("'gold'"))
        ),
        schema.submissions.c.person_id == bindparam("person"),
        schema.submissions.c.status.in_((literal_column("'valid'"), literal_column("'untrusted'"))),
    )
    .group_by(schema.submissions.c.submission_id, schema.submissions.c.at)
    .order_by(schema.submissions.c.at, schema.submissions.c.submission_id)
)
"""By the units, of which few are gold: a rater may have answered thousands."""

RECOUNTED = (
    schema.trust.update()
    .where(OF_RATER)
    .values(seen=bindparam("n_seen"), right=bindparam("n_right"))
    .returning(*COLUMNS)
)

RETURNS = select(TRUST.returns).where(OF_RATER)


def find(tx: Tx, job_id: str, person_id: str) -> Trust:
    return COLUMNS.find(tx, BY_KEY, job=job_id, person=person_id) or Trust(job_id, person_id)


def of_job(tx: Tx, job_id: str) -> list[Trust]:
    query = select(*COLUMNS).where(TRUST.job_id == job_id).order_by(tx.binary(TRUST.person_id))
    return COLUMNS.all(tx, query)


def gold_answers(tx: Tx, job_id: str, person_id: str) -> list[GoldAnswer]:
    """Every gold answer that counts, in order of arrival."""
    return [
        GoldAnswer(id_, unit, bool(right), *rest)
        for id_, unit, right, *rest in tx.all(ANSWERS, job=job_id, person=person_id)
    ]


def recount(tx: Tx, job_id: str, person_id: str, answers: Sequence[GoldAnswer] | None = None) -> Trust:
    """Recompute the answers to active gold."""
    known = gold_answers(tx, job_id, person_id) if answers is None else answers
    counted = [answer.is_right for answer in known if answer.is_active]
    n_seen, n_right = len(counted), sum(counted)
    now = COLUMNS.find(tx, RECOUNTED, job=job_id, person=person_id, n_seen=n_seen, n_right=n_right)
    return now or change(tx, job_id, person_id, seen=n_seen, right=n_right)


def change(tx: Tx, job_id: str, person_id: str, *, actor: str | None = None, **values: Any) -> Trust:
    """Set the state with its reason, failed attempts at the quiz, or units returned; the person is locked."""
    stored = COLUMNS.find(tx, BY_KEY, job=job_id, person=person_id)
    before = stored or Trust(job_id, person_id)
    changed = replace(before, **values)
    if stored is None:
        tx.insert(schema.trust, COLUMNS.row(changed))
    else:
        key = (TRUST.job_id == job_id) & (TRUST.person_id == person_id)
        tx.execute(schema.trust.update().where(key).values(**values))
    if stored is None or (before.state, before.returns) != (changed.state, changed.returns):
        names = ("person_id", "seen", "right", "state", "returns")
        events.write(tx, actor, "trust.changed", job_id, {name: getattr(changed, name) for name in names})
    return changed


Due: TypeAlias = Literal["work", "hidden", "quiz"]

N_HIDDEN = gold.OF_JOB.with_only_columns(func.count(KNOWN.unit_id.distinct())).where(
    KNOWN.pool != literal_column("'quiz'")
)

PRACTICE = select(UNIT.unit_id).where(UNIT.job_id == bindparam("job"), UNIT.role == literal_column("'practice'"))
SENT = select(func.count(schema.submissions.c.unit_id.distinct())).where(
    of_rater(schema.submissions), schema.submissions.c.unit_id.not_in(PRACTICE)
)
"""From one index, without a look at the units: a rater may have answered thousands."""

ANSWERED = SENT.where(schema.submissions.c.status != literal_column("'withdrawn'"))
VALID = SENT.where(schema.submissions.c.status == literal_column("'valid'"))
COUNTS = select(
    N_HIDDEN.scalar_subquery().label("n_hidden"),
    ANSWERED.scalar_subquery().label("n_answered"),
    VALID.scalar_subquery().label("n_valid"),
)
"""The hidden gold of a job; a rater's units, practice aside, that were answered and not withdrawn; and those of them
with an answer that counts."""


def has_gold(job: Job) -> bool:
    """Whether raters of this job are tested."""
    return terms_of(job.options).gold is not None


def exposure_of(job: Job) -> int:
    """The number of viewings after which the job's hidden gold is rested."""
    rule = terms_of(job.options).gold
    return (rule.exposure if rule else 0) or most_judgments(job)


def most_judgments(job: Job) -> int:
    """The maximum number of raters of a work unit."""
    redundancy = terms_of(job.options).redundancy
    return redundancy.most if redundancy else job.judgments


def limit_of(tx: Tx, job: Job, counts: Record | None = None) -> int:
    """The maximum number of answers by one rater, 0 for unlimited: as agreed, and as the hidden gold can cover.

    Suspending or showing gold later does not reduce a promised limit.
    """
    terms, n_hidden = terms_of(job.options), 0
    if terms.gold is not None:
        n_hidden = counts.n_hidden if counts else int(tx.value(N_HIDDEN, job=job.job_id) or 0)
    covered = terms.gold.quiz + int(n_hidden / gold_rate(terms.page)) if terms.gold and n_hidden else 0
    return min(filter(None, (terms.limit, covered)), default=0)


def due(tx: Tx, job: Job, person_id: str, *, state: str, n_answered: int) -> Due:
    """The next turn of a rater in this state of trust who has answered `n_answered` units."""
    terms = terms_of(job.options)
    if terms.gold is None:
        return "work"
    if terms.is_in_quiz(state):
        return "quiz"
    chance = multiplier(tx.key, "gold", job.job_id, person_id, str(n_answered)) / PRIME
    return "hidden" if chance < gold_rate(terms.page) else "work"


def n_answered(tx: Tx, job_id: str, person_id: str) -> int:
    """The number of units, practice excluded, that a rater has answered and not withdrawn."""
    return int(tx.value(ANSWERED, job=job_id, person=person_id) or 0)


def n_sent(tx: Tx, job_id: str, person_id: str) -> int:
    return int(tx.value(SENT, job=job_id, person=person_id) or 0)


def n_valid(tx: Tx, job_id: str, person_id: str) -> int:
    """The number of units, practice excluded, with an answer that counts, for limits and completion codes."""
    return int(tx.value(VALID, job=job_id, person=person_id) or 0)


HOLDS = select(exists().where(of_rater(schema.leases), schema.leases.c.state == "held"))
"""Whether somebody has a unit of the job in hand."""


def why_not(tx: Tx, job: Job, person_id: str) -> str:
    """Why this person gets no work here now; empty if they may have some."""
    return refusal(tx, job, people.get(tx, person_id))


def refusal(
    tx: Tx,
    job: Job,
    person: Person,
    *,
    trust_state: str | None = None,
    has_joint_seat: bool = True,
    counts: Record | None = None,
) -> str:
    """The same for a person who was already looked up, perhaps with trust, counts and joint seats."""
    if job.state != "open":
        return "closed"
    if person.state != "active":
        return "left"
    if trust_state is None:
        trust_state = find(tx, job.job_id, person.person_id).state
    if trust_state in OUT:
        return trust_state
    if person.kind == "program" and job.access != "assigned":
        return "program"
    if (has_joint_seat or person.kind == "joint") and _has_worked_on_other_seat(tx, job, person):
        return "seat"
    terms = terms_of(job.options)
    limit = limit_of(tx, job, counts)
    if limit and (counts.n_valid if counts else n_valid(tx, job.job_id, person.person_id)) >= limit:
        return "limit"
    if asks_about(job, terms, person):
        return "about"
    return "" if is_fit(tx, terms, person) else "unqualified"


def _has_worked_on_other_seat(tx: Tx, job: Job, person: Person) -> bool:
    """Whether the same human would be asked twice: alone and on a joint seat."""
    seats = people.members(tx, person.person_id) if person.kind == "joint" else ()
    seats = seats or people.seat_ids(tx, person.person_id)
    return any(n_sent(tx, job.job_id, seat) or tx.value(HOLDS, job=job.job_id, person=seat) for seat in seats)


def asks_about(job: Job, terms: Terms, person: Person) -> bool:
    """Whether the job needs facts or consent that the person has not given yet."""
    if lacks_consent(terms, person) or open_questions(job, terms, person, BEFORE):
        return True
    wants_country = bool(terms.countries) and not person.payload.get("country")
    return wants_country or (bool(terms.languages) and not person.payload.get("languages"))


def lacks_consent(terms: Terms, person: Person) -> bool:
    agreed = person.payload.get(CONSENTS)
    known = agreed if isinstance(agreed, Mapping) else {}
    return bool(terms.consent) and person.kind != "program" and terms.consent not in known


def open_questions(job: Job, terms: Terms, person: Person, when: str) -> tuple[str, ...]:
    """The questions before or after the work that the person has not seen yet; leaving one empty answers it."""
    asked = terms.questions_before if when == BEFORE else terms.questions_after
    return asked if person.kind != "program" and when not in _stored_answers(person).get(job.job_id, {}) else ()


def _stored_answers(person: Person) -> dict[str, dict[str, dict[str, str]]]:
    """By job and `before` or `after`, the answers to its questions."""
    stored: Any = person.payload.get(QUESTIONS) or {}
    return {job_id: dict(given) for job_id, given in stored.items()}


def answer_questions(tx: Tx, job: Job, person_id: str, when: str, answers: Sequence[str]) -> None:
    """Store a person's answers to the questions before or after the work, in order; empty ones are dropped."""
    person = people.lock(tx, person_id)
    questions = open_questions(job, terms_of(job.options), person, when)
    if not questions:
        return
    stored = _stored_answers(person)
    given = {question.partition("|")[0].strip(): text for question, text in zip(questions, answers, strict=False)}
    stored.setdefault(job.job_id, {})[when] = {question: text for question, text in given.items() if text}
    payload = {**person.payload, QUESTIONS: stored}
    tx.execute(schema.people.update().where(schema.people.c.person_id == person_id).values(payload=payload))
    events.write(tx, person_id, "person.about", person_id, {"job_id": job.job_id, "questions": when})


def all_answers(tx: Tx, called: Mapping[str, str]) -> Iterator[Mapping[str, Json]]:
    """Every answer to a question before or after the work, by the rater's displayed name."""
    names = {job.job_id: job.name for job in jobs.all(tx)}
    for person in people.all(tx):
        for job_id, by_time in _stored_answers(person).items():
            for when in (BEFORE, AFTER) if job_id in names else ():
                given = by_time.get(when, {})
                asked = {"job": names[job_id], "rater": called[person.person_id], "when": when}
                yield from ({**asked, "question": question, "answer": text} for question, text in given.items())


def is_fit(tx: Tx, terms: Terms, person: Person) -> bool:
    """Whether country, languages and earlier work meet the job's requirements."""
    country, languages = person.payload.get("country"), person.payload.get("languages") or ()
    if terms.countries and _plain(country) not in map(_plain, terms.countries):
        return False
    spoken = set(map(_plain, languages)) if isinstance(languages, Iterable) else set()
    if terms.languages and not spoken & set(map(_plain, terms.languages)):
        return False
    return all(_is_qualified(tx, qualification, person.person_id) for qualification in terms.qualifications)


QUESTIONS, BEFORE, AFTER = "answers", "before", "after"
"""The key of a person's payload with their answers to a job's own questions, and when those were asked."""

CONSENTS = "consents"
"""The key of a person's payload with the information that they agreed to, by its version, and when."""


def say_about(
    tx: Tx, person_id: str, *, country: str = "", languages: Iterable[str] = (), consent: str = ""
) -> Person:
    """Store a person's facts about themselves; asked once, so that nobody can try until they fit.

    `consent` is the version of the information that they agree to.
    """
    person = people.lock(tx, person_id)
    answers: dict[str, Json] = {"country": country, "languages": list(languages)}
    payload = {**answers, **{name: value for name, value in person.payload.items() if value}}
    if consent:
        agreed = payload.get(CONSENTS)
        payload[CONSENTS] = {consent: tx.now, **(agreed if isinstance(agreed, Mapping) else {})}
    tx.execute(schema.people.update().where(schema.people.c.person_id == person_id).values(payload=payload))
    events.write(tx, person_id, "person.about", person_id, {"consent": consent} if consent else {})
    return people.get(tx, person_id)


def _is_qualified(tx: Tx, wanted: Qualification, person_id: str) -> bool:
    job_id = tx.value(select(schema.jobs.c.job_id).where(schema.jobs.c.name == wanted.job))
    if job_id is None:
        return False
    theirs = (schema.submissions.c.job_id == job_id) & (schema.submissions.c.person_id == person_id)
    query = select(func.count()).join(schema.units, UNIT.unit_id == schema.submissions.c.unit_id)
    n_valid = tx.value(query.where(theirs, schema.submissions.c.status == "valid", UNIT.role == "work"))
    gold = find(tx, job_id, person_id)
    is_right = not wanted.accuracy or (gold.seen > 0 and gold.right >= wanted.accuracy * gold.seen)
    return int(n_valid or 0) >= wanted.judgments and is_right


def _plain(word: object) -> str:
    return str(word or "").strip().casefold()
