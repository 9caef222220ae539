"""Communication between raters and managers: messages, reviews, facts about oneself, missed questions.

A message without a recipient goes to every rater of its job, or, from a rater, to the study's managers (T,C&M 2013,
7.2, recommend such a channel). A review, during or after a job, has stars, a text, and a rating of the instructions'
clarity (T,C&M 2013, 7.1). Raters see the questions with known answers that they missed, with the reasons, and may
dispute each once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal, Self, TypeAlias

from pydantic import Field, StringConstraints, model_validator
from sqlalchemy import ColumnElement, or_, select

from grater.annotate import gold, jobs, judgments, standing, trust, units
from grater.annotate.gold import Gold
from grater.annotate.jobs import Job
from grater.annotate.raters import best, rater_lines
from grater.annotate.requests import Body, Moment, example
from grater.annotate.store import Tx, events, schema
from grater.annotate.store.transaction import Columns, new_id
from grater.annotate.tasks import Answer, Shown
from grater.annotate.trust import Dispute
from grater.annotate.units import StudyUnit
from grater.annotate.work import shown_to_staff

STAFF = ("owner", "manager")


@dataclass(frozen=True, slots=True)
class Message:
    """`to_id` is None for a message to all raters, or from a rater to those who run the study."""

    message_id: str
    job_id: str | None
    from_id: str
    to_id: str | None
    text: str
    at: Moment
    read_at: Moment | None
    name: str = ""
    role: str = ""


@dataclass(frozen=True, slots=True)
class Review:
    """`clear` is the answer to the pilot question, 1 to 5, if the job asks one."""

    pseudonym: str
    stars: int | None
    clear: int | None
    text: str
    at: Moment


COLUMNS = Columns(Message, schema.messages, without=["name", "role"])
MESSAGES = select(*COLUMNS, schema.people.c.name, schema.people.c.role).join(
    schema.people, schema.people.c.person_id == schema.messages.c.from_id
)


Text: TypeAlias = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=5000)]


class NewMessage(Body):
    model_config = example(text="May the target be a name?")
    text: Text


class NewRaterMessage(Body):
    """To `all` raters of the job, or to the `best`, who can be invited to another job (`job_id`)."""

    model_config = example(to="all", text="The instructions have a new example.")
    to: Literal["all", "best"]
    text: Text
    job_id: str | None = Field(None, min_length=1, max_length=100)


class NewReview(Body):
    """`clear` answers the pilot question of how clear the instructions are."""

    model_config = example(stars=4, clear=5, text="Good fun.")
    stars: int | None = Field(None, ge=1, le=5)
    clear: int | None = Field(None, ge=1, le=5)
    text: str = Field("", max_length=2000)

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if self.stars is None and self.clear is None and not self.text.strip():
            raise ValueError("expected stars, an answer or a few words, found nothing")
        return self


Fact: TypeAlias = Annotated[str, StringConstraints(max_length=200)]


class AboutYou(Body):
    model_config = example(country="Norway", languages=["Norwegian", "English"])
    country: Fact = ""
    consent: bool = Field(False, description="You have read the information of the job and agree to it.")
    languages: tuple[Fact, ...] = Field((), max_length=20)
    when: Literal["before", "after"] = Field("before", description="Whether `answers` are about before or after.")
    answers: tuple[Annotated[str, StringConstraints(strip_whitespace=True, max_length=2000)], ...] = Field(
        (), max_length=20, description="To the questions of the job, in their order; empty where there is none."
    )


def send(tx: Tx, *, from_id: str, text: str, to_id: str | None = None, job_id: str | None = None) -> str:
    message = Message(new_id(), job_id, from_id, to_id, text, tx.now, None)
    tx.insert(schema.messages, COLUMNS.row(message))
    events.write(tx, from_id, "message.sent", message.message_id, {"job_id": job_id})
    return message.message_id


def send_to_staff(tx: Tx, job_id: str, text: str, *, person_id: str) -> str:
    """Send a rater's message to the study's managers and return its id; messages to the rater count as read."""
    jobs.visible(tx, job_id)
    message_id = send(tx, from_id=person_id, job_id=job_id, text=text)
    _read(tx, schema.messages.c.to_id == person_id)
    return message_id


def send_to_rater(tx: Tx, job: Job, person_id: str, text: str, *, actor: str) -> None:
    """Send a message to one rater; the rater's own messages count as read."""
    send(tx, from_id=actor, to_id=person_id, job_id=job.job_id, text=text)
    _read(tx, schema.messages.c.from_id == person_id)


