"""Messages between raters and those who run a job, and raters' comments on a job.

A message to nobody in particular goes to every rater of its job, or, from a rater, to whoever runs the study: the
channel that T,C&M 2013, 7.2 asks for.  A review, during a job or after it, has stars, a text, and how clear the
instructions are (T,C&M 2013, 7.1).
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import or_, select

from grater.annotate.store import events, schema
from grater.annotate.store.ids import new_id
from grater.annotate.store.transaction import Columns, Tx
from grater.errors import BadInput, Problem

LONGEST_MESSAGE = 5000
LONGEST_REVIEW = 2000
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
    """Write a message; return its id."""
    if not 0 < len(text.strip()) <= LONGEST_MESSAGE:
        raise BadInput(
            Problem("form", f"text: expected 1 to {LONGEST_MESSAGE} characters, found {len(text.strip())}")
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
    tx.insert(schema.reviews, row | {"text": text.strip()[:LONGEST_REVIEW], "payload": payload})
    events.write(tx, person_id, "review.written", job_id)


def reviews_of_job(tx: Tx, job_id: str) -> list[Review]:
    """The reviews of a job, the newest first; their writers go by pseudonyms."""
    query = select(schema.people.c.pseudonym, schema.reviews).join(
        schema.people, schema.people.c.person_id == schema.reviews.c.person_id
    )
    query = query.where(schema.reviews.c.job_id == job_id)
    return [
        Review(
            pseudonym=row.pseudonym,
            stars=row.stars,
            clear=row.payload.get("clear"),
            text=row.text,
            at=row.at,
        )
        for row in tx.all(query.order_by(schema.reviews.c.at.desc(), schema.reviews.c.review_id))
    ]
