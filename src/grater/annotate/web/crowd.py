"""A crowd job: at a glance, its terms (docs/crowd.md), and programs as raters.

The dashboard: progress, agreement, precision and recall as they came about, who agrees with whom, which answers are
confused, what waits for a decision, cost, time left, how much more is needed.
The terms are one form: gold, redundancy, pay, limits, who may take part.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from functools import lru_cache
from math import isfinite

from markupsafe import Markup
from starlette.responses import Response

from grater.annotate import jobs, messages, progress, standing, trust, units
from grater.annotate.collusion import Group, groups_of
from grater.annotate.credentials import make_token
from grater.annotate.dashboard import WIDTH, Dashboard, JobPace, forecasts, pace_now
from grater.annotate.evaluation import scores_so_far
from grater.annotate.jobs import Job
from grater.annotate.programs import program_job
from grater.annotate.protocol import protocol_sheet, set_terms
from grater.annotate.terms import POLICIES, Terms, odds_for, terms_json, terms_of
from grater.annotate.web.calls import Body, Name, Shape, by_form, calls_about, example, page_at
from grater.annotate.web.calls import Interval as IntervalShape
from grater.annotate.web.charts import Series, Squares, agreeing, confused, narrowing
from grater.annotate.web.context import Changing, Context, Reading, RequestContext, Routes
from grater.annotate.web.raters import Costs, costs_json
from grater.annotate.web.security import MANAGERS
from grater.annotate.work import shown_to_staff
from grater.model import Interval, Json
from grater.reporting.document import sentences
from grater.sheet import undefined_notes

pages = Routes(MANAGERS)


@pages.get("/manage/jobs/{job_id}/crowd")
def crowd_page(context: Context, tx: Reading, job_id: str, width: float = WIDTH) -> Response:
    """`width` is that of the intervals which the forecast is for."""
    wanted = min(1.0, max(0.01, width)) if isfinite(width) else WIDTH
    job, live = jobs.get(tx, job_id), context.server.live
    kept, history = live.figures(tx, job), live.dashboard(tx, job)
    figures, far = kept.value, live.counts(tx, job)
    agreed = figures.agreement
    shown = {
        **{part.name: getattr(figures, part.name) for part in fields(figures)},
        "job": job,
        "far": far,
        "behind": kept.behind,
        "notes": {
            "systems": _notes(figures.scores.warnings, figures.scores.intervals),
            "agreement": _notes(agreed.warnings, agreed.coefficients.values()) if agreed else (),
        },
        "trouble": [(gold, shown_to_staff(tx, gold.unit_id)) for gold in figures.trouble[:MOST_TROUBLE]],
        "standing": standing.of_job(tx, job_id),
        "reviews": messages.reviews_of_job(tx, job_id),
        "unread": messages.unread(tx, job_id),
        "lacking_gold": trust.gold_warnings(tx, job),
    }
    per_item = far.wanted / max(1, far.units)
    coming = forecasts(figures.scores, figures.costs, figures.pace, per_item=per_item, width=wanted)
    board = history.value if history else None
    more = {"forecasts": coming, "width": wanted}
    more |= {"charts": _charts(board) if board else {}, "squares": _squares(board) if board else {}}
    more |= {"is_drawing": history is None, "board": board}
    return context.page("crowd_live.html", {**shown, **more})


def _notes(warnings: Iterable[str], shown: Iterable[Interval]) -> tuple[str, ...]:
    """Notes on the numbers: warnings, and why a number or its interval is withheld."""
    return (*sentences(warnings), *undefined_notes(shown))


MOST_TROUBLE = 10


@lru_cache(maxsize=20)
def _charts(board: Dashboard) -> dict[str, Markup]:
    """The charts of a dashboard by title, drawn once; those with nothing to show are left out."""
    agreed = tuple((point.n, point.agreement) for point in board.checkpoints if point.agreement)
    systems = dict.fromkeys(line.system for point in board.checkpoints for line in point.systems)
    drawn = {"Agreement over time": narrowing([Series("alpha", agreed)], title="Krippendorff’s alpha")}
    for measure in ("precision", "recall"):
        so_far = [(line, point.n) for point in board.checkpoints for line in point.systems]
        series = [
            Series(name, tuple((n, getattr(line, measure)) for line, n in so_far if line.system == name))
            for name in systems
        ]
        drawn[f"{measure.capitalize()} over time"] = narrowing(series, title=measure.capitalize())
    return {title: chart for title, chart in drawn.items() if chart}


def _squares(board: Dashboard) -> dict[str, Squares]:
    """The tables of pairs by title."""
    shown = {}
    if board.pairs:
        names = {line.person.pseudonym: line.person.name for line in board.raters}
        shown["Agreement by pair, in percent"] = agreeing(board.pairs, names)
    if board.confusion:
        shown["Which answers are confused"] = confused(board.confusion)
    return shown


QUESTIONS = ("questions_before", "questions_after")


def _filled_in(context: RequestContext) -> dict[str, Json]:
    """The terms in a form; an empty field removes its term."""

    def filled(*names: str) -> dict[str, Json]:
        return {name: text for name in names if (text := context.text(name))}

    def words(name: str) -> list[Json]:
        return [word.strip() for word in context.text(name).split(",") if word.strip()]

    gold = filled("minimum", "least_seen", "quiz", "attempts", "sure", "exposure")
    gold |= {"shows_misses": True} if context.text("shows_misses") else {}
    judgments = filled("least", "most", "lead")
    pay = filled("cents", "currency", "policy", "least_hourly")
    other = {"job": context.text("other_job"), "judgments": context.text("other_judgments") or 1}
    return {
        **{name: context.text(name) or None for name in ("page", "limit", "pilot", "pool", "information")},
        "gold": gold if "minimum" in gold else None,
        "redundancy": {"most": judgments["least"], **judgments} if "least" in judgments else None,
        "pay": {**pay, "currency": context.text("currency").upper() or "EUR"} if "cents" in pay else None,
        **{name: context.text(name).split("\n") if context.text(name) else [] for name in QUESTIONS},
        "countries": words("countries"),
        "languages": words("languages"),
        # One on the form; more by the API.
        "qualifications": [{**other, "accuracy": context.text("other_accuracy") or 0}] if other["job"] else [],
    }


@page_at(pages, "/manage/jobs/{job_id}/terms")
def _terms_page(context: RequestContext, tx: Reading, job_id: str, *, is_saved: bool = False) -> Response:
    job = jobs.get(tx, job_id)
    others = [other.name for other in jobs.all(tx) if other.job_id != job_id]
    n_gold = len(units.ids_of_job(tx, job_id, role="gold"))
    terms = terms_of(job.options)
    shown = {"job": job, "terms": terms, "others": others, "n_gold": n_gold, "odds": odds_for(terms, n_gold)}
    shown |= {"is_saved": is_saved, "policies": POLICIES}
    return context.page("crowd_terms.html", shown)


@by_form(pages, "/manage/jobs/{job_id}/terms", refused=_terms_page)
def new_terms(context: RequestContext, job_id: str) -> Response:
    with context.changing() as tx:
        set_terms(tx, job_id, _filled_in(context), actor=context.person_id)
    return _terms_page(context, job_id, is_saved=True)


api = calls_about("crowd", MANAGERS)


class Odds(Shape):
    """The effect of the gold rule on a rater who is right on this share of gold (`skill`)."""

    skill: float
    fails_quiz: float
    out: float
    met: float


class JobTerms(Shape):
    terms: Terms
    odds: list[Odds]


@api.get("/jobs/{job_id}/terms", response_model_exclude_unset=True)
def job_terms(tx: Reading, job_id: str) -> JobTerms:
    """The terms of a job, and what its gold rule does to good and bad raters."""
    job = jobs.get(tx, job_id)
    odds = odds_for(terms_of(job.options), len(units.ids_of_job(tx, job_id, role="gold")))
    shown_odds = [Odds(skill=skill, fails_quiz=odd.fails_quiz, out=odd.out, met=odd.met) for skill, odd in odds]
    return JobTerms(terms=whole_terms(job), odds=shown_odds)


@api.post("/jobs/{job_id}/terms", response_model_exclude_unset=True)
def change_terms(context: Context, tx: Changing, job_id: str, sent: Terms) -> JobTerms:
    """Change some terms and keep the others; null removes one."""
    set_terms(tx, job_id, sent.model_dump(exclude_unset=True), actor=context.person_id)
    return job_terms(tx, job_id)


def whole_terms(job: Job) -> Terms:
    return Terms.model_validate(terms_json(terms_of(job.options)))


class Score(Shape):
    """A system so far, on `n` judged items."""

    system: str
    n: int
    precision: IntervalShape
    recall: IntervalShape


class Crowd(Shape):
    """`scores` are for the whole corpus where a `sample` of it is judged, else on the judged items.

    `scope` states what their intervals generalise to; `unread` is what raters wrote and nobody has read.
    """

    terms: Terms
    groups: list[Group]
    costs: Costs
    protocol: dict[str, str]
    sample: str
    scores: list[Score]
    scope: str
    warnings: list[str]
    pace: JobPace | None
    reviews: list[messages.Review]
    unread: list[messages.Message]


class NewProgram(Body):
    model_config = example(name="my-model")
    name: Name


class Program(Shape):
    """`token` is shown only once; the program works with it in its own job, `job_id`."""

    job_id: str
    job: str
    person_id: str
    token: str


@api.get("/jobs/{job_id}/crowd", response_model_exclude_unset=True)
def crowd(tx: Reading, job_id: str) -> Crowd:
    """The dashboard of a job: terms, raters, gold, costs, scores, pace, reviews, protocol."""
    job = jobs.get(tx, job_id)
    scores = scores_so_far(tx, job)
    pace = pace_now(tx, job, progress.counts_of(tx, job_id))
    return Crowd(
        terms=whole_terms(job),
        groups=groups_of(tx, job_id),
        costs=costs_json(tx, job),
        protocol=protocol_sheet(tx, job),
        sample=scores.sample,
        scores=[Score.of(line) for line in scores.systems],
        scope=scores.words,
        warnings=list(scores.warnings),
        pace=pace,
        reviews=messages.reviews_of_job(tx, job_id),
        unread=messages.unread(tx, job_id),
    )


@api.post("/jobs/{job_id}/programs")
def new_program(context: Context, tx: Changing, job_id: str, sent: NewProgram) -> Program:
    """Add a program as a rater: creates its own job and a token, shown only once."""
    job, person = program_job(tx, jobs.get(tx, job_id), sent.name, actor=context.person_id)
    made_by = context.access.human_id if context.access else None
    token = make_token(tx, person.person_id, name="program", scope="work", made_by=made_by, actor=context.person_id)
    return Program(job_id=job.job_id, job=job.name, person_id=person.person_id, token=token)
