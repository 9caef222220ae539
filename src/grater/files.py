"""Files written all or nothing: under its name a file appears only when it is whole.

Files that end in `.gz`, `.bz2` or `.xz` are compressed; `.gz` without a time stamp, so equal contents give equal
files.  A URL (`s3://`, `hdfs://`, `gs://` ...) is a path, too, where big corpora lie: fsspec reads and writes there.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, cast

from grater.errors import GraterError, MissingExtra

PACKERS: dict[str, Callable[[BinaryIO], object]] = {
    ".gz": partial(gzip.GzipFile, "", "wb", 9, mtime=0),
    ".bz2": partial(bz2.BZ2File, mode="wb"),
    ".xz": partial(lzma.LZMAFile, mode="wb"),
}


URL = re.compile(r"([a-z][a-z0-9+.-]+):/+(?=[^/])")


def place(path: Path | str) -> Path:
    """A path in full, the same for every process of this machine; of a URL, what fsspec calls a path.

    A URL that was taken for a path has lost a slash, and gets it back.
    """
    url = URL.match(str(path))
    if url is None:
        return Path(path).absolute()
    try:
        from upath import UPath
    except ImportError as error:
        raise MissingExtra(f"{path}: a URL needs another package: pip install 'grater[spark]'") from error
    slashes = ":///" if url[1] == "file" else "://"
    try:
        found = UPath(f"{url[1]}{slashes}{str(path)[url.end() :]}")
        found.fs  # noqa: B018  # the package of a protocol is imported here
    except (ImportError, OSError, ValueError) as error:
        [why, *_] = str(error).splitlines() or [type(error).__name__]
        raise GraterError(f"{path}: cannot be opened: {why}") from error
    return cast(Path, found)


def is_local(path: Path) -> bool:
    return isinstance(path, Path)


@contextmanager
def replacing(path: Path, *, durable: bool = False) -> Iterator[BinaryIO]:
    """Write a file all or nothing, packed where its name says so; a durable one has survived a power cut by then."""
    if not is_local(path):
        content = BytesIO()  # an object is stored whole or not at all
        with _packing(content, path) as packed:
            yield packed
        with complaining(path):
            path.write_bytes(content.getvalue())
        return
    with complaining(path), temporary_file(path) as unfinished:
        with unfinished.open("wb") as stream:
            with _packing(stream, path) as packed:
                yield packed
            if durable:
                stream.flush()
                os.fsync(stream.fileno())
        unfinished.chmod(0o644)
        unfinished.replace(path)


def require_place(path: Path) -> None:
    """Raise now what `replacing` would raise after hours of work: no such folder, no right to write there."""
    with complaining(path), temporary_file(path):
        if path.is_dir():
            raise IsADirectoryError(None, "it is a folder")


@contextmanager
def complaining(path: Path) -> Iterator[None]:
    """Whatever the operating system has against writing becomes a line to the person."""
    try:
        yield
    except (OSError, UnicodeEncodeError) as error:
        has_folder = path.parent.exists()
        why = reason(error) if has_folder else f"there is no folder {path.parent}; make it first"
        raise GraterError(f"{path}: cannot be written: {why}") from error


@contextmanager
def temporary_file(path: Path) -> Iterator[Path]:
    """A file in the same folder to write to, gone at the end unless it has taken its place."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    os.close(handle)
    try:
        yield Path(name)
    finally:
        Path(name).unlink(missing_ok=True)


def remove_folder(path: Path) -> None:
    """With everything in it; what cannot be removed stays."""
    if is_local(path):
        shutil.rmtree(path, ignore_errors=True)
    elif path.exists():
        path.rmdir(recursive=True)  # type: ignore[call-arg]


@contextmanager
def _packing(stream: BinaryIO, path: Path) -> Iterator[BinaryIO]:
    packer = PACKERS.get(path.suffix.lower())
    if packer is None:
        yield stream
        return
    with cast(BinaryIO, packer(stream)) as packed:
        yield packed


def reason(error: BaseException) -> str:
    """The message of an operating-system error, without its number and path."""
    if isinstance(error, UnicodeEncodeError):
        return f"U+{ord(error.object[error.start]):04X}, half of a surrogate pair, has no place in UTF-8"
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def n_bytes_of(paths: Iterable[Path]) -> int:
    files = (file for path in paths for file in (path.rglob("*") if path.is_dir() else [path]))
    return sum(file.stat().st_size for file in files if file.is_file())
