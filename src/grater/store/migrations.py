"""Numbered steps from the schema of an older grater to this one's.

A new study is made whole from `schema`; a study of version v is brought up by the steps v+1, v+2, ... in one
transaction.  A step is a function of a connection and is never changed once released.  Version 1 is the first schema.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from sqlalchemy import Connection, inspect, select

from grater.errors import GraterError, UsageError
from grater.store import schema
from grater.store.ids import new_id, new_secret
from grater.store.triggers import create_triggers

Step: TypeAlias = Callable[[Connection], None]


def index_the_queue(connection: Connection) -> None:
    """What a rater gets next, and how far a job is, come from indexes alone, however much work there is."""
    free = "CREATE INDEX ix_slots_free ON slots (job_id, batch, shuffle, unit_id, n) WHERE state = 'free'"
    for statement in (
        "DROP INDEX IF EXISTS ix_slots_free",
        free,
        "CREATE INDEX ix_slots_state ON slots (job_id, state)",
        "CREATE INDEX ix_units_role ON units (job_id, role, position)",
        "CREATE INDEX ix_submissions_unit_person ON submissions (unit_id, person_id)",
    ):
        connection.exec_driver_sql(statement)


def index_the_events(connection: Connection) -> None:
    """On PostgreSQL listeners hear of events in the order of their transactions."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql("CREATE INDEX ix_events_transaction ON events (transaction_id, n)")


STEPS: Mapping[int, Step] = {2: index_the_queue, 3: index_the_events}
"""What each version changed."""

VERSION = max(STEPS, default=1)


def is_empty(connection: Connection) -> bool:
    return not inspect(connection).has_table("meta")


def create(connection: Connection) -> None:
    """All tables, indexes and triggers of a new study."""
    schema.METADATA.create_all(connection)
    create_triggers(connection)
    values = {"version": str(VERSION), "study_id": new_id(), "key": new_secret()}
    connection.execute(schema.meta.insert(), [{"key": name, "value": value} for name, value in values.items()])


def version_of(connection: Connection, *, name: str) -> int:
    if is_empty(connection):
        raise UsageError(f"{name}: not a study; make one with `grater study new {name}`")
    value = connection.execute(select(schema.meta.c.value).where(schema.meta.c.key == "version")).scalar()
    if value is None:
        raise UsageError(f"{name}: a database, but not a study of grater")
    return int(value)


def migrate(connection: Connection, *, name: str, steps: Mapping[int, Step] = STEPS) -> None:
    """Bring the study up to this version; one that is newer is refused."""
    found = version_of(connection, name=name)
    newest = max(steps, default=1)
    if found > newest:
        raise GraterError(f"{name}: made by a newer grater (schema {found}, this one knows {newest}); upgrade grater")
    for number in range(found + 1, newest + 1):
        steps[number](connection)
        connection.execute(schema.meta.update().where(schema.meta.c.key == "version").values(value=str(number)))
