"""How far a rater is trusted in a job: gold seen, gold right, and a state that people or rules set.

The counts are never added up by hand: they are counted again from the stored submissions after each gold answer,
so trust recomputed from scratch is trust stored.  Only active gold counts; withdrawn answers do not.  Beside them
stands how often the rater gave a unit back unanswered.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import bindparam, case, exists, func, select

from grater.annotate.store import events, schema
from grater.annotate.store.transaction import Columns, Tx
from grater.model import Json


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

RETURNS = select(schema.trust.c.returns).where(
    schema.trust.c.job_id == bindparam("job"), schema.trust.c.person_id == bindparam("person")
)


def find(tx: Tx, job_id: str, person_id: str) -> Trust:
    row = tx.first(BY_KEY, job_id=job_id, person_id=person_id)
    return Trust(job_id=job_id, person_id=person_id) if row is None else COLUMNS.read(row)


def of_job(tx: Tx, job_id: str) -> list[Trust]:
    query = select(*COLUMNS).where(schema.trust.c.job_id == job_id).order_by(tx.binary(schema.trust.c.person_id))
    return [COLUMNS.read(row) for row in tx.all(query)]


def count_gold(tx: Tx, job_id: str, person_id: str) -> tuple[int, int]:
    is_active = exists().where(schema.gold.c.unit_id == schema.submissions.c.unit_id, schema.gold.c.state == "active")
    right = func.coalesce(func.sum(case((schema.submissions.c.is_right, 1), else_=0)), 0)
    row = tx.first(
        select(func.count().label("n_seen"), right.label("n_right"))
        .join(schema.units, schema.units.c.unit_id == schema.submissions.c.unit_id)
        .where(
            schema.submissions.c.job_id == job_id,
            schema.submissions.c.person_id == person_id,
            schema.submissions.c.status.in_(("valid", "untrusted")),
            schema.units.c.role == "gold",
            is_active,
        )
    )
    return (0, 0) if row is None else (int(row.n_seen), int(row.n_right))


def recount(tx: Tx, job_id: str, person_id: str) -> Trust:
    seen, right = count_gold(tx, job_id, person_id)
    return _store(tx, job_id, person_id, actor=None, seen=seen, right=right)


def set_state(
    tx: Tx, job_id: str, person_id: str, state: str, *, actor: str | None = None, **more: int | str
) -> Trust:
    """`more`: failed `attempts` at the quiz, and `why` the rater is in this state."""
    return _store(tx, job_id, person_id, actor=actor, state=state, **more)


def count_return(tx: Tx, job_id: str, person_id: str) -> Trust:
    """The rater gave a unit back; the person is locked, so nothing is counted in between."""
    return _store(tx, job_id, person_id, actor=None, returns=find(tx, job_id, person_id).returns + 1)


def _store(tx: Tx, job_id: str, person_id: str, *, actor: str | None, **values: int | str) -> Trust:
    key = (schema.trust.c.job_id == job_id) & (schema.trust.c.person_id == person_id)
    if tx.first(select(schema.trust.c.seen).where(key)) is None:
        tx.insert(schema.trust, {"job_id": job_id, "person_id": person_id, **values})
    else:
        tx.execute(schema.trust.update().where(key).values(**values))
    changed = find(tx, job_id, person_id)
    payload: dict[str, Json] = {
        "person_id": person_id,
        "seen": changed.seen,
        "right": changed.right,
        "state": changed.state,
        "returns": changed.returns,
    }
    events.write(tx, actor, "trust.changed", job_id, payload)
    return changed
