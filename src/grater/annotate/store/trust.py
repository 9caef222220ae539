"""How far a rater is trusted in a job: gold seen, gold right, and a state that people or rules set.

The counts are never added up by hand: they are counted again from the stored submissions after each answer of a rater
who is tested, so trust recomputed from scratch is trust stored.  After work as well, for neither may take longer
(P5); for the same reason an event tells of a new state, and not of each count.  Only active gold counts; withdrawn
answers do not.  Beside them stands how often the rater gave a unit back unanswered.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import bindparam, case, func, literal_column, select

from grater.annotate.store import events, schema
from grater.annotate.store.transaction import Columns, Tx


@dataclass(frozen=True, slots=True)
class Trust:
    job_id: str
    person_id: str
    seen: int = 0
    right: int = 0
    state: str = "new"
    attempts: int = 0
    why: str = ""
    returns: int = 0


OUT = ("ejected", "flagged")
"""States in which a rater gets no more work in the job."""

COLUMNS = Columns(Trust, schema.trust)
BY_KEY = select(*COLUMNS).where(
    schema.trust.c.job_id == bindparam("job_id"), schema.trust.c.person_id == bindparam("person_id")
)


@dataclass(frozen=True, slots=True)
class GoldAnswer:
    """An answer of a rater to gold; only `is_active` gold counts."""

    submission_id: str
    unit_id: str
    is_right: bool
    is_active: bool
    pool: str


ANSWERS = (
    select(
        schema.submissions.c.submission_id,
        schema.submissions.c.unit_id,
        schema.submissions.c.is_right,
        case((func.min(schema.gold.c.state) == literal_column("'active'"), True), else_=False).label("is_active"),
        func.min(schema.gold.c.pool).label("pool"),
    )
    .join(schema.gold, schema.gold.c.unit_id == schema.submissions.c.unit_id)
    .where(
        schema.submissions.c.unit_id.in_(
            select(schema.units.c.unit_id).where(
                schema.units.c.job_id == bindparam("job"), schema.units.c.role == literal_column("'gold'")
            )
        ),
        schema.submissions.c.person_id == bindparam("person"),
        schema.submissions.c.status.in_((literal_column("'valid'"), literal_column("'untrusted'"))),
    )
    .group_by(schema.submissions.c.submission_id, schema.submissions.c.at)
    .order_by(schema.submissions.c.at, schema.submissions.c.submission_id)
)
"""By the units, of which few are gold: a rater may have answered thousands."""

RETURNS = select(schema.trust.c.returns).where(
    schema.trust.c.job_id == bindparam("job"), schema.trust.c.person_id == bindparam("person")
)


def find(tx: Tx, job_id: str, person_id: str) -> Trust:
    row = tx.first(BY_KEY, job_id=job_id, person_id=person_id)
    return Trust(job_id=job_id, person_id=person_id) if row is None else COLUMNS.read(row)


def of_job(tx: Tx, job_id: str) -> list[Trust]:
    query = select(*COLUMNS).where(schema.trust.c.job_id == job_id).order_by(tx.binary(schema.trust.c.person_id))
    return [COLUMNS.read(row) for row in tx.all(query)]


def gold_answers(tx: Tx, job_id: str, person_id: str) -> list[GoldAnswer]:
    """Every answer to gold that counts, in the order in which they came."""
    rows = tx.all(ANSWERS, job=job_id, person=person_id)
    return [GoldAnswer(**{**row._mapping, "is_right": bool(row.is_right)}) for row in rows]


def recount(tx: Tx, job_id: str, person_id: str, answers: Sequence[GoldAnswer] | None = None) -> Trust:
    """Count the answers to active gold anew."""
    known = gold_answers(tx, job_id, person_id) if answers is None else answers
    counted = [answer.is_right for answer in known if answer.is_active]
    return _store(tx, job_id, person_id, actor=None, seen=len(counted), right=sum(counted))


def set_state(
    tx: Tx, job_id: str, person_id: str, state: str, *, actor: str | None = None, **more: int | str
) -> Trust:
    """`more`: failed `attempts` at the quiz, and `why` the rater is in this state."""
    return _store(tx, job_id, person_id, actor=actor, state=state, **more)


def count_return(tx: Tx, job_id: str, person_id: str) -> Trust:
    """The rater gave a unit back; the person is locked, so nothing is counted in between."""
    return _store(tx, job_id, person_id, actor=None, returns=find(tx, job_id, person_id).returns + 1)


def _store(tx: Tx, job_id: str, person_id: str, *, actor: str | None, **values: Any) -> Trust:
    row = tx.first(BY_KEY, job_id=job_id, person_id=person_id)
    before = Trust(job_id=job_id, person_id=person_id) if row is None else COLUMNS.read(row)
    changed = replace(before, **values)
    if row is None:
        tx.insert(schema.trust, COLUMNS.row(changed))
    else:
        key = (schema.trust.c.job_id == job_id) & (schema.trust.c.person_id == person_id)
        tx.execute(schema.trust.update().where(key).values(**values))
    if row is None or (before.state, before.returns) != (changed.state, changed.returns):
        names = ("person_id", "seen", "right", "state", "returns")
        events.write(tx, actor, "trust.changed", job_id, {name: getattr(changed, name) for name in names})
    return changed
