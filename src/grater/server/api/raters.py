"""The raters of a crowd job by the API: their signals; flag, reject, reinstate, write to them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import StringConstraints

from grater.server.api.calls import Body, Id, calls_about, example
from grater.server.api.money import Payment
from grater.server.api.shapes import Interval, Number, Shape, When
from grater.server.api.talk import Message, NewMessage
from grater.server.pages.crowd_raters import answer, line_of, write_to_best
from grater.server.visit import Visiting
from grater.store import jobs, messages, payments, standing, trust
from grater.store.clock import as_iso
from grater.study.crowd_raters import RaterLine, best, rater_lines

router = calls_about("raters")


class Signals(Shape):
    """What comes of comparing a rater with the others; `top_share` is the share of their most frequent label."""

    n: int
    n_compared: int
    with_others: Interval
    skill: Number
    top_label: str
    top_share: Number
    others_share: Number


class Rater(Shape):
    """`marks` are what to look at: quick, one answer, against the others; `on_gold` is null before any gold."""

    person_id: str
    name: str
    pseudonym: str
    state: str
    why: str
    valid: int
    untrusted: int
    surplus: int
    withdrawn: int
    last_at: When
    gold_seen: int
    gold_right: int
    on_gold: Interval | None
    seconds: float | None
    others_seconds: float | None
    marks: list[str]
    signals: Signals | None


class Raters(Shape):
    """`best` are the ids of those to ask back."""

    raters: list[Rater]
    best: list[str]


class GoldAnswer(Shape):
    submission_id: str
    unit_id: str
    is_right: bool
    is_active: bool


class WholeRater(Shape):
    rater: Rater
    gold: list[GoldAnswer]
    messages: list[Message]
    payments: list[Payment]


class NewStanding(Body):
    """`flag`: no more work, what was done stays.  `reject`: put out, judgments lose their status.  `reinstate`."""

    model_config = example(change="flag")
    change: Literal["flag", "reject", "reinstate"]


class Trust(Shape):
    job_id: str
    person_id: str
    state: str
    why: str
    seen: int
    right: int


class NewRaterMessage(Body):
    """To `all` raters of the job, or to the `best`, who may be asked to another job (`job_id`)."""

    model_config = example(to="all", text="The instructions have a new example.")
    to: Literal["all", "best"]
    text: Annotated[str, StringConstraints(min_length=1, max_length=messages.LONGEST)]
    job_id: Id | None = None


class Written(Shape):
    """How many messages were written; one to all is one."""

    messages: int


@router.get("/jobs/{job_id}/raters")
def rater_list(visit: Visiting, job_id: str) -> Raters:
    """Everybody who worked on a job, with signals that are never enough by themselves to put anybody out."""
    with visit.server.store.read() as tx:
        lines = rater_lines(tx, jobs.the(tx, job_id))
    return Raters(raters=[_told(each) for each in lines], best=[each.person.person_id for each in best(lines)])


@router.get("/jobs/{job_id}/raters/{person_id}")
def one_rater(visit: Visiting, job_id: str, person_id: str) -> WholeRater:
    """One rater: signals, answers to gold, the talk with them, payments."""
    with visit.server.store.read() as tx:
        paid = [each for each in payments.of_job(tx, job_id) if each.person_id == person_id]
        return WholeRater(
            rater=_told(line_of(tx, jobs.the(tx, job_id), person_id)),
            gold=[GoldAnswer.of(each) for each in standing.answers(tx, job_id, person_id)],
            messages=[Message.of(each) for each in messages.with_rater(tx, person_id)],
            payments=[Payment.of(each) for each in paid],
        )


@router.post("/jobs/{job_id}/raters/{person_id}/standing")
def change_standing(visit: Visiting, job_id: str, person_id: str, sent: NewStanding) -> Trust:
    """Flag, reject or reinstate a rater of a job."""
    actor = visit.person.person_id
    with visit.server.store.write() as tx:
        job = jobs.the(tx, job_id)
        if sent.change == "flag":
            standing.flag(tx, job_id, person_id, actor=actor)
        elif sent.change == "reject":
            standing.put_out(tx, job, person_id, actor=actor)
        else:
            standing.take_back(tx, job, person_id, actor=actor)
        return Trust.of(trust.find(tx, job_id, person_id))


@router.post("/jobs/{job_id}/raters/{person_id}/messages")
def write_to_rater(visit: Visiting, job_id: str, person_id: str, sent: NewMessage) -> Written:
    """Write to one rater; what they wrote counts as read."""
    with visit.server.store.write() as tx:
        answer(tx, jobs.the(tx, job_id), person_id, sent.text, actor=visit.person.person_id)
    return Written(messages=1)


@router.post("/jobs/{job_id}/raters/messages")
def write_to_raters(visit: Visiting, job_id: str, sent: NewRaterMessage) -> Written:
    """Write to all raters of a job, or to the best."""
    with visit.server.store.write() as tx:
        job = jobs.the(tx, job_id)
        if sent.to == "best":
            return Written(messages=write_to_best(tx, visit, job, sent.text, asked_to=sent.job_id or ""))
        messages.send(tx, from_id=visit.person.person_id, job_id=job_id, text=sent.text)
    return Written(messages=1)


def _told(line: RaterLine) -> Rater:
    done = line.done
    return Rater(
        person_id=line.person.person_id,
        name=line.person.name,
        pseudonym=line.person.pseudonym,
        state=line.trust.state,
        why=line.trust.why,
        valid=done.valid,
        untrusted=done.untrusted,
        surplus=done.surplus,
        withdrawn=done.withdrawn,
        last_at=as_iso(done.last_at),
        gold_seen=line.trust.seen,
        gold_right=line.trust.right,
        on_gold=Interval.of(line.on_gold) if line.on_gold else None,
        seconds=line.seconds,
        others_seconds=line.others_seconds,
        marks=list(line.marks),
        signals=Signals.of(line.signals) if line.signals else None,
    )
