"""Submissions: one answered page each, kept for good.

The client names a submission by a UUID of its own.  The same id with the same body is a replay and gets the stored
result; with another body it is a conflict (P2).  Work on a lease that the rater holds is valid.  Late work, on a
lease that has run out, still takes a free slot of its unit if there is one, and is kept as surplus if not: nothing
that a rater sent is thrown away (P1).  A second answer by the same rater is surplus (P3); work that arrives after an
ejection is untrusted.

Whatever decides this is read by one query, the submission's context: its lease, its unit, and the rater's trust.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import and_, bindparam, exists, func, literal_column, select

from grater.annotate import jobs, people, units
from grater.annotate.jobs import Job
from grater.annotate.store import events, gold, leases, schema
from grater.annotate.store.leases import Lease
from grater.annotate.store.transaction import Record, Tx, body_hash, chunks, locking
from grater.annotate.tasks.task import Answer
from grater.errors import Conflict, NotFound, UsageError
from grater.model import Json

LONGEST_ID = 100

ID_SEPARATOR = "\x1f"
"""Between the ids of items where a query returns them as one text; no id has it."""

BY_ID = select(schema.submissions).where(schema.submissions.c.submission_id == bindparam("submission"))
ANSWERED = schema.leases.update().where(schema.leases.c.lease_id == bindparam("lease")).values(state="done")

IS_COUNTING = (schema.submissions.c.person_id == bindparam("person")) & schema.submissions.c.status.in_(
    (literal_column("'valid'"), literal_column("'untrusted'"))
)
COUNTING = select(schema.submissions.c.submission_id).where(
    schema.submissions.c.unit_id == bindparam("unit"), IS_COUNTING
)
"""The submission of a person that counts for a unit, if there is one."""

JOB_COLUMNS = jobs.COLUMNS.prefixed("job_")
ITEM_IDS = (
    select(func.aggregate_strings(schema.unit_items.c.item_id, ID_SEPARATOR))
    .where(schema.unit_items.c.unit_id == schema.leases.c.unit_id)
    .scalar_subquery()
)
CONTEXT = (
    select(
        *leases.COLUMNS,
        *JOB_COLUMNS,
        schema.units.c.role.label("unit_role"),
        exists().where(schema.submissions.c.unit_id == schema.leases.c.unit_id, IS_COUNTING).label("is_answered"),
        func.coalesce(schema.trust.c.state, "new").label("trust"),
        ITEM_IDS.label("item_ids"),
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
    """What decides about a new submission: its lease (locked), the job, the unit's role and items, the rater's trust.

    `is_answered`: the rater has another submission that counts for the unit.
    """

    lease: Lease
    job: Job
    role: str
    is_answered: bool
    trust: str
    item_ids: frozenset[str]


@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of a submission; show it to the rater only after COMMIT.

    `is_right`: how it did on gold.  `job` as it was when the submission arrived; None for a replay.
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
    is_locked: bool = False,
) -> Receipt:
    """Store one answered page with its judgments, or return what was stored under this id.

    `is_locked`: the caller has locked the person.
    """
    if not 0 < len(submission_id) <= LONGEST_ID:
        raise UsageError(f"expected a submission id of 1 to {LONGEST_ID} characters, found {len(submission_id)}")
    if not is_locked:
        people.lock(tx, person_id)
    context = _context(tx, submission_id=submission_id, lease_id=lease_id, person_id=person_id)
    if context is None:
        stored = find(tx, submission_id)
        if stored is None:
            raise NotFound("there is no such piece of work, or it is not yours")
        if stored.person_id != person_id or stored.body_hash != body_hash(body):
            raise Conflict(
                f"submission {stored.submission_id}: this id has been used for another answer; send a new one"
            )
        return Receipt(
            submission_id=stored.submission_id,
            unit_id=stored.unit_id,
            status=stored.status,
            is_replay=True,
            is_right=stored.is_right,
        )
    # One answer for each item of the unit, no more and no less.
    expected, answered = context.item_ids, [answer.item_id for answer in answers]
    if not answered or len(set(answered)) != len(answered) or (expected and set(answered) != expected):
        message = f"expected one answer for each of {len(expected)} items, found {len(answered)}"
        raise UsageError(f"unit {context.lease.unit_id}: {message}")
    status, n = _status(tx, context)
    _release(tx, context.lease, n)
    may_be_gold = context.role != "work" or gold.has_gold(
        context.job
    )  # of work too, so that gold takes no longer (P5)
    known = gold.of_unit(tx, context.lease.unit_id) if may_be_gold else []
    is_right = gold.grade(context.job.task, answers, known)
    sent = {"submission_id": submission_id, "body": body, "body_hash": body_hash(body), "seconds": seconds}
    row = {**sent, **_from_lease(context.lease, tx.now), "n": n, "status": status, "is_right": is_right}
    store_all(tx, [(row, answers)])
    unit_id = context.lease.unit_id
    return Receipt(submission_id=submission_id, unit_id=unit_id, status=status, is_right=is_right, job=context.job)


def _context(tx: Tx, *, submission_id: str, lease_id: str, person_id: str) -> SubmissionContext | None:
    """None where the id is taken, or the lease is nobody's or another's.

    Ask when the person is locked: what the same rater sent a moment ago is then in it.
    """
    query = CONTEXT_LOCKED if tx.is_postgres else CONTEXT
    row = tx.first(query, submission=submission_id, lease=lease_id, person=person_id)
    if row is None or row.is_stored:
        return None
    return SubmissionContext(
        lease=leases.COLUMNS.read(row),
        job=JOB_COLUMNS.read(row),
        role=row.unit_role,
        is_answered=bool(row.is_answered),
        trust=row.trust,
        item_ids=frozenset(row.item_ids.split(ID_SEPARATOR) if row.item_ids else ()),
    )


def store_all(tx: Tx, answered: Iterable[tuple[Mapping[str, Any], Sequence[Answer]]]) -> None:
    """Write submissions with their judgments and events; the caller has given each row its status and slot."""
    for portion in chunks(answered):
        tx.insert(schema.submissions, [dict(row) for row, _ in portion])
        tx.insert(
            schema.judgments,
            [
                judgment
                for row, answers in portion
                for judgment in [
                    {
                        "submission_id": row["submission_id"],
                        "item_id": answer.item_id,
                        "position": position,
                        "label": answer.label,
                        "confidence": answer.confidence,
                        "flags": answer.flags,
                        "alternatives": answer.alternatives,
                        "payload": answer.payload,
                    }
                    for position, answer in enumerate(answers)
                ]
            ],
        )
        events.write_all(tx, [_event(row, answers) for row, answers in portion])


def _event(row: Mapping[str, Any], answers: Sequence[Answer]) -> tuple[str | None, str, str, Mapping[str, Json]]:
    payload = {name: row.get(name) for name in ("job_id", "unit_id", "person_id", "lease_id", "status", "n")}
    payload |= {"body_hash": row["body_hash"], "judgments": len(answers)}
    return row["person_id"], "submission.stored", row["submission_id"], payload


def find(tx: Tx, submission_id: str) -> Record | None:
    return tx.first(BY_ID, submission=submission_id)


def set_status(tx: Tx, submission_id: str, status: str, *, actor: str | None = None, why: str = "") -> str:
    """Change what a submission counts for, and return its new status.

    One that stops being valid frees its slot.  One that is to be valid again takes a free slot; if there is none left
    it becomes surplus.
    """
    this = schema.submissions.c.submission_id == submission_id
    row = tx.first(tx.locked(select(schema.submissions).where(this), of=schema.submissions))
    if row is None:
        raise NotFound("there is no such submission")
    if row.status == status:
        return status
    units.set_slot(tx, row.unit_id, row.n, "free")
    n = None
    if status == "valid" and bool(
        tx.value(select(schema.units.c.wanted).where(schema.units.c.unit_id == row.unit_id))
    ):
        n = units.take_free_slot(tx, row.unit_id)
        status = "valid" if n is not None else "surplus"
    tx.execute(schema.submissions.update().where(this).values(status=status, n=n))
    payload = {"from": row.status, "to": status, "n": n, "why": why}
    events.write(tx, actor, "submission.status", submission_id, payload)
    return status


def of_unit(tx: Tx, unit_id: str) -> list[Record]:
    """Everything that was sent for a unit, the oldest first: for adjudicators, never for raters (P9)."""
    query = select(schema.submissions).where(schema.submissions.c.unit_id == unit_id)
    return list(tx.all(query.order_by(schema.submissions.c.at, tx.binary(schema.submissions.c.submission_id))))


def _status(tx: Tx, context: SubmissionContext) -> tuple[str, int | None]:
    """What new work on a lease counts for, and the slot that it fills."""
    lease = context.lease
    if context.is_answered:
        return "surplus", None
    if context.trust == "ejected":
        return "untrusted", None
    if context.role != "work":
        return "valid", None
    if lease.state == "held" and lease.n is not None:
        return "valid", lease.n
    n = units.take_free_slot(tx, lease.unit_id)
    return ("surplus", None) if n is None else ("valid", n)


def _release(tx: Tx, lease: Lease, n: int | None) -> None:
    """The lease is answered; its slot is filled if the answer fills it, else free again."""
    if lease.state != "held":
        return
    tx.execute(ANSWERED, {"lease": lease.lease_id})
    units.set_slot(tx, lease.unit_id, lease.n, "filled" if n == lease.n else "free")


def _from_lease(lease: Lease, now: int) -> dict[str, Any]:
    """The columns of a submission that its lease and the time decide."""
    names = ("lease_id", "job_id", "unit_id", "person_id", "guidelines_version")
    is_late = lease.state != "held" or lease.expires_at <= now
    return {name: getattr(lease, name) for name in names} | {"at": now, "is_late": is_late}
