"""Mistakes mended: a job or an essay that nobody has judged goes, and a known unit that nobody has met is work again.

What somebody did stays (P1): the triggers of the database refuse to delete the units of a job that has a submission
(`migrations`).  The log keeps what was deleted, by its ids and its name.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, Table, exists, func, select

from grater.annotate.store import essays, events, jobs, people, schema, slots, units
from grater.annotate.store.transaction import Tx
from grater.errors import Conflict, NotFound


def is_met(tx: Tx, unit_id: str) -> bool:
    """Whether anybody has ever been given a unit."""
    traces = (schema.submissions.c.unit_id == unit_id, schema.leases.c.unit_id == unit_id)
    return any(tx.value(select(exists().where(trace))) for trace in traces)


def unmet_items(tx: Tx, job_id: str) -> list[tuple[str, str]]:
    """The item and the unit of every work unit of one item that nobody has been given, in their order."""
    traces = (schema.leases.c.unit_id, schema.submissions.c.unit_id)
    is_met = [exists().where(trace == schema.units.c.unit_id) for trace in traces]
    query = (
        select(func.min(schema.unit_items.c.item_id).label("item_id"), schema.units.c.unit_id)
        .join(schema.unit_items, schema.unit_items.c.unit_id == schema.units.c.unit_id)
        .where(schema.units.c.job_id == job_id, schema.units.c.role == "work", *(~each for each in is_met))
        .group_by(schema.units.c.unit_id, schema.units.c.position)
        .having(func.count() == 1)
        .order_by(schema.units.c.position)
    )
    return [(row.item_id, row.unit_id) for row in tx.all(query)]


def reasons_to_keep(tx: Tx, job_id: str) -> list[str]:
    """What people left in a job, which cannot be deleted then."""
    of_units = select(schema.units.c.unit_id).where(schema.units.c.job_id == job_id)
    of_panels = select(schema.panels.c.panel_id).where(schema.panels.c.job_id == job_id)
    traces: dict[str, ColumnElement[bool]] = {
        "judgments": schema.submissions.c.job_id == job_id,
        "decisions of adjudicators": schema.adjudications.c.unit_id.in_(of_units),
        "payments": schema.payments.c.job_id == job_id,
        "messages": schema.messages.c.job_id == job_id,
        "reviews": schema.reviews.c.job_id == job_id,
        "raters of a panel": schema.panel_places.c.panel_id.in_(of_panels),
    }
    return [words for words, trace in traces.items() if tx.value(select(exists().where(trace)))]


def delete_job(tx: Tx, job_id: str, *, actor: str | None = None) -> None:
    """Delete a job in which nobody has left anything, with its units, guidelines and invitations that wait."""
    _wait_for_everybody(tx, job_id)
    job = jobs.lock(tx, job_id)
    kept = reasons_to_keep(tx, job_id)
    if kept:
        raise Conflict(f"{job.name}: has {' and '.join(kept)}, which are kept; close and archive it instead")
    unit_ids = [row.unit_id for row in tx.all(_of_job(schema.units.c.unit_id, schema.units, job_id))]
    lease_ids = [row.lease_id for row in tx.all(_of_job(schema.leases.c.lease_id, schema.leases, job_id))]
    of_units = _of_job(schema.units.c.unit_id, schema.units, job_id)
    for table in (schema.gold, schema.drafts, schema.findings, schema.unit_items):
        tx.execute(table.delete().where(table.c.unit_id.in_(of_units)))
    for table in (schema.assignments, schema.last_answers, schema.leases, schema.slots, schema.trust):
        tx.execute(table.delete().where(table.c.job_id == job_id))
    tx.execute(schema.units.delete().where(schema.units.c.job_id == job_id, schema.units.c.follows.is_not(None)))
    for table in (schema.units, schema.guidelines, schema.panels):
        tx.execute(table.delete().where(table.c.job_id == job_id))
    waiting = schema.invitations.update().where(schema.invitations.c.job_id == job_id)
    tx.execute(waiting.values(job_id=None))
    tx.execute(schema.jobs.delete().where(schema.jobs.c.job_id == job_id))
    gone = {"name": job.name, "task": job.task, "units": unit_ids, "leases": lease_ids}
    events.write(tx, actor, "job.deleted", job_id, gone)


def _wait_for_everybody(tx: Tx, job_id: str) -> None:
    """Let those end who take or answer a unit just now; who comes later waits, and finds the job as it is then.

    Whatever a rater does begins with a lock on the person.  With everybody locked first, no rater holds anything that
    the change waits for while they wait for it.  Managers who change units lock the job before any of them.
    SQLite has one writer anyway.
    """
    if tx.is_postgres:
        people.lock_all(tx)
        tx.value(select(schema.jobs.c.job_id).where(schema.jobs.c.job_id == job_id).with_for_update())


def _of_job(column: Any, table: Table, job_id: str) -> Any:
    return select(column).where(table.c.job_id == job_id)


def back_to_work(tx: Tx, unit_id: str, *, actor: str | None = None) -> None:
    """Ask about a gold or practice unit as about any other; refused where somebody has met it with its answer.

    A rater who takes gold holds no lock on it, so everybody is waited for.
    """
    unit = units.get(tx, unit_id)
    if unit.role == "work":
        return
    _wait_for_everybody(tx, unit.job.job_id)
    if is_met(tx, unit_id):
        raise Conflict("somebody has met this unit, and knows what was expected: it stays as it is")
    wanted = _wanted(tx, unit.job, unit_id)
    if not wanted:
        raise Conflict("the annotators of this job are named, and nobody is assigned to this unit: it stays as it is")
    tx.execute(schema.gold.delete().where(schema.gold.c.unit_id == unit_id))
    tx.execute(schema.units.update().where(schema.units.c.unit_id == unit_id).values(role="work"))
    events.write(tx, actor, "unit.work", unit_id)
    slots.open_again(tx, unit.job, unit_id, wanted)


def _wanted(tx: Tx, job: jobs.Job, unit_id: str) -> int:
    if job.access != "assigned":
        return job.judgments
    return len(tx.all(select(schema.assignments.c.person_id).where(schema.assignments.c.unit_id == unit_id)))


def delete_essay(tx: Tx, essay_id: str, *, actor: str | None = None) -> None:
    """Delete an essay that no job asks about and no sample holds, with its items and what systems decided on them."""
    essays.hold(tx)
    if tx.value(select(schema.essays.c.essay_id).where(schema.essays.c.essay_id == essay_id)) is None:
        raise NotFound("there is no such essay in this study")
    of_essay = select(schema.items.c.item_id).where(schema.items.c.essay_id == essay_id)
    traces: dict[str, ColumnElement[bool]] = {
        "a job asks about it": schema.units.c.essay_id == essay_id,
        "a job asks about a place in it": schema.unit_items.c.item_id.in_(of_essay),
        "a sample holds a place in it": schema.sample_items.c.item_id.in_(of_essay),
        "a place in it is judged": schema.judgments.c.item_id.in_(of_essay),
    }
    kept = [words for words, trace in traces.items() if tx.value(select(exists().where(trace)))]
    if kept:
        raise Conflict(f"the essay stays: {kept[0]}")
    tx.execute(schema.decisions.delete().where(schema.decisions.c.item_id.in_(of_essay)))
    for table in (schema.items, schema.edits, schema.annotators, schema.essays):
        tx.execute(table.delete().where(table.c.essay_id == essay_id))
    events.write(tx, actor, "essay.deleted", essay_id)
