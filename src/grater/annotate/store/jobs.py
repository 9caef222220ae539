"""Jobs: one task over many units, from draft to closed, and the guidelines that their raters read.

Guidelines come in numbered versions and are never changed; a judgment knows the version that it was made under.

Assignments: which named annotator does which units, in which batch of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from sqlalchemy import ColumnElement, bindparam, exists, func, select
from sqlalchemy import text as sql

from grater.annotate.store import events, schema
from grater.annotate.store.clock import MINUTE
from grater.annotate.store.ids import hashed, new_id
from grater.annotate.store.transaction import Columns, Tx, chunks, locking
from grater.errors import Conflict, NotFound, UsageError
from grater.model import Json
from grater.registry import unknown

JobState: TypeAlias = Literal["draft", "open", "paused", "closed"]
Access: TypeAlias = Literal["pool", "assigned"]


@dataclass(frozen=True, slots=True)
class Job:
    """`judgments` is N, wanted for each unit; `access` says whether anybody in the study may take a unit."""

    job_id: str
    name: str
    task: str
    title: str
    judgments: int
    access: str
    state: str
    lease_ms: int
    options: Mapping[str, Json] = field(default_factory=dict, hash=False)
    added_at: int = 0
    archived_at: int | None = None


@dataclass(frozen=True, slots=True)
class Guidelines:
    job_id: str
    version: int
    markdown: str
    at: int
    person_id: str | None


NO_JOB = "there is no such job in this study"
COLUMNS = Columns(Job, schema.jobs)
BY_ID = select(*COLUMNS).where(schema.jobs.c.job_id == bindparam("job_id"))
LOCKED = locking(BY_ID, of=schema.jobs)

GUIDELINES_COLUMNS = Columns(Guidelines, schema.guidelines)
GUIDELINES = select(*GUIDELINES_COLUMNS).where(schema.guidelines.c.job_id == bindparam("job_id"))
NEWEST = GUIDELINES.order_by(schema.guidelines.c.version.desc()).limit(1)
NEWEST_VERSION = select(func.max(schema.guidelines.c.version)).where(
    schema.guidelines.c.job_id == bindparam("job_id")
)


def add(
    tx: Tx,
    *,
    name: str,
    task: str,
    judgments: int = 1,
    title: str = "",
    access: Access = "pool",
    lease_minutes: float = 60,
    options: Mapping[str, Json] | None = None,
    actor: str | None = None,
) -> Job:
    """Add a job, a draft without units."""
    if judgments < 1 or lease_minutes <= 0:
        raise UsageError(f"expected at least 1 judgment and a lease that lasts, found {judgments}, {lease_minutes}")
    if tx.value(select(schema.jobs.c.job_id).where(schema.jobs.c.name == name)) is not None:
        raise Conflict(f"there is a job called {name!r} already; choose another name")
    job = Job(
        job_id=new_id(),
        name=name,
        task=task,
        title=title or name,
        judgments=judgments,
        access=access,
        state="draft",
        lease_ms=int(lease_minutes * MINUTE),
        options=options or {},
        added_at=tx.now,
    )
    tx.insert(schema.jobs, COLUMNS.row(job))
    events.write(tx, actor, "job.added", job.job_id, {"task": task, "judgments": judgments, "access": access})
    return job


def find(tx: Tx, job_id: str) -> Job | None:
    row = tx.first(BY_ID, job_id=job_id)
    return None if row is None else COLUMNS.read(row)


def get(tx: Tx, job_id: str) -> Job:
    job = find(tx, job_id)
    if job is None:
        raise NotFound(NO_JOB)
    return job


def lock(tx: Tx, job_id: str) -> Job:
    """Get the job, and allow one change at a time to its terms, guidelines and money; work in it goes on."""
    row = tx.first(LOCKED if tx.is_postgres else BY_ID, job_id=job_id)
    if row is None:
        raise NotFound(NO_JOB)
    return COLUMNS.read(row)


def named(tx: Tx, name: str) -> Job:
    """The job with this name; an unknown name is answered with the nearest one."""
    by_name = {job.name: job for job in all(tx)}
    if name not in by_name:
        raise NotFound(unknown("job", name, list(by_name)))
    return by_name[name]


def all(tx: Tx) -> list[Job]:  # noqa: A001  (read as jobs.all)
    query = select(*COLUMNS).order_by(schema.jobs.c.added_at, tx.binary(schema.jobs.c.name))
    return [COLUMNS.read(row) for row in tx.all(query)]


COUNT_ROWS = sql("ANALYZE units, unit_items, slots")
"""PostgreSQL does this by itself within a minute; the first raters of a large job would wait for it."""


def set_state(tx: Tx, job_id: str, state: JobState, *, actor: str | None = None) -> Job:
    """Open, pause or close a job; units that raters hold can still be submitted."""
    if state not in schema.JOB_STATES:
        raise UsageError(unknown("state", state, list(schema.JOB_STATES)))
    get(tx, job_id)
    tx.execute(schema.jobs.update().where(schema.jobs.c.job_id == job_id).values(state=state))
    events.write(tx, actor, "job.state", job_id, {"state": state})
    if state == "open" and tx.is_postgres:
        tx.execute(COUNT_ROWS)
    return get(tx, job_id)


def rename(tx: Tx, job_id: str, *, name: str, title: str, actor: str | None = None) -> Job:
    """Another name, for commands and exports, and another title, for raters."""
    job = lock(tx, job_id)
    is_taken = select(schema.jobs.c.job_id).where(schema.jobs.c.name == name, schema.jobs.c.job_id != job_id)
    if tx.value(is_taken) is not None:
        raise Conflict(f"there is a job called {name!r} already; choose another name")
    tx.execute(schema.jobs.update().where(schema.jobs.c.job_id == job_id).values(name=name, title=title))
    changed = {"name": name, "title": title, "name_before": job.name, "title_before": job.title}
    events.write(tx, actor, "job.renamed", job_id, changed)
    return get(tx, job_id)


def set_archived(tx: Tx, job_id: str, is_archived: bool, *, actor: str | None = None) -> Job:
    """Take a job out of sight, or bring it back."""
    job = lock(tx, job_id)
    if is_archived == (job.archived_at is not None):
        return job
    at = tx.now if is_archived else None
    tx.execute(schema.jobs.update().where(schema.jobs.c.job_id == job_id).values(archived_at=at))
    events.write(tx, actor, "job.archived" if is_archived else "job.restored", job_id)
    return get(tx, job_id)


def set_options(tx: Tx, job_id: str, options: Mapping[str, Json], *, actor: str | None = None) -> Job:
    merged = {**lock(tx, job_id).options, **options}
    tx.execute(schema.jobs.update().where(schema.jobs.c.job_id == job_id).values(options=merged))
    events.write(tx, actor, "job.options", job_id, {"options": dict(options)})
    return get(tx, job_id)


def add_guidelines(tx: Tx, job_id: str, markdown: str, *, actor: str | None = None) -> Guidelines:
    """Add a version; the same text again makes none."""
    lock(tx, job_id)
    newest = current_guidelines(tx, job_id)
    if newest is not None and newest.markdown == markdown:
        return newest
    version = newest.version + 1 if newest else 1
    guidelines = Guidelines(job_id=job_id, version=version, markdown=markdown, at=tx.now, person_id=actor)
    tx.insert(schema.guidelines, GUIDELINES_COLUMNS.row(guidelines))
    events.write(tx, actor, "guidelines.added", job_id, {"version": version, "sha256": hashed(markdown)})
    return guidelines


def current_guidelines(tx: Tx, job_id: str) -> Guidelines | None:
    row = tx.first(NEWEST, job_id=job_id)
    return None if row is None else GUIDELINES_COLUMNS.read(row)


def guidelines_version(tx: Tx, job_id: str) -> int:
    """The number of the newest version; 0 where there is none."""
    return int(tx.value(NEWEST_VERSION, job_id=job_id) or 0)


def guidelines_versions(tx: Tx, job_id: str) -> list[Guidelines]:
    rows = tx.all(GUIDELINES.order_by(schema.guidelines.c.version), job_id=job_id)
    return [GUIDELINES_COLUMNS.read(row) for row in rows]


@dataclass(frozen=True, slots=True)
class Assignment:
    """One unit for one person; `batch` is the person's own, met in order."""

    unit_id: str
    person_id: str
    batch: int = 0


