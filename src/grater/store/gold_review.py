"""Gold that is doubted: missed too often, disputed, forgiven; and everybody who saw it counted anew.

Gold missed by more than half of the raters who saw it, five at the least, suspends itself; a manager may forgive it
for good, suspend it, or make it active again.  Each change recounts the trust of all who answered it.  Whom the rules
had put out and now would not is taken back; nobody is put out by such a change, only by their next answer to gold.

Disputes: a rater says that missed gold is wrong itself; a manager forgives the gold, or says why not.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import bindparam, case, func, select

from grater.crowd.trust import is_suspect
from grater.errors import BadInput, Conflict, NotFound, Problem, UsageError
from grater.registry import unknown
from grater.store import ejection, events, jobs, people, schema
from grater.store.gold import Gold
from grater.store.ids import new_id
from grater.store.transaction import Record, Tx, locking

COUNTED = ("valid", "untrusted")


@dataclass(frozen=True, slots=True)
class GoldRecord:
    """A gold unit and how raters did on it."""

    unit_id: str
    known: tuple[Gold, ...]
    seen: int
    missed: int
    disputes: int

    @property
    def state(self) -> str:
        return self.known[0].state

    @property
    def is_trouble(self) -> bool:
        return self.state != "active" or self.disputes > 0 or 2 * self.missed > self.seen


def of_job(tx: Tx, job_id: str) -> list[GoldRecord]:
    """The gold of a job, the most missed first."""
    known: dict[str, list[Gold]] = {}
    query = select(schema.gold).join(schema.units, schema.units.c.unit_id == schema.gold.c.unit_id)
    for row in tx.all(
        query.where(schema.units.c.job_id == job_id, schema.units.c.role == "gold").order_by(schema.units.c.position)
    ):
        one = Gold(row.unit_id, row.item_id, frozenset(row.accepted), row.reason, row.state)
        known.setdefault(row.unit_id, []).append(one)
    counts, open_ones = _counts(tx, job_id), _disputes(tx, job_id)
    found = [
        GoldRecord(unit_id, tuple(each), *counts.get(unit_id, (0, 0)), open_ones.get(unit_id, 0))
        for unit_id, each in known.items()
    ]
    return sorted(found, key=lambda each: (-each.missed, -each.seen))


def doubt(tx: Tx, unit_id: str) -> bool:
    """Suspend gold that is missed too often; True if it was suspended now."""
    if _state(tx, unit_id) != "active":
        return False
    seen, missed = _count(tx, unit_id)
    if not is_suspect(seen=seen, missed=missed):
        return False
    set_state(tx, unit_id, "suspended")
    return True


def set_state(tx: Tx, unit_id: str, state: str, *, actor: str | None = None) -> None:
    """Forgive, suspend or reactivate a gold unit, and count everybody who saw it anew."""
    if state not in schema.GOLD_STATES:
        raise UsageError(unknown("state", state, list(schema.GOLD_STATES)))
    if _state(tx, unit_id) == state:
        return
    tx.execute(schema.gold.update().where(schema.gold.c.unit_id == unit_id).values(state=state))
    for item_id in [
        row.item_id for row in tx.all(select(schema.gold.c.item_id).where(schema.gold.c.unit_id == unit_id))
    ]:
        events.write(tx, actor, "gold.state", unit_id, {"item_id": item_id, "state": state})
    job = jobs.get(tx, str(tx.value(select(schema.units.c.job_id).where(schema.units.c.unit_id == unit_id))))
    for person_id in _who_saw(tx, unit_id):
        ejection.judge_again(tx, job, person_id)


def hold(tx: Tx, lease_id: str) -> None:
    """The gold of a lease, if it is gold, stays as it is until the end: its rater is counted by what counts then.

    Gold is held before people, here and where its state changes, so that no two wait for each other.
    """
    if tx.is_postgres:
        tx.all(OF_LEASE, lease=lease_id)


def _state(tx: Tx, unit_id: str) -> str:
    """Held until the end, so that two who change it wait for each other."""
    query = tx.locked(
        select(schema.gold.c.state).where(schema.gold.c.unit_id == unit_id).order_by(schema.gold.c.item_id),
        of=schema.gold,
    )
    rows = tx.all(query)
    if not rows:
        raise NotFound("there is no such gold in this study")
    return str(rows[0].state)


def _who_saw(tx: Tx, unit_id: str) -> list[str]:
    saw = (schema.submissions.c.unit_id == unit_id) & schema.submissions.c.status.in_(COUNTED)
    return sorted({row.person_id for row in tx.all(select(schema.submissions.c.person_id).where(saw))})


def _count(tx: Tx, unit_id: str) -> tuple[int, int]:
    row = tx.first(
        select(func.count(), MISSED).where(
            schema.submissions.c.unit_id == unit_id, schema.submissions.c.status.in_(COUNTED)
        )
    )
    return (0, 0) if row is None else (int(row[0]), int(row[1]))


def _counts(tx: Tx, job_id: str) -> dict[str, tuple[int, int]]:
    query = select(schema.submissions.c.unit_id, func.count(), MISSED).join(
        schema.units, schema.units.c.unit_id == schema.submissions.c.unit_id
    )
    query = query.where(
        schema.submissions.c.job_id == job_id, schema.units.c.role == "gold", schema.submissions.c.status.in_(COUNTED)
    )
    return {row[0]: (int(row[1]), int(row[2])) for row in tx.all(query.group_by(schema.submissions.c.unit_id))}


def _disputes(tx: Tx, job_id: str) -> dict[str, int]:
    query = (
        select(schema.submissions.c.unit_id, func.count())
        .join(schema.disputes, schema.disputes.c.submission_id == schema.submissions.c.submission_id)
        .where(schema.submissions.c.job_id == job_id, schema.disputes.c.state == "open")
        .group_by(schema.submissions.c.unit_id)
    )
    return {row[0]: int(row[1]) for row in tx.all(query)}


MISSED = func.coalesce(func.sum(case((schema.submissions.c.is_right.is_(False), 1), else_=0)), 0)

OF_LEASE = locking(
    select(schema.gold.c.item_id)
    .join(schema.leases, schema.leases.c.unit_id == schema.gold.c.unit_id)
    .where(schema.leases.c.lease_id == bindparam("lease"))
    .order_by(schema.gold.c.item_id),
    of=schema.gold,
)


LONGEST_DISPUTE = 2000


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


DISPUTE_COLUMNS = [schema.disputes.c[name] for name in Dispute.__dataclass_fields__ if name != "unit_id"]
DISPUTES = select(*DISPUTE_COLUMNS, schema.submissions.c.unit_id).join(
    schema.submissions, schema.submissions.c.submission_id == schema.disputes.c.submission_id
)


def open_dispute(tx: Tx, submission_id: str, *, person_id: str, text: str) -> Dispute:
    """Dispute missed gold, once; the answer must be one's own."""
    if not 0 < len(text.strip()) <= LONGEST_DISPUTE:
        raise BadInput(
            Problem("form", f"text: expected 1 to {LONGEST_DISPUTE} characters, found {len(text.strip())}")
        )
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
    return get_dispute(tx, row["dispute_id"])


