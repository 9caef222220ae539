"""What a job costs (the paper's Table 5), what an hour brings, what is owed and what was paid."""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter
from starlette.responses import Response

from grater.annotate import jobs, money, panels, people
from grater.annotate.jobs import Job
from grater.annotate.money import NewBonus, bonus, job_costs, owed_frame, set_paid, settle
from grater.annotate.store import Tx
from grater.annotate.web.calls import Number, Shape, When, calls_about
from grater.annotate.web.context import Context
from grater.annotate.web.rendering import csv_file
from grater.errors import BadInput, Problem

pages = APIRouter()


@pages.get("/manage/jobs/{job_id}/money")
def money_page(context: Context, job_id: str) -> Response:
    with context.server.store.read() as tx:
        job = jobs.get(tx, job_id)
        shown = {
            "job": job,
            "costs": job_costs(tx, job),
            "payments": money.payments_of(tx, job_id),
            "panels": sorted({panel.provider.name for panel in panels.of_job(tx, job_id)}),
            "names": {person.person_id: person.name for person in people.all(tx)},
        }
    return context.page("crowd_money.html", shown)


@pages.post("/manage/jobs/{job_id}/money")
def write_money(context: Context, job_id: str) -> Response:
    """Write down what is owed now, or note that it has been paid."""
    what, actor = context.text("what"), context.person.person_id
    with context.changing() as tx:
        job = jobs.get(tx, job_id)
        if what == "settle":
            settle(tx, job, actor=actor)
        elif what == "paid":
            set_paid(tx, job_id, actor=actor)
        else:
            raise BadInput(Problem("form", f"what: expected settle or paid, found {what[:20]!r}"))
    return context.go(f"/manage/jobs/{job_id}/money")


@pages.get("/manage/jobs/{job_id}/payments.csv")
def payment_file(context: Context, job_id: str) -> Response:
    """Who is owed what, by the panel's own ids; `?panel=prolific` for those of one panel."""
    panel = context.request.query_params.get("panel", "")
    with context.server.store.read() as tx:
        frame = owed_frame(tx, jobs.get(tx, job_id), panel=panel)
    return csv_file(frame, "payments.csv")


api = calls_about("money")


class Costs(Shape):
    """Money in whole cents of the `currency`, told only where pay is agreed; `share_valid` with its limits."""

    judgments: int
    valid: int
    raters: int
    turn_around_hours: Number = None
    share_valid: list[Number]
    currency: str = ""
    policy: str = ""
    cents: int = 0
    bonus_cents: int = 0
    wasted_cents: int = 0
    gold_cents: int = 0
    cents_per_valid: Number = None
    hourly_median_cents: Number = None
    hourly_slow_quarter_cents: Number = None
    warning: str = ""


class Payment(Shape):
    """`work` and `correction` rows of a rater add up to what the policy owes; a `bonus` stands beside."""

    payment_id: str
    job_id: str
    person_id: str
    kind: Literal["work", "correction", "bonus"]
    cents: int
    currency: str
    state: Literal["owed", "paid", "refused"]
    note: str
    at: When


class Owed(Shape):
    """What to pay out now, by the panel's own id for a rater; `amount` in whole units, as in 12.34."""

    panel: str | None
    id: str | None
    amount: str
    currency: str


class Payments(Shape):
    costs: Costs
    payments: list[Payment]
    owed: list[Owed]


class Settled(Shape):
    """By how many cents the total changed; nothing where it was written down before."""

    cents: int


class Paid(Shape):
    rows: int


@api.get("/jobs/{job_id}/payments", response_model_exclude_unset=True)
def payment_list(context: Context, job_id: str, panel: str = "") -> Payments:
    """The cost of a job, every payment, and what is owed now, optionally for one panel."""
    with context.server.store.read() as tx:
        job = jobs.get(tx, job_id)
        owed = owed_frame(tx, job, panel=panel).to_dicts()
        return Payments(
            costs=costs_json(tx, job),
            payments=[Payment.of(payment) for payment in money.payments_of(tx, job_id)],
            owed=[Owed.model_validate(row) for row in owed],
        )


@api.post("/jobs/{job_id}/payments/settle")
def settle_payments(context: Context, job_id: str) -> Settled:
    """Record what is owed now; repeating it changes nothing."""
    with context.changing() as tx:
        return Settled(cents=settle(tx, jobs.get(tx, job_id), actor=context.person.person_id))


@api.post("/jobs/{job_id}/payments/paid")
def payments_paid(context: Context, job_id: str) -> Paid:
    """Mark everything owed in a job as paid."""
    with context.changing() as tx:
        return Paid(rows=set_paid(tx, jobs.get(tx, job_id).job_id, actor=context.person.person_id))


@api.post("/jobs/{job_id}/raters/{person_id}/bonus")
def pay_bonus(context: Context, job_id: str, person_id: str, sent: NewBonus) -> Payment:
    """Pay a rater a bonus, in the currency of the job."""
    with context.changing() as tx:
        made = bonus(tx, jobs.get(tx, job_id), person_id, sent, actor=context.person.person_id)
    return Payment.of(made)


def costs_json(tx: Tx, job: Job) -> Costs:
    return Costs.model_validate(job_costs(tx, job).to_dict())
