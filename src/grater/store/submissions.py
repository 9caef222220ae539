"""What an answer meets when it comes in, by one question: its lease, its unit, and how its rater stands.

Ask when the person is locked: what the same rater sent a moment ago is then in it.

Submissions: one answered page each, kept for good.

The client names a submission by a UUID of its own.  The same id with the same body is a replay and gets the stored
result; with another body it is a conflict (P2).  Work on a lease that the rater holds is valid.  Late work, on a
lease that has run out, still takes a free slot of its unit if there is one, and is kept as surplus if not: nothing
that a rater sent is thrown away (P1).  A second answer by the same rater is surplus (P3); work that arrives after an
ejection is untrusted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import and_, bindparam, exists, func, literal_column, select

from grater.errors import Conflict, NotFound, UsageError
from grater.model import Json
from grater.store import events, gold, jobs, people, schema, slots, trust
from grater.store.ids import body_hash
from grater.store.jobs import Job
from grater.store.leases import COLUMNS as LEASE
from grater.store.leases import Lease
from grater.store.transaction import Record, Tx, chunks, locking
from grater.tasks.task import Answer

THEIRS_COUNT = (schema.submissions.c.person_id == bindparam("person")) & schema.submissions.c.status.in_(
    (literal_column("'valid'"), literal_column("'untrusted'"))
)
COUNTING = select(schema.submissions.c.submission_id).where(
    schema.submissions.c.unit_id == bindparam("unit"), THEIRS_COUNT
)
ID_SEPARATOR = "\x1f"
"""Between the ids of items where a question gives them together; no id has it."""
ASKED = (
    select(func.aggregate_strings(schema.unit_items.c.item_id, ID_SEPARATOR))
    .where(schema.unit_items.c.unit_id == schema.leases.c.unit_id)
    .scalar_subquery()
)
CONTEXT = (
    select(
        *LEASE,
        *jobs.COLUMNS,
        schema.units.c.role.label("unit_role"),
        exists().where(schema.submissions.c.unit_id == schema.leases.c.unit_id, THEIRS_COUNT).label("is_answered"),
        func.coalesce(schema.trust.c.state, "new").label("trust"),
        ASKED.label("asked"),
        exists().where(schema.submissions.c.submission_id == bindparam("submission")).label("is_stored"),
    )
    .select_from(schema.leases)
    .join(schema.units, schema.units.c.unit_id == schema.leases.c.unit_id)
    .join(schema.jobs, schema.jobs.c.job_id == schema.leases.c.job_id)
    .outerjoin(
        schema.trust,
        and_(schema.trust.c.job_id == schema.leases.c.job_id, schema.trust.c.person_id == bindparam("person")),
    )
    .where(schema.leases.c.lease_id == bindparam("lease"), schema.leases.c.person_id == bindparam("person"))
)
CONTEXT_LOCKED = locking(CONTEXT, of=schema.leases)


@dataclass(frozen=True, slots=True)
class SubmissionContext:
    """What an answer meets: its lease (locked), the job, the unit's role and items, how the rater stands."""

    lease: Lease
    job: Job
    role: str
    is_answered: bool
    trust: str
    asked: frozenset[str]


def context_of(tx: Tx, *, submission_id: str, lease_id: str, person_id: str) -> SubmissionContext | None:
    """What a new answer meets; None where its id is taken, or the lease is nobody's or another's."""
    asked = CONTEXT_LOCKED if tx.is_postgres else CONTEXT
    row = tx.first(asked, submission=submission_id, lease=lease_id, person=person_id)
    if row is None or row.is_stored:
        return None
    n = len(LEASE)
    lease, job = Lease(*row[:n]), Job(*row[n : n + len(jobs.COLUMNS)])
    items = frozenset(row.asked.split(ID_SEPARATOR)) if row.asked else frozenset()
    return SubmissionContext(lease, job, row.unit_role, bool(row.is_answered), row.trust, items)


LONGEST_ID = 100

BY_ID = select(schema.submissions).where(schema.submissions.c.submission_id == bindparam("submission"))
DONE = schema.leases.update().where(schema.leases.c.lease_id == bindparam("lease")).values(state="done")


