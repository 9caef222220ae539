"""Jobs (one task over many units, from draft to closed), their guidelines, and assignments.

`MOVES` says which state may follow which. Guidelines have numbered versions and never change; each judgment records
its version. An archived job is hidden, but its judgments stay in reports and exports. Assignments say which named
annotator does which units, in which of their batches.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BeforeValidator, Field, StringConstraints
from sqlalchemy import ColumnElement, bindparam, exists, func, select
from sqlalchemy import text as sql

from grater.annotate.requests import Body, Moment, example, require_name
from grater.annotate.store import events, schema
from grater.annotate.store.transaction import MINUTE, ONE, Columns, Tx, chunks, hashed, new_id
from grater.annotate.terms import KEY, terms_json, terms_of
from grater.errors import Conflict, NotFound, UsageError, unknown
from grater.model import Json

UNIT, JOB, ASSIGNED = schema.units.c, schema.jobs.c, schema.assignments.c

JobState: TypeAlias = Literal["draft", "open", "paused", "closed"]
Access: TypeAlias = Literal["pool", "assigned"]

GivenState: TypeAlias = Literal["open", "paused", "closed"]

MOVES: Mapping[str, tuple[GivenState, ...]] = {
    "draft": ("open",),
    "open": ("paused", "closed"),
    "paused": ("open", "closed"),
    "closed": ("open",),
}
"""The states that a manager may give a job, by the state that it has."""

Markdown: TypeAlias = Annotated[
    str,
    BeforeValidator(lambda text: text.replace("\r\n", "\n") if isinstance(text, str) else text),
    StringConstraints(min_length=1, max_length=100_000),
]
"""Guidelines, with plain line ends."""


class NewJobState(Body):
    model_config = example(state="open")
    state: GivenState


class NewGuidelines(Body):
    model_config = example(markdown="# What to do\n\nRead the sentence twice.")
    markdown: Markdown


class NewNames(Body):
    """Empty fields leave the name or title unchanged."""

    model_config = example(name="prepositions-1", title="Prepositions")
    name: str = Field(default="", max_length=80)
    title: str = Field(default="", max_length=80)


class Archived(Body):
    model_config = example(archived=True)
    archived: bool


@dataclass(frozen=True, slots=True)
class Job:
    """`judgments` is the number wanted for each unit; `access` says whether anybody in the study may take a unit."""

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
    at: Moment
    person_id: str | None


NO_JOB = "there is no such job in this study"
COLUMNS = Columns(Job, schema.jobs)
BY_ID = select(*COLUMNS).where(JOB.job_id == bindparam("job_id"))

GUIDELINES_COLUMNS = Columns(Guidelines, schema.guidelines)
OF_JOB = schema.guidelines.c.job_id == bindparam("job_id")
NEWEST = select(*GUIDELINES_COLUMNS).where(OF_JOB).order_by(schema.guidelines.c.version.desc())
NEWEST_VERSION = select(func.max(schema.guidelines.c.version)).where(OF_JOB)


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
    """Add a draft job without units."""
    _require_free(tx, name)
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


def _require_free(tx: Tx, name: str) -> None:
    if tx.value(select(JOB.job_id).where(JOB.name == name)) is not None:
        raise Conflict(f"there is a job called {name!r} already; choose another name")


def find(tx: Tx, job_id: str) -> Job | None:
    return COLUMNS.find(tx, BY_ID, job_id=job_id)


def get(tx: Tx, job_id: str) -> Job:
    return COLUMNS.get(tx, BY_ID, NO_JOB, job_id=job_id)


def visible(tx: Tx, job_id: str) -> Job:
    """The job; drafts are hidden from raters."""
    job = find(tx, job_id)
    if job is None or job.state == "draft":
        raise NotFound("there is no such job")
    return job


def lock(tx: Tx, job_id: str) -> Job:
    """Get the job with a lock, so that its terms, guidelines and money change one at a time; work in it continues."""
    return COLUMNS.get(tx, tx.locked(BY_ID, of=schema.jobs), NO_JOB, job_id=job_id)


def named(tx: Tx, name: str) -> Job:
    """The job with this name; for an unknown name, the error suggests the nearest."""
    by_name = {job.name: job for job in all(tx)}
    if name not in by_name:
        raise NotFound(unknown("job", name, list(by_name)))
    return by_name[name]


def all(tx: Tx) -> list[Job]:  # noqa: A001  (read as jobs.all)
    query = select(*COLUMNS).order_by(JOB.added_at, tx.binary(JOB.name))
    return COLUMNS.all(tx, query)


COUNT_ROWS = sql("ANALYZE units, unit_items, slots")
"""PostgreSQL does this by itself within a minute; the first raters of a large job would wait for it."""


def move(tx: Tx, job_id: str, state: GivenState, *, actor: str | None = None) -> Job:
    """Open, pause or close a job if its state allows it; work that raters hold is still accepted."""
    job = get(tx, job_id)
    if job.archived_at is not None:
        raise Conflict(f"{job.name}: archived; restore it first")
    if state not in MOVES[job.state]:
        raise Conflict(f"state: expected {' or '.join(MOVES[job.state])} after {job.state}, found {state!r}")
    return set_state(tx, job_id, state, actor=actor)


def set_state(tx: Tx, job_id: str, state: JobState, *, actor: str | None = None) -> Job:
    """Set the state unconditionally."""
    job = _change(tx, job_id, state=state)
    events.write(tx, actor, "job.state", job_id, {"state": state})
    if state == "open" and tx.is_postgres:
        tx.execute(COUNT_ROWS)
    return job


def _change(tx: Tx, job_id: str, **values: Any) -> Job:
    tx.execute(schema.jobs.update().where(JOB.job_id == job_id).values(**values))
    return get(tx, job_id)


def rename(tx: Tx, job_id: str, sent: NewNames, *, actor: str | None = None) -> Job:
    """Change a job's name, for commands and exports, or its title, for raters.

    Jobs that require work in this one are updated.
    """
    job = lock(tx, job_id)
    new_name, new_title = require_name(sent.name or job.name), sent.title or job.title
    if (new_name, new_title) == (job.name, job.title):
        return job
    if new_name != job.name:
        _require_free(tx, new_name)
    renamed = _change(tx, job_id, name=new_name, title=new_title)
    changed = {"name": new_name, "title": new_title, "name_before": job.name, "title_before": job.title}
    events.write(tx, actor, "job.renamed", job_id, changed)
    for other in all(tx):
        terms = terms_of(other.options)
        if any(each.job == job.name for each in terms.qualifications):
            asked = [replace(each, job=new_name) if each.job == job.name else each for each in terms.qualifications]
            changed_terms = terms.model_copy(update={"qualifications": tuple(asked)})
            set_options(tx, other.job_id, {KEY: terms_json(changed_terms)}, actor=actor)
    return renamed


def archive(tx: Tx, job_id: str, is_archived: bool, *, actor: str | None = None) -> Job:
    """Hide a job, or show it again; refused while somebody is working in it."""
    job = lock(tx, job_id)
    if is_archived and job.state not in ("draft", "closed"):
        raise Conflict(f"{job.name}: the job is {job.state}; close it first")
    if is_archived == (job.archived_at is not None):
        return job
    events.write(tx, actor, "job.archived" if is_archived else "job.restored", job_id)
    return _change(tx, job_id, archived_at=tx.now if is_archived else None)


def set_options(tx: Tx, job_id: str, options: Mapping[str, Json], *, actor: str | None = None) -> Job:
    merged = {**lock(tx, job_id).options, **options}
    events.write(tx, actor, "job.options", job_id, {"options": dict(options)})
    return _change(tx, job_id, options=merged)


def add_guidelines(tx: Tx, job_id: str, markdown: str, *, actor: str | None = None) -> Guidelines:
    """Add a version that later judgments refer to; an unchanged text adds none."""
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
    return GUIDELINES_COLUMNS.find(tx, NEWEST.limit(ONE), job_id=job_id)


def guidelines_version(tx: Tx, job_id: str) -> int:
    """The number of the latest version; 0 if there is none."""
    return int(tx.value(NEWEST_VERSION, job_id=job_id) or 0)


def guidelines_versions(tx: Tx, job_id: str) -> list[Guidelines]:
    return GUIDELINES_COLUMNS.all(tx, NEWEST, job_id=job_id)[::-1]


@dataclass(frozen=True, slots=True)
class Assignment:
    """One unit for one person; `batch` is one of the person's own, done in order."""

    unit_id: str
    person_id: str
    batch: int = 0


