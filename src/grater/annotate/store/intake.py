"""An answered page is taken in, with all that follows from it, in one transaction (P1, P6); and may be taken back.

What follows: the rater's quiz or trust is judged, and ejection happens here and now; the unit gets as many more slots
as the job's redundancy rule wants, or is finished.  All of it is asked after gold and work alike, so that neither
takes longer (P5).  The answer is remembered as the last one, which its rater may undo.  Whether missed gold is wrong
itself concerns other raters too, so it is looked at in a transaction of its own (`gold_review.review`).

Undo: a rater takes back their last answer, until they give the next one.  The answer stays in the study as
`withdrawn`, with an event that says why; its unit is in the rater's hands again, with its slot, and what they had
taken since is their next unit after it.  An answer can be taken back once.

It is not offered after practice, in the entry quiz, for essays, which have their own way back (`marks`), and for
answers that do not count.  Gold is taken back like work: anyone who could distinguish the two by what may be undone
would know before they answer again, and could tell others (P5).  The last answer is remembered by rater and job, not
found by its time, for clocks jump.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sqlalchemy import bindparam, case, exists, func, literal_column, select
from sqlalchemy import text as sql

from grater.annotate import adjudication, jobs, marks, panels, people, units
from grater.annotate.store import ejection, gold, gold_review, leases, queue, schema, submissions, trust
from grater.annotate.store.leases import Lease
from grater.annotate.store.queue import UnitSlot
from grater.annotate.store.submissions import Receipt
from grater.annotate.store.transaction import ONE, Record, Tx
from grater.annotate.tasks.marking import TASK as MARKING
from grater.annotate.tasks.task import Answer
from grater.annotate.terms import terms_of
from grater.annotate.units import LeasedUnit
from grater.errors import Conflict, NotFound
from grater.model import Json

NOTHING_TO_UNDO = "only your last answer can be taken back, once, until you give the next one"
TAKEN_BACK = "taken back"

_earlier = schema.submissions.alias("earlier")
_last_id = select(schema.last_answers.c.submission_id).where(
    schema.last_answers.c.job_id == bindparam("job"), schema.last_answers.c.person_id == bindparam("person")
)
_is_valid = case((schema.submissions.c.status == literal_column("'valid'"), ONE), else_=literal_column("0"))
LAST = (
    select(schema.submissions, schema.units.c.role.label("unit_role"))
    .join(schema.units, schema.units.c.unit_id == schema.submissions.c.unit_id)
    .where(
        schema.submissions.c.submission_id == _last_id.scalar_subquery(),
        _is_valid == ONE,
        ~exists().where(
            _earlier.c.unit_id == schema.submissions.c.unit_id,
            _earlier.c.person_id == bindparam("person"),
            _earlier.c.submission_id != schema.submissions.c.submission_id,
        ),
    )
)
"""By the key of one answer.  Of `status = 'valid'` PostgreSQL would think of the index of valid judgments, and with a
plan made while there were few of them it would read them all, of every rater, for every page."""

SO_FAR = select(
    gold.ANSWERED.scalar_subquery().label("n_done"),
    func.coalesce(trust.RETURNS.scalar_subquery(), 0).label("n_returned"),
    LAST.with_only_columns(schema.submissions.c.lease_id).scalar_subquery().label("undoable_lease_id"),
)

OF_LEASE = select(func.count()).where(schema.submissions.c.lease_id == bindparam("lease"))
MOST_SURPLUS = 3
"""Answers that are kept of a lease beside the one that counts, from a second tab or an old page."""

REMEMBER = sql(
    "INSERT INTO last_answers (job_id, person_id, submission_id) VALUES (:job, :person, :submission) "
    "ON CONFLICT (job_id, person_id) DO UPDATE SET submission_id = excluded.submission_id"
)
"""In the words that both engines know."""


@dataclass(frozen=True, slots=True)
class AnswersSoFar:
    """A rater's units of a job: how many were answered, how often one was returned, the lease that may be undone."""

    n_done: int
    n_returned: int
    undoable_lease_id: str


def remember(tx: Tx, receipt: Receipt, leased: LeasedUnit, person_id: str, *, in_quiz: bool) -> None:
    """The rater has given an answer; what was the last one before can no longer be taken back."""
    job = receipt.job
    is_final = in_quiz or leased.role == "practice"
    can_undo = job is not None and job.task != MARKING.name and receipt.status == "valid" and not is_final
    last = receipt.submission_id if can_undo else None
    tx.execute(REMEMBER, {"job": leased.job_id, "person": person_id, "submission": last})


