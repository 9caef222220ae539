"""Back up a whole study while people work on it, and restore it, with SQLite's or PostgreSQL's own tools.

An export leaves out passwords, sessions, tokens, webhooks, drafts and the study's key. A backup is for disaster
recovery: one consistent snapshot of every row, from which the study continues as before. SQLite copies a snapshot of
its file (`sqlite3_backup`) while others write; PostgreSQL has `pg_dump` and `pg_restore`, which must be installed
where the command runs and be no older than the server.

Only its owner can read a backup; it gets its name only when it is complete, and never replaces a file. A copy with
pseudonyms also drops passwords, second factors, sessions, tokens, invitations, webhooks, and files waiting to be
imported.

Rows of a restored PostgreSQL study lose their transaction numbers, because each server has its own.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, create_engine
from sqlalchemy.engine import make_url

from grater.annotate.archive import STAYS
from grater.annotate.store import Store, migrations, open_store
from grater.annotate.store.database import BUSY_SECONDS, OWNER_ONLY, is_url, translated_errors
from grater.errors import GraterError, MissingExtra, UsageError
from grater.files import complaining, temporary_file

SQLITE, POSTGRES = b"SQLite format 3\0", b"PGDMP"
NAMELESS = (
    "UPDATE people SET name = pseudonym, email = '', payload = '{}', password_hash = ''",
    "UPDATE panel_places SET external_id = person_id",
    "UPDATE panels SET state = 'closed', options = json_set(options, '$.secret', '')"
    " WHERE json_extract(options, '$.secret') <> ''",
    *(f"DELETE FROM {table}" for table in STAYS if table not in ("meta", "drafts", "last_answers")),
    "VACUUM",
)
"""What makes a copy nameless; drafts and last answers hold no name.  VACUUM: pages keep what was deleted."""

FORGET_TRANSACTIONS = (
    "ALTER TABLE events DISABLE TRIGGER USER",
    "UPDATE events SET transaction_id = 0",
    "ALTER TABLE events ENABLE TRIGGER USER",
)


@dataclass(frozen=True, slots=True)
class Backup:
    """A file with a complete study from one database engine."""

    path: Path
    engine: str
    n_bytes: int


def back_up(study: str, path: Path, *, pseudonyms: bool = False) -> Backup:
    """Copy a study, whether or not it is being served, into a new file; with `pseudonyms`, without names and secrets
    (SQLite).
    """
    with open_store(study):  # refuses what is no study, with the words for it
        pass
    if not is_url(study):
        _copy_sqlite(Path(study), path, is_nameless=pseudonyms)
    elif pseudonyms:
        raise UsageError("pg_dump copies names as they are; for a copy by pseudonyms export the study")
    else:
        with _appearing(path) as unfinished:
            _run("pg_dump", study, "--format=custom", "--no-owner", "--no-privileges", f"--file={unfinished}")
    return Backup(path=path, engine=_engine_of(path), n_bytes=path.stat().st_size)


def restore(path: Path, study: str) -> Store:
    """Restore a backup, all or nothing, into a new file or an empty database of the same engine."""
    engine = _engine_of(path)
    if (engine == "postgresql") != is_url(study):
        place = "a postgresql:// URL" if engine == "postgresql" else "a file"
        raise UsageError(f"{path}: a backup of {engine} is restored into {place}; to change engines use an export")
    if not is_url(study):
        _copy_sqlite(path, Path(study))
        return open_store(study)
    with _connected(study) as connection:
        if not migrations.is_empty(connection):
            raise UsageError(f"{_name(study)}: expected an empty database, found tables; make a new one")
    options = ("--no-owner", "--no-privileges", "--exit-on-error", "--single-transaction")
    _run("pg_restore", study, *options, str(path))
    with _connected(study) as connection:
        for statement in FORGET_TRANSACTIONS:
            connection.exec_driver_sql(statement)
    return open_store(study)


def _engine_of(path: Path) -> str:
    """The engine of a backup file: `sqlite` or `postgresql`."""
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


def _copy_sqlite(source: Path, target: Path, *, is_nameless: bool = False) -> None:
    """Copy one snapshot of a file into a single file without a write-ahead log."""
    with _appearing(target) as unfinished:
        try:
            with (
                closing(sqlite3.connect(source, timeout=BUSY_SECONDS)) as original,
                closing(sqlite3.connect(unfinished, isolation_level=None)) as copy,
            ):
                original.backup(copy)
                copy.execute("PRAGMA journal_mode=DELETE")
                for statement in NAMELESS if is_nameless else ():
                    copy.execute(statement)
                if copy.execute("PRAGMA quick_check").fetchone() != ("ok",):
                    raise sqlite3.DatabaseError("the file is damaged")
        except sqlite3.Error as error:
            raise GraterError(f"{source}: cannot be copied, nothing was written: {error}") from error


@contextmanager
def _appearing(target: Path) -> Iterator[Path]:
    """A private file to write to, which gets its name once it is complete and on disk."""
    if target.exists():
        raise UsageError(f"{target}: already exists; choose another name")
    with complaining(target), temporary_file(target) as unfinished:
        yield unfinished
        unfinished.chmod(OWNER_ONLY)
        with unfinished.open("rb") as stream:
            os.fsync(stream.fileno())
        # A link, unlike a rename, never replaces what somebody put there meanwhile; not every disk has links.
        try:
            os.link(unfinished, target)
        except FileExistsError:
            raise
        except OSError:
            unfinished.rename(target)


@contextmanager
def _connected(location: str) -> Iterator[Connection]:
    engine = create_engine(make_url(location).set(drivername="postgresql+psycopg"))
    try:
        with translated_errors(_name(location)), engine.begin() as connection:
            yield connection
    finally:
        engine.dispose()


def _name(location: str) -> str:
    """The database without its address, which may contain a password."""
    return make_url(location).database or ""


def _run(program: str, location: str, *options: str) -> None:
    """Run a PostgreSQL program on a database; the password goes into the environment, which others cannot read."""
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
