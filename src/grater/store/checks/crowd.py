"""Rules about raters who were put out, and about money (P6)."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import exists, func, select

from grater.store import schema
from grater.store.transaction import Tx


def put_out_but_counting(tx: Tx) -> Iterator[str]:
    """Nothing of a rater who was put out counts in that job."""
    query = select(schema.submissions.c.submission_id, schema.submissions.c.person_id).join(
        schema.trust,
        (schema.trust.c.job_id == schema.submissions.c.job_id)
        & (schema.trust.c.person_id == schema.submissions.c.person_id),
    )
    for row in tx.all(query.where(schema.trust.c.state == "ejected", schema.submissions.c.status == "valid")):
        yield f"submission {row[0]}: valid, but person {row[1]} was put out"


def put_out_but_holding(tx: Tx) -> Iterator[str]:
    """A rater who was put out holds nothing in that job."""
    out = exists().where(
        schema.trust.c.job_id == schema.leases.c.job_id,
        schema.trust.c.person_id == schema.leases.c.person_id,
        schema.trust.c.state == "ejected",
    )
    for row in tx.all(
        select(schema.leases.c.lease_id, schema.leases.c.person_id).where(schema.leases.c.state == "held", out)
    ):
        yield f"lease {row[0]}: held by person {row[1]}, who was put out"


def currencies_mixed(tx: Tx) -> Iterator[str]:
    """A job is paid in one currency."""
    n_currencies = func.count(schema.payments.c.currency.distinct())
    query = select(schema.payments.c.job_id, n_currencies).group_by(schema.payments.c.job_id).having(n_currencies > 1)
    for row in tx.all(query):
        yield f"job {row[0]}: paid in {row[1]} currencies"
