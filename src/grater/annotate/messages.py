"""Messages between raters and those who run a job, and raters' comments on a job.

A message to nobody in particular goes to every rater of its job, or, from a rater, to whoever runs the study: the
channel that T,C&M 2013, 7.2 asks for.  A review, during a job or after it, has stars, a text, and how clear the
instructions are (T,C&M 2013, 7.1).

What raters and those who run a job say to each other: messages, disputes about gold, reviews, facts about oneself.

T,C&M 2013, 7.2, ask for a channel between the two sides.  A rater sees the questions with known answers that they
missed, with the reasons, and may dispute each once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import or_, select

from grater.annotate import jobs, judgments, units
from grater.annotate.jobs import Job
from grater.annotate.people import Person
from grater.annotate.store import Tx, events, gold, gold_review, queue, schema, trust
from grater.annotate.store.gold import Gold
from grater.annotate.store.gold_review import Dispute
from grater.annotate.store.ids import new_id
from grater.annotate.store.transaction import Columns
from grater.annotate.study.limits import LONGEST, require_number, require_text
from grater.annotate.study.raters import best, rater_lines
from grater.annotate.study.work import shown_to_staff
from grater.annotate.tasks import Answer, Shown
from grater.annotate.units import StudyUnit
from grater.errors import BadInput, Problem

STAFF = ("owner", "manager")


@dataclass(frozen=True, slots=True)
class Message:
    message_id: str
    job_id: str | None
    from_id: str
    to_id: str | None
    text: str
    at: int
    read_at: int | None
    name: str = ""
    role: str = ""


@dataclass(frozen=True, slots=True)
class Review:
    """`clear` is the answer to the pilot question, 1 to 5, where the job asks one."""

    pseudonym: str
    stars: int | None
    clear: int | None
    text: str
    at: int


COLUMNS = Columns(Message, schema.messages, without=["name", "role"])
MESSAGES = select(*COLUMNS, schema.people.c.name, schema.people.c.role).join(
    schema.people, schema.people.c.person_id == schema.messages.c.from_id
)


def send(tx: Tx, *, from_id: str, text: str, to_id: str | None = None, job_id: str | None = None) -> str:
    if not 0 < len(text.strip()) <= LONGEST["message.text"]:
        raise BadInput(
            Problem("form", f"text: expected 1 to {LONGEST['message.text']} characters, found {len(text.strip())}")
        )
    row = {"message_id": new_id(), "job_id": job_id, "from_id": from_id, "to_id": to_id, "text": text.strip()}
    tx.insert(schema.messages, row | {"at": tx.now})
    events.write(tx, from_id, "message.sent", str(row["message_id"]), {"job_id": job_id})
    return str(row["message_id"])


def of_rater(tx: Tx, person_id: str) -> list[Message]:
    """What a rater wrote and what was written to them or to all, the newest first; never another rater's."""
    to_all = schema.messages.c.to_id.is_(None) & schema.people.c.role.in_(STAFF)
    mine = or_(schema.messages.c.from_id == person_id, schema.messages.c.to_id == person_id, to_all)
    query = MESSAGES.where(mine).order_by(schema.messages.c.at.desc(), schema.messages.c.message_id)
    return [Message(**row._mapping) for row in tx.all(query)]


def with_rater(tx: Tx, person_id: str) -> list[Message]:
    """The messages from and to one rater, the oldest first."""
    theirs = or_(schema.messages.c.from_id == person_id, schema.messages.c.to_id == person_id)
    query = MESSAGES.where(theirs).order_by(schema.messages.c.at, schema.messages.c.message_id)
    return [Message(**row._mapping) for row in tx.all(query)]


def unread(tx: Tx) -> list[Message]:
    """What raters wrote and no manager has read yet."""
    is_new = (
        schema.messages.c.to_id.is_(None) & schema.messages.c.read_at.is_(None) & schema.people.c.role.not_in(STAFF)
    )
    query = MESSAGES.where(is_new).order_by(schema.messages.c.at, schema.messages.c.message_id)
    return [Message(**row._mapping) for row in tx.all(query)]


def read_by(tx: Tx, reader_id: str, *, from_id: str | None = None) -> None:
    """The reader has seen what was sent to them, or (for staff) what one rater wrote."""
    theirs = schema.messages.c.to_id == reader_id if from_id is None else schema.messages.c.from_id == from_id
    tx.execute(schema.messages.update().where(theirs, schema.messages.c.read_at.is_(None)).values(read_at=tx.now))


