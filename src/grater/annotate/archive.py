"""A study as a folder: one consistent snapshot, the same bytes whenever nothing has changed (P8).

For people and other tools: tables of items, judgments (of every status), raters (pseudonyms unless `names`), gold,
payments and decisions; per job a ratings matrix and a `task, worker, label` table; the essays as NUCLE SGML, M2, brat
and JSONL; agreement and costs; in `evaluation/` the tables from which `grater evaluate` gives the scores of `grater
study evaluate`.  For grater: `tables/`, every row of every table without secrets, from which `import_archive` makes
the study again.  `manifest.json` has the hash and size of each file and the counts.

A study restored from an exported folder, or from a zip of one; and backups of a study.

Every hash of an archive is checked before anything is written.  Passwords, sessions, tokens and invitations do not
travel; people come back without a login, under their pseudonyms unless names were exported.  Exporting the restored
study gives the same bytes again.

A zip is checked as well.  Members must be plain files whose names stay inside: no absolute paths, no `..`, no
backslashes or drives, no links, no passwords.  Bytes are counted while they are unpacked, so that a small file cannot
fill the disk.

A whole study copied while people work on it, and put back: SQLite by its own backup, PostgreSQL by its tools.

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

import hashlib
import json
import os
import shutil
import sqlite3
import stat
import subprocess
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

import polars as pl
from sqlalchemy import Connection, create_engine
from sqlalchemy.engine import make_url

from grater import __version__
from grater.annotate import jobs, people, tables
from grater.annotate.evaluation import evaluable
from grater.annotate.marks import has_suggestions, marked_essays, marked_in, suggestion_frame
from grater.annotate.money import costs
from grater.annotate.protocol import whole_protocol
from grater.annotate.store import Store, Tx, checks, dump, events, migrations, open_store, utc_now
from grater.annotate.store.clock import Clock
from grater.annotate.store.engine import BUSY_SECONDS, is_url, translated_errors
from grater.annotate.store.judgments import PEOPLE
from grater.annotate.store.migrations import VERSION
from grater.annotate.store.schema import to_text
from grater.annotate.store.store import OWNER_ONLY
from grater.annotate.tables import redundancy_of, study_tables
from grater.annotate.tasks import TASKS
from grater.annotate.tasks.marking import MARKING
from grater.annotate.tasks.task import Task, merged_by
from grater.corpora import Loss, write_corpus
from grater.errors import BadInput, GraterError, MissingExtra, Problem, Problems, UsageError
from grater.files import complaining
from grater.measure.agreement.edits import edit_agreement
from grater.measure.agreement.summary import agreement
from grater.model import Essay, Json
from grater.tables import Judgments, equal_in_number, read_judgments, with_labels, write_table

FORMAT = "grater-study"
CORPORA = {"essays.sgml": "nucle", "essays.m2": "m2", "essays.jsonl": "jsonl", "brat": "brat"}


@dataclass(frozen=True, slots=True)
class Exported:
    folder: Path
    files: int
    counts: dict[str, int]
    losses: int


def export(store: Store, folder: Path, *, names: bool = False, raw: bool = False) -> Exported:
    """Write the whole study to a new folder; `raw` leaves cells alone that a spreadsheet would run."""
    with _all_or_nothing(folder) as partial, store.read() as tx:
        (partial / "tables").mkdir()
        for name in dump.table_names():
            with (partial / "tables" / f"{name}.jsonl").open("w", encoding="utf-8", newline="") as stream:
                stream.writelines(f"{to_text(row)}\n" for row in dump.rows(tx, name, names=names))
        _frames(tx, partial, names=names, raw=raw)
        _evaluation(tx, partial / "evaluation", names=names, raw=raw)
        losses = _corpora(tx, partial, names=names)
        counts = _export_manifest(tx, partial, names=names, raw=raw)
        n_files = sum(1 for file in partial.rglob("*") if file.is_file())
    return Exported(folder, n_files, counts, losses)


def _frames(tx: Tx, folder: Path, *, names: bool, raw: bool) -> None:
    raters = {each.person_id: each.name if names else each.pseudonym for each in people.all(tx)}
    whole = {
        "items": tables.item_frame(tx),
        "judgments": tables.judgment_frame(tx, names=names),
        "raters": tables.rater_frame(tx, names=names),
        "gold": tables.gold_frame(tx),
        "payments": tables.payment_frame(tx, raters),
        "decisions": tables.decision_frame(tx),
        "adjudications": tables.adjudication_frame(tx, raters),
    }
    if has_suggestions(tx):
        whole["suggestions"] = suggestion_frame(tx, raters)
    for name, frame in whole.items():
        write_table(frame, folder / f"{name}.csv", raw=raw)
    by_job = {job.name: _work(whole["judgments"], job.name) for job in jobs.all(tx)}
    # The tables of each job in a numbered folder, and which job that is.
    for number, judged in enumerate(by_job.values(), 1):
        job_folder = folder / "jobs" / f"{number:02d}"
        job_folder.mkdir(parents=True)
        write_table(tables.rating_frame(judged), job_folder / "ratings.csv", raw=raw)
        write_table(tables.label_frame(judged), job_folder / "labels.csv", raw=raw)
    _write_json(folder / "jobs.json", [{"folder": f"jobs/{n:02d}", "name": name} for n, name in enumerate(by_job, 1)])
    # The agreement in each job, on edits where essays were marked.
    agreed: dict[str, Json] = {}
    for job in jobs.all(tx):
        if job.task == MARKING:
            agreed[job.name] = _edit_agreement(marked_in(tx, job.job_id, names=names))
        else:
            agreed[job.name] = _agreement(by_job[job.name], TASKS[job.task], redundancy_of([job]))
    _write_json(folder / "agreement.json", agreed)
    _write_json(folder / "costs.json", {job.name: costs(tx, job.job_id) for job in jobs.all(tx)})
    _write_json(folder / "protocol.json", {job.name: whole_protocol(tx, job) for job in jobs.all(tx)})


def _evaluation(tx: Tx, folder: Path, *, names: bool, raw: bool) -> None:
    """The tables that `grater study evaluate` reads, for `grater evaluate`: verdicts that count, and their sample."""
    tables = study_tables(tx, "study")
    read = evaluable(tx, tables)
    if read is None:
        return
    folder.mkdir()
    parts = {"decisions": read.decisions, "judgments": read.judgments, "items": read.items, "sample": read.sample}
    if tables.gold is not None and tables.on_gold is not None:
        parts |= {"gold": tables.gold, "gold-answers": tables.on_gold}
    called = {each.pseudonym: each.name for each in people.all(tx)} if names else {}
    for name, table in parts.items():
        if isinstance(table, Judgments):
            rater = pl.col("rater").cast(pl.String).replace(called)
            table = replace(table, frame=table.frame.with_columns(rater))
        if table is not None:
            write_table(table, folder / f"{name}.csv", raw=raw)


def _work(judged: pl.DataFrame, job: str) -> pl.DataFrame:
    """A job's judgments by raters on work units; practice and gold are no result."""
    is_work = (pl.col("role") == "work") & pl.col("group").is_in(PEOPLE)
    return judged.filter((pl.col("job") == job) & is_work)