@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of a submission; show it to the rater only after COMMIT.

    `is_right`: how it did on gold.  `job` as it was when a new one came.
    """

    submission_id: str
    unit_id: str
    status: str
    is_replay: bool = False
    is_right: bool | None = None
    job: Job | None = field(default=None, compare=False, repr=False)


def submit(
    tx: Tx,
    *,
    submission_id: str,
    lease_id: str,
    person_id: str,
    body: Mapping[str, Json],
    answers: Sequence[Answer],
    seconds: float | None = None,
) -> Receipt:
    """Store one answered page with its judgments, or give back what was stored under this id."""
    if not 0 < len(submission_id) <= LONGEST_ID:
        raise UsageError(f"expected a submission id of 1 to {LONGEST_ID} characters, found {len(submission_id)}")
    people.lock(tx, person_id)
    before = context_of(tx, submission_id=submission_id, lease_id=lease_id, person_id=person_id)
    if before is None:
        return _replay(find(tx, submission_id), person_id, body)
    _require_answers(before, answers)
    status, n = _status(tx, before)
    _release(tx, before.lease, n)
    is_right = None if before.role == "work" else _graded(tx, before, answers)
    sent = {"submission_id": submission_id, "body": body, "body_hash": body_hash(body), "seconds": seconds}
    row = {**sent, **_from_lease(before.lease, tx.now), "n": n, "status": status, "is_right": is_right}
    store_all(tx, [(row, answers)])
    if before.role == "gold":
        trust.recount(tx, before.job.job_id, person_id)
    return Receipt(submission_id, before.lease.unit_id, status, is_right=is_right, job=before.job)


def store_all(tx: Tx, found: Iterable[tuple[Mapping[str, Any], Sequence[Answer]]]) -> None:
    """Write submissions with their judgments and events; the caller has given each its status and slot."""
    for some in chunks(found):
        tx.insert(schema.submissions, [dict(row) for row, _ in some])
        tx.insert(
            schema.judgments,
            [_judgment(row["submission_id"], n, answer) for row, answers in some for n, answer in enumerate(answers)],
        )
        events.write_all(tx, [_event(row, answers) for row, answers in some])


def _event(row: Mapping[str, Any], answers: Sequence[Answer]) -> tuple[str | None, str, str, Mapping[str, Json]]:
    payload = {name: row.get(name) for name in ("job_id", "unit_id", "person_id", "lease_id", "status", "n")}
    payload |= {"body_hash": row["body_hash"], "judgments": len(answers)}
    return row["person_id"], "submission.stored", row["submission_id"], payload


def find(tx: Tx, submission_id: str) -> Record | None:
    return tx.first(BY_ID, submission=submission_id)


def set_status(tx: Tx, submission_id: str, status: str, *, actor: str | None = None, why: str = "") -> str:
    """Change what a submission counts for, and give its new status.

    One that stops being valid frees its slot.  One that is to be valid again takes a free slot; if there is none left
    it becomes surplus.
    """
    row = tx.first(
        tx.locked(
            select(schema.submissions).where(schema.submissions.c.submission_id == submission_id),
            of=schema.submissions,
        )
    )
    if row is None:
        raise NotFound("there is no such submission")
    if row.status == status:
        return status
    if row.n is not None:
        slots.set_state(tx, row.unit_id, row.n, "free")
    n = None
    if status == "valid" and _has_slots(tx, row.unit_id):
        n = slots.take_free(tx, row.unit_id)
        status = "valid" if n is not None else "surplus"
    this = schema.submissions.c.submission_id == submission_id
    tx.execute(schema.submissions.update().where(this).values(status=status, n=n))
    events.write(
        tx, actor, "submission.status", submission_id, {"from": row.status, "to": status, "n": n, "why": why}
    )
    return status


def of_unit(tx: Tx, unit_id: str) -> list[Record]:
    """Everything that was sent for a unit, the oldest first: for adjudicators, never for raters (P9)."""
    query = select(schema.submissions).where(schema.submissions.c.unit_id == unit_id)
    return list(tx.all(query.order_by(schema.submissions.c.at, tx.binary(schema.submissions.c.submission_id))))


def _replay(stored: Record | None, person_id: str, body: Mapping[str, Json]) -> Receipt:
    if stored is None:
        raise NotFound("there is no such piece of work, or it is not yours")
    if stored.person_id != person_id or stored.body_hash != body_hash(body):
        raise Conflict(f"submission {stored.submission_id}: this id has been used for another answer; send a new one")
    return Receipt(stored.submission_id, stored.unit_id, stored.status, is_replay=True, is_right=stored.is_right)


def _status(tx: Tx, before: SubmissionContext) -> tuple[str, int | None]:
    """What new work on a lease counts for, and the slot that it fills."""
    lease = before.lease
    if before.is_answered:
        return "surplus", None
    if before.trust == "ejected":
        return "untrusted", None
    if lease.n is None:
        return "valid", None
    if lease.state == "held":
        return "valid", lease.n
    n = slots.take_free(tx, lease.unit_id)
    return ("surplus", None) if n is None else ("valid", n)


def _release(tx: Tx, lease: Lease, n: int | None) -> None:
    """The lease is answered; its slot is filled if the answer fills it, else free again."""
    if lease.state != "held":
        return
    tx.execute(DONE, {"lease": lease.lease_id})
    if lease.n is not None:
        slots.set_state(tx, lease.unit_id, lease.n, "filled" if n == lease.n else "free")


def _from_lease(lease: Lease, now: int) -> dict[str, Any]:
    """The columns of a submission that its lease and the time decide."""
    names = ("lease_id", "job_id", "unit_id", "person_id", "guidelines_version")
    is_late = lease.state != "held" or lease.expires_at <= now
    return {name: getattr(lease, name) for name in names} | {"at": now, "is_late": is_late}


def _graded(tx: Tx, before: SubmissionContext, answers: Sequence[Answer]) -> bool | None:
    return gold.grade(before.job.task, answers, gold.of_unit(tx, before.lease.unit_id))


def _require_answers(before: SubmissionContext, answers: Sequence[Answer]) -> None:
    """One answer for each item of the unit, no more and no less."""
    asked, found = before.asked, [answer.item_id for answer in answers]
    if not found or len(set(found)) != len(found) or (asked and set(found) != asked):
        words = f"expected one answer for each of {len(asked)} items, found {len(found)}"
        raise UsageError(f"unit {before.lease.unit_id}: {words}")


def _has_slots(tx: Tx, unit_id: str) -> bool:
    return bool(tx.value(select(schema.units.c.wanted).where(schema.units.c.unit_id == unit_id)))


def _judgment(submission_id: str, position: int, answer: Answer) -> dict[str, Any]:
    return {
        "submission_id": submission_id,
        "item_id": answer.item_id,
        "position": position,
        "label": answer.label,
        "confidence": answer.confidence,
        "flags": answer.flags,
        "alternatives": answer.alternatives,
        "payload": answer.payload,
    }
