"""Backups of a study, taken while people work on it, and the study put back from one; see `store.backup`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from grater.errors import UsageError
from grater.store import Store, backup, open_store
from grater.store.engine import is_url


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
