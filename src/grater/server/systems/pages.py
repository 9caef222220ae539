"""Systems of the study and samples drawn for them: what `grater study decide` and `study sample` do, by clicking.

Only installed systems can be run from here: no path, no command and no address from a form is ever opened.
"""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from grater.detect.systems import SYSTEMS
from grater.errors import Conflict, GraterError, StoreBusy, StoreFull, UsageError
from grater.server.context import Context, RequestContext, number_of
from grater.server.errors import lines_of
from grater.store import decisions, essays
from grater.study.limits import MOST_SAMPLED, N_SAMPLED
from grater.study.samples import Wish, draw
from grater.study.systems import Decided, run_installed

router = APIRouter()


@router.get("/manage/systems")
def systems_page(visit: Context) -> Response:
    return _page(visit)


@router.post("/manage/systems")
def run_system(visit: Context) -> Response:
    """Run an installed system over all essays; raters need not wait for it."""
    try:
        return _page(visit, done=run_installed(visit.server.store, visit.text("system")))
    except (Conflict, UsageError) as error:
        return _page(visit, problem=str(error))


@router.post("/manage/samples")
def draw_sample(visit: Context) -> Response:
    """Draw items for a system, flagged and not; a job is then made from the sample."""
    name = visit.text("name") or "sample"
    try:
        n_items = number_of(visit, "n", N_SAMPLED, most=MOST_SAMPLED)
        wish = Wish(visit.text("of"), n_items, number_of(visit, "flagged", 0, least=0, most=MOST_SAMPLED) or None)
        draw(visit.server.store, name, wish, actor=visit.person.person_id)
    except (StoreBusy, StoreFull):
        raise
    except GraterError as error:
        return _page(visit, problem=" ".join(lines_of(error)))
    return visit.go("/manage/systems")


def _page(visit: RequestContext, *, problem: str = "", done: Decided | None = None) -> Response:
    with visit.server.store.read() as tx:
        drawn = {name: decisions.sample_named(tx, name) for name in decisions.sample_names(tx)}
        shown = {
            "n_essays": essays.count(tx),
            "decided": decisions.flags_by_system(tx),
            "drawn": [(name, each.frame["item"].n_unique(), each.meta) for name, each in drawn.items()],
        }
    status = 422 if problem else 200
    installed = list(SYSTEMS)
    return visit.page("manage_systems.html", shown, status=status, installed=installed, problem=problem, done=done)
