"""Zip archives from outside, checked before anything is written.

Members must be plain files whose names stay inside: no absolute paths, no `..`, no backslashes or drives, no links,
no passwords.  What comes out is counted while it comes, so that a small file cannot fill the disk.
"""

from __future__ import annotations

import stat
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from grater.errors import BadInput, Problem

DEEPEST = 8
CHUNK = 1 << 16
MOST_TIMES = 100
"""An export shrinks by ten to twenty; what would grow by more than this is no export."""
SMALL = 50_000_000
"""Bytes that any archive may come to."""


def complaint(member: zipfile.ZipInfo) -> str:
    """What is wrong with a member of an archive; empty if it is a plain file that stays inside."""
    name = member.filename
    inside = PurePosixPath(name)
    is_outside = inside.is_absolute() or ".." in inside.parts or "\\" in name or ":" in name or "\0" in name
    if is_outside or len(inside.parts) > DEEPEST or not name.isprintable():
        return "a name that leads out of the archive"
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
    """Write one file of at most so many bytes; give how many came."""
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
