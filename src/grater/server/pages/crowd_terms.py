"""The terms of a job as a form: gold, redundancy, pay, hours, limits, who may take part."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from grater.crowd.odds import Odds, odds, steady
from grater.crowd.pay import POLICIES
from grater.crowd.terms import DAYS, Terms, terms_of
from grater.errors import BadInput, Conflict, NotFound, UsageError
from grater.model import Json
from grater.server.numbers import decimal_of, number_of
from grater.server.problems import lines_of
from grater.server.visit import Visit, Visiting
from grater.store import jobs, units
from grater.study.crowd_terms import set_terms

router = APIRouter()

MOST = 1_000_000
SKILLS = (0.5, 0.7, 0.8, 0.9, 0.95)
"""Raters for whom the page tells what the gold rule would do; the first guesses between two answers."""
MOST_GOLD = 100
"""Gold of one rater that is looked ahead to."""


@router.get("/manage/jobs/{job_id}/terms")
def terms_page(visit: Visiting, job_id: str) -> Response:
    return _page(visit, job_id, problems=[])


@router.post("/manage/jobs/{job_id}/terms")
def new_terms(visit: Visiting, job_id: str) -> Response:
    try:
        found = terms_from(visit)
        with visit.server.store.write() as tx:
            set_terms(tx, job_id, found, actor=visit.person.person_id)
    except (BadInput, Conflict, NotFound, UsageError) as error:
        return _page(visit, job_id, problems=lines_of(error))
    return visit.go(f"/manage/jobs/{job_id}/terms")


def terms_from(visit: Visit) -> dict[str, Json]:
    """The terms that a filled form asks for; what is left empty is taken away."""
    return {
        "page": number_of(visit, "page", 10, least=2, most=200),
        "gold": _gold(visit),
        "redundancy": _redundancy(visit),
        "pay": _pay(visit),
        "opening": _opening(visit),
        "limit": number_of(visit, "limit", 0, least=0, most=MOST),
        "countries": _words(visit, "countries"),
        "languages": _words(visit, "languages"),
        "qualifications": _qualifications(visit),
        "pilot": visit.text("pilot")[:500],
        "pool": number_of(visit, "pool", 0, least=0, most=MOST),
    }


def _gold(visit: Visit) -> Json:
    if not visit.text("minimum"):
        return None
    return {
        "minimum": decimal_of(visit, "minimum", 0.7, most=1),
        "least_seen": number_of(visit, "least_seen", 4, most=1000),
        "quiz": number_of(visit, "quiz", 0, least=0, most=1000),
        "attempts": number_of(visit, "attempts", 1, most=100),
        "sure": decimal_of(visit, "sure", 0.0, most=1),
    }


def _redundancy(visit: Visit) -> Json:
    if not visit.text("least"):
        return None
    least = number_of(visit, "least", 1, most=100)
    return {
        "least": least,
        "most": number_of(visit, "most", least, most=100),
        "lead": number_of(visit, "lead", 1, most=100),
    }


def _pay(visit: Visit) -> Json:
    if not visit.text("cents"):
        return None
    return {
        "cents": number_of(visit, "cents", 0, least=0, most=MOST),
        "currency": visit.text("currency").upper() or "EUR",
        "policy": visit.text("policy") or "all",
        "least_hourly": number_of(visit, "least_hourly", 0, least=0, most=MOST),
    }


def _opening(visit: Visit) -> Json:
    days = [day for day, name in enumerate(DAYS) if name in visit.fields().get("days", ())]
    if not visit.text("from_hour") and not visit.text("to_hour") and not days:
        return None
    return {
        "days": days or list(range(7)),
        "from_hour": number_of(visit, "from_hour", 0, least=0, most=23),
        "to_hour": number_of(visit, "to_hour", 24, most=24),
    }


def _qualifications(visit: Visit) -> Json:
    """One on the form; more by the API."""
    if not visit.text("other_job"):
        return []
    wanted: dict[str, Json] = {
        "job": visit.text("other_job"),
        "judgments": number_of(visit, "other_judgments", 1, least=0, most=MOST),
        "accuracy": decimal_of(visit, "other_accuracy", 0.0, most=1),
    }
    return [wanted]


def _words(visit: Visit, name: str) -> list[Json]:
    return [word.strip() for word in visit.text(name)[:500].split(",") if word.strip()]


def _page(visit: Visit, job_id: str, *, problems: list[str]) -> Response:
    with visit.server.store.read() as tx:
        job = jobs.the(tx, job_id)
        others = [each.name for each in jobs.all(tx) if each.job_id != job_id]
        n_gold = len(units.ids_of_job(tx, job_id, role="gold"))
    terms = terms_of(job.options)
    shown = {"job": job, "terms": terms, "others": others, "n_gold": n_gold, "odds": odds_for(terms, n_gold)}
    status = 422 if problems else 200
    return visit.page("crowd_terms.html", shown, status=status, problems=problems, days=DAYS, policies=POLICIES)


def odds_for(terms: Terms, n_gold: int) -> list[tuple[float, Odds]]:
    """What the rule does to raters of several skills who meet all the gold that there is."""
    if terms.gold is None:
        return []
    n_met = max(terms.gold.quiz, min(n_gold, MOST_GOLD))
    return [(skill, odds(terms.gold, steady(skill, n_met))) for skill in SKILLS]