def _agreement(rows: pl.DataFrame, task: Task, least: int) -> Json:
    """How far raters agree; where asking stopped early, on the judgments that every item was to have."""
    try:
        judged = read_judgments(rows.select("item", "rater", "label", "status", "at"))
        judged = equal_in_number(judged, least)
        merged = merged_by(task)
        return agreement(with_labels(judged, merged) if merged else judged).to_dict()
    except GraterError as error:
        return {"reason": str(error)}


def _edit_agreement(essays: Sequence[Essay]) -> Json:
    """How far annotators agree on where errors are, of what kind, and how to mend them."""
    try:
        return edit_agreement(essays).to_dict()
    except GraterError as error:
        return {"reason": str(error)}


def _corpora(tx: Tx, folder: Path, *, names: bool) -> int:
    """The essays in each format; what a format cannot hold is written down beside them."""
    essays = list(marked_essays(tx, names=names))
    if not essays:
        return 0
    place = folder / "essays"
    place.mkdir()
    lost: list[Json] = []
    for name, format_name in CORPORA.items():

        def report(loss: Loss, format_name: str = format_name) -> None:
            lost.append({"format": format_name, **asdict(loss)})

        write_corpus(essays, place / name, report, format_name=format_name)
    with (place / "losses.jsonl").open("w", encoding="utf-8", newline="") as stream:
        stream.writelines(f"{to_text(loss)}\n" for loss in lost)
    return len(lost)


