"""The first run of a study, step by step: its texts, the system to be measured, how sure to be, and what comes next.

A study begins with the question that people come with, how good their detector is.  The system is one that is
installed, one that the server was started with (`grater serve --offer`), or a file of its output: decisions,
corrected text or edits.  No path, command or address from a form is ever opened.  A sample is then drawn for the
width of recall that is wanted, and the job is made from it; the answer is on the home page of the study.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import TypeAlias
from urllib.parse import urlencode

from starlette.responses import Response

from grater.annotate import content, jobs, samples
from grater.annotate.dashboard import Forecast, forecasts
from grater.annotate.evaluation import ScoresSoFar, draw_for, goals, task_of
from grater.annotate.importing import import_files
from grater.annotate.progress import JobCounts
from grater.annotate.requests import require_name
from grater.annotate.runs import NewRun, Run, what_came
from grater.annotate.store import Tx
from grater.annotate.systems import decide
from grater.annotate.web.calls import by_form, page_at
from grater.annotate.web.context import Reading, RequestContext, Routes, number_of
from grater.annotate.web.security import MANAGERS
from grater.annotate.web.study import brought_in, rename_to, run_now
from grater.annotate.web.systems import price_page
from grater.annotate.web.uploads import received
from grater.detect.systems import SYSTEMS, default_systems, load_system
from grater.errors import GraterError, UsageError
from grater.tables import read_decisions

pages = Routes(MANAGERS)

PLACE = frozenset(("essay", "start", "end", "kind"))
CONTENTS = {"decisions": "Decisions: a table item, system, flagged", "corrected": "Corrected text", "edits": "Edits"}


@page_at(pages, "/manage/start")
def _texts_page(context: RequestContext, tx: Reading) -> Response:
    """The first page of a study: its name and its texts."""
    n_essays = content.n_essays(tx)
    megabytes = context.server.settings.most_upload_bytes // 1_000_000
    shown = {"n_essays": n_essays, "filled": context.first_values(), "megabytes": megabytes}
    return context.page("manage_start.html", shown)


@by_form(pages, "/manage/start", refused=_texts_page)
def texts_form(context: RequestContext) -> Response:
    rename_to(context, context.text("name"))
    return context.go("/manage/runs" if isinstance(brought_in(context), Run) else "/manage/detector")


def _from_file(context: RequestContext) -> str:
    """Import a system's decisions from a file; returns the name of the system."""
    contents, name = context.text("contents"), context.text("name")
    if contents not in CONTENTS:
        raise UsageError(f"contents: expected one of {', '.join(CONTENTS)}, found {contents[:20]!r}")
    with received(context) as paths:
        (path, *others) = paths
        if others or not path.is_file():
            raise UsageError("expected one file of the system's decisions, found several")
        if contents != "decisions":
            system = require_name(name or path.stem)
            decide(context.store, [load_system(f"{system}={contents}:{path}")])
            return system
        table = read_decisions(path)
        items = [path] if set(table.frame.columns) >= PLACE else []
        import_files(context.store, items=items, decisions=[path], actor=context.person_id)
        return str(table.frame["system"][0])


def _to_goals(context: RequestContext, system: str) -> Response:
    return context.go(f"/manage/sure?{urlencode({'system': system})}")


@page_at(pages, "/manage/detector")
def _system_page(context: RequestContext, tx: Reading) -> Response:
    n_essays, decided = content.n_essays(tx), content.system_names(tx)
    others = [name.partition("=")[0] for name in context.server.settings.systems]
    shown = {"ours": list(SYSTEMS), "others": others, "contents": CONTENTS, "filled": context.first_values()}
    best = default_systems()[0]
    return context.page("manage_detector.html", shown, n_essays=n_essays, decided=decided, best=best)


