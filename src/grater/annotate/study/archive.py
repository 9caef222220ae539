"""A study restored from an exported folder, or from a zip of one; and backups of a study.

Every hash of an archive is checked before anything is written.  Passwords, sessions, tokens and invitations do not
travel; people come back without a login, under their pseudonyms unless names were exported.  Exporting the restored
study gives the same bytes again.

A zip is checked as well.  Members must be plain files whose names stay inside: no absolute paths, no `..`, no
backslashes or drives, no links, no passwords.  Bytes are counted while they are unpacked, so that a small file cannot
fill the disk.

A backup is taken while people work on the study, and holds all of it (`store.backup`).
"""

from __future__ import annotations

import json
import stat
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from grater.annotate.store import Store, backup, checks, dump, open_store, utc_now
from grater.annotate.store.clock import Clock
from grater.annotate.store.engine import is_url
from grater.annotate.store.migrations import VERSION
from grater.annotate.study.export import FORMAT, sha256
from grater.errors import BadInput, GraterError, Problem, Problems, UsageError

DEEPEST = 8
CHUNK = 1 << 16
MOST_TIMES = 100
"""An export shrinks by ten to twenty; what would grow by more than this is no export."""
SMALL = 50_000_000
"""Bytes that any archive may come to."""


def import_archive(archive: Path, location: Path | str, *, clock: Clock = utc_now) -> Store:
    """Restore a study into a new file or an empty database; refuses an archive that was changed or cut short."""
    with unpacked(archive) as folder:
        return _imported(folder, location, clock)


def _imported(folder: Path, location: Path | str, clock: Clock) -> Store:
    manifest = _manifest(folder)
    _require_whole(folder, manifest)
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


def _require_whole(folder: Path, manifest: dict[str, Any]) -> None:
    """Every file of the manifest lies inside the folder and is what it was."""
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
    """Write one file of at most `most` bytes; return its size."""
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
        backup.copy_sqlite(Path(study), path, nameless=pseudonyms)
    elif pseudonyms:
        raise UsageError("pg_dump copies names as they are; for a copy by pseudonyms export the study")
    else:
        backup.dump_postgres(study, path)
    return Backup(path=path, engine=backup.engine_of(path), n_bytes=path.stat().st_size)


def restore(path: Path, study: str) -> Store:
    """Make the study of a backup again, in a new file or an empty database of the same engine."""
    engine = backup.engine_of(path)
    if (engine == "postgresql") != is_url(study):
        place = "a postgresql:// URL" if engine == "postgresql" else "a file"
        raise UsageError(f"{path}: a backup of {engine} is restored into {place}; to change engines use an export")
    if is_url(study):
        backup.restore_postgres(path, study)
    else:
        backup.copy_sqlite(path, Path(study))
    return open_store(study)
