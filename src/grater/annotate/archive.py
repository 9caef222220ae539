"""Copies of a study: exported to a folder, one consistent and reproducible snapshot (P8), and backed up whole.

For people and other tools: tables of items, judgments (of every status), raters (pseudonyms unless `names`), gold,
payments and decisions; per job a ratings matrix and a `task, worker, label` table; the essays as NUCLE SGML, M2, brat
and JSONL; agreement and costs; in `evaluation/`, tables with which `grater evaluate` reproduces the scores of `grater
study evaluate`. For grater: `tables/`, every row of every table, from which `import_archive` restores the study;
exporting the restored study gives the same bytes. `manifest.json` has the hash and size of each file, and counts.

Secrets never leave: password hashes, second factors, sessions, tokens, invitations, webhooks, the study's key.
Without `names`, people's names, addresses and panel ids are left out too: people are restored by pseudonym, without a
login. Panels with signed links are closed in an archive, since their secret is not exported.

Every hash of an archive is checked before anything is written. Members of a zip must be plain files whose names stay
inside the folder (no absolute paths, no `..`, no backslashes or drives, no links, no passwords), and must not unpack
to much more than the zip, so that a small file cannot fill the disk.

**Backups** are made while people work on the study, with SQLite's or PostgreSQL's own tools. An export leaves out
passwords, sessions, tokens, webhooks, drafts and the study's key. A backup is for disaster recovery: one consistent
snapshot of every row, from which the study continues as before. SQLite copies a snapshot of its file
(`sqlite3_backup`) while others write; PostgreSQL has `pg_dump` and `pg_restore`, which must be installed where the
command runs and be no older than the server.

Only its owner can read a backup; it gets its name only when it is complete, and never replaces a file.

Rows of a restored PostgreSQL study lose their transaction numbers, because each server has its own.
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
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import polars as pl
from sqlalchemy import Connection, create_engine, select
from sqlalchemy import text as sql
from sqlalchemy.engine import make_url

from grater import __version__
from grater.annotate import adjudication, content, gold, jobs, judgments, people, standing, units
from grater.annotate.corrected import answer_tables
from grater.annotate.evaluation import agreement_of, evaluable, live_marks
from grater.annotate.judgments import PEOPLE
from grater.annotate.marks import marked_essays, marked_in
from grater.annotate.money import job_costs
from grater.annotate.protocol import whole_protocol
from grater.annotate.reporting import names_of, with_raters
from grater.annotate.store import Store, Tx, checks, events, migrations, open_store, schema
from grater.annotate.store.database import BUSY_SECONDS, OWNER_ONLY, is_url, meta_values, set_meta, translated_errors
from grater.annotate.store.migrations import VERSION
from grater.annotate.store.schema import to_text
from grater.annotate.store.transaction import as_iso, chunks
from grater.annotate.tables import DECISIONS, as_frame, decision_columns, place_columns, study_tables
from grater.annotate.tasks.marking import MARKING
from grater.corpora import Loss, write_corpus
from grater.errors import BadInput, GraterError, MissingExtra, Problem, Problems, UsageError
from grater.files import complaining, reason, temporary_file
from grater.model import ADJUDICATED, GOLD, PROGRAM, Json
from grater.result import Data
from grater.tables import Judgments, write_table

FORMAT = "grater-study"
CORPORA = {"essays.sgml": "nucle", "essays.m2": "m2", "essays.jsonl": "jsonl", "brat": "brat"}
STAYS = (
    *("meta", "sessions", "tokens", "second_factors", "recovery_codes", "invitations", "webhooks", "deliveries"),
    *("drafts", "last_answers", "run_files", "runs"),
)
"""Tables that no archive holds; drafts are unfinished and nobody's result, and nothing is undone or run in a copy."""


def table_names() -> list[str]:
    """The tables of an archive, each after the tables that it refers to."""
    return [table.name for table in schema.METADATA.sorted_tables if table.name not in STAYS]


def rows(tx: Tx, name: str, *, names: bool = False) -> Iterator[dict[str, Any]]:
    """Every row of a table in the order of its key, without secrets."""
    table = schema.METADATA.tables[name]
    order = [
        (tx.binary(column) if column.type.python_type is str else column) for column in table.primary_key.columns
    ]
    for row in tx.execute(select(table).order_by(*order).execution_options(yield_per=2000)):
        cells = dict(row._mapping)
        cells.pop("transaction_id", None)
        if name == schema.people.name:
            cells["password_hash"] = ""
            cells |= {} if names else {"name": cells["pseudonym"], "email": "", "payload": {}}
        elif name == schema.panels.name and cells["options"].get("secret"):
            cells |= {"options": {**cells["options"], "secret": ""}, "state": "closed"}
        elif name == schema.panel_places.name and not names:
            cells["external_id"] = cells["person_id"]
        yield cells


