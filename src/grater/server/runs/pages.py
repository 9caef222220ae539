"""Long work in the background, for managers: what waits, how far it is, what came of it."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from grater.server.context import Context
from grater.server.runs.files import result_file
from grater.store import people, runs

router = APIRouter()

MOST = 50


@router.get("/manage/runs")
def run_list(context: Context) -> Response:
    with context.server.store.read() as tx:
        latest = runs.latest(tx, most=MOST)
        names = {person.person_id: person.name for person in people.all(tx)}
        made = runs.with_results(tx)
    if any(not run.is_over for run in latest):
        context.server.runner.wake()
    return context.page("manage_runs.html", runs=latest, names=names, with_file=made)


@router.get("/manage/runs/{run_id}/file")
def run_file(context: Context, run_id: str) -> Response:
    return result_file(context.server.store, run_id)
