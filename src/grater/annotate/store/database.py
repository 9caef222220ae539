"""A study's database: write transactions, read snapshots, and one server at a time.

`with store.write() as tx` commits at its end or changes nothing; work is acknowledged only after that (P1).  `with
store.read() as tx` sees one snapshot throughout.  `with store.glance() as tx` runs queries without a transaction
around them.

SQLite: write-ahead log, `synchronous=FULL` (a COMMIT is on the disk before it is acknowledged), foreign keys on,
`BEGIN IMMEDIATE` for writing, so that a writer waits at the start instead of failing half-way; threads of a process
queue at its own lock instead of polling SQLite's. After the disk was full, the log, which may be filling it, is
emptied before the next change. One process serves a file: `serving` holds a lock next to the real file (not a link to
it), which the operating system releases however the process ends. Commands may read and write at the same time.

PostgreSQL: psycopg 3, READ COMMITTED with row locks for writing, one REPEATABLE READ snapshot for reading.  Any
number of processes may serve.

Database errors become errors of grater: full, busy, duplicate, or not text. `meta` has data about the study itself
(its name, its key, its owner's settings).
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from copy import copy
from pathlib import Path
from typing import Any, Literal, TypeAlias

from sqlalchemy import Connection, Engine, ExceptionContext, create_engine, event, select
from sqlalchemy import text as sql
from sqlalchemy.engine import make_url
from sqlalchemy.exc import DBAPIError, DisconnectionError, IntegrityError, PendingRollbackError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from grater.annotate.store import migrations, schema
from grater.annotate.store.transaction import STEPS, Clock, Tx, is_over, utc_now
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
"""The execution option for a connection without transactions: every query is independent."""

PREPARED_AFTER = 1
"""A query that was run once on a connection is prepared there: raters cause the same few all day."""

SETTINGS = """SELECT set_config('jit', 'off', false), set_config('plan_cache_mode', 'force_generic_plan', false),
    CASE current_setting('synchronous_commit') WHEN 'off' THEN set_config('synchronous_commit', 'on', false) END"""
"""How PostgreSQL is to treat prepared queries: planned once, since planning takes longer than running, and never
compiled; and a COMMIT is on the disk before it is acknowledged, however the database is configured.  Set when a
connection is open, since poolers in between refuse settings in its options."""


def is_url(location: str) -> bool:
    return location.startswith(("postgresql:", "postgresql+psycopg:", "postgres:"))


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
    event.listen(engine, "checkin", lambda _, record: record.info.update(used_at=time.monotonic()))
    event.listen(engine, "checkout", _check_the_idle)
    event.listen(engine, "rollback", _roll_back)
    return engine


def _prepare_postgres(connection: Any, _record: Any) -> None:
    connection.execute(SETTINGS)
    connection.commit()


def _roll_back(connection: Connection) -> None:
    """Roll back past psycopg, which would forget every prepared query of the connection, in case a table is gone.

    Otherwise whoever has much refused makes everybody else wait while their queries are planned again.  Where the
    connection is lost, SQLAlchemy finds that out by itself.
    """
    driver = connection.connection.driver_connection
    if driver is not None and not driver.closed:
        driver.pgconn.exec_(b"ROLLBACK")


def _check_the_idle(connection: Any, record: Any, _proxy: Any) -> None:
    """Connections are checked only when idle: always (`pool_pre_ping`) was one in eleven statements of a request."""
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
"""SQLite keeps its log next to the file, even for those who only look."""

GONE = ("connection", "server closed", "terminating", "unable to open database file")


@contextmanager
def translated_errors(name: str) -> Iterator[None]:
    """Turn database errors inside into errors of grater; when one arrives, nothing was stored."""
    try:
        yield
    except IntegrityError as error:
        raise Conflict(f"{name}: already there, or it points at nothing: {_first_line(error)}") from error
    except DBAPIError as error:
        raise _in_words(name, error) from error
    except PoolTimeout as error:
        raise StoreBusy(f"{name}: all connections are in use; try again") from error
    except Exception as error:  # what psycopg says outside of a statement, and what SQLAlchemy says after a lost one
        if isinstance(error, PendingRollbackError) or type(error).__module__.startswith("psycopg"):
            raise StoreBusy(f"{name}: the database cannot be reached, nothing was stored") from error
        raise


def _in_words(name: str, error: DBAPIError) -> GraterError:
    message = _first_line(error)
    lowered = message.lower()
    if is_over() and any(word in lowered for word in BROKEN_OFF):
        return OutOfTime(f"{name}: this took too long and was broken off; nothing was stored")
    if any(word in lowered for word in FULL) or getattr(error.orig, "sqlstate", "") in ("53100", "53200"):
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


def _first_line(error: DBAPIError) -> str:
    return (str(error.orig).splitlines() or [""])[0]


Moment: TypeAlias = Literal["before", "after"]


class Store:
    """An open study; `close` it, or use it in a `with`.

    `around_commit` is called just before and just after every COMMIT, where tests simulate power failures.
    """

    def __init__(
        self,
        engine: Engine,
        glancing: Engine,
        *,
        name: str,
        clock: Clock,
        around_commit: Callable[[Moment], None] = lambda _: None,
    ) -> None:
        self.engine = engine
        self.glancing = glancing
        self.name = name
        self.clock = clock
        self._around_commit = around_commit
        self._writing = threading.Lock()
        self._key = ""
        self._check: Callable[[Tx], None] = lambda _: None
        self._statement_seconds = 0.0
        self._is_closed = threading.Event()
        for each in (engine, glancing) if self.is_postgres else ():
            event.listen(each, "connect", self._set_timeout)
            event.listen(each, "checkin", self._close_if_late)

    @property
    def is_postgres(self) -> bool:
        return self.engine.dialect.name == "postgresql"

    def checked(self, check: Callable[[Tx], None]) -> Store:
        """The same study, with a check at the beginning of each change that can refuse it."""
        mine = copy(self)
        mine._check = check
        return mine

    @contextmanager
    def write(self) -> Iterator[Tx]:
        """A write transaction, all or nothing; do not open another inside it."""
        with translated_errors(self.name), self._turn(), self.engine.connect() as connection:
            connection = connection.execution_options(**{WRITES: True})
            with connection.begin() as transaction:
                tx = Tx(connection, self.clock(), self._study_key(connection))
                self._check(tx)
                yield tx
                self._around_commit("before")
                transaction.commit()
                self._around_commit("after")

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """SQLite has one writer at a time; PostgreSQL locks rows."""
        if self.is_postgres:
            yield
            return
        if not self._writing.acquire(timeout=BUSY_SECONDS):
            raise StoreBusy(f"{self.name}: another change takes too long; try again")
        try:
            yield
        finally:
            self._writing.release()

    @contextmanager
    def read(self) -> Iterator[Tx]:
        """One snapshot; on PostgreSQL it is read-only."""
        with translated_errors(self.name), self.engine.connect() as connection:
            if self.is_postgres:
                options = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
                connection = connection.execution_options(**options)
            with connection.begin() as transaction:
                yield Tx(connection, self.clock(), self._study_key(connection), known={})
                transaction.rollback()

    @contextmanager
    def glance(self) -> Iterator[Tx]:
        """For single queries, or several that need not be consistent: no snapshot, so nothing to begin or end."""
        with translated_errors(self.name), self.glancing.connect() as connection:
            yield Tx(connection, self.clock(), self._study_key(connection))

    def _study_key(self, connection: Connection) -> str:
        if not self._key:
            self._key = (
                connection.execute(select(schema.meta.c.value).where(schema.meta.c.key == "key")).scalar() or ""
            )
        return self._key

    @contextmanager
    def serving(self) -> Iterator[None]:
        """Serve the study; meanwhile a second process that wants to serve the same file is refused."""
        if self.is_postgres:
            yield
            return
        file = _real_file(self.name)
        lock = sqlite3.connect(f"{file}.serving", timeout=0, isolation_level=None, check_same_thread=False)
        try:
            lock.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError as error:
            lock.close()
            raise StoreBusy(f"{self.name}: is being served already, by another process on this file") from error
        try:
            yield
        finally:
            lock.close()

    def limit_statements(self, seconds: float) -> None:
        """Let PostgreSQL cancel statements after this time; on SQLite the request's own limit is checked."""
        if seconds == self._statement_seconds:
            return
        self._statement_seconds = seconds
        for engine in (self.engine, self.glancing) if self.is_postgres else ():
            engine.dispose()  # connections made before would not know of it

    def _set_timeout(self, connection: Any, _record: Any) -> None:
        if self._statement_seconds:
            connection.execute(f"SET statement_timeout = {round(self._statement_seconds * 1000)}")
            connection.commit()

    def _close_if_late(self, connection: Any, _record: Any) -> None:
        """Close connections that a thread returns after the pool was disposed of."""
        if connection is not None and self._is_closed.is_set():
            connection.close()

    def close(self) -> None:
        self._is_closed.set()
        self.engine.dispose()
        self.glancing.dispose()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_store(
    location: Path | str,
    *,
    create: bool = False,
    clock: Clock = utc_now,
    around_commit: Callable[[Moment], None] = lambda _: None,
) -> Store:
    """Open a study by its file or `postgresql://` URL; `create` makes a new one and refuses an existing one."""
    address = str(location)
    name = address.rsplit("/", 1)[-1] if is_url(address) else address  # a URL holds a password; messages must not
    if not is_url(address):
        _require_file(address, create=create)
    # Queries without a transaction have the same connections on SQLite, others on PostgreSQL: switching the isolation
    # level of a connection each time, and back, cost more than the query.
    if is_url(address):
        engine = _postgres(address)
        glancing = _postgres(address, pool_size=GLANCING_POOL, isolation_level="AUTOCOMMIT")
    else:
        engine = _sqlite(Path(address))
        glancing = engine.execution_options(**{GLANCES: True})
    store = Store(engine, glancing, name=name, clock=clock, around_commit=around_commit)
    try:
        _prepare(store, create=create)
    except BaseException:
        store.close()
        raise
    return store


