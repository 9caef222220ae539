"""A crowd job at a glance by the API, and programs as raters."""

from __future__ import annotations

from grater.server.api.calls import Body, Name, calls_about, example
from grater.server.api.money import Costs, costs_json
from grater.server.api.shapes import Interval, Shape, When
from grater.server.api.talk import Message
from grater.server.api.terms import Terms, told_terms
from grater.server.pages.crowd_live import pace_of, scores_so_far
from grater.server.visit import Visiting
from grater.store import gold_states, jobs, judgments, messages, people, progress, reviews, tokens, trust
from grater.store.clock import from_iso
from grater.study.crowd_programs import program_job
from grater.study.crowd_protocol import protocol_sheet

router = calls_about("crowd")


class RaterStanding(Shape):
    """A rater by pseudonym; `seen` and `right` count gold."""

    rater: str
    state: str
    seen: int
    right: int


class GoldStanding(Shape):
    unit_id: str
    state: str
    seen: int
    missed: int


class Score(Shape):
    """A system so far, on `n` judged items."""

    system: str
    n: int
    precision: Interval
    recall: Interval


class Pace(Shape):
    """Judgments an hour of late, and the hours left at that pace."""

    an_hour: float
    hours_left: float


class Review(Shape):
    pseudonym: str
    stars: int | None
    clear: int | None
    text: str
    at: When


class Crowd(Shape):
    """`scores` are for the whole corpus where a `sample` of it is judged, else on the judged items.

    `unread` is what raters wrote and nobody has read.
    """

    terms: Terms
    raters: list[RaterStanding]
    gold: list[GoldStanding]
    costs: Costs
    protocol: dict[str, str]
    sample: str
    scores: list[Score]
    pace: Pace | None
    reviews: list[Review]
    unread: list[Message]


class NewProgram(Body):
    model_config = example(name="my-model")
    name: Name


class Program(Shape):
    """`token` is told this once; the program works with it in its own job, `job_id`."""

    job_id: str
    job: str
    person_id: str
    token: str


@router.get("/jobs/{job_id}/crowd", response_model_exclude_unset=True)
def crowd(visit: Visiting, job_id: str) -> Crowd:
    """A running job at a glance: terms, raters, gold, costs, scores so far, pace, reviews, protocol sheet."""
    with visit.server.store.read() as tx:
        job = jobs.the(tx, job_id)
        names = {person.person_id: person.pseudonym for person in people.all(tx)}
        raters = [
            RaterStanding(rater=names[each.person_id], state=each.state, seen=each.seen, right=each.right)
            for each in trust.of_job(tx, job_id)
        ]
        known = [GoldStanding.of(each) for each in gold_states.of_job(tx, job_id)]
        sample, scores = scores_so_far(tx, job)
        times = [from_iso(str(row["at"])) for row in judgments.table(tx, job_id, payload=False)]
        pace = pace_of(progress.of_job(tx, job_id), times)
        return Crowd(
            terms=told_terms(job),
            raters=raters,
            gold=known,
            costs=costs_json(tx, job),
            protocol=dict(protocol_sheet(tx, job)),
            sample=sample,
            scores=[Score.of(each) for each in scores],
            pace=Pace.of(pace) if pace else None,
            reviews=[Review.of(each) for each in reviews.of_job(tx, job_id)],
            unread=[Message.of(each) for each in messages.unread(tx)],
        )


@router.post("/jobs/{job_id}/programs")
def new_program(visit: Visiting, job_id: str, sent: NewProgram) -> Program:
    """A program as a rater: its own job beside the people's, and a token, told this once."""
    with visit.server.store.write() as tx:
        job, person = program_job(tx, jobs.the(tx, job_id), sent.name, actor=visit.person.person_id)
        token = tokens.make(tx, person.person_id, name="program", actor=visit.person.person_id)
    return Program(job_id=job.job_id, job=job.name, person_id=person.person_id, token=token)
