r"""Opens the files of corpora: the only module of this package that opens paths.

Text is UTF-8 unless the caller names another encoding; a byte-order mark is dropped; a byte that is not UTF-8 is an
error that names its position. Lines end at `\n` only (a `\r` before it is kept: it is a character of the text), never
at U+2028 and its like. Files are streamed. `.gz`, `.bz2` and `.xz` are (de)compressed on the fly; the lines of a Word
document (`.docx`) are its text, those of a workbook (`.xlsx`) its sheet as CSV. `-` is standard input or output;
piped input is kept in a temporary file, so that it can be read twice.

It also guesses the format of a path and the files of a folder. A file's format follows from its suffix (`essays.m2`,
`essays.sgml.gz`), a folder's from the suffixes of its files. Text has lower priority than annotated formats, since
brat keeps `.txt` files next to its `.ann` files and other folders may have a readme; tables come last, since a folder
of texts may include a list of them. A folder with two annotated formats is refused, so that no file is ignored
unnoticed; `left_out` names the others.

Sentences that are scored or combined come from files named `NAME=FILE`, or by the shortest distinctive part of their
own name.  The last suffix gives the kind: `.m2` and our `.jsonl` have edits, anything else has one sentence per line;
`-` is recognised from its first lines.  If the roles of files are not stated (`ref0.m2 ref1.m2 mine.txt`), the first
is a reference, and so are files whose names differ from it only in a number, and M2 files with several annotators.
"""

from __future__ import annotations

import atexit
import bz2
import gzip
import lzma
import os
import re
import shutil
import sys
import tempfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from io import StringIO, TextIOWrapper
from itertools import islice
from pathlib import Path, PurePath
from typing import IO, Any, BinaryIO, Literal, TextIO, TypeAlias, cast

from grater.corpora.docx import read_docx
from grater.corpora.formats import FORMATS, FolderFormat, Format, Source, suffixes_of_corpora
from grater.errors import BadInput, Problem, Problems, UsageError
from grater.files import complaining, reason
from grater.files import replacing as replacing_bytes
from grater.model import Essay

