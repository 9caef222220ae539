"""Marked work that its annotator mends after a review (NUCLE 2013, section 4).

Only work with an open finding can be mended.  The annotator gets a lease of its own kind, without a slot, and a draft
with the marks as they were.  The old answer stays valid until the new one is handed in; then it is withdrawn and the
new one takes its slot, in one transaction: a mending that is never finished loses nothing.
"""

from __future__ import annotations

from sqlalchemy import select

from grater.errors import NotFound
from grater.model import Json
from grater.store import drafts, findings, judgments, leases, people, schema, slots, submissions, units
from grater.store.leases import MENDING, Lease
from grater.store.queue import Place
from grater.store.transaction import Record, Tx
from grater.tasks.marking import SET_ASIDE
from grater.tasks.task import Answer


def begin(tx: Tx, *, unit_id: str, person_id: str) -> Lease:
    """A lease on the person's own work; the same again if they hold it."""
    people.lock(tx, person_id)
    old = _valid(tx, unit_id, person_id)
    if old is None or all(each.unit_id != unit_id for each in findings.open_of(tx, person_id)):
        raise NotFound("there is no work of yours to mend here")
    unit = units.get(tx, unit_id)
    mine = leases.held(tx, job_id=unit.job.job_id, person_id=person_id, place=MENDING)
    if mine is not None and mine.unit_id == unit_id:
        mine = leases.renew(tx, mine)
        if mine is not None:
            return mine
    elif mine is not None:
        leases.close(tx, mine, "returned", actor=person_id)
    (answer,) = judgments.answers_of(tx, old.submission_id)
    drafts.put(tx, unit_id=unit_id, person_id=person_id, body=_body(unit.unit.essay.text, answer))
    return leases.issue(tx, unit.job, Place(unit_id, None), person_id=person_id, place=MENDING)


def make_room(tx: Tx, *, submission_id: str, lease_id: str, person_id: str) -> None:
    """Before mended work is stored: the old answer is withdrawn, its slot is free, what was found is settled."""
    people.lock(tx, person_id)
    lease = leases.find(tx, lease_id, person_id=person_id, lock=True)
    if lease is None or lease.place != MENDING:
        return
    if submissions.find(tx, submission_id) is not None:
        return
    _free(tx, lease, _valid(tx, lease.unit_id, person_id))
    for each in findings.open_of(tx, person_id):
        if each.unit_id == lease.unit_id:
            findings.settle(tx, each.finding_id, "mended", person_id=person_id)


def _free(tx: Tx, lease: Lease, old: Record | None) -> None:
    """Withdraw the old answer and give its slot to the lease; with none to withdraw, any free slot must do."""
    is_held = lease.state == "held"
    if old is not None:
        submissions.set_status(tx, old.submission_id, "withdrawn", actor=lease.person_id, why="mended")
    elif is_held:
        leases.close(tx, lease, "returned", actor=lease.person_id)
    n = 1 if old is None else old.n
    tx.execute(schema.leases.update().where(schema.leases.c.lease_id == lease.lease_id).values(n=n))
    if old is not None and is_held:
        slots.set_state(tx, lease.unit_id, n, "leased")


def _valid(tx: Tx, unit_id: str, person_id: str) -> Record | None:
    mine = (
        (schema.submissions.c.unit_id == unit_id)
        & (schema.submissions.c.person_id == person_id)
        & (schema.submissions.c.status == "valid")
    )
    return tx.first(select(schema.submissions).where(mine))


def _body(text: str, answer: Answer) -> dict[str, Json]:
    """The marks of an answer as a draft: each with its quote."""
    edits = answer.payload.get("edits")
    marks: list[Json] = [
        {**each, "quote": text[each["start"] : each["end"]]}
        for each in (edits if isinstance(edits, list) else [])
        if isinstance(each, dict)
    ]
    return {"edits": marks, "set_aside": answer.label == SET_ASIDE}