ASSIGNMENT_COLUMNS = Columns(Assignment, schema.assignments)


def assign(tx: Tx, job_id: str, new: Iterable[Assignment]) -> int:
    """Assign units and return the number of assignments; a unit has at most as many people as slots."""
    n_added = 0
    for portion in chunks(new):
        tx.insert(
            schema.assignments, [ASSIGNMENT_COLUMNS.row(assignment) | {"job_id": job_id} for assignment in portion]
        )
        pairs = [[assignment.unit_id, assignment.person_id] for assignment in portion]
        events.write(tx, None, "assignments.added", job_id, {"pairs": pairs})
        n_added += len(portion)
    n_people = func.count(ASSIGNED.person_id)
    query = (
        select(UNIT.position, UNIT.wanted, n_people.label("n_people"))
        .join(schema.assignments)
        .where(UNIT.job_id == job_id, UNIT.role == "work")
        .group_by(UNIT.unit_id, UNIT.position, UNIT.wanted)
        .having(n_people > UNIT.wanted)
    )
    row = tx.first(query.order_by(UNIT.position))
    if row is not None:
        message = f"expected at most {row.wanted} annotators, one per judgment; found {row.n_people}"
        raise UsageError(f"unit {row.position}: {message}")
    return n_added


def assignments_of(tx: Tx, job_id: str) -> list[Assignment]:
    order = (ASSIGNED.batch, tx.binary(ASSIGNED.unit_id), tx.binary(ASSIGNED.person_id))
    query = select(*ASSIGNMENT_COLUMNS).where(ASSIGNED.job_id == job_id).order_by(*order)
    return ASSIGNMENT_COLUMNS.all(tx, query)


