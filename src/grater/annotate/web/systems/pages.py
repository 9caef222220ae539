"""Systems of the study and samples drawn for them: what `grater study decide` and `study sample` do, by clicking.

Only installed systems can be run from here: no path, no command and no address from a form is ever opened.  Long work
is done in the background; managers see what waits, how far it is, and what came of it.
"""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from grater.annotate.store import decisions, essays, people, runs, samples
from grater.annotate.study.runs import ask_for_system
from grater.annotate.study.samples import N_SAMPLED, Wish, draw
from grater.annotate.web.context import Context, RequestContext, number_of
from grater.annotate.web.errors import lines_of
from grater.annotate.web.study.files import result_file
from grater.detect.systems import SYSTEMS
from grater.errors import Conflict, GraterError, StoreBusy, StoreFull, UsageError

router = APIRouter()
MOST_RUNS = 50


@router.get("/manage/systems")
def systems_page(context: Context) -> Response:
    return _page(context)


@router.post("/manage/systems")
def run_system(context: Context) -> Response:
    """Run an installed system over all essays, in the background where that takes long."""
    try:
        with context.changing() as tx:
            asked = ask_for_system(tx, context.text("system"), actor=context.person.person_id)
    except (Conflict, UsageError) as error:
        return _page(context, problem=str(error))
    run = context.server.runner.wait(asked.run_id, seconds=context.server.settings.wait_seconds)
    if not run.is_over:
        return context.go("/manage/runs")
    return _page(context, problem=run.words) if run.state == "failed" else _page(context, done=run.words)


@router.post("/manage/samples")
def draw_sample(context: Context) -> Response:
    """Draw items for a system, flagged and not; a job is then made from the sample."""
    name = context.text("name") or "sample"
    try:
        n_items = number_of(context, "n", N_SAMPLED)
        wish = Wish(context.text("of"), n_items, number_of(context, "flagged", 0) or None)
        draw(context.store, name, wish, actor=context.person.person_id)
    except (StoreBusy, StoreFull):
        raise
    except GraterError as error:
        return _page(context, problem=" ".join(lines_of(error)))
    return context.go("/manage/systems")


def _page(context: RequestContext, *, problem: str = "", done: str = "") -> Response:
    with context.server.store.read() as tx:
        drawn = {name: samples.named(tx, name) for name in samples.names(tx)}
        shown = {
            "n_essays": essays.count(tx),
            "decided": decisions.flags_by_system(tx),
            "drawn": [(name, each.frame["item"].n_unique(), each.meta) for name, each in drawn.items()],
        }
    status = 422 if problem else 200
    installed = list(SYSTEMS)
    return context.page("manage_systems.html", shown, status=status, installed=installed, problem=problem, done=done)


@router.get("/manage/runs")
def run_list(context: Context) -> Response:
    with context.server.store.read() as tx:
        latest = runs.latest(tx, most=MOST_RUNS)
        names = {person.person_id: person.name for person in people.all(tx)}
        made = runs.with_results(tx)
    if any(not run.is_over for run in latest):
        context.server.runner.wake()
    return context.page("manage_runs.html", runs=latest, names=names, with_file=made)


@router.get("/manage/runs/{run_id}/file")
def run_file(context: Context, run_id: str, open: bool = False) -> Response:  # noqa: A002  (as it stands in the address)
    """The page that a task made: to keep, or to read here, where it can do nothing."""
    return result_file(context.server.store, run_id, is_shown=open)
