"""The two engines and how each is told to keep its word.

SQLite: write-ahead log, `synchronous=FULL` (a COMMIT is on the disk before anybody hears of it), foreign keys on,
`BEGIN IMMEDIATE` for writing, so that a writer waits at the door instead of failing half-way.  PostgreSQL: psycopg 3,
READ COMMITTED with row locks for writing, one REPEATABLE READ snapshot for reading.  A glance has no transaction.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.exc import DisconnectionError

from grater.errors import MissingExtra

BUSY_SECONDS = 30
"""How long a writer waits for another process before it gives up."""

POOL, GLANCING_POOL = 20, 10
"""Connections to PostgreSQL for transactions and for glances, kept once they are open: each is a process there."""

PLANS_SECONDS = 300
"""How long a connection to PostgreSQL lives: its plans were made for tables of the size that they had then."""

IDLE_SECONDS = 5.0
"""A connection to PostgreSQL that was not used for so long is asked whether it is still there."""

WRITES = "grater_writes"
"""The execution option that marks a connection as one that will write."""

GLANCES = "grater_glances"
"""The execution option that marks a connection whose questions each stand alone."""

PREPARED_AFTER = 1
"""A question that was asked once on a connection is prepared there: raters ask the same few all day."""

MANNERS = """SELECT set_config('jit', 'off', false), set_config('plan_cache_mode', 'force_generic_plan', false),
    CASE current_setting('synchronous_commit') WHEN 'off' THEN set_config('synchronous_commit', 'on', false) END"""
"""How PostgreSQL is to treat what is prepared: planned once, for to plan it anew took longer than to run it, and
never compiled; and that a COMMIT is on the disk before anybody hears of it, whatever the database was told.  Said
when a connection is open, since poolers in between refuse settings in its options."""


def is_url(location: str) -> bool:
    return location.startswith(("postgresql:", "postgresql+psycopg:", "postgres:"))


def make_engine(location: str) -> Engine:
    return _postgres(location) if is_url(location) else _sqlite(Path(location))


def make_glancing(engine: Engine, location: str) -> Engine:
    """For questions without a transaction: the same connections on SQLite, others on PostgreSQL.

    To tell a connection each time that nothing is to begin, and then that it is again, cost more than the question.
    """
    if not is_url(location):
        return engine.execution_options(**{GLANCES: True})
    return _postgres(location, pool_size=GLANCING_POOL, isolation_level="AUTOCOMMIT")


def _sqlite(path: Path) -> Engine:
    engine = create_engine(
        f"sqlite:///{path}",
        pool_size=8,
        max_overflow=-1,  # threads that read do not wait for each other; writers queue at the store's own door
        connect_args={"timeout": BUSY_SECONDS, "isolation_level": None, "check_same_thread": False},
    )
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}")


def _begin_sqlite(connection: Connection) -> None:
    options = connection.get_execution_options()
    if not options.get(GLANCES, False):
        connection.exec_driver_sql("BEGIN IMMEDIATE" if options.get(WRITES, False) else "BEGIN")


def _postgres(location: str, *, pool_size: int = POOL, **options: Any) -> Engine:
    try:
        import psycopg  # noqa: F401  (asked for here, so that SQLite studies do not need it)
    except ImportError as error:
        raise MissingExtra("PostgreSQL needs psycopg: pip install 'grater[postgres]'") from error
    url = make_url(location).set(drivername="postgresql+psycopg")
    engine = create_engine(
        url,
        pool_size=pool_size,
        max_overflow=0,
        pool_timeout=BUSY_SECONDS,
        pool_recycle=PLANS_SECONDS,
        connect_args={"prepare_threshold": PREPARED_AFTER},
        **options,
    )
    event.listen(engine, "connect", _prepare_postgres)
    event.listen(engine, "checkin", _note_the_time)
    event.listen(engine, "checkout", _ask_the_idle)
    return engine


def _prepare_postgres(connection: Any, _record: Any) -> None:
    connection.execute(MANNERS)
    connection.commit()


def _note_the_time(_connection: Any, record: Any) -> None:
    record.info["used_at"] = time.monotonic()


def _ask_the_idle(connection: Any, record: Any, _proxy: Any) -> None:
    """To ask every time (`pool_pre_ping`) was one in eleven of all that a request says to PostgreSQL."""
    if time.monotonic() - record.info.get("used_at", time.monotonic()) < IDLE_SECONDS:
        return
    try:
        connection.execute("SELECT 1")
        connection.rollback()
    except connection.Error as error:  # the pool then opens another
        raise DisconnectionError("the connection was lost while nobody used it") from error