ASSIGNMENT_COLUMNS = Columns(Assignment, schema.assignments)


def assign(tx: Tx, job_id: str, new: Iterable[Assignment], *, actor: str | None = None) -> int:
    """Assign units and return the number of assignments; no unit may have more people than slots."""
    n_added = 0
    for portion in chunks(new):
        tx.insert(
            schema.assignments, [ASSIGNMENT_COLUMNS.row(assignment) | {"job_id": job_id} for assignment in portion]
        )
        pairs = [[assignment.unit_id, assignment.person_id] for assignment in portion]
        events.write(tx, actor, "assignments.added", job_id, {"pairs": pairs})
        n_added += len(portion)
    n_people = func.count(schema.assignments.c.person_id)
    query = (
        select(schema.units.c.position, schema.units.c.wanted, n_people.label("n_people"))
        .join(schema.assignments, schema.assignments.c.unit_id == schema.units.c.unit_id)
        .where(schema.units.c.job_id == job_id, schema.units.c.role == "work")
        .group_by(schema.units.c.unit_id, schema.units.c.position, schema.units.c.wanted)
        .having(n_people > schema.units.c.wanted)
    )
    row = tx.first(query.order_by(schema.units.c.position))
    if row is not None:
        message = f"expected at most {row.wanted} annotators, its judgments wanted; found {row.n_people}"
        raise UsageError(f"unit {row.position}: {message}")
    return n_added


