"""A study made again from an exported folder, or a zip of one: every hash is checked before anything is written.

Passwords, sessions, tokens and invitations do not travel; people come back without a login, under their pseudonyms
unless names were exported.  Exporting the restored study gives the same bytes again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from grater.errors import BadInput, GraterError, Problem, Problems
from grater.store import Store, checks, dump, open_store, utc_now
from grater.store.clock import Clock
from grater.store.migrations import VERSION
from grater.study.export import FORMAT, sha256
from grater.study.zips import unpacked


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
        found = checks.violations(tx)
        if found:
            raise GraterError(f"{folder}: the archive breaks a promise, nothing was imported: {found[0]}")


def _manifest(folder: Path) -> dict[str, Any]:
    file = folder / "manifest.json"
    try:
        manifest = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError) as error:
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
            problems.add(f"{name}: expected a file of the archive, found a path that leads outside")
        elif not file.is_file():
            problems.add(f"{name}: expected this file, found none; copy the archive whole")
        elif sha256(file) != known["sha256"]:
            problems.add(f"{name}: expected the file that was exported, found it changed")
    problems.done()


def _rows(file: Path) -> Iterator[dict[str, Any]]:
    with file.open(encoding="utf-8", newline="\n") as stream:
        for line in stream:
            yield json.loads(line)