def _require_file(address: str, *, create: bool) -> None:
    if "://" in address:
        raise UsageError(f"{address.split('://')[0]}: expected a file or a postgresql:// URL as the study")
    path = Path(address)
    if create and path.exists() and not _is_blank(path):
        raise UsageError(f"{path}: already exists; choose another name for the new study")
    if not create and not path.exists():
        raise UsageError(f"{path}: no such study; create it first: grater study new {path}")
    if create and not path.parent.exists():
        raise UsageError(f"{path}: there is no folder {path.parent}; make it first")
    if create:
        try:
            path.touch(OWNER_ONLY)
            path.chmod(OWNER_ONLY)  # also where an empty file was there already
        except OSError as error:
            raise UsageError(f"{path}: cannot be made: {error.strerror or error}") from error
        return
    with path.open("rb") as stream:
        if stream.read(16) not in (b"SQLite format 3\0", b""):
            raise UsageError(
                f"{path}: expected a study of grater, found some other file; make a study: grater study new STUDY.db"
            )


def _real_file(name: str) -> Path:
    """The file behind all symbolic links, next to which its lock lies; refused if it has several hard links."""
    file = Path(name).resolve()
    n_names = file.stat().st_nlink
    if n_names > 1:
        raise UsageError(
            f"{name}: has {n_names} names on this disk (hard links), and served by two of them it would be damaged; "
            "remove the others, or serve a copy"
        )
    return file


