"""Units whose judgments are complete: whether somebody decided them, and whether their raters differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from sqlalchemy import exists, func, select

from grater.store import schema
from grater.store.transaction import Tx

By: TypeAlias = Literal["label", "payload"]


@dataclass(frozen=True, slots=True)
class Finished:
    unit_id: str
    differs: bool
    is_decided: bool


def of_job(tx: Tx, job_id: str, *, by: By = "label") -> list[Finished]:
    """The finished units of a job with two judgments or more, those on which raters differ first.

    Raters differ where an item has two labels; where the work is in the payload (marked essays), two of those.
    """
    said = (
        select(
            schema.submissions.c.unit_id,
            schema.judgments.c.item_id,
            func.count(schema.judgments.c[by].distinct()).label("ways"),
        )
        .join(schema.judgments, schema.judgments.c.submission_id == schema.submissions.c.submission_id)
        .where(schema.submissions.c.job_id == job_id, schema.submissions.c.status == "valid")
        .group_by(schema.submissions.c.unit_id, schema.judgments.c.item_id)
        .subquery()
    )
    is_decided = exists().where(schema.adjudications.c.unit_id == schema.units.c.unit_id)
    n_valid = (
        select(func.count())
        .where(schema.submissions.c.unit_id == schema.units.c.unit_id, schema.submissions.c.status == "valid")
        .scalar_subquery()
    )
    query = (
        select(schema.units.c.unit_id, func.max(said.c.ways), is_decided)
        .join(said, said.c.unit_id == schema.units.c.unit_id)
        .where(
            schema.units.c.job_id == job_id,
            schema.units.c.role == "work",
            schema.units.c.wanted > 1,
            n_valid >= schema.units.c.wanted,
        )
        .group_by(schema.units.c.unit_id, schema.units.c.position)
        .order_by(schema.units.c.position)
    )
    found = [Finished(row[0], row[1] > 1, bool(row[2])) for row in tx.all(query)]
    return sorted(found, key=lambda each: not each.differs)