def send_to_best(tx: Tx, job: Job, text: str, *, actor: str) -> int:
    """Send a message to each of the best raters; return the number of messages."""
    lines = best(rater_lines(tx, job))
    for line in lines:
        send(tx, from_id=actor, to_id=line.person.person_id, job_id=job.job_id, text=text)
    return len(lines)


def _read(tx: Tx, those: ColumnElement[bool]) -> None:
    tx.execute(schema.messages.update().where(those, schema.messages.c.read_at.is_(None)).values(read_at=tx.now))


def of_rater(tx: Tx, person_id: str) -> list[Message]:
    """A rater's messages and those to them or to all, newest first."""
    to_all = schema.messages.c.to_id.is_(None) & schema.people.c.role.in_(STAFF)
    mine = or_(schema.messages.c.from_id == person_id, schema.messages.c.to_id == person_id, to_all)
    return _messages(tx, mine, schema.messages.c.at.desc())


def with_rater(tx: Tx, person_id: str) -> list[Message]:
    """The messages from and to one rater, oldest first."""
    return _messages(tx, or_(schema.messages.c.from_id == person_id, schema.messages.c.to_id == person_id))


def unread(tx: Tx, job_id: str) -> list[Message]:
    """Raters' messages about a job that no manager has read yet."""
    of = schema.messages.c
    from_raters = of.to_id.is_(None) & schema.people.c.role.not_in(STAFF)
    return _messages(tx, from_raters & of.read_at.is_(None) & (of.job_id == job_id))


def _messages(tx: Tx, those: ColumnElement[bool], at: ColumnElement[int] = schema.messages.c.at) -> list[Message]:
    query = MESSAGES.where(those).order_by(at, schema.messages.c.message_id)
    return [Message(**row._mapping) for row in tx.all(query)]


def review_job(tx: Tx, job_id: str, sent: NewReview, *, person_id: str) -> None:
    """Add a review; a rater may write several, and all are kept."""
    jobs.visible(tx, job_id)
    row = {"review_id": new_id(), "job_id": job_id, "person_id": person_id, "stars": sent.stars, "at": tx.now}
    payload = {} if sent.clear is None else {"clear": sent.clear}
    tx.insert(schema.reviews, row | {"text": sent.text.strip(), "payload": payload})
    events.write(tx, person_id, "review.written", job_id)


def reviews_of_job(tx: Tx, job_id: str) -> list[Review]:
    """The reviews of a job, newest first, by pseudonym."""
    query = select(schema.people.c.pseudonym, schema.reviews).join(schema.people)
    query = query.where(schema.reviews.c.job_id == job_id)
    return [
        Review(pseudonym=row.pseudonym, stars=row.stars, clear=row.payload.get("clear"), text=row.text, at=row.at)
        for row in tx.all(query.order_by(schema.reviews.c.at.desc(), schema.reviews.c.review_id))
    ]


@dataclass(frozen=True, slots=True)
class Missed:
    """A question with a known answer that the rater missed, and the dispute about it, if any."""

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
    own = trust.disputes_of_person(tx, person_id)
    return [
        Missed(
            submission_id=each.submission_id,
            unit=units.get(tx, each.unit_id),
            shown=shown_to_staff(tx, each.unit_id),
            answers=judgments.answers_of(tx, each.submission_id),
            known=tuple(gold.of_unit(tx, each.unit_id)),
            dispute=own.get(each.submission_id),
        )
        for each in standing.gold_answers(tx, job.job_id, person_id)
        if not each.is_right
    ]