@dataclass(frozen=True, slots=True)
class Exported:
    folder: Path
    files: int
    counts: dict[str, int]
    losses: int


def export(store: Store, folder: Path, *, names: bool = False, raw: bool = False) -> Exported:
    """Write the whole study to a new folder; `raw` does not escape cells that a spreadsheet would execute."""
    with _all_or_nothing(folder) as partial, store.read() as tx:
        (partial / "tables").mkdir()
        counts = {
            name: _write_lines(partial / "tables" / f"{name}.jsonl", rows(tx, name, names=names))
            for name in table_names()
        }
        _write_frames(tx, partial, names=names, raw=raw)
        _write_evaluation(tx, partial / "evaluation", names=names, raw=raw)
        losses = _write_corpora(tx, partial / "essays", names=names)
        files = [file for file in sorted(partial.rglob("*")) if file.is_file()]
        manifest: dict[str, Json] = {
            "format": FORMAT,
            "grater": __version__,
            "schema": VERSION,
            "names": names,
            "raw": raw,
            "study": meta_values(tx),
            "last_event": events.latest(tx),
            "counts": counts,
            "files": {
                file.relative_to(partial).as_posix(): {"sha256": sha256(file), "bytes": file.stat().st_size}
                for file in files
            },
        }
        _write_json(partial / "manifest.json", manifest)
    return Exported(folder, len(files) + 1, {name: n for name, n in counts.items() if n}, losses)


def _write_frames(tx: Tx, folder: Path, *, names: bool, raw: bool) -> None:
    raters = {each.person_id: each.name if names else each.pseudonym for each in people.all(tx)}
    whole = {
        "items": place_columns(tx, everything=True),
        "judgments": judgment_frame(tx, names=names),
        "raters": rater_frame(tx, names=names),
        "gold": gold_frame(tx),
        "payments": payment_frame(tx, raters),
        "decisions": decision_frame(tx),
        "adjudications": adjudication_frame(tx, raters),
    }
    whole |= answer_tables(tx)
    if answers := list(standing.all_answers(tx, raters)):
        whole["questionnaire"] = as_frame(answers, ("job", "rater", "when", "question", "answer"))
    for name, table in whole.items():
        write_table(table, folder / f"{name}.csv", raw=raw)
    # The tables of each job in a numbered folder, which job that is, and the agreement in it.
    listed: list[Json] = []
    agreed: dict[str, Json] = {}
    is_work = (pl.col("role") == "work") & pl.col("group").is_in(PEOPLE)  # practice and gold are no result
    for number, job in enumerate(jobs.all(tx), 1):
        judged = whole["judgments"].filter((pl.col("job") == job.name) & is_work)
        job_folder = folder / "jobs" / f"{number:02d}"
        job_folder.mkdir(parents=True)
        write_table(rating_frame(judged), job_folder / "ratings.csv", raw=raw)
        write_table(label_frame(judged), job_folder / "labels.csv", raw=raw)
        listed.append({"folder": f"jobs/{number:02d}", "name": job.name})
        found: Data | None
        if job.task == MARKING:
            found, reason = live_marks(marked_in(tx, job.job_id, names=names))
        else:
            so_far = agreement_of(tx, job, names=names)
            found, reason = so_far.labels, so_far.reason
        agreed[job.name] = found.to_dict() if found else {"reason": reason}
    _write_json(folder / "jobs.json", listed)
    _write_json(folder / "agreement.json", agreed)
    _write_json(folder / "costs.json", {job.name: job_costs(tx, job).to_dict() for job in jobs.all(tx)})
    _write_json(folder / "protocol.json", {job.name: whole_protocol(tx, job) for job in jobs.all(tx)})


def _write_evaluation(tx: Tx, folder: Path, *, names: bool, raw: bool) -> None:
    """The tables behind `grater study evaluate`, for `grater evaluate`: the verdicts that count, and their sample."""
    tables = study_tables(tx, "study")
    read = evaluable(tx, tables)
    if read is None:
        return
    folder.mkdir()
    parts = {"decisions": read.decisions, "judgments": read.judgments, "items": read.items, "sample": read.sample}
    if tables.gold is not None and tables.on_gold is not None:
        parts |= {"gold": tables.gold, "gold-answers": tables.on_gold}
    called = names_of(tx) if names else {}
    for name, table in parts.items():
        if table is not None:
            named = with_raters(table, called) if isinstance(table, Judgments) else table
            write_table(named, folder / f"{name}.csv", raw=raw)