def assignments_of(tx: Tx, job_id: str) -> list[Assignment]:
    order = (
        schema.assignments.c.batch,
        tx.binary(schema.assignments.c.unit_id),
        tx.binary(schema.assignments.c.person_id),
    )
    query = select(*ASSIGNMENT_COLUMNS).where(schema.assignments.c.job_id == job_id).order_by(*order)
    return [ASSIGNMENT_COLUMNS.read(row) for row in tx.all(query)]


def n_assigned(tx: Tx, job_id: str, person_id: str) -> int:
    mine = (schema.assignments.c.job_id == job_id) & (schema.assignments.c.person_id == person_id)
    return int(tx.value(select(func.count()).where(mine)) or 0)


def move_assignments(tx: Tx, job_id: str, *, giver: str, taker: str, actor: str | None = None) -> int:
    """Assign what a person has not done yet to another person; return the number of units.

    What the giver holds or has answered stays theirs (what nobody trusts any more does not), and so does what follows
    an answer of theirs.  What the taker has as well is left: one person gives one judgment.
    """
    mine = (schema.assignments.c.job_id == job_id) & (schema.assignments.c.person_id == giver)
    query = (
        select(schema.units.c.unit_id)
        .join(schema.assignments, schema.assignments.c.unit_id == schema.units.c.unit_id)
        .where(mine)
    )
    for unit_id in (schema.units.c.unit_id, schema.units.c.follows):
        by_person = (schema.leases.c.unit_id == unit_id) & (schema.leases.c.person_id == giver)
        holds = exists().where(by_person, schema.leases.c.state == "held")
        query = query.where(~_has_answered(unit_id, giver), ~holds)
        other = schema.assignments.alias()
        is_asked = exists().where(other.c.unit_id == unit_id, other.c.person_id == taker)
        query = query.where(~is_asked, ~_has_answered(unit_id, taker))
    moved = [row.unit_id for row in tx.all(query.order_by(schema.units.c.position))]
    for portion in chunks(moved):
        theirs = schema.assignments.update().where(mine, schema.assignments.c.unit_id.in_(portion))
        tx.execute(theirs.values(person_id=taker))
    events.write(tx, actor, "assignments.moved", job_id, {"from": giver, "to": taker, "units": moved})
    return len(moved)


def _has_answered(unit_id: ColumnElement[Any], person_id: str) -> ColumnElement[bool]:
    by_person = (schema.submissions.c.unit_id == unit_id) & (schema.submissions.c.person_id == person_id)
    return exists().where(by_person, schema.submissions.c.status != "untrusted")
