"""A whole study copied while people work on it, and put back: SQLite by its own backup, PostgreSQL by its tools.

An export is for readers: it leaves out passwords, sessions, tokens, webhooks, drafts and the study's key.  A backup
is for the day after a disaster: one consistent snapshot of every row, from which the study goes on as if nothing had
happened.  SQLite copies a snapshot of its file (`sqlite3_backup`) while others write; PostgreSQL has `pg_dump` and
`pg_restore`, which must be installed where the command runs and be no older than the server.

A backup is readable by its owner alone, appears under its name only when it is whole, and never replaces a file.  A
copy by pseudonyms also loses what only the study itself needs: passwords, second factors, sessions, tokens,
invitations, webhooks, and files that wait to be imported.

Rows of a restored PostgreSQL study keep no numbers of transactions: another server counts its own.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from sqlalchemy import Connection, create_engine
from sqlalchemy.engine import make_url

from grater.annotate.store import migrations
from grater.annotate.store.engine import BUSY_SECONDS, translated_errors
from grater.annotate.store.store import OWNER_ONLY
from grater.errors import GraterError, MissingExtra, UsageError
from grater.files import complaining

SQLITE, POSTGRES = b"SQLite format 3\0", b"PGDMP"

SECRET = (
    "deliveries",
    "webhooks",
    "sessions",
    "tokens",
    "invitations",
    "recovery_codes",
    "second_factors",
    "run_files",
    "runs",
)
NAMELESS = (
    "UPDATE people SET name = pseudonym, email = '', payload = '{}', password_hash = ''",
    "UPDATE panel_places SET external_id = person_id",
    "UPDATE panels SET state = 'closed', options = json_set(options, '$.secret', '')"
    " WHERE json_extract(options, '$.secret') <> ''",
    *(f"DELETE FROM {table}" for table in SECRET),
    "VACUUM",
)
"""What makes a copy nameless; VACUUM, since the pages of a file keep what was deleted."""


def engine_of(path: Path) -> str:
    """Whose backup a file is: `sqlite` or `postgresql`."""
    try:
        with path.open("rb") as stream:
            start = stream.read(16)
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror or error}") from error
    if start == SQLITE:
        return "sqlite"
    if start.startswith(POSTGRES):
        return "postgresql"
    raise UsageError(f"{path}: expected a backup of a study, found some other file")


def copy_sqlite(source: Path, target: Path, *, nameless: bool = False) -> None:
    """One snapshot of a file, as a file of its own without a log beside it."""
    with (
        _appearing(target) as unfinished,
        _complaining_of(source),
        closing(sqlite3.connect(source, timeout=BUSY_SECONDS)) as original,
        closing(sqlite3.connect(unfinished, isolation_level=None)) as copy,
    ):
        original.backup(copy)
        copy.execute("PRAGMA journal_mode=DELETE")
        for statement in NAMELESS if nameless else ():
            copy.execute(statement)
        if copy.execute("PRAGMA quick_check").fetchone() != ("ok",):
            raise sqlite3.DatabaseError("the file is damaged")


@contextmanager
def _complaining_of(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise GraterError(f"{path}: cannot be copied, nothing was written: {error}") from error


@contextmanager
def _appearing(target: Path) -> Iterator[Path]:
    """A private file to write to, which takes its name once it is whole and on the disk."""
    if target.exists():
        raise UsageError(f"{target}: already exists; choose another name")
    with complaining(target):
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        os.close(handle)
    unfinished = Path(name)
    try:
        yield unfinished
        with complaining(target):
            unfinished.chmod(OWNER_ONLY)
            _sync(unfinished)
            _take_name(unfinished, target)
    finally:
        unfinished.unlink(missing_ok=True)


def _take_name(unfinished: Path, target: Path) -> None:
    """A link, unlike a rename, never replaces what somebody put there meanwhile; not every disk has links."""
    try:
        os.link(unfinished, target)
    except FileExistsError:
        raise
    except OSError:
        unfinished.rename(target)


def _sync(path: Path) -> None:
    with path.open("rb") as stream:
        os.fsync(stream.fileno())


def dump_postgres(location: str, target: Path) -> None:
    """One snapshot of a database by `pg_dump`, in its packed format."""
    options = ("--format=custom", "--no-owner", "--no-privileges")
    with _appearing(target) as unfinished:
        _run("pg_dump", location, *options, f"--file={unfinished}")


def restore_postgres(path: Path, location: str) -> None:
    """Every table of a backup into an empty database, all of it or nothing."""
    with _connected(location) as connection:
        if not migrations.is_empty(connection):
            raise UsageError(f"{_name(location)}: expected an empty database, found tables; make a new one")
    options = ("--no-owner", "--no-privileges", "--exit-on-error", "--single-transaction")
    _run("pg_restore", location, *options, str(path))
    with _connected(location) as connection:
        for statement in FORGET_TRANSACTIONS:
            connection.exec_driver_sql(statement)


FORGET_TRANSACTIONS = (
    "ALTER TABLE events DISABLE TRIGGER USER",
    "UPDATE events SET transaction_id = 0",
    "ALTER TABLE events ENABLE TRIGGER USER",
)


@contextmanager
def _connected(location: str) -> Iterator[Connection]:
    engine = create_engine(make_url(location).set(drivername="postgresql+psycopg"))
    try:
        with translated_errors(_name(location)), engine.begin() as connection:
            yield connection
    finally:
        engine.dispose()


def _name(location: str) -> str:
    """The database without its address, which may hold a password."""
    return make_url(location).database or ""


def _run(program: str, location: str, *options: str) -> None:
    """A program of PostgreSQL on a database; a password goes by the environment, which others cannot read."""
    command = shutil.which(program)
    if command is None:
        raise MissingExtra(f"a backup of PostgreSQL needs {program}: install PostgreSQL's client programs here")
    url = make_url(location)
    address = url.set(drivername="postgresql", password=None).render_as_string(hide_password=False)
    environment = os.environ | ({"PGPASSWORD": str(url.password)} if url.password else {})
    called = [command, f"--dbname={address}", *options]
    done = subprocess.run(called, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.strip()] or [f"exit status {done.returncode}"]
        raise GraterError(f"{_name(location)}: {program} failed: {lines[0].removeprefix(f'{program}: ')}")
