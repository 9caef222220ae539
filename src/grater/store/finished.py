"""Units whose judgments are complete: whether somebody decided them, and whether their raters differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from sqlalchemy import exists, func, select

from grater.store.schema import adjudications, judgments, submissions, units
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
        select(submissions.c.unit_id, judgments.c.item_id, func.count(judgments.c[by].distinct()).label("ways"))
        .join(judgments, judgments.c.submission_id == submissions.c.submission_id)
        .where(submissions.c.job_id == job_id, submissions.c.status == "valid")
        .group_by(submissions.c.unit_id, judgments.c.item_id)
        .subquery()
    )
    is_decided = exists().where(adjudications.c.unit_id == units.c.unit_id)
    n_valid = (
        select(func.count())
        .where(submissions.c.unit_id == units.c.unit_id, submissions.c.status == "valid")
        .scalar_subquery()
    )
    query = (
        select(units.c.unit_id, func.max(said.c.ways), is_decided)
        .join(said, said.c.unit_id == units.c.unit_id)
        .where(units.c.job_id == job_id, units.c.role == "work", units.c.wanted > 1, n_valid >= units.c.wanted)
        .group_by(units.c.unit_id, units.c.position)
        .order_by(units.c.position)
    )
    found = [Finished(row[0], row[1] > 1, bool(row[2])) for row in tx.all(query)]
    return sorted(found, key=lambda each: not each.differs)