OPENERS: dict[str, Callable[[Path, Literal["rb"]], object]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
STDIN = "standard input"
BOM = b"\xef\xbb\xbf"
UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
UTF8_CHARACTER = re.compile(rb"[\xc3-\xf4][\x80-\xbf]+")
NO_TEXT = re.compile("[\x00-\x08\x0e-\x1f]")
WORD, WORKBOOK = CONVERTED = (".docx", ".xlsx")
MOST_UNPACKED = 100_000_000
"""Bytes of a Word document."""
CONVERT = "convert the file to UTF-8, or name its `encoding`"
REPORT_EVERY = 1 << 18
"""Bytes between two words to the progress bar, so that it costs nothing."""


def ignore_progress(n_bytes: int) -> None:
    """The callback for callers without a progress bar."""


@dataclass(frozen=True, slots=True)
class PathSource:
    """A file on disk; `advance` gets the number of bytes read since the last call, for a progress bar."""

    path: Path
    name: str
    advance: Callable[[int], None] = ignore_progress
    encoding: str = ""

    def lines(self) -> Iterator[str]:
        n_bytes = n_reported = 0
        try:
            if self.encoding or self.path.suffix.lower() in CONVERTED:
                yield from StringIO(self._converted(), newline="\n")
                self.advance(self.path.stat().st_size)
                return
            with opened(self.path) as stream:
                for number, raw in enumerate(stream, 1):
                    n_mark = len(BOM) if number == 1 and raw.startswith(BOM) else 0
                    try:
                        yield raw[n_mark:].decode()
                    except UnicodeDecodeError as error:
                        byte, at = raw[n_mark + error.start], n_bytes + n_mark + error.start
                        message = f"expected UTF-8, found byte 0x{byte:02x} at byte {at}; {CONVERT}"
                        raise BadInput(Problem(self.name, message, number)) from error
                    n_bytes += len(raw)
                    if n_bytes - n_reported >= REPORT_EVERY:
                        self.advance(n_bytes - n_reported)
                        n_reported = n_bytes
        except (OSError, EOFError, lzma.LZMAError, zlib.error) as error:
            raise BadInput(Problem(self.name, f"cannot be read: {reason(error)}")) from error
        self.advance(n_bytes - n_reported)

    def _converted(self) -> str:
        suffix = self.path.suffix.lower()
        with opened(self.path) as stream:
            if suffix == WORD:
                return read_docx(cast(BinaryIO, stream), name=self.name, most_bytes=MOST_UNPACKED)
            content = stream.read()
        if suffix == WORKBOOK:
            import polars as pl  # which most corpora need not wait for

            from grater.tables.worksheets import read_xlsx

            return pl.DataFrame(dict(read_xlsx(content, name=self.name).columns)).write_csv()
        try:
            return content.decode(self.encoding).removeprefix("\ufeff")
        except LookupError as error:
            message = f"unknown encoding {self.encoding!r}; expected utf-8, cp1252, utf-16 or the like"
            raise UsageError(message) from error
        except UnicodeDecodeError as error:
            message = f"expected {self.encoding}, found byte 0x{content[error.start]:02x} at byte {error.start}"
            raise BadInput(Problem(self.name, f"{message}; {CONVERT}")) from error


def opened(path: Path) -> IO[bytes]:
    opener = OPENERS.get(path.suffix.lower())
    return cast(IO[bytes], opener(path, "rb") if opener else path.open("rb"))


def guessed_encoding(path: Path) -> str:
    """The encoding for a file that is not UTF-8: UTF-16 or Windows-1252; empty if neither fits.

    A file that mixes UTF-8 and another encoding fits neither.
    """
    if path.suffix.lower() in CONVERTED:
        return ""
    try:
        with opened(path) as stream:
            content = stream.read()
    except (OSError, EOFError, lzma.LZMAError, zlib.error):  # its reader names the problem
        return ""
    if content.startswith(UTF16_MARKS):
        return "utf-16"
    zeros = {"utf-16-le": content[1::2].count(0), "utf-16-be": content[::2].count(0)}
    wide = [encoding for encoding, n in zeros.items() if n > len(content) // 4]
    for encoding in (*wide, "utf-8", "cp1252"):
        with suppress(UnicodeDecodeError):
            is_text = not NO_TEXT.search(content.decode(encoding))
            is_mixed = encoding == "cp1252" and UTF8_CHARACTER.search(content)
            return encoding if is_text and encoding != "utf-8" and not is_mixed else ""
    return ""


def open_source(path: Path, *, advance: Callable[[int], None] = ignore_progress, encoding: str = "") -> PathSource:
    """A source for a path, a pipe, or standard input where the path is `-`."""
    if str(path) == "-":
        return PathSource(_spooled_stdin(sys.stdin), STDIN, advance, encoding)
    if path.exists() and not path.is_file() and not path.is_dir():
        return PathSource(_spooled_pipe(path), str(path), advance, encoding)
    return PathSource(path, str(path), advance, encoding)


@cache
def _spooled_stdin(stdin: TextIO | None) -> Path:
    """Store standard input in a temporary file, once, so that a command can read it again."""
    if stdin is None:
        raise UsageError("standard input is closed; name a file, or pipe one in")
    return _spooled(stdin.buffer)


@cache
def _spooled_pipe(path: Path) -> Path:
    try:
        with path.open("rb") as stream:
            return _spooled(stream)
    except OSError as error:
        raise BadInput(Problem(str(path), f"cannot be read: {reason(error)}")) from error


def _spooled(stream: IO[bytes]) -> Path:
    handle, name = tempfile.mkstemp(prefix="grater-")
    spooled = Path(name)
    atexit.register(spooled.unlink, missing_ok=True)
    with os.fdopen(handle, "wb") as spool:
        shutil.copyfileobj(stream, spool)
    return spooled


def read_sentences(source: Source) -> list[str]:
    """The lines of a file with one sentence per line, including blank ones, without line ends."""
    problems = Problems(source.name)
    sentences = [line.removesuffix("\n").removesuffix("\r") for line in without_nul(source.lines(), problems)]
    problems.done()
    return sentences


FOREIGN = {".csv": "a table", ".tsv": "a table", ".xlsx": "a table", ".parquet": "a table", ".json": "JSON"}


def sentences_alone(source: Source) -> list[str]:
    """One sentence per line; refuses columns, JSON and markup, which would be scored as words."""
    name = source.name.lower().removesuffix(".gz")
    foreign = next((kind for suffix, kind in FOREIGN.items() if name.endswith(suffix)), None)
    suffix = PurePath(name).suffix
    if suffix not in ("", ".txt", ".jsonl", *FOREIGN) and suffix in suffixes_of_corpora():
        foreign = "a corpus of another format"
    if foreign:
        wish = "write the sentences to a text file first"
        raise UsageError(f"{source.name}: expected one sentence per line or M2, found {foreign}; {wish}")
    sentences = read_sentences(source)
    filled = [sentence for sentence in sentences if sentence.strip()]
    if filled and all("\t" in sentence for sentence in filled):
        wish = f"use one column: cut -f2 {source.name}"
        raise UsageError(f"{source.name}: expected one sentence per line, found a tab in each; {wish}")
    if filled and all(sentence.startswith("{") and sentence.endswith("}") for sentence in filled):
        wish = "extract the corrected sentences first"
        raise UsageError(f"{source.name}: expected one sentence per line, found JSON; {wish}")
    return sentences


def without_nul(lines: Iterable[str], problems: Problems) -> Iterator[str]:
    """The lines; a NUL character is reported as a problem."""
    for number, line in enumerate(lines, 1):
        if "\0" in line:
            message = (
                "expected text, found a NUL character; is it UTF-16? Convert it to UTF-8, or name its `encoding`"
            )
            problems.add(message, line=number)
        yield line


@contextmanager
def replacing(path: Path) -> Iterator[TextIO]:
    """Write a text file all or nothing; `-` is standard output, which also gets all or nothing."""
    with complaining(path), _printing() if str(path) == "-" else replacing_bytes(path) as stream:
        text = TextIOWrapper(stream, encoding="utf-8", newline="")
        yield text
        text.flush()
        text.detach()


@contextmanager
def _printing() -> Iterator[BinaryIO]:
    with tempfile.TemporaryFile() as spool:
        yield cast(BinaryIO, spool)
        spool.seek(0)
        sys.stdout.flush()
        shutil.copyfileobj(spool, sys.stdout.buffer)


@contextmanager
def replacing_folder(path: Path) -> Iterator[Callable[[str, str], None]]:
    """Write a folder of text files all or nothing; a folder with content is refused."""
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        obstacle = "one that is in use" if path.is_dir() else "a file"
        raise UsageError(f"{path}: expected a new or empty folder to write to, found {obstacle}")
    with complaining(path), _temporary_folder(path) as partial:

        def write_file(name: str, text: str) -> None:
            file = partial / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8", newline="")

        yield write_file
        partial.chmod(0o755)
        partial.replace(path)


@contextmanager
def _temporary_folder(path: Path) -> Iterator[Path]:
    """A folder to write to, deleted at the end unless it has been moved into place."""
    partial = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}."))
    try:
        yield partial
    finally:
        shutil.rmtree(partial, ignore_errors=True)


TEXT = ".txt"
UNMARKED = ("table", "text")
"""Formats of texts alone, the one that a folder speaks of least first."""
DOCUMENTS = (".doc", ".odt", ".pages", ".pdf", ".rtf")
"""Files that hold more than their words; bytes that are not UTF-8 are no error there."""


def guess_format(path: Path, *, exists: bool) -> Format:
    """The format of a path by its name; `exists` says whether the path must exist."""
    if exists and not path.exists():
        raise BadInput(Problem(str(path), "no such file or folder"))
    inside = path.is_dir() or not (exists or _suffix(path))
    suffixes = {_suffix(file) for file in _files_below(path)} if inside else {_suffix(path)}
    formats = [FORMATS[name] for name in FORMATS]
    fitting = [candidate for candidate in formats if suffixes & set(candidate.suffixes)]
    annotated = [candidate for candidate in fitting if candidate.name not in UNMARKED]
    chosen = annotated or sorted(fitting, key=lambda candidate: UNMARKED.index(candidate.name))[-1:]
    if not exists and suffixes & set(CONVERTED):
        raise UsageError(f"{path}: expected a file of text to write, found {path.suffix}; write .txt or .csv")
    if not chosen:
        raise UsageError(f"{path}: {_why_unknown(path, formats)}")
    if len(chosen) > 1:
        names = ", ".join(candidate.name for candidate in chosen)
        raise UsageError(f"{path}: expected files of one format in this folder, found {names}; name one of them")
    return chosen[0]


def files_of(path: Path, chosen: Format) -> list[Path]:
    """The files of a path in a format: the path itself, or those of a folder, sorted by name."""
    if str(path) != "-" and not path.exists():
        raise BadInput(Problem(str(path), "no such file or folder"))
    if not path.is_dir():
        if isinstance(chosen, FolderFormat):
            raise BadInput(Problem(str(path), f"expected a folder, the form of {chosen.name} corpora, found a file"))
        return [path]
    wanted = {*chosen.suffixes, TEXT} if isinstance(chosen, FolderFormat) else set(chosen.suffixes)
    files = [file for file in _files_below(path) if not chosen.suffixes or _suffix(file) in wanted]
    if not files:
        expected = f"files that end in {' or '.join(sorted(chosen.suffixes))}" if chosen.suffixes else "files"
        raise BadInput(Problem(str(path), f"expected {expected}, found none in this folder"))
    return files


def left_out(path: Path, chosen: Format) -> list[Path]:
    """The files of a folder that are not read, because their names imply no format or another one."""
    if not path.is_dir():
        return []
    read = set(files_of(path, chosen))
    return [file for file in _files_below(path) if file not in read]


def _files_below(folder: Path) -> list[Path]:
    return sorted(file for file in folder.rglob("*") if file.is_file() and not file.name.startswith("."))


def _suffix(path: Path) -> str:
    """The suffix that tells the format: `.m2` of `essays.m2.gz` too."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    while suffixes and suffixes[-1] in OPENERS:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def _why_unknown(path: Path, formats: list[Format]) -> str:
    by_name = sorted(formats, key=lambda candidate: candidate.name)
    known = ", ".join(f"{each.name} ({' '.join(each.suffixes)})" if each.suffixes else each.name for each in by_name)
    kind = "no file in this folder shows" if path.is_dir() else "the file name does not show"
    if path.is_file() and path.suffix.lower() in DOCUMENTS:
        return f"expected text, found a {path.suffix} document; save it as .docx or text (.txt) first"
    return f"{kind} which format it is; name the format, one of: {known}"


# Sentences that are scored


Kind: TypeAlias = Literal["m2", "jsonl", "text"]
KINDS: dict[str, Kind] = {".m2": "m2", ".jsonl": "jsonl"}
"""Suffixes of tokenised sentences with edits; JSONL knows their documents too."""


@dataclass(frozen=True, slots=True)
class NamedSentences:
    """The sentences of a system or an annotator: lines of plain text, a file with edits, or essays.

    `file` is what messages call them.
    """

    name: str
    file: str
    texts: list[str] | None = None
    kind: Kind = "text"
    source: PathSource | None = None
    essays: Sequence[Essay] = ()

    def __iter__(self) -> Iterator[Essay]:
        essays = self.essays if self.source is None else cast(Any, FORMATS[self.kind]).read(self.source)
        return iter(essays)


def named_sentences(given: Any, name: str) -> list[NamedSentences]:
    """From paths, sentences or essays, one or several or by name; `name` is used for those without any."""
    if isinstance(given, Mapping):
        return [_opened(called, each) for called, each in given.items()]
    if isinstance(given, str | Path):
        return [_opened(called, file) for called, file in named_files([Path(given)])]
    members = list(_several(given, name))
    if any(isinstance(each, Path) or (isinstance(each, str) and _is_file(each)) for each in members[:20]):
        return [_opened(called, file) for called, file in named_files([Path(each) for each in members])]
    if all(isinstance(each, str | Essay) for each in members):
        return [_opened(name, members)] if members else []
    return [_opened(f"{name} {number}", each) for number, each in enumerate(members, 1)]


def _opened(name: str, given: Any) -> NamedSentences:
    if not isinstance(given, str | Path):
        members = list(_several(given, "sentences"))
        if kinds := {type(each).__name__ for each in members if not isinstance(each, str | Essay)}:
            raise UsageError(f"expected sentences or essays (grater.Essay), found {', '.join(sorted(kinds))}")
        texts = [text for text in members if isinstance(text, str)]
        return NamedSentences(name, name, texts if texts or not members else None, essays=members)
    source, kind = open_source(Path(given)), kind_of(Path(given))
    # JSON lines of another program are most likely sentences with corrections
    is_foreign = kind == "jsonl" and "grater-corpus" not in next(source.lines(), "")
    if kind == "text" or is_foreign:
        return NamedSentences(name, str(given), sentences_alone(source))
    return NamedSentences(name, str(given), None, kind, source)


def _several(given: Any, name: str) -> Iterable[Any]:
    if isinstance(given, Mapping | bytes) or hasattr(given, "columns") or not isinstance(given, Iterable):
        found = type(given).__name__
        raise UsageError(f"{name}: expected a path, sentences, or essays (grater.Essay), found {found}")
    return given


def _is_file(name: str) -> bool:
    try:
        return split_name(Path(name))[1].is_file()
    except (OSError, ValueError):  # a sentence, too long for a name
        return False


def split_name(path: Path) -> tuple[str, Path]:
    """Split `NAME=FILE`; if a file exists under the whole string, there is no NAME."""
    name, equals, file = str(path).partition("=")
    return (name, Path(file)) if equals and name and file and not path.exists() else ("", path)


def named_files(files: Sequence[Path]) -> list[tuple[str, Path]]:
    """Each file with its NAME, else its stem, or its whole name if stems are equal, or its path."""
    named = [split_name(file) for file in files]
    choices = [(_unpacked(file).stem, file.name, str(file)) for _, file in named]
    level = next(level for level in (0, 1, 2) if level == 2 or len({each[level] for each in choices}) == len(choices))
    pairs = [(name or each[level], file) for (name, file), each in zip(named, choices, strict=True)]
    if doubled := next((name for name, n in Counter(name for name, _ in pairs).items() if n > 1), None):
        raise UsageError(f"expected different names, found {doubled!r} twice; rename one: NEW=FILE")
    return pairs


def _unpacked(path: Path) -> Path:
    """The name without a compression suffix: `A.m2` for `A.m2.gz`."""
    return path.with_suffix("") if path.suffix in OPENERS else path


def kind_of(path: Path) -> Kind:
    """The kind of a file by its name, or of standard input by its first lines."""
    if str(path) != "-":
        return KINDS.get(_suffix(path), "text")
    first, second = [*islice(open_source(path).lines(), 2), "", ""][:2]
    if "grater-corpus" in first:
        return "jsonl"
    is_block = first.startswith("S ") and (not second.strip() or second.startswith("A "))
    return "m2" if is_block else "text"


def systems_behind(files: Sequence[Path]) -> tuple[list[Path], list[Path], list[str]]:
    """The references and the hypotheses among files, and notes on how each was classified; both must be present."""
    if len(files) < 2:
        raise UsageError("expected a reference and at least one hypothesis: REF HYP..., or `hypotheses`; found fewer")
    first = split_name(files[0])[1]
    paths = {file: split_name(file)[1] for file in files[1:]}
    alike = [file for file, path in paths.items() if _differs_in_number(first, path) or _has_annotators(path)]
    names = ", ".join(str(paths[file]) for file in alike)
    if alike and len(alike) < len(paths):
        note = f"{names}: read as a reference, like {first}; systems go into `hypotheses`"
        return [files[0], *alike], [file for file in paths if file not in alike], [note]
    note = f"{names}: scored as a system, though it looks like a reference; systems go into `hypotheses`"
    return [files[0]], list(paths), [note] if alike else []


def require_piped_once(*sources: Any) -> None:
    """Refuse standard input in two places, since a system would be scored against itself."""
    given = [each for source in sources for each in (source if isinstance(source, list | tuple) else [source])]
    files = [split_name(Path(each))[1] for each in given if isinstance(each, str | Path)]
    if sum(str(file) == "-" for file in files) > 1:
        raise UsageError("expected standard input in one place, found '-' in several; name files for the others")


def _differs_in_number(one: Path, other: Path) -> bool:
    """Whether two names differ only in a number: `ref0.m2` and `ref1.m2`."""
    one_name, other_name = (re.sub(r"\d+", "#", str(path)) for path in (one, other))
    return one != other and one_name == other_name


def _has_annotators(file: Path) -> bool:
    """Whether an M2 file has several annotators, which a system's output never has."""
    if str(file) == "-" or kind_of(file) != "m2" or not file.is_file():
        return False
    last = {line.rstrip().rpartition("|||")[2] for line in open_source(file).lines() if line.startswith("A ")}
    return len(last) > 1
