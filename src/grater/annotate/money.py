"""Money owed and paid, and the cost of a job in money and time.

Money is in whole cents, in one currency per job, and every change is a new row. `settle` adds the rows that bring a
job up to what its pay policy owes for the present submissions: an increase is a row of `work`, a decrease (a judgment
was withdrawn, or lost a paid status) a negative `correction`. A rater's rows therefore always sum to what the policy
owes, to the cent, however often it runs. Bonuses are separate rows.

T,C&M 2013, Table 5, gives judgments, cost and turnaround for four tasks. We add the cost per judgment that counts,
the cost of judgments that do not, the cost of gold, and hourly pay at the median and the lower quartile of raters.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

import polars as pl
from pydantic import Field
from sqlalchemy import select

from grater.annotate import jobs, people
from grater.annotate.jobs import Job
from grater.annotate.judgments import submitted
from grater.annotate.requests import Body, Moment, example
from grater.annotate.store import Tx, events, schema
from grater.annotate.store.transaction import HOUR, Columns, Record, new_id
from grater.annotate.tables import undated
from grater.annotate.terms import HourlyPay, Pay, Work, bill, hourly, money, terms_of
from grater.errors import Conflict, UsageError
from grater.model import Interval, Json
from grater.result import HIDDEN, Data, encode, in_json, key
from grater.uncertainty import wilson

BY_POLICY = ("work", "correction")
OWED_COLUMNS = ("panel", "id", "amount", "currency")


Kind: TypeAlias = Literal["work", "correction", "bonus"]


@dataclass(frozen=True, slots=True)
class Payment:
    """A rater's `work` and `correction` rows sum to what the policy owes; a `bonus` is extra."""

    payment_id: str
    job_id: str
    person_id: str
    kind: Kind
    cents: int
    currency: str
    state: Literal["owed", "paid", "refused"]
    note: str
    at: Moment


COLUMNS = Columns(Payment, schema.payments)


def settle(tx: Tx, job: Job, *, actor: str | None = None) -> int:
    """Record what is newly owed; return the change of the total in cents."""
    pay = _agreed(tx, job)
    changes = Counter(bill(pay, work_of(tx, job.job_id)).by_rater)
    for payment in payments_of(tx, job.job_id):
        changes[payment.person_id] -= payment.cents if payment.kind in BY_POLICY else 0
    for person_id, cents in sorted(changes.items()):
        if cents:
            kind: Kind = "work" if cents > 0 else "correction"
            _write(tx, Payment(new_id(), job.job_id, person_id, kind, cents, pay.currency, "owed", "", tx.now), actor)
    return changes.total()


class NewBonus(Body):
    """With your own `payment_id`, repeated requests pay only once; reusing an id for a different bonus is
    a conflict.
    """

    model_config = example(cents=50, note="for the careful comments", payment_id="bonus-2026-11-ann")
    cents: int = Field(ge=1, le=1_000_000)
    note: str = Field("", max_length=200)
    payment_id: str | None = Field(None, min_length=1, max_length=100)


def bonus(tx: Tx, job: Job, person_id: str, sent: NewBonus, *, actor: str | None = None) -> Payment:
    payment_id, currency = sent.payment_id or new_id(), _agreed(tx, job).currency
    people.get(tx, person_id)
    made = Payment(payment_id, job.job_id, person_id, "bonus", sent.cents, currency, "owed", sent.note, tx.now)
    row = tx.first(select(*COLUMNS).where(schema.payments.c.payment_id == payment_id))
    if row is None:
        return _write(tx, made, actor)
    stored = COLUMNS.read(row)
    if replace(stored, currency=made.currency, state=made.state, at=made.at) != made:
        raise Conflict(f"payment {payment_id}: this id has been used for another payment; send a new one")
    return stored


def _agreed(tx: Tx, job: Job) -> Pay:
    """The agreed pay, locked: money of a job is written by one transaction at a time."""
    pay = terms_of(jobs.lock(tx, job.job_id).options).pay
    if pay is None:
        raise UsageError(f"{job.name}: no pay is agreed; set the terms of the job first")
    require_currency(tx, job.job_id, pay.currency)
    return pay


def require_currency(tx: Tx, job_id: str, currency: str) -> None:
    """Require the job's currency, which cannot change once payments are recorded."""
    query = select(schema.payments.c.currency)
    query = query.where(schema.payments.c.job_id == job_id, schema.payments.c.currency != currency)
    other = tx.value(query.limit(1))
    if other is not None:
        raise Conflict(f"this job is paid in {other}; {currency} cannot be mixed with it")


def _write(tx: Tx, payment: Payment, actor: str | None) -> Payment:
    row = COLUMNS.row(payment)
    tx.insert(schema.payments, row)
    payload: dict[str, Json] = {name: row[name] for name in ("job_id", "person_id", "kind", "cents", "currency")}
    events.write(tx, actor, "payment.written", payment.payment_id, payload)
    return payment


def payments_of(tx: Tx, job_id: str) -> list[Payment]:
    order = (schema.payments.c.at, tx.binary(schema.payments.c.payment_id))
    query = select(*COLUMNS).where(schema.payments.c.job_id == job_id).order_by(*order)
    return COLUMNS.all(tx, query)


