"""The files that tables lie in: opened, unpacked and decoded; `grater.files` writes them.

The extension says the type: `.csv`, `.tsv`, `.jsonl` (or `.ndjson`), each also packed as `.gz`; `.parquet`.  Text
is UTF-8 with or without a byte-order mark; a byte that is not UTF-8 is an error that names its position.
"""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path
from typing import Literal, TypeAlias

from grater.errors import BadInput, Problem, UsageError
from grater.files import reason

FilePath: TypeAlias = Path
FileType: TypeAlias = Literal["csv", "tsv", "jsonl", "parquet"]

EXTENSIONS: dict[str, FileType] = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
}
PACKED = ".gz"
SPREADSHEETS = (".ods", ".xls", ".xlsx")
BOM = b"\xef\xbb\xbf"
UTF16 = (b"\xff\xfe", b"\xfe\xff")


def as_path(source: object) -> Path | None:
    """The path that a source is, or None where it is something else."""
    return Path(source) if isinstance(source, str | Path) else None


def path_of(path: str | Path) -> Path:
    return Path(path)


def file_type(path: Path) -> FileType:
    """What the extension says; `.gz` behind it does not count, except that parquet is packed inside."""
    if str(path) == "-":
        raise UsageError("a table is read from a file, and written to one: give a name that ends in .csv or the like")
    suffix = extension(path)
    if suffix not in EXTENSIONS or (suffix == ".parquet" and is_packed(path)):
        known = ", ".join(dict.fromkeys(f".{name}" for name in EXTENSIONS.values()))
        found = repr(path.suffix) if path.suffix else "none"
        advice = "; save the sheet as .csv first" if suffix in SPREADSHEETS else ""
        raise UsageError(f"{path}: expected a table with extension {known}, found {found}{advice}")
    return EXTENSIONS[suffix]


def extension(path: Path) -> str:
    """The last extension but `.gz`, in lower case."""
    return (path.with_suffix("") if is_packed(path) else path).suffix.lower()


def is_packed(path: Path) -> bool:
    return path.suffix.lower() == PACKED


def beside(path: Path, suffix: str) -> Path:
    """The file that goes with a table: `draws/first.meta.json` with `draws/first.csv.gz`."""
    return (path.with_suffix("") if is_packed(path) else path).with_suffix(suffix)


def parts(path: Path) -> list[Path]:
    """The parquet files of a table: itself, or what lies in a folder of that name, as Spark writes it."""
    if not path.is_dir():
        return [path]
    found = sorted(path.glob("*.parquet"))
    if not found:
        raise BadInput(Problem(str(path), "expected parquet files in this folder, found none"))
    return found


def read_text(path: Path) -> str:
    """The whole file as text, its byte-order mark gone."""
    content = _bytes_of(path)
    n_mark = len(BOM) if content.startswith(BOM) else 0
    try:
        return content[n_mark:].decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadInput(_not_utf8(path, content, error.start + n_mark)) from error


def _bytes_of(path: Path) -> bytes:
    try:
        content = path.read_bytes()
        return gzip.decompress(content) if is_packed(path) else content
    except (OSError, EOFError, zlib.error) as error:
        raise BadInput(Problem(str(path), f"cannot be read: {reason(error)}")) from error


def _not_utf8(path: Path, content: bytes, position: int) -> Problem:
    line = content.count(b"\n", 0, position) + 1
    kind = "UTF-16" if content.startswith(UTF16) else f"byte 0x{content[position]:02x} at byte {position}"
    return Problem(str(path), f"expected UTF-8, found {kind}; save the file as UTF-8", line)