def add_review(
    tx: Tx, job_id: str, person_id: str, *, stars: int | None, clear: int | None = None, text: str = ""
) -> None:
    """Add a review; a rater may write as many as they like, and every one is kept."""
    if stars is None and clear is None and not text.strip():
        raise BadInput(Problem("form", "expected stars, an answer or a few words, found nothing"))
    for number in (stars, clear):
        if number is not None and not 1 <= number <= 5:
            raise BadInput(Problem("form", f"stars: expected 1 to 5, found {number}"))
    row = {"review_id": new_id(), "job_id": job_id, "person_id": person_id, "stars": stars, "at": tx.now}
    payload = {} if clear is None else {"clear": clear}
    tx.insert(schema.reviews, row | {"text": text.strip()[: LONGEST["review.text"]], "payload": payload})
    events.write(tx, person_id, "review.written", job_id)


def reviews_of_job(tx: Tx, job_id: str) -> list[Review]:
    """The reviews of a job, the newest first; their writers go by pseudonyms."""
    query = select(schema.people.c.pseudonym, schema.reviews).join(
        schema.people, schema.people.c.person_id == schema.reviews.c.person_id
    )
    query = query.where(schema.reviews.c.job_id == job_id)
    return [
        Review(pseudonym=row.pseudonym, stars=row.stars, clear=row.payload.get("clear"), text=row.text, at=row.at)
        for row in tx.all(query.order_by(schema.reviews.c.at.desc(), schema.reviews.c.review_id))
    ]


@dataclass(frozen=True, slots=True)
class Missed:
    """A question with a known answer that the rater missed, and the dispute about it, if there is one."""

    submission_id: str
    unit: StudyUnit
    shown: Shown
    answers: tuple[Answer, ...]
    known: tuple[Gold, ...]
    dispute: Dispute | None


def missed_by(tx: Tx, job: Job, person_id: str) -> list[Missed]:
    """The questions with known answers that a rater missed in a job; none before it is closed (P5, P15)."""
    if job.state != "closed":
        return []
    own = gold_review.disputes_of_person(tx, person_id)
    return [
        Missed(
            submission_id=each.submission_id,
            unit=units.get(tx, each.unit_id),
            shown=shown_to_staff(tx, each.unit_id),
            answers=judgments.answers_of(tx, each.submission_id),
            known=tuple(gold.of_unit(tx, each.unit_id)),
            dispute=own.get(each.submission_id),
        )
        for each in trust.gold_answers(tx, job.job_id, person_id)
        if not each.is_right
    ]


def write_to_staff(tx: Tx, job_id: str, text: str, *, person_id: str) -> str:
    """A rater's message to whoever runs the study; what was written to the rater counts as read.  Returns its id."""
    jobs.visible(tx, job_id)
    message_id = send(tx, from_id=person_id, job_id=job_id, text=text)
    read_by(tx, person_id)
    return message_id


def write_to_rater(tx: Tx, job: Job, person_id: str, text: str, *, actor: str) -> None:
    """A message to one rater; what they wrote counts as read."""
    send(tx, from_id=actor, to_id=person_id, job_id=job.job_id, text=text)
    read_by(tx, actor, from_id=person_id)


def write_to_all(tx: Tx, job: Job, text: str, *, actor: str) -> int:
    """One message to all raters of a job; returns the number of messages, which is 1."""
    send(tx, from_id=actor, job_id=job.job_id, text=text)
    return 1


def write_to_best(tx: Tx, job: Job, text: str, *, link: str = "", actor: str) -> int:
    """A message to each of the best raters, with the link of another job; returns the number of messages."""
    lines = best(rater_lines(tx, job))
    for line in lines:
        full_text = f"{text}\n{link}" if link else text
        send(tx, from_id=actor, to_id=line.person.person_id, job_id=job.job_id, text=full_text)
    return len(lines)


def decide_dispute(tx: Tx, dispute_id: str, *, is_granted: bool, answer: str, actor: str) -> Dispute:
    """Grant a dispute, which forgives the gold and settles every dispute about it, or refuse it with an answer."""
    require_text("dispute.answer", answer)
    return gold_review.decide_dispute(tx, dispute_id, is_granted=is_granted, answer=answer, actor=actor)


def review_job(tx: Tx, job_id: str, *, person_id: str, stars: int | None, clear: int | None, text: str = "") -> None:
    """A rater's review of a job: stars, how clear the guidelines are, and a text."""
    jobs.visible(tx, job_id)
    require_number("review.stars", stars)
    require_number("review.clear", clear)
    require_text("review.text", text)
    add_review(tx, job_id, person_id, stars=stars, clear=clear, text=text)


def say_about_oneself(tx: Tx, job_id: str, *, person_id: str, country: str, languages: Sequence[str]) -> Person:
    """Country and languages of a rater, where a job asks for them."""
    jobs.visible(tx, job_id)
    require_text("about.country", country)
    require_text("about.languages", ", ".join(languages))
    return queue.say_about(tx, person_id, country=country, languages=languages)