@by_form(pages, "/manage/detector", refused=_system_page)
def system_form(context: RequestContext) -> Response:
    """Let the chosen system decide on the essays, or import its decisions from a file."""
    source, system = context.text("source"), context.text("system")
    if source == "none":
        return context.go("/manage/jobs/new")
    if source == "file":
        return _to_goals(context, _from_file(context))
    if priced := price_page(context, system):
        return priced
    run = run_now(context, NewRun.checked(kind="system", system=system))
    return _to_goals(context, system) if run.is_over else context.go("/manage/runs")


@page_at(pages, "/manage/sure")
def _sure_page(context: RequestContext, tx: Reading) -> Response:
    """What each width of recall takes, for a system of the study."""
    systems = content.system_names(tx)
    asked = context.asked("system")
    system = asked if asked in systems else next(iter(systems), "")
    judgments = max(1, min(100, number_of(context, "judgments", 2)))
    cents = max(0, min(1_000_000, number_of(context, "cents", 0)))
    aims, problems = None, context.problems
    try:
        if system:
            scores = context.server.live.answer(tx).value
            aims = goals(tx, system, scores, judgments=judgments, cents=cents)
    except GraterError as error:
        problems = [*problems, str(error)]
    shown = {"systems": systems, "judgments": judgments, "cents": cents, "is_begun": bool(jobs.all(tx))}
    shown |= {"aims": aims, "came": what_came(tx, system)}
    return context.page("manage_sure.html", shown, problems=problems)


@by_form(pages, "/manage/sure", refused=_sure_page)
def sure_form(context: RequestContext) -> Response:
    """Draw the sample of the chosen width; the job is made from it."""
    system = context.text("system")
    name = draw_for(context.store, system, number_of(context, "items", 0), actor=context.person_id)
    with context.server.store.read() as tx:
        plan = {"task": task_of(samples.kind_of(samples.named(tx, name))), "sample": name, "system": system}
    plan |= {name: text for name in ("judgments", "cents") if (text := context.text(name))}
    return context.go(f"/manage/jobs/new?{urlencode(plan)}")


Row: TypeAlias = tuple[jobs.Job, JobCounts]


@dataclass(frozen=True, slots=True)
class Step:
    """The next step of a study in words, and its page; `of` names the step of the first run."""

    of: str
    words: str
    address: str
    action: str


def next_step(n_essays: int, systems: Sequence[str], rows: Sequence[Row], *, has_answer: bool) -> Step | None:
    """The step that leads to an answer; None where every job is done."""
    if not rows:
        if not systems:
            words = f"{n_essays:,} texts are in the study. The next question is which system it measures."
            return Step("system", words, "/manage/detector", "Choose a system")
        return Step("sure", f"{systems[0]} has decided on the texts.", "/manage/sure", "How sure do you want to be?")
    drafts = [job for job, _ in rows if job.state == "draft"]
    if drafts:
        words = f"The job “{drafts[0].title}” is not open yet: try it, invite people, open it."
        return Step("try", words, f"/manage/jobs/{drafts[0].job_id}", "Go on with the job")
    for job, far in rows:
        if job.state == "open" and far.valid < far.wanted:
            words = f"“{job.title}” has {far.valid:,} of {far.wanted:,} judgments."
            return Step("open", words, f"/manage/jobs/{job.job_id}", "Watch or invite people")
    if not has_answer and not systems:
        words = "The judgments are in. Which system do they measure?"
        return Step("system", words, "/manage/detector", "Choose a system")
    return None


def needed(tx: Tx, context: RequestContext, scores: ScoresSoFar, rows: Sequence[Row]) -> dict[str, Forecast]:
    """By system, the work that brings its recall to ± .05, at the time and pay of the newest job with answers."""
    job, far = next(((job, far) for job, far in reversed(rows) if far.valid), (None, None))
    if job is None or far is None or not scores.systems:
        return {}
    figures = context.server.live.figures(tx, job).value
    per_item = far.wanted / max(1, far.units)
    coming = forecasts(scores, figures.costs, figures.pace, per_item=per_item)
    return {each.system: each for each in coming if isfinite(each.width)}