def set_paid(tx: Tx, job_id: str, *, actor: str | None = None) -> int:
    """Mark everything owed in a job as paid; return the number of payments."""
    jobs.lock(tx, job_id)
    owed = (schema.payments.c.job_id == job_id) & (schema.payments.c.state == "owed")
    person_ids = sorted({row.person_id for row in tx.all(select(schema.payments.c.person_id).where(owed))})
    n_rows = tx.execute(schema.payments.update().where(owed).values(state="paid")).rowcount
    events.write(tx, actor, "payments.paid", job_id, {"people": list(person_ids), "rows": n_rows})
    return n_rows


def owed_frame(tx: Tx, job: Job, *, panel: str = "") -> pl.DataFrame:
    """The payment file: what each rater is owed now, by the panel's own id; for one panel if named."""
    places, panels = schema.panel_places, schema.panels
    query = select(places.c.person_id, panels.c.provider, places.c.external_id)
    query = query.join(panels, panels.c.panel_id == places.c.panel_id).where(panels.c.job_id == job.job_id)
    by_panel = {row.person_id: (row.provider, row.external_id) for row in tx.all(query.order_by(places.c.joined_at))}
    names = {person.person_id: person.name for person in people.all(tx)}
    totals: Counter[tuple[str, str, str, str]] = Counter()
    for payment in payments_of(tx, job.job_id):
        if payment.state == "owed":
            provider, external_id = by_panel.get(payment.person_id, ("", names[payment.person_id]))
            totals[provider, external_id, payment.person_id, payment.currency] += payment.cents
    rows = [
        (provider or None, external_id, f"{cents / 100:.2f}", currency)
        for (provider, external_id, _, currency), cents in sorted(totals.items())
        if not panel or provider == panel
    ]
    return pl.DataFrame(rows, dict.fromkeys(OWED_COLUMNS, pl.String), orient="row")


def work_of(tx: Tx, job_id: str) -> list[Work]:
    """Every submission of a job as pay sees it, with raters by id."""
    return [_work(row) for row in submitted(tx, job_id)]


def _work(row: Record) -> Work:
    return Work(row.person_id, "undone" if row.is_undone else row.status, row.seconds, row.unit_id)


@dataclass(frozen=True, slots=True)
class Costs(Data):
    """Money is in whole cents of `pay.currency`, None without agreed pay.

    `hours` run from the first to the last answer, None if no answer has its own time.
    """

    judgments: int
    valid: int
    raters: int
    hours: float | None = field(metadata=key("turn_around_hours"))
    share_valid: Interval = field(metadata=key(write=lambda share: encode([share.value, share.low, share.high])))
    pay: Pay | None = field(default=None, metadata=HIDDEN)
    cents: int = field(default=0, metadata=HIDDEN)
    wasted: int = field(default=0, metadata=HIDDEN)
    on_gold: int = field(default=0, metadata=HIDDEN)
    bonuses: int = field(default=0, metadata=HIDDEN)
    hourly: HourlyPay | None = field(default=None, metadata=HIDDEN)

    @property
    def per_valid(self) -> float:
        """Cents per judgment that counts, bonuses and gold included; nan without any."""
        return (self.cents + self.bonuses) / self.valid if self.valid else float("nan")

    def money(self, cents: float) -> str:
        return money(cents, self.pay.currency) if self.pay else ""

    @property
    @in_json(flat=True)
    def _money(self) -> dict[str, Json]:
        if self.pay is None:
            return {}
        rates = self.hourly
        return {
            "currency": self.pay.currency,
            "policy": self.pay.policy,
            "cents": self.cents,
            "bonus_cents": self.bonuses,
            "wasted_cents": self.wasted,
            "gold_cents": self.on_gold,
            "cents_per_valid": self.per_valid if self.valid else None,
            "hourly_median_cents": rates.median if rates and rates.n_raters else None,
            "hourly_slow_quarter_cents": rates.slow_quarter if rates and rates.n_raters else None,
            "warning": rates.warning if rates else "",
        }


def job_costs(tx: Tx, job: Job) -> Costs:
    rows, pay = submitted(tx, job.job_id), terms_of(job.options).pay
    unknown = undated(tx)
    times = [row.at for row in rows if row.lease_id is not None or row.at not in unknown]
    work = [_work(row) for row in rows if row.role == "work"]
    tests = [_work(row) for row in rows if row.role != "work"]
    costs = Costs(
        judgments=len(work),
        valid=sum(each.status == "valid" for each in work),
        raters=len({row.person_id for row in rows}),
        hours=(max(times) - min(times)) / HOUR if times else None,
        share_valid=wilson(sum(each.status == "valid" for each in work), len(work)),
    )
    if pay is None:
        return costs
    of_work, on_gold = bill(pay, work), bill(pay, tests).cents
    return replace(
        costs,
        pay=pay,
        cents=of_work.cents + on_gold,
        wasted=of_work.wasted,
        on_gold=on_gold,
        bonuses=sum(each.cents for each in payments_of(tx, job.job_id) if each.kind == "bonus"),
        hourly=hourly(pay, [*work, *tests]),
    )
