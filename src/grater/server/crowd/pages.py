"""A running job at a glance: progress, agreement, precision and recall so far, cost, time left, trouble.

The terms of a job as a form: gold, redundancy, pay, hours, limits, who may take part.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fastapi import APIRouter
from starlette.responses import Response

from grater.agreement.summary import Agreement, Options, agreement
from grater.crowd.pay import POLICIES
from grater.crowd.terms import DAYS, terms_of
from grater.errors import BadInput, Conflict, GraterError, NotFound, UsageError
from grater.model import Json
from grater.server.context import Context, RequestContext, decimal_of, number_of
from grater.server.errors import lines_of
from grater.server.jobs.live import by_people
from grater.store import gold_review, jobs, judgments, messages, progress, trust, units
from grater.store.clock import from_iso
from grater.study.corpus import TASK as MARKING
from grater.study.evaluation import RESAMPLES, scores_so_far
from grater.study.limits import MOST_UNITS_A_RATER
from grater.study.money import job_costs
from grater.study.status import pace_of
from grater.study.tables import redundancy_of
from grater.study.terms import odds_for, protocol_sheet, set_terms

router = APIRouter()


@router.get("/manage/jobs/{job_id}/crowd")
def crowd_page(visit: Context, job_id: str) -> Response:
    with visit.server.store.read() as tx:
        job = jobs.get(tx, job_id)
        far = progress.of_job(tx, job_id)
        rows = judgments.table(tx, job_id, payload=False)
        sample, scores = scores_so_far(tx, job)
        shown = {
            "job": job,
            "far": far,
            "sample": sample,
            "scores": scores,
            "costs": job_costs(tx, job),
            "trouble": [each for each in gold_review.of_job(tx, job_id) if each.is_trouble],
            "standing": trust.of_job(tx, job_id),
            "reviews": messages.reviews_of_job(tx, job_id),
            "unread": messages.unread(tx),
            "protocol": protocol_sheet(tx, job),
        }
    is_marking = job.task == MARKING  # all say that an essay is marked; where and how is another page
    found = None if is_marking else agreement_so_far(rows, name=job.name, first=redundancy_of([job]))
    pace = pace_of(far, [from_iso(str(row["at"])) for row in rows])
    return visit.page("crowd_live.html", shown, agreement=found, pace=pace)


def agreement_so_far(rows: Sequence[Mapping[str, Json]], *, name: str, first: int = 0) -> Agreement | None:
    """How far people agree on the labels; None where nothing can be compared yet."""
    said = by_people(rows, name=name, first=first)
    try:
        return agreement(said, Options(n_resamples=RESAMPLES, most_raters=0)) if len(said) else None
    except GraterError:
        return None


@router.get("/manage/jobs/{job_id}/terms")
def terms_page(visit: Context, job_id: str) -> Response:
    return _page(visit, job_id, problems=[])


@router.post("/manage/jobs/{job_id}/terms")
def new_terms(visit: Context, job_id: str) -> Response:
    try:
        found = terms_from(visit)
        with visit.server.store.write() as tx:
            set_terms(tx, job_id, found, actor=visit.person.person_id)
    except (BadInput, Conflict, NotFound, UsageError) as error:
        return _page(visit, job_id, problems=lines_of(error))
    return visit.go(f"/manage/jobs/{job_id}/terms")


def terms_from(visit: RequestContext) -> dict[str, Json]:
    """The terms that a filled form asks for; what is left empty is taken away."""
    return {
        "page": number_of(visit, "page", 10, least=2, most=200),
        "gold": _gold(visit),
        "redundancy": _redundancy(visit),
        "pay": _pay(visit),
        "opening": _opening(visit),
        "limit": number_of(visit, "limit", 0, least=0, most=MOST_UNITS_A_RATER),
        "countries": _words(visit, "countries"),
        "languages": _words(visit, "languages"),
        "qualifications": _qualifications(visit),
        "pilot": visit.text("pilot")[:500],
        "pool": number_of(visit, "pool", 0, least=0, most=MOST_UNITS_A_RATER),
    }


def _gold(visit: RequestContext) -> Json:
    if not visit.text("minimum"):
        return None
    return {
        "minimum": decimal_of(visit, "minimum", 0.7, most=1),
        "least_seen": number_of(visit, "least_seen", 4, most=1000),
        "quiz": number_of(visit, "quiz", 0, least=0, most=1000),
        "attempts": number_of(visit, "attempts", 1, most=100),
        "sure": decimal_of(visit, "sure", 0.0, most=1),
    }


def _redundancy(visit: RequestContext) -> Json:
    if not visit.text("least"):
        return None
    least = number_of(visit, "least", 1, most=100)
    return {
        "least": least,
        "most": number_of(visit, "most", least, most=100),
        "lead": number_of(visit, "lead", 1, most=100),
    }


def _pay(visit: RequestContext) -> Json:
    if not visit.text("cents"):
        return None
    return {
        "cents": number_of(visit, "cents", 0, least=0, most=MOST_UNITS_A_RATER),
        "currency": visit.text("currency").upper() or "EUR",
        "policy": visit.text("policy") or "all",
        "least_hourly": number_of(visit, "least_hourly", 0, least=0, most=MOST_UNITS_A_RATER),
    }


def _opening(visit: RequestContext) -> Json:
    days = [day for day, name in enumerate(DAYS) if name in visit.fields().get("days", ())]
    if not visit.text("from_hour") and not visit.text("to_hour") and not days:
        return None
    return {
        "days": days or list(range(7)),
        "from_hour": number_of(visit, "from_hour", 0, least=0, most=23),
        "to_hour": number_of(visit, "to_hour", 24, most=24),
    }


def _qualifications(visit: RequestContext) -> Json:
    """One on the form; more by the API."""
    if not visit.text("other_job"):
        return []
    wanted: dict[str, Json] = {
        "job": visit.text("other_job"),
        "judgments": number_of(visit, "other_judgments", 1, least=0, most=MOST_UNITS_A_RATER),
        "accuracy": decimal_of(visit, "other_accuracy", 0.0, most=1),
    }
    return [wanted]


def _words(visit: RequestContext, name: str) -> list[Json]:
    return [word.strip() for word in visit.text(name)[:500].split(",") if word.strip()]


def _page(visit: RequestContext, job_id: str, *, problems: list[str]) -> Response:
    with visit.server.store.read() as tx:
        job = jobs.get(tx, job_id)
        others = [each.name for each in jobs.all(tx) if each.job_id != job_id]
        n_gold = len(units.ids_of_job(tx, job_id, role="gold"))
    terms = terms_of(job.options)
    shown = {"job": job, "terms": terms, "others": others, "n_gold": n_gold, "odds": odds_for(terms, n_gold)}
    status = 422 if problems else 200
    return visit.page("crowd_terms.html", shown, status=status, problems=problems, days=DAYS, policies=POLICIES)
