"""A crowd job: at a glance, and its terms.

The dashboard: progress, agreement, precision and recall as they came about, who agrees with whom, which answers are
confused, what waits for a decision, cost, time left, how much more is needed.
The terms are one form: gold, redundancy, pay, hours, limits, who may take part.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

from fastapi import APIRouter
from markupsafe import Markup
from starlette.responses import Response

from grater.annotate.pay import POLICIES
from grater.annotate.store import jobs, messages, trust, units
from grater.annotate.store.jobs import Job
from grater.annotate.study.dashboard import WIDTH, Dashboard, RaterPlace, forecasts
from grater.annotate.study.live import mark_of
from grater.annotate.study.terms import odds_for, set_terms
from grater.annotate.study.work import shown_to_staff
from grater.annotate.terms import DAYS, terms_of
from grater.annotate.web.charts import RaterPoint, Series, confusion_map, narrowing, pair_map, rater_scatter
from grater.annotate.web.context import Context, RequestContext, decimal_of, number_of
from grater.annotate.web.errors import lines_of
from grater.errors import BadInput, Conflict, NotFound, UsageError
from grater.model import Interval, Json

router = APIRouter()


@router.get("/manage/jobs/{job_id}/crowd")
def crowd_page(context: Context, job_id: str, width: float = WIDTH) -> Response:
    """`width` is that of the intervals which the forecast is for."""
    wanted = min(1.0, max(0.01, width)) if isfinite(width) else WIDTH
    with context.server.store.read() as tx:
        job, live = jobs.get(tx, job_id), context.server.live
        mark = mark_of(tx, job)
        kept, history = live.figures(tx, job, mark=mark), live.dashboard(tx, job, mark=mark)
        figures = kept.value
        shown = {
            "job": job,
            "far": live.counts(tx, job, mark=mark),
            "behind": kept.behind,
            "sample": figures.scores.sample,
            "scores": figures.scores.systems,
            "words": figures.scores.words,
            "costs": figures.costs,
            "trouble": [(gold, shown_to_staff(tx, gold.unit_id)) for gold in figures.trouble[:MOST_TROUBLE]],
            "standing": trust.of_job(tx, job_id),
            "reviews": messages.reviews_of_job(tx, job_id),
            "unread": messages.unread(tx),
            "protocol": figures.protocol,
        }
    coming = forecasts(figures.scores, figures.costs.valid, figures.costs, figures.pace, width=wanted)
    board = history.value if history else None
    drawn = _charts(context, job, board) if board else {}
    more = {"forecasts": coming, "width": wanted, "charts": drawn, "is_drawing": history is None}
    return context.page(
        "crowd_live.html", {**shown, **more}, agreement=figures.agreement, pace=figures.pace, board=board
    )


def _charts(context: RequestContext, job: Job, board: Dashboard) -> dict[str, Markup]:
    """The charts of a dashboard, drawn once."""
    drawings = context.server.drawings
    kept = drawings.get(job.job_id)
    if kept is None or kept[0] is not board:
        while len(drawings) >= MOST_DRAWN:
            drawings.pop(next(iter(drawings)), None)
        kept = drawings[job.job_id] = (board, _drawn(job, board))
    return kept[1]


MOST_DRAWN = 100
MOST_TROUBLE = 10


def _drawn(job: Job, board: Dashboard) -> dict[str, Markup]:
    """The charts of a dashboard by title; those with nothing to show are left out."""
    agreed = tuple((point.n, point.agreement) for point in board.checkpoints if point.agreement)
    systems = dict.fromkeys(line.system for point in board.checkpoints for line in point.systems)
    drawn = {"Agreement over time": narrowing([Series("alpha", agreed)], title="Krippendorff’s alpha")}
    for measure in ("precision", "recall"):
        series = [Series(name, _history(board, name, measure)) for name in systems]
        drawn[f"{measure.capitalize()} over time"] = narrowing(series, title=measure.capitalize())
    if board.pairs:
        title = "Percentage of items on which the two agree"
        names = {rater.pseudonym: rater.name for rater in board.raters}
        drawn["Agreement by pair, in percent"] = pair_map(board.pairs, names, title=title)
    if board.confusion:
        title = "Pairs of answers to the same item"
        drawn["Which answers are confused"] = confusion_map(board.confusion, title=title)
    drawn["Raters by speed and agreement"] = rater_scatter(_points(job.job_id, board.raters), title="Raters")
    return {title: chart for title, chart in drawn.items() if chart}


def _history(board: Dashboard, system: str, measure: str) -> tuple[tuple[int, Interval], ...]:
    return tuple(
        (point.n, getattr(line, measure))
        for point in board.checkpoints
        for line in point.systems
        if line.system == system
    )


def _points(job_id: str, raters: Sequence[RaterPlace]) -> list[RaterPoint]:
    return [
        RaterPoint(
            name=rater.name,
            seconds=rater.seconds,
            share=rater.share,
            address=f"/manage/jobs/{job_id}/raters/{rater.person_id}",
        )
        for rater in raters
        if rater.seconds is not None and rater.share is not None
    ]


@router.get("/manage/jobs/{job_id}/terms")
def terms_page(context: Context, job_id: str) -> Response:
    return _terms_page(context, job_id, problems=[])


@router.post("/manage/jobs/{job_id}/terms")
def new_terms(context: Context, job_id: str) -> Response:
    try:
        wanted = terms_from(context)
        with context.changing() as tx:
            set_terms(tx, job_id, wanted, actor=context.person.person_id)
    except (BadInput, Conflict, NotFound, UsageError) as error:
        return _terms_page(context, job_id, problems=lines_of(error))
    return _terms_page(context, job_id, problems=[], told="Terms saved.")


def terms_from(context: RequestContext) -> dict[str, Json]:
    """The terms that a filled form asks for; what is left empty is taken away."""
    return {
        "page": number_of(context, "page", 10),
        "gold": _gold(context),
        "redundancy": _redundancy(context),
        "pay": _pay(context),
        "opening": _opening(context),
        "limit": number_of(context, "limit", 0),
        "countries": _words(context, "countries"),
        "languages": _words(context, "languages"),
        "qualifications": _qualifications(context),
        "pilot": context.text("pilot"),
        "pool": number_of(context, "pool", 0),
    }


def _gold(context: RequestContext) -> Json:
    if not context.text("minimum"):
        return None
    return {
        "minimum": decimal_of(context, "minimum", 0.7),
        "least_seen": number_of(context, "least_seen", 4),
        "quiz": number_of(context, "quiz", 0),
        "attempts": number_of(context, "attempts", 1),
        "sure": decimal_of(context, "sure", 0.0),
    }


def _redundancy(context: RequestContext) -> Json:
    if not context.text("least"):
        return None
    least = number_of(context, "least", 1)
    return {
        "least": least,
        "most": number_of(context, "most", least),
        "lead": number_of(context, "lead", 1),
    }


def _pay(context: RequestContext) -> Json:
    if not context.text("cents"):
        return None
    return {
        "cents": number_of(context, "cents", 0),
        "currency": context.text("currency").upper() or "EUR",
        "policy": context.text("policy") or "all",
        "least_hourly": number_of(context, "least_hourly", 0),
    }


def _opening(context: RequestContext) -> Json:
    days = [day for day, name in enumerate(DAYS) if name in context.fields().get("days", ())]
    if not context.text("from_hour") and not context.text("to_hour") and not days:
        return None
    return {
        "days": days or list(range(7)),
        "from_hour": number_of(context, "from_hour", 0),
        "to_hour": number_of(context, "to_hour", 24),
    }


def _qualifications(context: RequestContext) -> Json:
    """One on the form; more by the API."""
    if not context.text("other_job"):
        return []
    wanted: dict[str, Json] = {
        "job": context.text("other_job"),
        "judgments": number_of(context, "other_judgments", 1),
        "accuracy": decimal_of(context, "other_accuracy", 0.0),
    }
    return [wanted]


def _words(context: RequestContext, name: str) -> list[Json]:
    return [word.strip() for word in context.text(name).split(",") if word.strip()]


def _terms_page(context: RequestContext, job_id: str, *, problems: list[str], told: str = "") -> Response:
    with context.server.store.read() as tx:
        job = jobs.get(tx, job_id)
        others = [other.name for other in jobs.all(tx) if other.job_id != job_id]
        n_gold = len(units.ids_of_job(tx, job_id, role="gold"))
    terms = terms_of(job.options)
    shown = {"job": job, "terms": terms, "others": others, "n_gold": n_gold, "odds": odds_for(terms, n_gold)}
    shown |= {"told": told, "problems": problems}
    status = 422 if problems else 200
    return context.page("crowd_terms.html", shown, status=status, days=DAYS, policies=POLICIES)
