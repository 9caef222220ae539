"""What is owed and what was paid: whole cents of one currency a job, every change another row.

`settle` brings the rows of a job up to what its pay policy owes for the submissions as they are now: more is a row of
`work`, less (a judgment lost its status under a policy that does not pay for that) a `correction` below zero.  So the
rows of a rater always add up to what the policy owes, to the cent, however often it is run.  Bonuses stand beside.

What a job cost in money and time: the paper's Table 5 for any job, and what an hour of it paid.

T,C&M 2013, Table 5, gives judgments, cost and turn-around for four tasks.  Added: the cost of a judgment that counts,
what was wasted on judgments that do not, what gold cost, and cents per hour at the median and for the slower quarter
of raters.  `costs` is the part of it that every export has.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from statistics import median

import polars as pl
from sqlalchemy import select

from grater.annotate import jobs, panels, units
from grater.annotate.jobs import Job
from grater.annotate.store import Tx, dump, events, judgments, people, schema
from grater.annotate.store.ids import new_id
from grater.annotate.store.transaction import Columns, Record
from grater.annotate.study.limits import require_number, require_text
from grater.annotate.terms import HourlyPay, Pay, Work, bill, hourly, money, terms_of, valid_share
from grater.errors import Conflict, UsageError
from grater.model import Interval, Json
from grater.result import HIDDEN, Data, in_json, key

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


def payments_of(tx: Tx, job_id: str) -> list[Payment]:
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
    for payment in payments_of(tx, job_id):
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


def costs(tx: Tx, job_id: str) -> dict[str, Json]:
    """Submissions by status, working time, first to last answer, money by currency, and per valid answer to work."""
    rows = judgments.submitted(tx, job_id)
    statuses = Counter(row.status for row in rows)
    gold_ids = _gold_ids(tx, job_id)
    n_valid = sum(row.status == "valid" and row.unit_id not in gold_ids for row in rows)
    seconds = [row.seconds for row in rows if row.seconds is not None]
    money: Counter[str] = Counter()
    for payment in dump.rows(tx, "payments"):
        if payment["job_id"] == job_id and payment["state"] != "refused":
            money[payment["currency"]] += payment["cents"]
    times = _times(tx, rows)
    return {
        "submissions": dict(sorted(statuses.items())),
        "seconds": {"total": sum(seconds), "median": median(seconds) if seconds else None},
        "turn_around_seconds": (max(times) - min(times)) / 1000 if times else None,
        "cents": dict(sorted(money.items())),
        "cents_per_valid": {name: (cents / n_valid if n_valid else None) for name, cents in sorted(money.items())},
    }


def _gold_ids(tx: Tx, job_id: str) -> set[str]:
    """Units with known answers, which are no work."""
    return set(units.ids_of_job(tx, job_id)) - set(units.ids_of_job(tx, job_id, role="work"))


def _times(tx: Tx, rows: Sequence[Record]) -> list[int]:
    """When answers came; of an imported one without a time nobody knows it."""
    unknown = dump.undated(tx)
    return [row.at for row in rows if row.lease_id is not None or row.at not in unknown]


HOUR_MS = 3_600_000
OWED_COLUMNS = ("panel", "id", "amount", "currency")


@dataclass(frozen=True, slots=True)
class Costs(Data):
    """Money is in whole cents of `pay.currency`, None where no pay is agreed.

    `hours` are from the first to the last answer, None where no answer has a time of its own.
    """

    judgments: int
    valid: int
    raters: int
    hours: float | None = field(metadata=key("turn_around_hours"))
    share_valid: Interval = field(metadata=key(write=lambda share: [share.value, share.low, share.high]))
    pay: Pay | None = field(default=None, metadata=HIDDEN)
    cents: int = field(default=0, metadata=HIDDEN)
    wasted: int = field(default=0, metadata=HIDDEN)
    on_gold: int = field(default=0, metadata=HIDDEN)
    bonuses: int = field(default=0, metadata=HIDDEN)
    hourly: HourlyPay | None = field(default=None, metadata=HIDDEN)

    @property
    def per_valid(self) -> float:
        """Cents, bonuses and gold included, for each judgment of the work that counts; nan without any."""
        return (self.cents + self.bonuses) / self.valid if self.valid else float("nan")

    def money(self, cents: float) -> str:
        return money(cents, self.pay.currency) if self.pay else ""

    @property
    @in_json(flat=True)
    def _money(self) -> dict[str, Json]:
        """Nothing where the job has no pay."""
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
    gold_ids = _gold_ids(tx, job.job_id)
    rows = judgments.submitted(tx, job.job_id)
    done = [Work(row.person_id, row.status, row.seconds, row.unit_id) for row in rows]
    work = [each for each in done if each.unit not in gold_ids]
    tests = [each for each in done if each.unit in gold_ids]
    times = _times(tx, rows)
    costs = Costs(
        judgments=len(work),
        valid=sum(each.status == "valid" for each in work),
        raters=len({row.person_id for row in rows}),
        hours=(max(times) - min(times)) / HOUR_MS if times else None,
        share_valid=valid_share(work),
    )
    pay = terms_of(job.options).pay
    return costs if pay is None else _with_money(tx, job, costs, pay, work, tests)


def _with_money(tx: Tx, job: Job, costs: Costs, pay: Pay, work: list[Work], tests: list[Work]) -> Costs:
    extra = sum(each.cents for each in payments_of(tx, job.job_id) if each.kind == "bonus")
    of_work = bill(pay, work)
    on_gold = bill(pay, tests).cents
    return Costs(
        judgments=costs.judgments,
        valid=costs.valid,
        raters=costs.raters,
        hours=costs.hours,
        share_valid=costs.share_valid,
        pay=pay,
        cents=of_work.cents + on_gold,
        wasted=of_work.wasted,
        on_gold=on_gold,
        bonuses=extra,
        hourly=hourly(pay, [*work, *tests]),
    )


def owed_frame(tx: Tx, job: Job, *, panel: str = "") -> pl.DataFrame:
    """The payment file: what each rater is owed now, by the panel's own id for them; of one panel if named."""
    owed = [row for row in _owed(tx, job) if not panel or row["panel"] == panel]
    rows = sorted(owed, key=lambda row: (row["panel"] or "", row["id"] or ""))
    return pl.DataFrame(
        {name: [row[name] for row in rows] for name in OWED_COLUMNS}, dict.fromkeys(OWED_COLUMNS, pl.String)
    )