def last_answer(tx: Tx, job_id: str, person_id: str) -> Record | None:
    """The submission that the rater may take back, with the role of its unit."""
    return tx.first(LAST, job=job_id, person=person_id)


def so_far(tx: Tx, job_id: str, person_id: str) -> AnswersSoFar:
    """All that is said beside a unit, by one query."""
    row = tx.first(SO_FAR, job=job_id, person=person_id)
    if row is None:
        raise NotFound(jobs.NO_JOB)
    return AnswersSoFar(n_done=row.n_done, n_returned=row.n_returned, undoable_lease_id=row.undoable_lease_id or "")


def take_back(tx: Tx, lease_id: str, *, person_id: str) -> Lease:
    """Withdraw the answer to a lease and give its rater the unit again."""
    people.lock(tx, person_id)
    answered = leases.find(tx, lease_id, person_id=person_id)
    if answered is None:
        raise NotFound("there is no such piece of work, or it is not yours")
    last = last_answer(tx, answered.job_id, person_id)
    if last is None or last.lease_id != lease_id or _is_over(tx, answered):
        raise Conflict(NOTHING_TO_UNDO)
    held = leases.held(tx, job_id=answered.job_id, person_id=person_id)
    if held is not None:
        leases.close(tx, held, "returned", actor=None)
    submissions.set_status(tx, last.submission_id, "withdrawn", actor=person_id, why=TAKEN_BACK)
    job = jobs.get(tx, answered.job_id)
    lease = leases.issue(tx, job, UnitSlot(unit_id=last.unit_id, n=last.n), person_id=person_id)
    units.settle_slots(tx, job, [last.unit_id])
    if gold.has_gold(job):
        trust.recount(tx, job.job_id, person_id)  # for work too: neither takes longer (P5)
    return lease


def _is_over(tx: Tx, answered: Lease) -> bool:
    """Whether the rater is done here, or somebody has decided about the unit."""
    refusal = queue.why_not(tx, jobs.get(tx, answered.job_id), answered.person_id)
    place = panels.place_in_job(tx, answered.job_id, answered.person_id)
    is_gone = place is not None and place.state in panels.ENDINGS
    return refusal not in ("", "limit") or is_gone or adjudication.find(tx, answered.unit_id) is not None


def receive(
    tx: Tx,
    *,
    submission_id: str,
    lease_id: str,
    person_id: str,
    body: Mapping[str, Json],
    answers: Sequence[Answer],
    seconds: float | None = None,
    leased: LeasedUnit | None = None,
    is_locked: bool = False,
) -> Receipt:
    """Store one answered page as `submissions.submit` does, and draw the consequences.

    `leased`: what the lease is on, where the caller has seen it; none of it ever changes.  `is_locked`: the caller
    has locked the person.
    """
    leased = leased or units.of_lease(tx, lease_id)
    if leased is None or leased.is_tested or leased.role == "gold":
        gold_review.hold(tx, lease_id)
    if leased is not None and leased.place == leases.REVISION:
        marks.make_room(tx, submission_id=submission_id, lease_id=lease_id, person_id=person_id)
    receipt = submissions.submit(
        tx,
        submission_id=submission_id,
        lease_id=lease_id,
        person_id=person_id,
        body=body,
        answers=answers,
        seconds=seconds,
        is_locked=is_locked,
    )
    if leased is None or receipt.job is None:  # nothing new
        return receipt
    if receipt.status == "surplus" and int(tx.value(OF_LEASE, lease=lease_id) or 0) > 1 + MOST_SURPLUS:
        raise Conflict(f"this piece of work has {1 + MOST_SURPLUS} answers, and takes no more")
    job, terms = receipt.job, terms_of(receipt.job.options)
    if leased.place != leases.REVISION:
        in_quiz = gold.has_gold(job) and gold.is_in_quiz(terms, trust.find(tx, job.job_id, person_id).state)
        remember(tx, receipt, leased, person_id, in_quiz=in_quiz)
    if leased.role == "gold" or gold.has_gold(job):
        standing = ejection.judge(tx, job, person_id)
        stored = None if standing.state == "trusted" else submissions.find(tx, submission_id)
        receipt = replace(receipt, status=stored.status) if stored else receipt
    units.settle_slots(tx, job, [receipt.unit_id])
    if receipt.status == "valid":
        units.log_finished(tx, [receipt.unit_id])
    return receipt
