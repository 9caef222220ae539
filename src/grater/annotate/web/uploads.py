"""Files that a browser sends, checked before anybody reads them, and kept for as long as somebody does.

Names lose their folders.  Only kinds that the importers know are let in.  Archives and packed files are unpacked
here, counting the bytes that are really unpacked, so that a small file cannot fill the disk; members with odd names,
links, passwords or archives inside are refused.  XML that declares entities is refused.  A Word document's text is
kept, as a text file with its name.  Essays can be pasted as well: each becomes a text file, named by its title.  One
bad file refuses them all, and all bad ones are named.  Encodings are left to those who read the files.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import re
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import BinaryIO, cast

from starlette.datastructures import UploadFile

from grater.annotate.archive import complaint
from grater.annotate.importing import pasted_essays
from grater.annotate.web.context import RequestContext
from grater.corpora.docx import read_docx
from grater.corpora.formats import suffixes_of_corpora
from grater.errors import MOST_PROBLEMS, BadInput, GraterError, Problem

OTHER_SUFFIXES = (".txt", ".csv", ".tsv", ".ndjson", ".conf", ".md")
PACKED: dict[str, Callable[[BinaryIO], object]] = {
    ".gz": lambda stream: gzip.GzipFile(fileobj=stream, mode="rb"),
    ".bz2": bz2.BZ2File,
    ".xz": lzma.LZMAFile,
}
MARKUP = (".sgm", ".sgml", ".xml")
WORD, TEXT, WORKBOOK, TABLES = ".docx", ".txt", ".xlsx", (".csv", ".tsv")
MOST_FILES = 2000
CHUNK = 1 << 16
LONGEST_NAME = 150
ODD = re.compile(r"[^\w. ()+-]")
ENTITY = b"<!ENTITY"
TWICE = "expected files with different names, found two with the same name"


@dataclass(slots=True)
class Room:
    """The number of bytes that may still be unpacked."""

    left: int
    most: int

    def take(self, n_bytes: int, name: str) -> None:
        self.left -= n_bytes
        if self.left < 0:
            raise refusal(name, f"unpacks to more than {self.most:,} bytes; import it on the command line")


def refusal(name: str, words: str) -> BadInput:
    return BadInput(Problem(ODD.sub("_", name)[:LONGEST_NAME] or "upload", words))


def unpack(sent: Iterable[tuple[str, BinaryIO]], folder: Path, *, most_bytes: int) -> list[Path]:
    """Write what was sent into a folder, unpacked and checked: a file for each file, a folder for each archive."""
    room = Room(most_bytes, most_bytes)
    written: list[Path] = []
    problems: list[Problem] = []
    for name, stream in sent:
        try:
            plain = safe_name(name)
            is_archive = plain.lower().endswith(".zip")
            inside = folder / Path(plain).stem
            if is_archive and inside.exists():
                raise refusal(name, TWICE)
            written.append(_unzip(plain, stream, inside, room) if is_archive else _one(plain, stream, folder, room))
        except BadInput as error:
            problems += error.problems
            if room.left < 0 or len(problems) >= MOST_PROBLEMS:
                break
    if problems:
        raise BadInput(*problems)
    if not written:
        raise refusal("upload", "expected a file, found none")
    return written


def safe_name(name: str) -> str:
    """The last part of a name, in harmless characters; browsers may send whole paths."""
    plain = ODD.sub("_", name.replace("\\", "/").rpartition("/")[2]).strip(" .")
    if not plain or plain.startswith("."):
        raise refusal(name, "expected a file with a name")
    return plain[-LONGEST_NAME:]


def _one(name: str, stream: BinaryIO, folder: Path, room: Room) -> Path:
    suffix = Path(name).suffix.lower()
    if suffix == WORD:
        data = stream.read(max(0, room.left) + 1)  # all of it: a zip archive is read from its end
        room.take(len(data), name)
        text = read_docx(BytesIO(data), name=name, most_bytes=max(0, room.left)).encode()
        return _one(Path(name).stem + TEXT, BytesIO(text), folder, room)
    opener = PACKED.get(suffix)
    plain = Path(name).stem if opener else name
    kinds = (*sorted(suffixes_of_corpora()), *OTHER_SUFFIXES)
    if Path(plain).suffix.lower() not in kinds:
        known = ", ".join(kind.removeprefix(".") for kind in (*kinds, WORD))
        raise refusal(plain, f"expected a file of a known kind ({known}; zip, gz, bz2 or xz around it)")
    path = _new_file(folder, plain, name)
    source = cast(BinaryIO, opener(stream)) if opener else stream
    try:
        with path.open("wb") as target:
            while chunk := source.read(CHUNK):
                room.take(len(chunk), name)
                target.write(chunk)
    except (OSError, EOFError, lzma.LZMAError, zlib.error) as error:
        raise refusal(name, f"cannot be unpacked: {error}") from error
    data, kind = path.read_bytes(), path.suffix.lower()
    if kind == WORKBOOK:
        try:
            room.take(sum(member.file_size for member in zipfile.ZipFile(path).infolist()), name)
        except zipfile.BadZipFile as error:
            raise refusal(name, f"cannot be read as a workbook: {error}") from error
    elif b"\0" in data and kind not in (TEXT, *TABLES):  # UTF-16 is full of them
        raise refusal(name, "expected text, found a NUL byte")
    if kind in MARKUP and ENTITY in data.replace(b"\0", b"").upper():
        raise refusal(name, "declares entities, which are not read; write the characters themselves")
    return path


def _new_file(folder: Path, plain: str, name: str) -> Path:
    """Where a file is to be written; an archive may have a folder of the name of a file, or one that is too long."""
    path = folder / plain
    try:
        folder.mkdir(parents=True, exist_ok=True)
        is_known = path.exists()
    except (FileExistsError, NotADirectoryError) as error:
        raise refusal(name, TWICE) from error
    except OSError as error:
        raise refusal(name, f"cannot be unpacked: {error.strerror}") from error
    if is_known:
        raise refusal(name, TWICE)
    return path


def _unzip(name: str, stream: BinaryIO, folder: Path, room: Room) -> Path:
    try:
        with zipfile.ZipFile(stream) as archive:
            members = [member for member in archive.infolist() if not member.is_dir()]
            if len(members) > MOST_FILES:
                raise refusal(name, f"expected at most {MOST_FILES} files, found {len(members)}")
            # What archives of some systems hold next to the files.
            wanted = [
                member
                for member in members
                if not (
                    member.filename.startswith("__MACOSX/")
                    or PurePosixPath(member.filename).name in (".DS_Store", "Thumbs.db")
                )
            ]
            for member in wanted:
                _member(archive, member, folder, room)
            if not wanted:
                raise refusal(name, "expected files inside, found none")
            return folder
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, zlib.error, lzma.LZMAError) as error:
        raise refusal(name, f"cannot be unpacked: {error}") from error


def _member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, folder: Path, room: Room) -> Path:
    # Only files, with names that stay inside the archive's folder.
    if words := complaint(member):
        raise refusal(member.filename, words)
    inside = PurePosixPath(member.filename)
    if inside.suffix.lower() in (".zip", *PACKED):
        raise refusal(member.filename, "an archive inside an archive; unpack it first")
    with archive.open(member) as stream:
        return _one(safe_name(inside.name), cast(BinaryIO, stream), folder.joinpath(*inside.parent.parts), room)


@contextmanager
def received(context: RequestContext) -> Iterator[list[Path]]:
    """What was sent, unpacked into a folder of ours; errors name the files, never that folder."""
    with TemporaryDirectory(prefix="grater-received-") as name:
        folder = Path(name)
        uploads = [each for each in context.form.getlist("files") if isinstance(each, UploadFile)]
        sent = [(each.filename, each.file) for each in uploads if each.filename]  # an empty one: nothing was chosen
        try:
            pasted = [
                (f"{title}{TEXT}", BytesIO(text.encode())) for title, text in pasted_essays(context.text("pasted"))
            ]
            yield unpack([*sent, *pasted], folder, most_bytes=context.server.settings.most_unpacked_bytes)
        except GraterError as error:
            raise _without_folder(folder, error) from error


def _without_folder(folder: Path, error: GraterError) -> GraterError:
    """The same error without the name of a folder that means nothing to the person."""
    hidden = f"{folder}/"
    if isinstance(error, BadInput):
        return BadInput(
            *(
                replace(problem, name=problem.name.replace(hidden, ""), message=problem.message.replace(hidden, ""))
                for problem in error.problems
            )
        )
    return type(error)(str(error).replace(hidden, ""))
