"""What raters are told, in numbered versions; a judgment knows the version that it was made under."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import bindparam, func, select

from grater.store import events, jobs, schema
from grater.store.ids import hashed
from grater.store.transaction import Tx


@dataclass(frozen=True, slots=True)
class Guidelines:
    job_id: str
    version: int
    markdown: str
    at: int
    person_id: str | None


COLUMNS = [schema.guidelines.c[name] for name in Guidelines.__dataclass_fields__]
OF_JOB = select(*COLUMNS).where(schema.guidelines.c.job_id == bindparam("job_id"))
NEWEST = OF_JOB.order_by(schema.guidelines.c.version.desc()).limit(1)
NEWEST_VERSION = select(func.max(schema.guidelines.c.version)).where(
    schema.guidelines.c.job_id == bindparam("job_id")
)


def add(tx: Tx, job_id: str, markdown: str, *, actor: str | None = None) -> Guidelines:
    """A new version; the same words again make none."""
    jobs.lock(tx, job_id)
    newest = current(tx, job_id)
    if newest is not None and newest.markdown == markdown:
        return newest
    made = Guidelines(job_id, newest.version + 1 if newest else 1, markdown, tx.now, actor)
    tx.insert(schema.guidelines, {name: getattr(made, name) for name in Guidelines.__dataclass_fields__})
    events.write(tx, actor, "guidelines.added", job_id, {"version": made.version, "sha256": hashed(markdown)})
    return made


def current(tx: Tx, job_id: str) -> Guidelines | None:
    row = tx.first(NEWEST, job_id=job_id)
    return None if row is None else Guidelines(*row)


def version(tx: Tx, job_id: str) -> int:
    """The number of the newest version; 0 where there is none."""
    return int(tx.value(NEWEST_VERSION, job_id=job_id) or 0)


def versions(tx: Tx, job_id: str) -> list[Guidelines]:
    """All versions, the oldest first."""
    query = select(*COLUMNS).where(schema.guidelines.c.job_id == job_id).order_by(schema.guidelines.c.version)
    return [Guidelines(*row) for row in tx.all(query)]
