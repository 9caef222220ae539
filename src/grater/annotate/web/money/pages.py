"""What a job costs: the paper's Table 5, what an hour brings, payments written down and paid out."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from grater.annotate.store import jobs, panels, payments, people
from grater.annotate.study.money import job_costs, note_paid, owed_frame, settle
from grater.annotate.web.context import Context
from grater.annotate.web.rendering import csv_file
from grater.errors import BadInput, Problem

router = APIRouter()


@router.get("/manage/jobs/{job_id}/money")
def money_page(context: Context, job_id: str) -> Response:
    with context.server.store.read() as tx:
        job = jobs.get(tx, job_id)
        shown = {
            "job": job,
            "costs": job_costs(tx, job),
            "payments": payments.of_job(tx, job_id),
            "panels": sorted({panel.panel.provider.name for panel in panels.of_job(tx, job_id)}),
            "names": {person.person_id: person.name for person in people.all(tx)},
        }
    return context.page("crowd_money.html", shown)


@router.post("/manage/jobs/{job_id}/money")
def write_money(context: Context, job_id: str) -> Response:
    """Write down what is owed now, or note that it has been paid."""
    what, actor = context.text("what"), context.person.person_id
    with context.changing() as tx:
        job = jobs.get(tx, job_id)
        if what == "settle":
            settle(tx, job, actor=actor)
        elif what == "paid":
            note_paid(tx, job_id, actor=actor)
        else:
            raise BadInput(Problem("form", f"what: expected settle or paid, found {what[:20]!r}"))
    return context.go(f"/manage/jobs/{job_id}/money")


@router.get("/manage/jobs/{job_id}/payments.csv")
def payment_file(context: Context, job_id: str) -> Response:
    """Who is owed what, by the panel's own ids; `?panel=prolific` for those of one panel."""
    panel = context.request.query_params.get("panel", "")
    with context.server.store.read() as tx:
        frame = owed_frame(tx, jobs.get(tx, job_id), panel=panel)
    return csv_file(frame, "payments.csv")
