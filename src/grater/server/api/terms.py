"""The terms of a crowd job by the API (docs/crowd-jobs.md): gold, redundancy, pay, hours, limits, who may work."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from grater.crowd.pay import Policy
from grater.crowd.terms import PAGE, terms_json, terms_of
from grater.server.api.calls import Body, calls_about, example
from grater.server.api.shapes import Shape
from grater.server.pages.crowd_terms import MOST, odds_for
from grater.server.visit import Visiting
from grater.store import jobs, units
from grater.study.crowd_terms import set_terms

router = calls_about("crowd")


class GoldTerms(Body):
    """Raters below the `minimum` on gold are put out, from `least_seen` on, where that is `sure`."""

    minimum: float = 0.7
    least_seen: int = 4
    quiz: int = 0
    attempts: int = 1
    sure: float = 0.0


class RedundancyTerms(Body):
    """From `least` to `most` judgments a unit, until one answer leads by `lead`."""

    least: int
    most: int
    lead: int = 1


class PayTerms(Body):
    """`cents` a unit; `least_hourly` in cents, to warn below."""

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
    """So many judgments in another job, by its name, at least so right on its gold."""

    job: str
    judgments: int = 1
    accuracy: float = 0.0


class Terms(Body):
    """What is as by default is not named."""

    model_config = example(pay={"cents": 7, "currency": "EUR"}, limit=200, languages=["English"])
    page: int | None = Field(default=PAGE, description="Units to a page; gold is hidden among them.")
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
    least_seen: int = Field(default=4, ge=1, le=1000)
    quiz: int = Field(default=0, ge=0, le=1000)
    attempts: int = Field(default=1, ge=1, le=100)


class NewPayTerms(PayTerms):
    cents: int = Field(ge=0, le=MOST)
    least_hourly: int = Field(default=0, ge=0, le=MOST)


class NewTerms(Terms):
    """What is not named is left as it is; null takes it away."""

    page: Annotated[int, Field(ge=2, le=200)] | None = PAGE
    gold: NewGoldTerms | None = None
    pay: NewPayTerms | None = None
    limit: Annotated[int, Field(ge=0, le=MOST)] | None = 0
    pool: Annotated[int, Field(ge=0, le=MOST)] | None = 0


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
def job_terms(visit: Visiting, job_id: str) -> JobTerms:
    """The terms of a job, and what its rule of gold does to good and bad raters."""
    with visit.server.store.read() as tx:
        return _told(jobs.the(tx, job_id), len(units.ids_of_job(tx, job_id, role="gold")))


@router.post("/jobs/{job_id}/terms", response_model_exclude_unset=True)
def change_terms(visit: Visiting, job_id: str, sent: NewTerms) -> JobTerms:
    """Change some terms and keep the others; null takes one away."""
    with visit.server.store.write() as tx:
        found = sent.model_dump(exclude_unset=True)
        job = set_terms(tx, job_id, found, actor=visit.person.person_id)
        return _told(job, len(units.ids_of_job(tx, job_id, role="gold")))


def told_terms(job: jobs.Job) -> Terms:
    return Terms.model_validate(terms_json(terms_of(job.options)))


def _told(job: jobs.Job, n_gold: int) -> JobTerms:
    odds = odds_for(terms_of(job.options), n_gold)
    told = [Odds(skill=skill, fails_quiz=each.fails_quiz, out=each.out, met=each.met) for skill, each in odds]
    return JobTerms(terms=told_terms(job), odds=told)