OWNER_ONLY = 0o600
"""A study holds names, addresses and hashes of passwords; SQLite gives its log the rights of the file."""


def _is_blank(path: Path) -> bool:
    """Whether a file has no bytes or no tables, as when the disk filled up while a study was being created."""
    if not path.is_file() or not path.stat().st_size:
        return path.is_file()
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as connection:
            return not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    except sqlite3.Error:
        return False


def _prepare(store: Store, *, create: bool) -> None:
    with translated_errors(store.name), store.engine.connect() as connection:
        is_old = not create and migrations.version_of(connection, name=store.name) == migrations.VERSION
        connection.rollback()
        if is_old:
            return
        connection = connection.execution_options(**{WRITES: True})
        with connection.begin():
            if not create:
                migrations.migrate(connection, name=store.name)
            elif migrations.is_empty(connection):
                migrations.create(connection)
            else:
                raise UsageError(f"{store.name}: is a study already; choose another database for the new one")


PUBLIC_META = ("public_check_page", "public_editors")
"""The pages that owners opened to the public; a copy of the study does not open them."""

SECRET_META = ("key", "version", *PUBLIC_META)
SET_META = sql(
    "INSERT INTO meta (key, value) VALUES (:key, :value) ON CONFLICT (key) DO UPDATE SET value = excluded.value"
)
"""In the words that both engines know."""


def meta_values(tx: Tx) -> dict[str, str]:
    """Data about the study that may be shown."""
    return {row.key: row.value for row in tx.all(select(schema.meta)) if row.key not in SECRET_META}


def meta_value(tx: Tx, name: str) -> str:
    """One value about the study; empty if it is not set."""
    return str(tx.value(select(schema.meta.c.value).where(schema.meta.c.key == name)) or "")


def set_meta(tx: Tx, name: str, value: str) -> None:
    tx.execute(SET_META, {"key": name, "value": value})
