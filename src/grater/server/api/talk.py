"""A rater's side of a crowd job by the API: missed questions, disputes, messages, a review, facts about oneself."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from grater.server.api.calls import Body, Id, calls_about, example
from grater.server.api.shapes import Answer, Shape, Shown, When
from grater.server.api.work_shapes import Known, known_json
from grater.server.pages.crowd_talk import LONGEST_FACT, Missed, missed_by, require_slow, visible_job
from grater.server.visit import Visiting
from grater.store import admission, disputes, messages, reviews

router = calls_about("talk")

Fact = Annotated[str, StringConstraints(max_length=LONGEST_FACT)]


class Dispute(Shape):
    """A rater says that a known answer is wrong; `answer` is what was said to it."""

    dispute_id: str
    submission_id: str
    person_id: str
    unit_id: str
    text: str
    state: Literal["open", "granted", "refused"]
    answer: str
    at: When
    decided_at: When | None


class MissedQuestion(Shape):
    """A question with a known answer that you missed."""

    submission_id: str
    shown: Shown
    answers: list[Answer]
    known: list[Known]
    dispute: Dispute | None


class MissedQuestions(Shape):
    missed: list[MissedQuestion]


class NewDispute(Body):
    model_config = example(submission_id="my-program-000017", text="The writer may mean this.")
    submission_id: Id
    text: Annotated[str, StringConstraints(min_length=1, max_length=disputes.LONGEST)]


class NewMessage(Body):
    model_config = example(text="May the target be a name?")
    text: Annotated[str, StringConstraints(min_length=1, max_length=messages.LONGEST)]


class Message(Shape):
    """`to_id` is null for a message to all raters, or from a rater to whoever runs the study."""

    message_id: str
    job_id: str | None
    from_id: str
    to_id: str | None
    name: str = Field(description="Who wrote it.")
    text: str
    at: When
    read_at: When | None


class Messages(Shape):
    messages: list[Message]


class SentMessage(Shape):
    message_id: str


class NewReview(Body):
    """`clear` answers the question of the pilot, how clear the instructions are."""

    model_config = example(stars=4, clear=5, text="Good fun.")
    stars: int | None = Field(default=None, ge=1, le=5)
    clear: int | None = Field(default=None, ge=1, le=5)
    text: Annotated[str, StringConstraints(max_length=reviews.LONGEST)] = ""


class AboutYou(Body):
    model_config = example(country="Norway", languages=["Norwegian", "English"])
    country: Fact = ""
    languages: Annotated[tuple[Fact, ...], Field(max_length=20)] = ()


class Stored(Shape):
    job_id: str
    stored: bool


@router.get("/jobs/{job_id}/missed")
def missed(visit: Visiting, job_id: str) -> MissedQuestions:
    """The questions with known answers that you missed in a job, with what would have been right, and why."""
    with visit.server.store.read() as tx:
        found = missed_by(tx, visible_job(tx, job_id), visit.person.person_id)
    return MissedQuestions(missed=[_missed(each) for each in found])


@router.post("/jobs/{job_id}/disputes")
def dispute(visit: Visiting, job_id: str, sent: NewDispute) -> Dispute:
    """Say that the known answer to a question that you missed is wrong; once for each."""
    with visit.server.store.write() as tx:
        visible_job(tx, job_id)
        return Dispute.of(disputes.add(tx, sent.submission_id, person_id=visit.person.person_id, text=sent.text))


@router.get("/jobs/{job_id}/messages")
def my_messages(visit: Visiting, job_id: str) -> Messages:
    """What you wrote and what was written to you or to all, the newest first; never another rater's."""
    with visit.server.store.read() as tx:
        visible_job(tx, job_id)
        return Messages(messages=[Message.of(each) for each in messages.of_rater(tx, visit.person.person_id)])


@router.post("/jobs/{job_id}/messages")
def send_message(visit: Visiting, job_id: str, sent: NewMessage) -> SentMessage:
    """Write to whoever runs the study; what was written to you counts as read."""
    require_slow(visit, "message")
    with visit.server.store.write() as tx:
        visible_job(tx, job_id)
        message_id = messages.send(tx, from_id=visit.person.person_id, job_id=job_id, text=sent.text)
        messages.read_by(tx, visit.person.person_id)
    return SentMessage(message_id=message_id)


@router.post("/jobs/{job_id}/reviews")
def review(visit: Visiting, job_id: str, sent: NewReview) -> Stored:
    """Say what you think of a job, as often as you like."""
    require_slow(visit, "review")
    with visit.server.store.write() as tx:
        visible_job(tx, job_id)
        reviews.add(tx, job_id, visit.person.person_id, **sent.model_dump())
    return Stored(job_id=job_id, stored=True)


@router.post("/jobs/{job_id}/about")
def say_about(visit: Visiting, job_id: str, sent: AboutYou) -> Stored:
    """Your country and languages, where a job asks for them before the first unit."""
    with visit.server.store.write() as tx:
        visible_job(tx, job_id)
        admission.say_about(tx, visit.person.person_id, **sent.model_dump())
    return Stored(job_id=job_id, stored=True)


def _missed(each: Missed) -> MissedQuestion:
    return MissedQuestion(
        submission_id=each.submission_id,
        shown=Shown.of(each.shown),
        answers=[Answer.of(answer) for answer in each.answers],
        known=known_json(each.known),
        dispute=Dispute.of(each.dispute) if each.dispute else None,
    )