def decide_dispute(
    tx: Tx, dispute_id: str, *, is_granted: bool, answer: str = "", actor: str | None = None
) -> Dispute:
    """Grant a dispute, which forgives its gold and settles every dispute about it; or refuse it with a word."""
    _hold(tx, get_dispute(tx, dispute_id).unit_id)
    dispute = get_dispute(tx, dispute_id)  # only now: somebody may have decided it while we waited
    if dispute.state != "open":
        raise Conflict("this dispute has been decided already")
    if is_granted:
        set_state(tx, dispute.unit_id, "forgiven", actor=actor)
    same = [each for each in disputes_about(tx, dispute.unit_id) if each.state == "open"] if is_granted else [dispute]
    for each in same:
        state = "granted" if is_granted else "refused"
        values = {"answer": answer.strip()[:LONGEST_DISPUTE], "decided_by": actor, "decided_at": tx.now}
        tx.execute(
            schema.disputes.update()
            .where(schema.disputes.c.dispute_id == each.dispute_id)
            .values(state=state, **values)
        )
        events.write(tx, actor, "dispute.decided", each.dispute_id, {"state": state})
    return get_dispute(tx, dispute_id)


def get_dispute(tx: Tx, dispute_id: str) -> Dispute:
    row = tx.first(DISPUTES.where(schema.disputes.c.dispute_id == dispute_id))
    if row is None:
        raise NotFound("there is no such dispute")
    return Dispute(*row)


def disputes_about(tx: Tx, unit_id: str) -> list[Dispute]:
    return [
        Dispute(*row)
        for row in tx.all(DISPUTES.where(schema.submissions.c.unit_id == unit_id).order_by(schema.disputes.c.at))
    ]


def disputes_of_job(tx: Tx, job_id: str) -> list[Dispute]:
    """The disputes of a job, open ones first."""
    order = (schema.disputes.c.state != "open", schema.disputes.c.at, schema.disputes.c.dispute_id)
    return [Dispute(*row) for row in tx.all(DISPUTES.where(schema.submissions.c.job_id == job_id).order_by(*order))]


def disputes_of_person(tx: Tx, person_id: str) -> dict[str, Dispute]:
    """A rater's own disputes by submission."""
    rows = tx.all(DISPUTES.where(schema.disputes.c.person_id == person_id).order_by(schema.disputes.c.at))
    return {row.submission_id: Dispute(*row) for row in rows}


def _hold(tx: Tx, unit_id: str) -> None:
    """All disputes about one gold wait for whoever decides one of them."""
    tx.all(
        tx.locked(
            DISPUTES.where(schema.submissions.c.unit_id == unit_id).order_by(schema.disputes.c.dispute_id),
            of=schema.disputes,
        )
    )


def _missed(tx: Tx, submission_id: str) -> Record | None:
    query = select(schema.submissions.c.person_id).join(
        schema.units, schema.units.c.unit_id == schema.submissions.c.unit_id
    )
    is_missed = (schema.units.c.role == "gold") & schema.submissions.c.is_right.is_(False)
    return tx.first(query.where(schema.submissions.c.submission_id == submission_id, is_missed))
