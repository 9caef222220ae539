"""Marked essays on their way to the final version: drafts, findings, and revisions after a review.

A draft is unfinished work, saved under a revision number, so that no tab silently overwrites another.  A finding is
what the checks of a corpus saw in an annotator's work, to be looked at again (NUCLE 2013, section 4).

Only work with an open finding can be revised.  The annotator gets a lease of its own kind, without a slot, and a
draft with the marks as they were.  The old answer stays valid until the new one is submitted; then it is withdrawn
and the new one takes its slot, in one transaction: a revision that is never finished loses nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from sqlalchemy import func, select

from grater.annotate import units
from grater.annotate.store import events, judgments, leases, people, schema, submissions
from grater.annotate.store.ids import new_id
from grater.annotate.store.leases import REVISION, Lease
from grater.annotate.store.queue import UnitSlot
from grater.annotate.store.transaction import Columns, Record, Tx
from grater.annotate.tasks.marking import SET_ASIDE
from grater.annotate.tasks.task import Answer
from grater.errors import Conflict, NotFound, Stale
from grater.model import Json


@dataclass(frozen=True, slots=True)
class Draft:
    revision: int
    body: Mapping[str, Json] = field(default_factory=dict, hash=False)
    at: int = 0


@dataclass(frozen=True, slots=True)
class Finding:
    """`person_id` is whose work it is; the span is in code points of the essay."""

    finding_id: str
    unit_id: str
    person_id: str | None
    rule: str
    message: str
    start: int | None = None
    end: int | None = None
    state: str = "open"


FINDING_COLUMNS = Columns(Finding, schema.findings)


def save_draft(tx: Tx, *, unit_id: str, person_id: str, revision: int, body: Mapping[str, Json]) -> int:
    """Save a draft made from `revision` (0: the first) and return its new number; it also keeps the lease alive.

    The same body sent twice for one revision is a replay.  A draft made from any other revision is stale.
    """
    people.lock(tx, person_id)
    # The rater has or had the unit, and has not submitted it; the time of a lease still held starts again.
    mine = (schema.leases.c.unit_id == unit_id) & (schema.leases.c.person_id == person_id)
    rows = tx.all(select(*leases.COLUMNS).where(mine))
    if not rows:
        raise NotFound("there is no such piece of work, or it is not yours")
    held = [lease for lease in map(leases.COLUMNS.read, rows) if lease.state == "held"]
    sent = (schema.submissions.c.unit_id == unit_id) & (schema.submissions.c.person_id == person_id)
    is_sent = tx.first(select(schema.submissions.c.submission_id).where(sent)) is not None
    if is_sent and all(lease.place != leases.REVISION for lease in held):
        raise Conflict("this work has been handed in already; a draft of it can no longer be saved")
    for lease in held:
        leases.renew(tx, lease)
    stored = find_draft(tx, unit_id=unit_id, person_id=person_id)
    newest = stored.revision if stored else 0
    if stored and revision == newest - 1 and stored.body == body:
        return newest
    if revision != newest:
        raise Stale(f"a newer draft (revision {newest}) was saved, perhaps in another tab; yours is {revision}")
    return put_draft(tx, unit_id=unit_id, person_id=person_id, body=body)


def put_draft(tx: Tx, *, unit_id: str, person_id: str, body: Mapping[str, Json]) -> int:
    """Store a draft over the newest, whatever that is; return its revision."""
    stored = find_draft(tx, unit_id=unit_id, person_id=person_id)
    revision = stored.revision + 1 if stored else 1
    row = {"revision": revision, "body": body, "at": tx.now}
    if stored is None:
        tx.insert(schema.drafts, row | {"unit_id": unit_id, "person_id": person_id})
    else:
        mine = (schema.drafts.c.unit_id == unit_id) & (schema.drafts.c.person_id == person_id)
        tx.execute(schema.drafts.update().where(mine).values(**row))
    return revision


def find_draft(tx: Tx, *, unit_id: str, person_id: str) -> Draft | None:
    query = select(schema.drafts).where(schema.drafts.c.unit_id == unit_id, schema.drafts.c.person_id == person_id)
    row = tx.first(query)
    return None if row is None else Draft(revision=row.revision, body=row.body, at=row.at)


def add_findings(tx: Tx, findings: Iterable[Finding], *, actor: str | None = None) -> int:
    """Add findings that are not there yet (the same rule, span and work); return the number added."""
    n_added = 0
    findings = list(findings)
    for unit_id in sorted({finding.unit_id for finding in findings}):  # whoever adds the same at once waits here
        units.lock(tx, unit_id)
    for finding in findings:
        columns = schema.findings.c
        same = [columns[name] == getattr(finding, name) for name in ("unit_id", "person_id", "rule", "message")]
        span = [columns[name].is_not_distinct_from(getattr(finding, name)) for name in ("start", "end")]
        is_known = tx.first(select(columns.finding_id).where(*same, *span)) is not None
        if is_known:
            continue
        row = FINDING_COLUMNS.row(finding)
        tx.insert(schema.findings, row | {"finding_id": finding.finding_id or new_id(), "at": tx.now})
        n_added += 1
    events.write(tx, actor, "findings.added", "", {"n": n_added})
    return n_added


def open_findings(tx: Tx, person_id: str) -> list[Finding]:
    """What a person should look at again."""
    query = select(*FINDING_COLUMNS).where(
        schema.findings.c.person_id == person_id, schema.findings.c.state == "open"
    )
    query = query.order_by(schema.findings.c.at, schema.findings.c.unit_id, schema.findings.c.start)
    return [FINDING_COLUMNS.read(row) for row in tx.all(query)]


def n_open_findings(tx: Tx, job_id: str) -> int:
    """The number of findings of a job that their annotators have not looked at."""
    in_job = select(schema.units.c.unit_id).where(schema.units.c.job_id == job_id)
    query = select(func.count()).where(schema.findings.c.state == "open", schema.findings.c.unit_id.in_(in_job))
    return int(tx.value(query) or 0)


def settle_finding(tx: Tx, finding_id: str, state: Literal["mended", "kept"], *, person_id: str) -> None:
    """The annotator has looked: mended, or kept as it was on purpose."""
    mine = (schema.findings.c.finding_id == finding_id) & (schema.findings.c.person_id == person_id)
    if tx.value(select(schema.findings.c.finding_id).where(mine)) is None:
        raise NotFound("there is no such finding, or it is not yours")
    settled = schema.findings.update().where(mine, schema.findings.c.state == "open").values(state=state)
    if tx.execute(settled).rowcount:
        events.write(tx, person_id, f"finding.{state}", finding_id)


def begin(tx: Tx, *, unit_id: str, person_id: str) -> Lease:
    """A lease on the person's own work; the same again if they hold it."""
    people.lock(tx, person_id)
    old = _valid_submission(tx, unit_id, person_id)
    if old is None or all(finding.unit_id != unit_id for finding in open_findings(tx, person_id)):
        raise NotFound("there is no work of yours to mend here")
    unit = units.get(tx, unit_id)
    mine = leases.held(tx, job_id=unit.job.job_id, person_id=person_id, place=REVISION)
    if mine is not None and mine.unit_id == unit_id:
        mine = leases.renew(tx, mine)
        if mine is not None:
            return mine
    elif mine is not None:
        leases.close(tx, mine, "returned", actor=person_id)
    (answer,) = judgments.answers_of(tx, old.submission_id)
    put_draft(tx, unit_id=unit_id, person_id=person_id, body=_body(unit.unit.essay.text, answer))
    return leases.issue(tx, unit.job, UnitSlot(unit_id=unit_id, n=None), person_id=person_id, place=REVISION)


