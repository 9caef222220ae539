"""A study's database, opened: transactions to write in, snapshots to read from, one server at a time.

`with store.write() as tx` commits at its end or changes nothing; only when it has ended may anybody be told that
work is stored (P1).  `with store.read() as tx` sees one snapshot throughout.  `with store.glance() as tx` asks a
question without a transaction around it.

On SQLite one process serves a study: `serving` holds a lock beside the file that the operating system frees when the
process ends, however it ends.  The command line may read and write at the same time, since every writer queues at
`BEGIN IMMEDIATE`.  On PostgreSQL any number of processes may serve.
"""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Connection, Engine, func, select

from grater.errors import StoreBusy, UsageError
from grater.store import migrations, schema
from grater.store.clock import Clock, utc_now
from grater.store.commits import Moment, Writers
from grater.store.engine import WRITES, is_url, make_engine, make_glancing
from grater.store.failures import speaking
from grater.store.transaction import Tx


def no_witness(moment: Moment) -> None:
    """Nobody watches the commits."""


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
        self._writers = Writers(engine, name=name, around_commit=around_commit)
        self._key = ""

    @property
    def is_postgres(self) -> bool:
        return self.engine.dialect.name == "postgresql"

    @contextmanager
    def write(self, *, brief: bool = False) -> Iterator[Tx]:
        """A transaction: all of it at the end, or nothing; do not open another inside it.

        `brief` ones, which raters wait for, may share a COMMIT on SQLite (`commits`).
        """
        with speaking(self.name), self._changing(brief=brief) as connection:
            yield Tx(connection, self.clock(), self._study_key(connection))

    @contextmanager
    def _changing(self, *, brief: bool) -> Iterator[Connection]:
        if not self.is_postgres:
            with self._writers.together() if brief else self._writers.alone() as connection:
                yield connection
            return
        with self.engine.connect() as connection, connection.begin() as transaction:
            yield connection
            self._around_commit("before")
            transaction.commit()
            self._around_commit("after")

    @contextmanager
    def read(self) -> Iterator[Tx]:
        """One snapshot, in which nothing can be changed by mistake on PostgreSQL."""
        with speaking(self.name), self.engine.connect() as connection:
            if self.is_postgres:
                options = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
                connection = connection.execution_options(**options)
            with connection.begin() as transaction:
                yield Tx(connection, self.clock(), self._study_key(connection))
                transaction.rollback()

    @contextmanager
    def glance(self) -> Iterator[Tx]:
        """For one question, or several that need not agree: no snapshot, so nothing to begin and nothing to end."""
        with speaking(self.name), self.glancing.connect() as connection:
            yield Tx(connection, self.clock(), self._study_key(connection))

    @contextmanager
    def alone(self, what: str) -> Iterator[bool]:
        """Whether this process is the only one at `what` while this lasts; on SQLite one process serves anyway."""
        if not self.is_postgres:
            yield True
            return
        with speaking(self.name), self.engine.connect() as connection, connection.begin():
            lock = select(func.pg_try_advisory_xact_lock(zlib.crc32(what.encode())))
            yield bool(connection.execute(lock).scalar())

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
        lock = sqlite3.connect(f"{self.name}.serving", timeout=0, isolation_level=None, check_same_thread=False)
        try:
            lock.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError as error:
            lock.close()
            raise StoreBusy(f"{self.name}: is being served already, by another process on this file") from error
        try:
            yield
        finally:
            lock.close()

    def close(self) -> None:
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
    place = str(location)
    name = place.rsplit("/", 1)[-1] if is_url(place) else place  # a URL holds a password; messages must not
    if not is_url(place):
        _require_file(place, create=create)
    engine = make_engine(place)
    store = Store(engine, make_glancing(engine, place), name=name, clock=clock, around_commit=around_commit)
    try:
        _prepare(store, create=create)
    except BaseException:
        store.close()
        raise
    return store


def _require_file(place: str, *, create: bool) -> None:
    if "://" in place:
        raise UsageError(f"{place.split('://')[0]}: expected a file or a postgresql:// URL as the study")
    path = Path(place)
    if create and path.exists() and path.stat().st_size:
        raise UsageError(f"{path}: is there already; choose another name for the new study")
    if not create and not path.exists():
        raise UsageError(f"{path}: there is no such study; make one with `grater study new {path}`")
    if create and not path.parent.exists():
        raise UsageError(f"{path}: there is no folder {path.parent}; make it first")
    if not create and not _looks_like_sqlite(path):
        raise UsageError(f"{path}: expected a study of grater, found some other file")


def _looks_like_sqlite(path: Path) -> bool:
    with path.open("rb") as stream:
        return stream.read(16) in (b"SQLite format 3\0", b"")


def _prepare(store: Store, *, create: bool) -> None:
    with speaking(store.name), store.engine.connect() as connection:
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
