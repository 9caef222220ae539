"""Where the bytes of a corpus come from: the one file of this package that opens paths.

Text is UTF-8; a byte-order mark is dropped; a byte that is not UTF-8 is an error that names its position.  Lines
end at `\\n` only (a `\\r` before it is kept: it is a character of the text), never at U+2028 and its like.  Files are
streamed.  `.gz`, `.bz2` and `.xz` are unpacked on the way; `-` is standard input, kept in a temporary file so that it
can be read twice.
"""

from __future__ import annotations

import atexit
import bz2
import gzip
import lzma
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal, TextIO, cast

from grater.errors import BadInput, GraterError, Problem, UsageError

OPENERS: dict[str, Callable[[Path, Literal["rb"]], object]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
BOM = b"\xef\xbb\xbf"
TELL_EVERY = 1 << 18
"""Bytes between two words to the progress bar, so that it costs nothing."""


def ignore_progress(n_bytes: int) -> None:
    """The progress callback of callers who show none."""


@dataclass(frozen=True, slots=True)
class PathSource:
    """A file on disk; `advance` hears how many bytes were read since it last heard, for a progress bar."""

    path: Path
    name: str
    advance: Callable[[int], None] = ignore_progress

    def lines(self) -> Iterator[str]:
        n_bytes = n_told = 0
        try:
            with self._open() as stream:
                for number, raw in enumerate(stream, 1):
                    yield self._decode(raw, number, n_bytes)
                    n_bytes += len(raw)
                    if n_bytes - n_told >= TELL_EVERY:
                        self.advance(n_bytes - n_told)
                        n_told = n_bytes
        except (OSError, EOFError, lzma.LZMAError) as error:
            raise BadInput(Problem(self.name, f"cannot be read: {reason(error)}")) from error

    def _open(self) -> IO[bytes]:
        opener = OPENERS.get(self.path.suffix)
        return cast(IO[bytes], opener(self.path, "rb") if opener else self.path.open("rb"))

    def _decode(self, raw: bytes, number: int, n_before: int) -> str:
        if number == 1 and raw.startswith(BOM):
            raw, n_before = raw[len(BOM) :], n_before + len(BOM)
        try:
            return raw.decode("utf-8")
        except UnicodeDecodeError as error:
            byte = raw[error.start]
            message = (
                f"expected UTF-8, found byte 0x{byte:02x} at byte {n_before + error.start}; "
                "convert the file to UTF-8 first"
            )
            raise BadInput(Problem(self.name, message, number)) from error


def reason(error: BaseException) -> str:
    """What an operating-system error says, without its number and path."""
    if isinstance(error, UnicodeEncodeError):
        return f"U+{ord(error.object[error.start]):04X}, half of a surrogate pair, has no place in UTF-8"
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def open_source(path: Path, *, advance: Callable[[int], None] = ignore_progress) -> PathSource:
    """A source for a path, or for standard input where the path is `-`."""
    if str(path) == "-":
        return PathSource(_spooled_stdin(), "standard input", advance)
    return PathSource(path, str(path), advance)


def _spooled_stdin() -> Path:
    handle, name = tempfile.mkstemp(prefix="grater-stdin-")
    spooled = Path(name)
    atexit.register(spooled.unlink, missing_ok=True)
    with os.fdopen(handle, "wb") as spool:
        shutil.copyfileobj(sys.stdin.buffer, spool)
    return spooled


@contextmanager
def replacing(path: Path) -> Iterator[TextIO]:
    """Write a text file all or nothing: it appears under its name only when the block ends well."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    partial = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as stream:
            yield stream
        partial.chmod(0o644)
        partial.replace(path)
    except (OSError, UnicodeEncodeError) as error:
        raise GraterError(f"{path}: cannot be written: {reason(error)}") from error
    finally:
        partial.unlink(missing_ok=True)


@contextmanager
def replacing_folder(path: Path) -> Iterator[Callable[[str, str], None]]:
    """Write a folder of text files all or nothing; a folder that already holds something is refused."""
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise UsageError(f"{path}: expected a new or empty folder to write to, found one that is in use")
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}."))

    def write_file(name: str, text: str) -> None:
        file = partial / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="")

    try:
        yield write_file
        partial.chmod(0o755)
        partial.replace(path)
    except (OSError, UnicodeEncodeError) as error:
        raise GraterError(f"{path}: cannot be written: {reason(error)}") from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)
