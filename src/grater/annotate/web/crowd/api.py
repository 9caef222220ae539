"""A crowd job through the API: at a glance, its terms (docs/crowd-jobs.md), and programs as raters.

The terms are gold, redundancy, pay, hours, limits, and who may work.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from grater.annotate.pay import Policy
from grater.annotate.store import gold_review, jobs, messages, people, progress, trust, units
from grater.annotate.study.evaluation import scores_so_far
from grater.annotate.study.live import pace_now
from grater.annotate.study.people import make_token
from grater.annotate.study.programs import program_job
from grater.annotate.study.terms import odds_for, protocol_fields, set_terms
from grater.annotate.terms import PAGE, terms_json, terms_of
from grater.annotate.web.calls import Body, Interval, Name, Shape, When, calls_about, example, within
from grater.annotate.web.context import Context
from grater.annotate.web.money.api import Costs, costs_json
from grater.annotate.web.raters.api import Message

router = calls_about("crowd")


class GoldTerms(Body):
    """Raters below the `minimum` on gold are ejected, from `least_seen` on, where that is `sure`."""

    minimum: float = 0.7
    least_seen: int = 4
    quiz: int = 0
    attempts: int = 1
    sure: float = 0.0


class RedundancyTerms(Body):
    """From `least` to `most` judgments per unit, until one answer leads by `lead`."""

    least: int
    most: int
    lead: int = 1


class PayTerms(Body):
    """`cents` per unit; `least_hourly` in cents, to warn below."""

    cents: int
    currency: str = "EUR"
    policy: Policy = "all"
    least_hourly: int = 0


class OpeningTerms(Body):
    """UTC; 0 is Monday."""

    days: tuple[int, ...] = tuple(range(7))
    from_hour: int = 0
    to_hour: int = 24


class QualificationTerms(Body):
    """A number of judgments in another job, by its name, with at least this accuracy on its gold."""

    job: str
    judgments: int = 1
    accuracy: float = 0.0


class Terms(Body):
    """What is as by default is not named."""

    model_config = example(pay={"cents": 7, "currency": "EUR"}, limit=200, languages=["English"])
    page: int | None = Field(default=PAGE, description="Units per page; gold is hidden among them.")
    gold: GoldTerms | None = None
    redundancy: RedundancyTerms | None = None
    pay: PayTerms | None = None
    opening: OpeningTerms | None = None
    limit: int | None = Field(default=0, description="Units that a rater may do, 0 for any number.")
    qualifications: tuple[QualificationTerms, ...] | None = ()
    countries: tuple[str, ...] | None = ()
    languages: tuple[str, ...] | None = ()
    pilot: str | None = Field(default="", description="A question on how clear the instructions are.")
    pool: int | None = Field(default=0, description="How many raters are expected.")


class NewGoldTerms(GoldTerms):
    minimum: Annotated[float, within("terms.gold.minimum")] = 0.7
    least_seen: Annotated[int, within("terms.gold.least_seen")] = 4
    quiz: Annotated[int, within("terms.gold.quiz")] = 0
    attempts: Annotated[int, within("terms.gold.attempts")] = 1
    sure: Annotated[float, within("terms.gold.sure")] = 0.0


class NewRedundancyTerms(RedundancyTerms):
    least: Annotated[int, within("terms.redundancy.least")]
    most: Annotated[int, within("terms.redundancy.most")]
    lead: Annotated[int, within("terms.redundancy.lead")] = 1


class NewPayTerms(PayTerms):
    cents: Annotated[int, within("terms.pay.cents")]
    least_hourly: Annotated[int, within("terms.pay.least_hourly")] = 0


class NewTerms(Terms):
    """What is not named is left as it is; null takes it away."""

    page: Annotated[int, within("terms.page")] | None = PAGE
    gold: NewGoldTerms | None = None
    redundancy: NewRedundancyTerms | None = None
    pay: NewPayTerms | None = None
    limit: Annotated[int, within("terms.limit")] | None = 0
    pool: Annotated[int, within("terms.pool")] | None = 0


class Odds(Shape):
    """What the rule of gold does to a rater who is right on this share of gold (`skill`)."""

    skill: float
    fails_quiz: float
    out: float
    met: float


class JobTerms(Shape):
    terms: Terms
    odds: list[Odds]


@router.get("/jobs/{job_id}/terms", response_model_exclude_unset=True)
def job_terms(context: Context, job_id: str) -> JobTerms:
    """The terms of a job, and what its gold rule does to good and bad raters."""
    with context.server.store.read() as tx:
        return _job_terms(jobs.get(tx, job_id), len(units.ids_of_job(tx, job_id, role="gold")))


@router.post("/jobs/{job_id}/terms", response_model_exclude_unset=True)
def change_terms(context: Context, job_id: str, sent: NewTerms) -> JobTerms:
    """Change some terms and keep the others; null removes one."""
    with context.changing() as tx:
        changed = sent.model_dump(exclude_unset=True)
        job = set_terms(tx, job_id, changed, actor=context.person.person_id)
        return _job_terms(job, len(units.ids_of_job(tx, job_id, role="gold")))


def whole_terms(job: jobs.Job) -> Terms:
    return Terms.model_validate(terms_json(terms_of(job.options)))


def _job_terms(job: jobs.Job, n_gold: int) -> JobTerms:
    odds = odds_for(terms_of(job.options), n_gold)
    shown_odds = [Odds(skill=skill, fails_quiz=odd.fails_quiz, out=odd.out, met=odd.met) for skill, odd in odds]
    return JobTerms(terms=whole_terms(job), odds=shown_odds)


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

    `scope` says in words what their intervals speak of; `unread` is what raters wrote and nobody has read.
    """

    terms: Terms
    raters: list[RaterStanding]
    gold: list[GoldStanding]
    costs: Costs
    protocol: dict[str, str]
    sample: str
    scores: list[Score]
    scope: str
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
def crowd(context: Context, job_id: str) -> Crowd:
    """The dashboard of a job: terms, raters, gold, costs, scores, pace, reviews, protocol."""
    with context.server.store.read() as tx:
        job = jobs.get(tx, job_id)
        names = {person.person_id: person.pseudonym for person in people.all(tx)}
        raters = [
            RaterStanding(rater=names[rater.person_id], state=rater.state, seen=rater.seen, right=rater.right)
            for rater in trust.of_job(tx, job_id)
        ]
        known = [GoldStanding.of(record) for record in gold_review.of_job(tx, job_id)]
        scores = scores_so_far(tx, job)
        pace = pace_now(tx, job, progress.counts_of(tx, job_id))
        return Crowd(
            terms=whole_terms(job),
            raters=raters,
            gold=known,
            costs=costs_json(tx, job),
            protocol=protocol_fields(tx, job),
            sample=scores.sample,
            scores=[Score.of(line) for line in scores.systems],
            scope=scores.words,
            pace=Pace.of(pace) if pace else None,
            reviews=[Review.of(review) for review in messages.reviews_of_job(tx, job_id)],
            unread=[Message.of(message) for message in messages.unread(tx)],
        )


@router.post("/jobs/{job_id}/programs")
def new_program(context: Context, job_id: str, sent: NewProgram) -> Program:
    """Add a program as a rater: creates its own job and a token, shown only once."""
    with context.changing() as tx:
        job, person = program_job(tx, jobs.get(tx, job_id), sent.name, actor=context.person.person_id)
        made_by = context.access.human_id if context.access else None
        token = make_token(
            tx, person.person_id, name="program", scope="work", made_by=made_by, actor=context.person.person_id
        )
    return Program(job_id=job.job_id, job=job.name, person_id=person.person_id, token=token)
