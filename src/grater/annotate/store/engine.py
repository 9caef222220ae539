"""The two engines, how each is configured to keep its promises, and their errors in words for people.

SQLite: write-ahead log, `synchronous=FULL` (a COMMIT is on the disk before anybody hears of it), foreign keys on,
`BEGIN IMMEDIATE` for writing, so that a writer waits at the door instead of failing half-way.  After a full disk the
log, which may be what fills it, is emptied before the next change.  PostgreSQL: psycopg 3,
READ COMMITTED with row locks for writing, one REPEATABLE READ snapshot for reading.  A glance has no transaction.

What databases complain about becomes an error of grater: full, busy, already there, or no text.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, ExceptionContext, create_engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.exc import DBAPIError, DisconnectionError, IntegrityError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from grater.annotate.store.clock import STEPS, is_over
from grater.errors import Conflict, GraterError, MissingExtra, OutOfTime, StoreBusy, StoreFull, UsageError

BUSY_SECONDS = 30
"""How long a writer waits for another process before it gives up."""

POOL, GLANCING_POOL = 12, 6
"""Connections to PostgreSQL for transactions and for glances, kept once they are open: each is a process there, and
makes its own plans, some 90 ms of CPU before it is warm.  More than a few for each core only wait for each other."""

PLANS_SECONDS = 300
"""How long a connection to PostgreSQL lives: its plans were made for tables of the size that they had then."""

IDLE_SECONDS = 5.0
"""A connection to PostgreSQL that was idle for this long is checked before it is used."""

WRITES = "grater_writes"
"""The execution option that marks a connection as one that will write."""

GLANCES = "grater_glances"
"""The execution option that marks a connection without transactions: every query stands alone."""

PREPARED_AFTER = 1
"""A query that was run once on a connection is prepared there: raters cause the same few all day."""

SETTINGS = """SELECT set_config('jit', 'off', false), set_config('plan_cache_mode', 'force_generic_plan', false),
    CASE current_setting('synchronous_commit') WHEN 'off' THEN set_config('synchronous_commit', 'on', false) END"""
"""How PostgreSQL is to treat prepared queries: planned once, since planning takes longer than running, and never
compiled; and a COMMIT is on the disk before anybody hears of it, however the database is configured.  Set when a
connection is open, since poolers in between refuse settings in its options."""


def is_url(location: str) -> bool:
    return location.startswith(("postgresql:", "postgresql+psycopg:", "postgres:"))


def make_engine(location: str) -> Engine:
    return _postgres(location) if is_url(location) else _sqlite(Path(location))


def make_glancing(engine: Engine, location: str) -> Engine:
    """For queries without a transaction: the same connections on SQLite, others on PostgreSQL.

    Switching the isolation level of a connection each time, and back, cost more than the query.
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
    is_full = threading.Event()

    def note_full(context: ExceptionContext) -> None:
        if any(word in str(context.original_exception).lower() for word in FULL):
            is_full.set()

    def begin(connection: Connection) -> None:
        options = connection.get_execution_options()
        if options.get(WRITES, False) and is_full.is_set():
            is_full.clear()
            connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
        if not options.get(GLANCES, False):
            connection.exec_driver_sql("BEGIN IMMEDIATE" if options.get(WRITES, False) else "BEGIN")

    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", begin)
    event.listen(engine, "handle_error", note_full)
    return engine


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}")
    connection.set_progress_handler(is_over, STEPS)


def _postgres(location: str, *, pool_size: int = POOL, **options: Any) -> Engine:
    try:
        import psycopg  # noqa: F401  (here, so that SQLite studies do not need it)
    except ImportError as error:
        raise MissingExtra("PostgreSQL needs psycopg: pip install 'grater[postgres]'") from error
    url = make_url(location).set(drivername="postgresql+psycopg")
    engine = create_engine(
        url,
        pool_size=pool_size,
        max_overflow=0,
        pool_use_lifo=True,  # few connections, whose plans and caches are warm, rather than all in turn
        pool_timeout=BUSY_SECONDS,
        pool_recycle=PLANS_SECONDS,
        connect_args={"prepare_threshold": PREPARED_AFTER},
        **options,
    )
    event.listen(engine, "connect", _prepare_postgres)
    event.listen(engine, "checkin", _note_the_time)
    event.listen(engine, "checkout", _check_the_idle)
    return engine


def _prepare_postgres(connection: Any, _record: Any) -> None:
    connection.execute(SETTINGS)
    connection.commit()


def _note_the_time(_connection: Any, record: Any) -> None:
    record.info["used_at"] = time.monotonic()


def _check_the_idle(connection: Any, record: Any, _proxy: Any) -> None:
    """Checking every time (`pool_pre_ping`) was one in eleven of all statements of a request."""
    if time.monotonic() - record.info.get("used_at", time.monotonic()) < IDLE_SECONDS:
        return
    try:
        connection.execute("SELECT 1")
        connection.rollback()
    except connection.Error as error:  # the pool then opens another
        raise DisconnectionError("the connection was lost while nobody used it") from error


FULL = ("database or disk is full", "disk i/o error", "could not extend file", "no space left on device")
BUSY = (
    "database is locked",
    "database table is locked",
    "deadlock detected",
    "could not serialize",
    "lock timeout",
    "statement timeout",
)
BROKEN_OFF = ("interrupted", "statement timeout")

NO_TEXT = ("cannot contain nul", "0x00", "\\u0000 cannot be converted")
"""PostgreSQL keeps no character NUL; SQLite does, and finds nothing under such a name."""

READ_ONLY = "attempt to write a readonly database"
"""SQLite keeps its log beside the file, even for those who only look."""

GONE = ("connection", "server closed", "terminating", "unable to open database file")


@contextmanager
def translated_errors(name: str) -> Iterator[None]:
    """Errors of the database inside become errors of grater; nothing was stored when one arrives."""
    try:
        yield
    except IntegrityError as error:
        raise Conflict(f"{name}: already there, or it points at nothing: {_first_line(error)}") from error
    except DBAPIError as error:
        raise _in_words(name, error) from error
    except PoolTimeout as error:
        raise StoreBusy(f"{name}: all connections are in use; try again") from error


def _in_words(name: str, error: DBAPIError) -> GraterError:
    message = _first_line(error)
    lowered = message.lower()
    if is_over() and any(word in lowered for word in BROKEN_OFF):
        return OutOfTime(f"{name}: this took too long and was broken off; nothing was stored")
    if any(word in lowered for word in FULL) or _code(error) in ("53100", "53200"):
        return StoreFull(f"{name}: the disk is full, nothing was stored ({message}); make room and try again")
    if any(word in lowered for word in BUSY):
        return StoreBusy(f"{name}: the database is busy, nothing was stored ({message}); try again")
    if error.connection_invalidated or any(word in lowered for word in GONE):
        return StoreBusy(f"{name}: the database cannot be reached, nothing was stored ({message})")
    if READ_ONLY in lowered:
        return UsageError(f"{name}: a study is opened where it can be written; copy it to a folder of your own")
    if any(word in lowered for word in NO_TEXT):
        return UsageError("a text may not hold the character NUL")
    return GraterError(f"{name}: the database refused: {message}")


def _code(error: DBAPIError) -> str:
    return str(getattr(error.orig, "sqlstate", ""))


def _first_line(error: DBAPIError) -> str:
    return (str(error.orig).splitlines() or [""])[0]