def _write_corpora(tx: Tx, folder: Path, *, names: bool) -> int:
    """The essays in each format; a list next to them names what the format cannot store."""
    corpus = list(marked_essays(tx, names=names))
    if not corpus:
        return 0
    folder.mkdir()
    lost: list[dict[str, Json]] = []
    for name, format_name in CORPORA.items():

        def report(loss: Loss, format_name: str = format_name) -> None:
            lost.append({"format": format_name, **asdict(loss)})

        write_corpus(corpus, folder / name, report, format_name=format_name)
    _write_lines(folder / "losses.jsonl", lost)
    return len(lost)


def sha256(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _write_lines(path: Path, lines: Iterable[Mapping[str, Any]]) -> int:
    n = 0
    with path.open("w", encoding="utf-8", newline="") as stream:
        for n, line in enumerate(lines, 1):  # noqa: B007  (counted for the caller)
            stream.write(f"{to_text(line)}\n")
    return n


def _write_json(path: Path, value: Json) -> None:
    text = json.dumps(value, ensure_ascii=False, indent=2, sort_keys=True, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8", newline="")


@contextmanager
def _all_or_nothing(folder: Path) -> Iterator[Path]:
    """A folder to write to that gets its name only when it is complete; a folder in use is refused."""
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


# The tables of an export, as text


def judgment_frame(tx: Tx, *, names: bool = False) -> pl.DataFrame:
    """Judgments of every status, with the documented columns first."""
    rows = judgments.table(tx, None, judgments.ALL, roles=("work", "practice", "gold"), names=names)
    models = {job.name: str(job.options[content.MODEL]) for job in jobs.all(tx) if content.MODEL in job.options}
    rows = [{**row, "model": models.get(str(row["job"]))} if row["group"] == PROGRAM else row for row in rows]
    return as_frame(rows, (*JUDGMENTS, *(["model"] if models else [])))


JUDGMENTS = (
    *("item", "rater", "label", "status", "confidence", "seconds", "at", "flags", "alternatives"),
    *("stage", "batch", "group", "payload", "role", "kind", "job", "unit", "submission", "guidelines"),
)


def rater_frame(tx: Tx, *, names: bool = False) -> pl.DataFrame:
    """Everybody; a joint seat lists the names of its two people."""
    columns = ("rater", "role", "kind", "members", "state", "added_at", *(("name",) if names else ()))
    persons = list(rows(tx, "people", names=names))
    called = {row["person_id"]: row["name"] if names else row["pseudonym"] for row in persons}
    everybody = [
        {
            **row,
            "rater": called[row["person_id"]],
            "members": sorted(called[each] for each in people.members(tx, row["person_id"])),
            "added_at": as_iso(row["added_at"]),
        }
        for row in persons
    ]
    return as_frame(sorted(everybody, key=lambda row: str(row["rater"])), columns)


def adjudication_frame(tx: Tx, raters: Mapping[str, str]) -> pl.DataFrame:
    """The latest decision for each item, as judgments of the annotator `gold`, and who decided."""
    rows: list[Mapping[str, Json]] = [
        {
            **asdict(answer),
            "item": answer.item_id,
            "rater": GOLD,
            "group": ADJUDICATED,
            "job": units.get(tx, each.unit_id).job.name,
            "unit": each.unit_id,
            "version": each.version,
            "by": raters[each.person_id],
            "comment": each.comment,
            "at": as_iso(each.at),
        }
        for each in adjudication.all(tx)
        for answer in each.answers
    ]
    columns = ("item", "rater", "label", "confidence", "flags", "alternatives", "group", "payload")
    return as_frame(rows, (*columns, "job", "unit", "version", "by", "comment", "at"))


def gold_frame(tx: Tx) -> pl.DataFrame:
    rows: list[Mapping[str, Json]] = [
        {"item": each.item_id, "label": sorted(each.accepted), "reason": each.reason, "state": each.state, "job": job}
        for job, each in gold.all(tx)
    ]
    return as_frame(rows, ("item", "label", "reason", "state", "job"))


def payment_frame(tx: Tx, raters: Mapping[str, str]) -> pl.DataFrame:
    paid = [
        {**row, "rater": raters[row["person_id"]], "amount": f"{row['cents'] / 100:.2f}", "at": as_iso(row["at"])}
        for row in rows(tx, "payments")
    ]
    return as_frame(paid, ("rater", "kind", "amount", "currency", "state", "note", "at"))


def decision_frame(tx: Tx) -> pl.DataFrame:
    models = {system: model for system, model in content.models(tx).items() if model != system}
    decided = ({**row, "model": models.get(row["system"])} for row in decision_columns(tx).iter_rows(named=True))
    return as_frame(decided, (*DECISIONS, *(["model"] if models else [])))


def label_frame(judged: pl.DataFrame) -> pl.DataFrame:
    """Valid judgments as `task, worker, label`, the format of crowdsourcing tools."""
    valid = judged.filter(pl.col("status") == "valid")
    return valid.select(task="item", worker="rater", label="label").sort("task", "worker")


def rating_frame(judged: pl.DataFrame) -> pl.DataFrame:
    """A matrix with one row per item and one column per rater."""
    labels = label_frame(judged)
    raters = labels["worker"].unique().sort().to_list()
    wide: dict[str, dict[str, str]] = {}
    for task, worker, label in labels.iter_rows():
        wide.setdefault(task, {})[worker] = label
    return as_frame([{"item": task, **cells} for task, cells in sorted(wide.items())], ["item", *raters])


# The way back

DEEPEST = 8
MOST_TIMES = 100
"""An export shrinks by ten to twenty; what would grow by more than this is not an export."""
SMALL = 50_000_000
"""Bytes to which any archive may grow."""


def import_archive(archive: Path, location: Path | str) -> Store:
    """Restore a study into a new file or an empty database; a changed or incomplete archive is refused."""
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
        store = open_store(location, create=True)
        try:
            with store.write() as tx:
                for name in table_names():
                    file = folder / "tables" / f"{name}.jsonl"
                    if file.exists():
                        with file.open(encoding="utf-8", newline="\n") as stream:
                            _insert(tx, name, map(json.loads, stream))
                for name, value in manifest["study"].items():
                    set_meta(tx, name, value)
                if int(manifest["schema"]) < migrations.TWO_POOLS:
                    migrations.split_gold(tx.connection)
                violations = checks.violations(tx)
                if violations:
                    raise GraterError(f"{folder}: the archive is inconsistent and was not imported: {violations[0]}")
        except BaseException:
            store.close()
            raise
        return store


def _insert(tx: Tx, name: str, stored: Iterable[dict[str, Any]]) -> None:
    """Insert rows; columns unknown to this schema are a database error."""
    if name == "units":  # which refer to units before them
        stored = sorted(stored, key=lambda row: (row["follows"] is not None, row["job_id"], row["position"]))
    for portion in chunks(stored):
        tx.insert(schema.METADATA.tables[name], portion)
    if name == "events" and tx.is_postgres:
        tx.execute(sql("SELECT setval(pg_get_serial_sequence('events', 'n'), (SELECT max(n) FROM events))"))


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


def complaint(member: zipfile.ZipInfo) -> str:
    """The problem with an archive member; empty if it is a plain file that stays inside the folder."""
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
    """The files of a zip (or of its only folder), deleted at the end; any other path is returned unchanged."""
    if path.suffix.lower() != ".zip":
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="grater-archive-") as folder:
        _unpack(path, Path(folder))
        inside = list(Path(folder).iterdir())
        yield inside[0] if len(inside) == 1 and inside[0].is_dir() else Path(folder)


def _unpack(path: Path, folder: Path) -> None:
    try:
        with zipfile.ZipFile(path) as archive:
            for member in archive.infolist():
                if words := complaint(member):
                    raise BadInput(Problem(str(path), f"{ascii(member.filename)[:100]}: {words}"))
            # No member unpacks to more than the size that it states.
            if sum(member.file_size for member in archive.infolist()) > max(SMALL, MOST_TIMES * path.stat().st_size):
                words = f"grows to more than {MOST_TIMES} times its size; unpack it yourself"
                raise BadInput(Problem(str(path), words))
            archive.extractall(folder)
    except (OSError, zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, zlib.error) as error:
        raise BadInput(Problem(str(path), f"cannot be unpacked: {reason(error)}")) from error


# Backups

SQLITE, POSTGRES = b"SQLite format 3\0", b"PGDMP"
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


def back_up(study: str, path: Path) -> Backup:
    """Copy a study, whether or not it is being served, into a new file."""
    with open_store(study):  # refuses what is no study, with the words for it
        pass
    if not is_url(study):
        _copy_sqlite(Path(study), path)
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


def _copy_sqlite(source: Path, target: Path) -> None:
    """Copy one snapshot of a file into a single file without a write-ahead log."""
    with _appearing(target) as unfinished:
        try:
            with (
                closing(sqlite3.connect(source, timeout=BUSY_SECONDS)) as original,
                closing(sqlite3.connect(unfinished, isolation_level=None)) as copy,
            ):
                original.backup(copy)
                copy.execute("PRAGMA journal_mode=DELETE")
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
