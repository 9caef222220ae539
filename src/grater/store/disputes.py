"""Disputes: a rater says that missed gold is wrong itself; a manager forgives the gold, or says why not."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import select

from grater.errors import BadInput, Conflict, NotFound, Problem
from grater.store import events, gold_review, people, schema
from grater.store.ids import new_id
from grater.store.transaction import Record, Tx

LONGEST = 2000


@dataclass(frozen=True, slots=True)
class Dispute:
    dispute_id: str
    submission_id: str
    person_id: str
    text: str
    state: str
    answer: str
    decided_by: str | None
    at: int
    decided_at: int | None
    unit_id: str = ""


COLUMNS = [schema.disputes.c[name] for name in Dispute.__dataclass_fields__ if name != "unit_id"]
QUERY = select(*COLUMNS, schema.submissions.c.unit_id).join(
    schema.submissions, schema.submissions.c.submission_id == schema.disputes.c.submission_id
)


def add(tx: Tx, submission_id: str, *, person_id: str, text: str) -> Dispute:
    """Dispute missed gold, once; the answer must be one's own."""
    if not 0 < len(text.strip()) <= LONGEST:
        raise BadInput(Problem("form", f"text: expected 1 to {LONGEST} characters, found {len(text.strip())}"))
    people.lock(tx, person_id)
    missed = _missed(tx, submission_id)
    if missed is None or missed.person_id != person_id:
        raise NotFound("there is no missed question of yours to dispute here")
    if (
        tx.first(select(schema.disputes.c.dispute_id).where(schema.disputes.c.submission_id == submission_id))
        is not None
    ):
        raise Conflict("you have disputed this one already; wait for the answer")
    row = {"dispute_id": new_id(), "submission_id": submission_id, "person_id": person_id, "text": text.strip()}
    tx.insert(schema.disputes, row | {"at": tx.now})
    events.write(tx, person_id, "dispute.opened", row["dispute_id"], {"submission_id": submission_id})
    return the(tx, row["dispute_id"])


def decide(tx: Tx, dispute_id: str, *, is_granted: bool, answer: str = "", actor: str | None = None) -> Dispute:
    """Grant a dispute, which forgives its gold and settles every dispute about it; or refuse it with a word."""
    _hold(tx, the(tx, dispute_id).unit_id)
    dispute = the(tx, dispute_id)  # only now: somebody may have decided it while we waited
    if dispute.state != "open":
        raise Conflict("this dispute has been decided already")
    if is_granted:
        gold_review.set_state(tx, dispute.unit_id, "forgiven", actor=actor)
    same = [each for each in about(tx, dispute.unit_id) if each.state == "open"] if is_granted else [dispute]
    for each in same:
        state = "granted" if is_granted else "refused"
        values = {"answer": answer.strip()[:LONGEST], "decided_by": actor, "decided_at": tx.now}
        tx.execute(
            schema.disputes.update()
            .where(schema.disputes.c.dispute_id == each.dispute_id)
            .values(state=state, **values)
        )
        events.write(tx, actor, "dispute.decided", each.dispute_id, {"state": state})
    return the(tx, dispute_id)


def the(tx: Tx, dispute_id: str) -> Dispute:
    row = tx.first(QUERY.where(schema.disputes.c.dispute_id == dispute_id))
    if row is None:
        raise NotFound("there is no such dispute")
    return Dispute(*row)


def about(tx: Tx, unit_id: str) -> list[Dispute]:
    return [
        Dispute(*row)
        for row in tx.all(QUERY.where(schema.submissions.c.unit_id == unit_id).order_by(schema.disputes.c.at))
    ]


def of_job(tx: Tx, job_id: str) -> list[Dispute]:
    """The disputes of a job, open ones first."""
    order = (schema.disputes.c.state != "open", schema.disputes.c.at, schema.disputes.c.dispute_id)
    return [Dispute(*row) for row in tx.all(QUERY.where(schema.submissions.c.job_id == job_id).order_by(*order))]


def of_person(tx: Tx, person_id: str) -> dict[str, Dispute]:
    """A rater's own disputes by submission."""
    rows = tx.all(QUERY.where(schema.disputes.c.person_id == person_id).order_by(schema.disputes.c.at))
    return {row.submission_id: Dispute(*row) for row in rows}


def _hold(tx: Tx, unit_id: str) -> None:
    """All disputes about one gold wait for whoever decides one of them."""
    tx.all(
        tx.locked(
            QUERY.where(schema.submissions.c.unit_id == unit_id).order_by(schema.disputes.c.dispute_id),
            of=schema.disputes,
        )
    )


def _missed(tx: Tx, submission_id: str) -> Record | None:
    query = select(schema.submissions.c.person_id).join(
        schema.units, schema.units.c.unit_id == schema.submissions.c.unit_id
    )
    is_missed = (schema.units.c.role == "gold") & schema.submissions.c.is_right.is_(False)
    return tx.first(query.where(schema.submissions.c.submission_id == submission_id, is_missed))
