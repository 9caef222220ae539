"""An answered page is taken in, with all that follows from it, in one transaction (P1, P6).

What follows: after gold the rater's quiz or trust is judged, and ejection happens here and now; after work the unit
gets as many more slots as the job's redundancy rule wants, or is finished.  The answer is remembered as the last one,
which its rater may take back (`undo`).  Whether missed gold is wrong itself
concerns other raters too, so it is looked at in a transaction of its own (`gold_review.doubt`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from grater.model import Json
from grater.store import ejection, gold_review, leases, revisions, slots, submissions, undo, units
from grater.store.submissions import Receipt
from grater.store.transaction import Tx
from grater.store.units import LeasedUnit
from grater.tasks.task import Answer


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
    in_quiz = leased is not None and leased.role == "gold" and undo.is_in_quiz(tx, leased.job_id, person_id)
    if leased is not None and leased.role == "gold":
        gold_review.hold(tx, lease_id)
    if leased is not None and leased.place == leases.REVISION:
        revisions.make_room(tx, submission_id=submission_id, lease_id=lease_id, person_id=person_id)
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
    if leased.place != leases.REVISION:
        undo.remember(tx, receipt, leased, person_id, in_quiz=in_quiz)
    if leased.role == "gold":
        ejection.judge(tx, receipt.job, person_id)
        stored = submissions.find(tx, submission_id)
        return replace(receipt, status=stored.status) if stored else receipt  # it may have ejected its rater
    if leased.role == "work":
        slots.settle(tx, receipt.job, [receipt.unit_id])
        if receipt.status == "valid":
            units.log_finished(tx, [receipt.unit_id])
    return receipt