def n_assigned(tx: Tx, job_id: str, person_id: str) -> int:
    mine = (ASSIGNED.job_id == job_id) & (ASSIGNED.person_id == person_id)
    return int(tx.value(select(func.count()).where(mine)) or 0)


def move_assignments(tx: Tx, job_id: str, *, giver: str, taker: str, actor: str | None = None) -> int:
    """Reassign a person's remaining units to another person; return their number.

    Units that the giver holds or has answered stay theirs (unless the answers are untrusted), and so do units that
    follow such an answer. Units that the taker already has are skipped: one person gives one judgment.
    """
    mine = (ASSIGNED.job_id == job_id) & (ASSIGNED.person_id == giver)
    query = select(UNIT.unit_id).join(schema.assignments).where(mine)
    for unit_id in (UNIT.unit_id, UNIT.follows):
        by_person = (schema.leases.c.unit_id == unit_id) & (schema.leases.c.person_id == giver)
        holds = exists().where(by_person, schema.leases.c.state == "held")
        query = query.where(~_has_answered(unit_id, giver), ~holds)
        other = schema.assignments.alias()
        is_asked = exists().where(other.c.unit_id == unit_id, other.c.person_id == taker)
        query = query.where(~is_asked, ~_has_answered(unit_id, taker))
    moved = [row.unit_id for row in tx.all(query.order_by(UNIT.position))]
    for portion in chunks(moved):
        theirs = schema.assignments.update().where(mine, ASSIGNED.unit_id.in_(portion))
        tx.execute(theirs.values(person_id=taker))
    events.write(tx, actor, "assignments.moved", job_id, {"from": giver, "to": taker, "units": moved})
    return len(moved)


def _has_answered(unit_id: ColumnElement[Any], person_id: str) -> ColumnElement[bool]:
    by_person = (schema.submissions.c.unit_id == unit_id) & (schema.submissions.c.person_id == person_id)
    return exists().where(by_person, schema.submissions.c.status != "untrusted")
