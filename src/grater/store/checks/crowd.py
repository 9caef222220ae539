"""Rules about raters who were put out, and about money (P6)."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import exists, func, select

from grater.store.schema import leases, payments, submissions, trust
from grater.store.transaction import Tx


def put_out_but_counting(tx: Tx) -> Iterator[str]:
    """Nothing of a rater who was put out counts in that job."""
    query = select(submissions.c.submission_id, submissions.c.person_id).join(
        trust, (trust.c.job_id == submissions.c.job_id) & (trust.c.person_id == submissions.c.person_id)
    )
    for row in tx.all(query.where(trust.c.state == "ejected", submissions.c.status == "valid")):
        yield f"submission {row[0]}: valid, but person {row[1]} was put out"


def put_out_but_holding(tx: Tx) -> Iterator[str]:
    """A rater who was put out holds nothing in that job."""
    out = exists().where(
        trust.c.job_id == leases.c.job_id, trust.c.person_id == leases.c.person_id, trust.c.state == "ejected"
    )
    for row in tx.all(select(leases.c.lease_id, leases.c.person_id).where(leases.c.state == "held", out)):
        yield f"lease {row[0]}: held by person {row[1]}, who was put out"


def currencies_mixed(tx: Tx) -> Iterator[str]:
    """A job is paid in one currency."""
    n_currencies = func.count(payments.c.currency.distinct())
    query = select(payments.c.job_id, n_currencies).group_by(payments.c.job_id).having(n_currencies > 1)
    for row in tx.all(query):
        yield f"job {row[0]}: paid in {row[1]} currencies"