def make_room(tx: Tx, *, submission_id: str, lease_id: str, person_id: str) -> None:
    """Before revised work is stored: withdraw the old answer, free its slot, settle the findings."""
    people.lock(tx, person_id)
    lease = leases.find(tx, lease_id, person_id=person_id, lock=True)
    if lease is None or lease.place != REVISION:
        return
    if submissions.find(tx, submission_id) is not None:
        return
    # Withdraw the old answer and give its slot to the lease; with none to withdraw, any free slot must do.
    old = _valid_submission(tx, lease.unit_id, person_id)
    is_held = lease.state == "held"
    if old is not None:
        submissions.set_status(tx, old.submission_id, "withdrawn", actor=lease.person_id, why="mended")
    elif is_held:
        leases.close(tx, lease, "returned", actor=lease.person_id)
    n = 1 if old is None else old.n
    tx.execute(schema.leases.update().where(schema.leases.c.lease_id == lease.lease_id).values(n=n))
    if old is not None and is_held:
        units.set_slot(tx, lease.unit_id, n, "leased")
    for finding in open_findings(tx, person_id):
        if finding.unit_id == lease.unit_id:
            settle_finding(tx, finding.finding_id, "mended", person_id=person_id)


def _valid_submission(tx: Tx, unit_id: str, person_id: str) -> Record | None:
    query = select(schema.submissions).where(
        schema.submissions.c.unit_id == unit_id,
        schema.submissions.c.person_id == person_id,
        schema.submissions.c.status == "valid",
    )
    return tx.first(query)


def _body(text: str, answer: Answer) -> dict[str, Json]:
    """The marks of an answer as a draft: each with its quote."""
    edits = answer.payload.get("edits")
    marks: list[Json] = [
        {**edit, "quote": text[edit["start"] : edit["end"]]}
        for edit in (edits if isinstance(edits, list) else [])
        if isinstance(edit, dict)
    ]
    return {"edits": marks, "set_aside": answer.label == SET_ASIDE}