def _export_manifest(tx: Tx, folder: Path, *, names: bool, raw: bool) -> dict[str, int]:
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    tables = {name: _n_lines(folder / "tables" / f"{name}.jsonl") for name in dump.table_names()}
    listed: dict[str, Json] = {
        file.relative_to(folder).as_posix(): {"sha256": sha256(file), "bytes": file.stat().st_size} for file in files
    }
    manifest: dict[str, Json] = {
        "format": FORMAT,
        "grater": __version__,
        "schema": VERSION,
        "names": names,
        "raw": raw,
        "study": dump.meta_values(tx),
        "last_event": events.latest(tx),
        "counts": tables,
        "files": listed,
    }
    _write_json(folder / "manifest.json", manifest)
    return {name: n for name, n in tables.items() if n}


def sha256(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _n_lines(file: Path) -> int:
    with file.open("rb") as stream:
        return sum(1 for _ in stream)


def _write_json(path: Path, value: Json) -> None:
    text = json.dumps(value, ensure_ascii=False, indent=2, sort_keys=True, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8", newline="")


@contextmanager
def _all_or_nothing(folder: Path) -> Iterator[Path]:
    """A folder to write to that takes its name only when it is whole; one that is in use is refused."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder}: expected a new or empty folder to write to, found one that is in use")
    with complaining(folder):
        partial = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}."))
        try:
            yield partial
            partial.chmod(0o755)
            partial.replace(folder)
        finally:
            shutil.rmtree(partial, ignore_errors=True)


DEEPEST = 8
CHUNK = 1 << 16
MOST_TIMES = 100
"""An export shrinks by ten to twenty; what would grow by more than this is no export."""
SMALL = 50_000_000
"""Bytes that any archive may come to."""


def import_archive(archive: Path, location: Path | str, *, clock: Clock = utc_now) -> Store:
    """Restore a study into a new file or an empty database; refuses an archive that was changed or cut short."""
    with unpacked(archive) as folder:
        manifest = _manifest(folder)
        # Every file of the manifest lies inside the folder and is what it was.
        problems = Problems(str(folder))
        for name, known in manifest["files"].items():
            file = folder / name
            if not file.resolve().is_relative_to(folder.resolve()):
                problems.add(f"{name}: expected a file of the archive, found a path outside it")
            elif not file.is_file():
                problems.add(f"{name}: expected this file, found none; copy the archive whole")
            elif sha256(file) != known["sha256"]:
                problems.add(f"{name}: the file has changed since the export")
        problems.done()
        store = open_store(location, create=True, clock=clock)
        try:
            _restore(store, folder, manifest)
        except BaseException:
            store.close()
            raise
        return store


def _restore(store: Store, folder: Path, manifest: dict[str, Any]) -> None:
    with store.write() as tx:
        for name in dump.table_names():
            file = folder / "tables" / f"{name}.jsonl"
            if file.exists():
                dump.insert(tx, name, dump.in_order(name, _rows(file)))
        for name, value in manifest["study"].items():
            dump.set_meta(tx, name, value)
        violations = checks.violations(tx)
        if violations:
            raise GraterError(f"{folder}: the archive is inconsistent and was not imported: {violations[0]}")


def _manifest(folder: Path) -> dict[str, Any]:
    file = folder / "manifest.json"
    try:
        manifest = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise BadInput(Problem(str(file), "expected the manifest of an exported study, found none")) from error
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise BadInput(Problem(str(file), f"expected an archive of format {FORMAT!r}"))
    if int(manifest["schema"]) > VERSION:
        raise GraterError(f"{folder}: exported by a newer grater (schema {manifest['schema']}); upgrade grater")
    return manifest


def _rows(file: Path) -> Iterator[dict[str, Any]]:
    with file.open(encoding="utf-8", newline="\n") as stream:
        for line in stream:
            yield json.loads(line)


def complaint(member: zipfile.ZipInfo) -> str:
    """What is wrong with a member of an archive; empty if it is a plain file that stays inside."""
    name = member.filename
    inside = PurePosixPath(name)
    is_outside = inside.is_absolute() or ".." in inside.parts or "\\" in name or ":" in name or "\0" in name
    if is_outside or len(inside.parts) > DEEPEST or not name.isprintable():
        return "a path outside the archive"
    if stat.S_ISLNK(member.external_attr >> 16):
        return "a link inside an archive"
    if member.flag_bits & 1:
        return "needs a password"
    return ""


@contextmanager
def unpacked(path: Path) -> Iterator[Path]:
    """The files of a zip (or of the one folder in it), gone at the end; any other path is given as it is."""
    if path.suffix.lower() != ".zip":
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="grater-archive-") as folder:
        _unpack(path, Path(folder))
        inside = list(Path(folder).iterdir())
        yield inside[0] if len(inside) == 1 and inside[0].is_dir() else Path(folder)


def _unpack(path: Path, folder: Path) -> None:
    try:
        left = max(SMALL, MOST_TIMES * path.stat().st_size)
        with zipfile.ZipFile(path) as archive:
            for member in archive.infolist():
                if words := complaint(member):
                    raise BadInput(Problem(str(path), f"{ascii(member.filename)[:100]}: {words}"))
                if not member.is_dir():
                    left -= _write(archive, member, folder, left, path)
    except (OSError, zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, zlib.error) as error:
        raise BadInput(Problem(str(path), f"cannot be unpacked: {error}")) from error


def _write(archive: zipfile.ZipFile, member: zipfile.ZipInfo, folder: Path, most: int, path: Path) -> int:
    file = folder / member.filename
    file.parent.mkdir(parents=True, exist_ok=True)
    n_bytes = 0
    with archive.open(member) as source, file.open("xb") as target:
        while chunk := source.read(CHUNK):
            n_bytes += len(chunk)
            if n_bytes > most:
                words = f"grows to more than {MOST_TIMES} times its size; unpack it yourself"
                raise BadInput(Problem(str(path), words))
            target.write(chunk)
    return n_bytes


@dataclass(frozen=True, slots=True)
class Backup:
    """A file that holds a whole study of one engine."""

    path: Path
    engine: str
    n_bytes: int


def back_up(study: str, path: Path, *, pseudonyms: bool = False) -> Backup:
    """Copy a study, served or not, into a new file; with `pseudonyms` without names and secrets (SQLite)."""
    with open_store(study):  # refuses what is no study, with the words for it
        pass
    if not is_url(study):
        copy_sqlite(Path(study), path, nameless=pseudonyms)
    elif pseudonyms:
        raise UsageError("pg_dump copies names as they are; for a copy by pseudonyms export the study")
    else:
        dump_postgres(study, path)
    return Backup(path=path, engine=engine_of(path), n_bytes=path.stat().st_size)


def restore(path: Path, study: str) -> Store:
    """Make the study of a backup again, in a new file or an empty database of the same engine."""
    engine = engine_of(path)
    if (engine == "postgresql") != is_url(study):
        place = "a postgresql:// URL" if engine == "postgresql" else "a file"
        raise UsageError(f"{path}: a backup of {engine} is restored into {place}; to change engines use an export")
    if is_url(study):
        restore_postgres(path, study)
    else:
        copy_sqlite(path, Path(study))
    return open_store(study)


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
            with unfinished.open("rb") as stream:
                os.fsync(stream.fileno())
            # A link, unlike a rename, never replaces what somebody put there meanwhile; not every disk has links.
            try:
                os.link(unfinished, target)
            except FileExistsError:
                raise
            except OSError:
                unfinished.rename(target)
    finally:
        unfinished.unlink(missing_ok=True)


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