def _owed(tx: Tx, job: Job) -> Iterator[dict[str, str | None]]:
    places = {
        place.person_id: (panel.panel.provider.name, place.external_id)
        for panel in panels.of_job(tx, job.job_id)
        for place in panels.places(tx, panel.panel_id)
    }
    totals: Counter[tuple[str, str]] = Counter()
    for payment in payments_of(tx, job.job_id):
        if payment.state == "owed":
            totals[payment.person_id, payment.currency] += payment.cents
    names = {person.person_id: person for person in people.all(tx)}
    for (person_id, currency), cents in sorted(totals.items()):
        panel, external_id = places.get(person_id, (None, names[person_id].name))
        yield {"panel": panel, "id": external_id, "amount": f"{cents / 100:.2f}", "currency": currency}


def pay_bonus(
    tx: Tx,
    job: Job,
    person_id: str,
    cents: int,
    *,
    note: str = "",
    payment_id: str | None = None,
    actor: str | None = None,
) -> Payment:
    """Something extra for a rater, in the currency of the job; the same `payment_id` again pays once."""
    require_number("bonus.cents", cents)
    require_text("bonus.note", note)
    require_text("bonus.payment_id", payment_id or "")
    return bonus(tx, job, person_id, cents, note=note, payment_id=payment_id, actor=actor)


def note_paid(tx: Tx, job_id: str, *, actor: str) -> int:
    """All that is owed in a job has been paid; return the number of rows."""
    owed = {each.person_id for each in payments_of(tx, job_id) if each.state == "owed"}
    return set_paid(tx, job_id, sorted(owed), actor=actor)
