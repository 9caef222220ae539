"""A study's database, opened: transactions to write in, snapshots to read from, one server at a time.

`with store.write() as tx` commits at its end or changes nothing; only when it has ended may anybody hear that work is
stored (P1).  `with store.read() as tx` sees one snapshot throughout.  `with store.glance() as tx` runs queries
without a transaction around them.

On SQLite one process serves a study: `serving` holds a lock beside the file that the operating system frees when the
process ends, however it ends.  The file is the real one, whatever link leads to it.  The command line may read and
write at the same time, since every writer queues at `BEGIN IMMEDIATE`.  On PostgreSQL any number of processes may
serve.

Threads that write to one SQLite file queue at a lock of the process instead of polling SQLite's.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from copy import copy
from pathlib import Path
from typing import Any, Literal, TypeAlias

from sqlalchemy import Connection, Engine, event, select

from grater.annotate.store import migrations, schema
from grater.annotate.store.clock import Clock, utc_now
from grater.annotate.store.engine import BUSY_SECONDS, WRITES, is_url, make_engine, make_glancing, translated_errors
from grater.annotate.store.transaction import Tx
from grater.errors import StoreBusy, UsageError

Moment: TypeAlias = Literal["before", "after"]


def no_witness(moment: Moment) -> None:
    """Nobody watches the commits."""


def no_check(tx: Tx) -> None:
    """Whoever has the store may change it, as commands may."""


class Store:
    """An open study; `close` it, or use it in a `with`.

    `around_commit` is called just before and just after every COMMIT: tests pull the plug there.
    """

    def __init__(
        self,
        engine: Engine,
        glancing: Engine,
        *,
        name: str,
        clock: Clock,
        around_commit: Callable[[Moment], None] = no_witness,
    ) -> None:
        self.engine = engine
        self.glancing = glancing
        self.name = name
        self.clock = clock
        self._around_commit = around_commit
        self._writing = threading.Lock()
        self._key = ""
        self._check: Callable[[Tx], None] = no_check
        self._statement_seconds = 0.0
        self._is_closed = threading.Event()
        for each in (engine, glancing) if self.is_postgres else ():
            event.listen(each, "connect", self._set_timeout)
            event.listen(each, "checkin", self._close_if_late)

    @property
    def is_postgres(self) -> bool:
        return self.engine.dialect.name == "postgresql"

    def checked(self, check: Callable[[Tx], None]) -> Store:
        """The same study, in which every change begins with a check, which may refuse it."""
        mine = copy(self)
        mine._check = check
        return mine

    @contextmanager
    def write(self) -> Iterator[Tx]:
        """A transaction: all of it at the end, or nothing; do not open another inside it."""
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
        """One snapshot, in which nothing can be changed by mistake on PostgreSQL.

        There it ends with COMMIT: with ROLLBACK psycopg forgets every prepared query of the connection, and raters
        who get it next wait for all of them to be planned again.
        """
        with translated_errors(self.name), self.engine.connect() as connection:
            if self.is_postgres:
                options = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
                connection = connection.execution_options(**options)
            with connection.begin() as transaction:
                yield Tx(connection, self.clock(), self._study_key(connection), known={})
                transaction.commit() if self.is_postgres else transaction.rollback()

    @contextmanager
    def glance(self) -> Iterator[Tx]:
        """For one query, or several that need not agree: no snapshot, so nothing to begin and nothing to end."""
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
        """Serve the study; a second process that wants to serve the same file is refused while this lasts."""
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
        """Have PostgreSQL break off every statement after this time; SQLite looks at the request's own limit."""
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
        """A pool that was disposed of closes nothing that a thread gives back later."""
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
    around_commit: Callable[[Moment], None] = no_witness,
) -> Store:
    """Open a study by its file or `postgresql://` URL; `create` makes a new one and refuses one that is there."""
    address = str(location)
    name = address.rsplit("/", 1)[-1] if is_url(address) else address  # a URL holds a password; messages must not
    if not is_url(address):
        _require_file(address, create=create)
    engine = make_engine(address)
    store = Store(engine, make_glancing(engine, address), name=name, clock=clock, around_commit=around_commit)
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
        _make_private(path)
    if not create and not _looks_like_sqlite(path):
        raise UsageError(f"{path}: expected a study of grater, found some other file")


def _real_file(name: str) -> Path:
    """The file behind all symbolic links, beside which its lock lies; one with several names has no such place."""
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


def _make_private(path: Path) -> None:
    try:
        path.touch(OWNER_ONLY)
        path.chmod(OWNER_ONLY)  # also where an empty file was there already
    except OSError as error:
        raise UsageError(f"{path}: cannot be made: {error.strerror or error}") from error


def _is_blank(path: Path) -> bool:
    """Whether a file holds nothing: no bytes, or no tables, as a full disk leaves a study that was being made."""
    if not path.is_file() or not path.stat().st_size:
        return path.is_file()
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as connection:
            return not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    except sqlite3.Error:
        return False


def _looks_like_sqlite(path: Path) -> bool:
    with path.open("rb") as stream:
        return stream.read(16) in (b"SQLite format 3\0", b"")


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
