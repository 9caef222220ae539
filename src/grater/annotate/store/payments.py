"""What is owed and what was paid: whole cents of one currency a job, every change another row.

`settle` brings the rows of a job up to what its pay policy owes for the submissions as they are now: more is a row of
`work`, less (a judgment lost its status under a policy that does not pay for that) a `correction` below zero.  So the
rows of a rater always add up to what the policy owes, to the cent, however often it is run.  Bonuses stand beside.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from sqlalchemy import select

from grater.annotate.pay import Pay, Work, bill
from grater.annotate.store import events, jobs, people, schema
from grater.annotate.store.ids import new_id
from grater.annotate.store.jobs import Job
from grater.annotate.store.transaction import Columns, Tx
from grater.annotate.terms import terms_of
from grater.errors import Conflict, UsageError
from grater.model import Json

BY_POLICY = ("work", "correction")


@dataclass(frozen=True, slots=True)
class Payment:
    payment_id: str
    job_id: str
    person_id: str
    kind: str
    cents: int
    currency: str
    state: str
    note: str
    at: int


COLUMNS = Columns(Payment, schema.payments)


def settle(tx: Tx, job: Job, *, actor: str | None = None) -> int:
    """Write what is owed now and was not written before; return the cents by which the total changed."""
    pay = _agreed(tx, job)
    if pay is None:
        raise UsageError(f"{job.name}: no pay is agreed; set the terms of the job first")
    require_currency(tx, job.job_id, pay.currency)
    written = _written(tx, job.job_id)
    owed = bill(pay, work_of(tx, job.job_id)).by_rater
    changes = {who: owed.get(who, 0) - written.get(who, 0) for who in sorted(owed.keys() | written.keys())}
    for person_id, cents in changes.items():
        if cents:
            _write(tx, job.job_id, person_id, "work" if cents > 0 else "correction", cents, pay, "", actor)
    return sum(changes.values())


def bonus(
    tx: Tx,
    job: Job,
    person_id: str,
    cents: int,
    *,
    note: str = "",
    payment_id: str | None = None,
    actor: str | None = None,
) -> Payment:
    """Pay a rater a bonus in the currency of the job; one `payment_id` is one payment, sent twice or not."""
    pay = _agreed(tx, job)
    if pay is None or cents < 1:
        raise UsageError(f"{job.name}: expected agreed pay and a bonus of at least 1 cent, found {cents}")
    require_currency(tx, job.job_id, pay.currency)
    wanted = (job.job_id, people.get(tx, person_id).person_id, "bonus", cents, note)
    stored = _find(tx, payment_id) if payment_id else None
    if stored is None:
        return _write(tx, job.job_id, person_id, "bonus", cents, pay, note, actor, payment_id=payment_id)
    if (stored.job_id, stored.person_id, stored.kind, stored.cents, stored.note) != wanted:
        raise Conflict(f"payment {payment_id}: this id has been used for another payment; send a new one")
    return stored


def of_job(tx: Tx, job_id: str) -> list[Payment]:
    order = (schema.payments.c.at, tx.binary(schema.payments.c.payment_id))
    query = select(*COLUMNS).where(schema.payments.c.job_id == job_id).order_by(*order)
    return [COLUMNS.read(row) for row in tx.all(query)]


def set_paid(tx: Tx, job_id: str, person_ids: list[str], *, actor: str | None = None) -> int:
    """Mark what these raters were owed in this job as paid; return the number of payments."""
    owed = schema.payments.update().where(
        schema.payments.c.job_id == job_id,
        schema.payments.c.person_id.in_(person_ids),
        schema.payments.c.state == "owed",
    )
    n_rows = tx.execute(owed.values(state="paid")).rowcount
    events.write(tx, actor, "payments.paid", job_id, {"people": person_ids, "rows": n_rows})
    return n_rows


def work_of(tx: Tx, job_id: str) -> list[Work]:
    """Every submission of a job as far as pay is concerned, raters by their ids."""
    query = select(
        schema.submissions.c.person_id.label("rater"),
        schema.submissions.c.status,
        schema.submissions.c.seconds,
        schema.submissions.c.unit_id.label("unit"),
    )
    rows = tx.all(query.where(schema.submissions.c.job_id == job_id).order_by(schema.submissions.c.at))
    return [Work(**row._mapping) for row in rows]


def require_currency(tx: Tx, job_id: str, currency: str) -> None:
    """A job has one currency for good, once money has been written down in it."""
    query = select(schema.payments.c.currency)
    query = query.where(schema.payments.c.job_id == job_id, schema.payments.c.currency != currency)
    other = tx.value(query.limit(1))
    if other is not None:
        raise Conflict(f"this job is paid in {other}; {currency} cannot be mixed with it")


def _agreed(tx: Tx, job: Job) -> Pay | None:
    """The pay as it is agreed now, and until we are done: money of a job is written by one at a time."""
    return terms_of(jobs.lock(tx, job.job_id).options).pay


def _written(tx: Tx, job_id: str) -> Counter[str]:
    cents: Counter[str] = Counter()
    for payment in of_job(tx, job_id):
        if payment.kind in BY_POLICY:
            cents[payment.person_id] += payment.cents
    return cents


def _find(tx: Tx, payment_id: str) -> Payment | None:
    row = tx.first(select(*COLUMNS).where(schema.payments.c.payment_id == payment_id))
    return None if row is None else COLUMNS.read(row)


def _write(
    tx: Tx,
    job_id: str,
    person_id: str,
    kind: str,
    cents: int,
    pay: Pay,
    note: str,
    actor: str | None,
    *,
    payment_id: str | None = None,
) -> Payment:
    payment = Payment(
        payment_id=payment_id or new_id(),
        job_id=job_id,
        person_id=person_id,
        kind=kind,
        cents=cents,
        currency=pay.currency,
        state="owed",
        note=note,
        at=tx.now,
    )
    row = COLUMNS.row(payment)
    tx.insert(schema.payments, row)
    payload: dict[str, Json] = {name: row[name] for name in ("job_id", "person_id", "kind", "cents", "currency")}
    events.write(tx, actor, "payment.written", payment.payment_id, payload)
    return payment
