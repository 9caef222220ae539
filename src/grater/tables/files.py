"""Files of tables: any source (a path, standard input, a frame) as a raw table, and what guards cells of text.

*Files.*  The extension says the type: `.csv`, `.tsv`, `.jsonl` (or `.ndjson`), each also packed as `.gz`; `.parquet`.
Text is UTF-8 with or without a byte-order mark; a byte that is not UTF-8 is an error that names its position.
Standard input has no extension and is known by its first characters.  Workbooks (`.xlsx`) are read
(`grater.tables.worksheets`), and written as worksheets only.  A file appears whole or not at all.

*Comma- and tab-separated text* (RFC 4180).  The first line names the columns.  A cell may be quoted; inside quotes a
quote is doubled, and line ends are part of the cell.  Blank lines and rows of empty cells are skipped, lines may end
in CRLF, an empty cell is missing, and every row must have as many cells as the header.  Departures: batch files of
Mechanical Turk name the columns `Approve` and `Reject` and leave them out of every row; Excel may name its separator
in a line before the header (`sep=;`), and where semicolons separate, numbers may have a decimal comma.  polars reads
the text; where it did not understand every character of it (blank lines, rows of other lengths, odd quotes), Python's
csv module reads it row by row, many times slower, and knows the line of whatever is wrong.

*Formulas.*  A text that starts with one of `= + - @`, their full-width forms, a tab or a line end is taken for a
formula by spreadsheets.  Such a cell is written with an apostrophe before it; one that has apostrophes before such a
sign already gets one more, so that reading, which takes one away, returns what was there.  Numbers (`-1`) and
`-NONE-` run nothing and stay as they are.  JSONL and parquet are never altered.

*JSON Lines.*  One object per line, its keys the columns.  Lines may lack keys; a key that a line lacks, and null, are
missing cells.  Blank lines are skipped.  A value that is not a single one (a list, an object) is kept for the checks
to judge: a list is right in `flags`, an object in `payload`.

*Frames* of polars, pandas, Arrow, and whatever speaks the Arrow stream or interchange protocols.  None of these
libraries is imported.  A frame whose columns mix types, which Arrow refuses, is read column by column as Python
values.
"""

from __future__ import annotations

import csv
import gzip
import json
import re
import sys
import zlib
from collections.abc import Iterator
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any, Literal, TextIO, TypeAlias, cast

import polars as pl

from grater.errors import BadInput, Problem, Problems, UsageError
from grater.files import reason
from grater.model import DELETE
from grater.tables.schema import Raw, plain, series_of, without_empty
from grater.tables.worksheets import read_xlsx

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
WORKBOOK = ".xlsx"
META = ".meta.json"
"""The file name of a sample's metadata, next to its table."""
SPREADSHEETS = (".ods", ".xls", WORKBOOK)
STDIN = "standard input"
PARQUET_MAGIC, GZIP_MAGIC = b"PAR1", b"\x1f\x8b"
BOM = b"\xef\xbb\xbf"
UTF16 = (b"\xff\xfe", b"\xfe\xff")


def as_path(source: object) -> Path | None:
    """The source as a path; None if it is not one."""
    return Path(source) if isinstance(source, str | Path) else None


def file_type(path: Path) -> FileType:
    """The file type by its extension, ignoring a final `.gz` (which parquet does not take: it is packed inside)."""
    if is_stdin(path):
        raise UsageError("expected the name of a file, which ends in .csv or the like, found '-'")
    suffix = extension(path)
    if suffix not in EXTENSIONS or (suffix == ".parquet" and is_packed(path)):
        known = ", ".join(dict.fromkeys(f".{name}" for name in EXTENSIONS.values()))
        actual = repr(path.suffix) if path.suffix else "none"
        advice = "; save the sheet as .csv first" if suffix in SPREADSHEETS else ""
        raise UsageError(f"{path}: expected a table with extension {known}, found {actual}{advice}")
    return EXTENSIONS[suffix]


def extension(path: Path) -> str:
    """The last extension other than `.gz`, in lower case."""
    return (path.with_suffix("") if is_packed(path) else path).suffix.lower()


def is_packed(path: Path) -> bool:
    return path.suffix.lower() == PACKED


def companion(path: Path, suffix: str) -> Path:
    """The file that goes with a table: `draws/first.meta.json` with `draws/first.csv.gz`."""
    return (path.with_suffix("") if is_packed(path) else path).with_suffix(suffix)


MANIFEST, UNFINISHED = "manifest.json", "unfinished.json"
PARTS_FORMAT = "grater-parts"
"""A folder of results that `grater.scale` wrote: its manifest names the parts, and comes last."""


def parts(path: Path) -> list[Path]:
    """The parquet files of a table: the file itself, or those of a folder (named by its manifest, else all)."""
    if not path.is_dir():
        return [path]
    if (path / MANIFEST).exists():
        return _named_parts(path)
    if (path / UNFINISHED).exists():
        raise BadInput(Problem(str(path), "the job that writes here has not finished; run it again to complete it"))
    files = sorted(path.glob("*.parquet"))
    if not files:
        raise BadInput(Problem(str(path), "expected parquet files in this folder, found none"))
    return files


def is_in_parts(path: Path) -> bool:
    """Whether a path is a folder of results of `grater.scale`, finished or not."""
    return path.is_dir() and any((path / name).exists() for name in (MANIFEST, UNFINISHED))


def _named_parts(folder: Path) -> list[Path]:
    try:
        manifest = json.loads((folder / MANIFEST).read_bytes())
        names = [str(part["file"]) for part in manifest["parts"]] if manifest["format"] == PARTS_FORMAT else []
    except (ValueError, KeyError, TypeError) as error:
        raise BadInput(Problem(str(folder / MANIFEST), "expected the manifest of a table in parts")) from error
    if not names:
        raise BadInput(Problem(str(folder), "expected a table in parts, found none in its manifest"))
    return [folder / name for name in names]


def is_stdin(path: Path) -> bool:
    return str(path) == "-"


def read_text(path: Path) -> str:
    """The whole file as text, without its byte-order mark."""
    return _decoded(_bytes_of(path), str(path))


def _bytes_of(path: Path) -> bytes:
    try:
        content = path.read_bytes()
        return gzip.decompress(content) if is_packed(path) else content
    except (OSError, EOFError, zlib.error) as error:
        raise BadInput(Problem(str(path), f"cannot be read: {reason(error)}")) from error


def _decoded(content: bytes, name: str) -> str:
    n_mark = len(BOM) if content.startswith(BOM) else 0
    try:
        return content[n_mark:].decode("utf-8")
    except UnicodeDecodeError as error:
        position = error.start + n_mark
        line = content.count(b"\n", 0, position) + 1
        kind = "UTF-16" if content.startswith(UTF16) else f"byte 0x{content[position]:02x} at byte {position}"
        message = f"expected UTF-8, found {kind}; save the file as UTF-8"
        raise BadInput(Problem(name, message, line)) from error


STARTS = r"[=+\-@＝＋－＠\t\r\n]"
RISKY = rf"^'*{STARTS}"
GUARDED = rf"^'+{STARTS}"
HARMLESS = rf"^(?:[+-]?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|{DELETE})$"


def guarded(cells: pl.Series) -> pl.Series:
    """The cells, changed so that no spreadsheet runs one as a formula."""
    is_risky = cells.str.contains(RISKY) & ~cells.str.contains(HARMLESS)
    return _chosen(is_risky, "'" + cells, cells)


def guarded_frame(frame: pl.DataFrame) -> pl.DataFrame:
    """Guard every text cell and the header; only text can be a formula."""
    cells = [guarded(series) if series.dtype == pl.String else series for series in frame.get_columns()]
    names = guarded(pl.Series(frame.columns, dtype=pl.String))
    return pl.DataFrame(dict(zip(names, cells, strict=True)))


def unguarded(cells: pl.Series) -> pl.Series:
    """The cells without the guard."""
    is_guarded = cells.str.contains(GUARDED)
    return _chosen(is_guarded, cells.str.slice(1), cells)


def _chosen(mask: pl.Series, changed: pl.Series, cells: pl.Series) -> pl.Series:
    if not mask.any():
        return cells
    return pl.select(pl.when(mask).then(changed).otherwise(cells).alias(cells.name)).to_series()


QUOTE = '"'
SEPARATORS = (";", "\t", ",")
NAMED_SEPARATOR = re.compile(r'("?)sep=(?P<separator>[;,\t|])\1(?=\r?\n)', re.IGNORECASE)
FILLED = re.compile(r".*\S.*")
LEFT_OUT = ["Approve", "Reject"]


def read_delimited(text: str, *, name: str, separator: str) -> Raw:
    """Parse delimited text; every cell is text.

    A header without the separator that the file's name speaks of, but with another, has that one: spreadsheets of
    many countries write `.csv` with semicolons.
    """
    if "\r" in text and "\n" not in text:
        text = text.replace("\r", "\n")
    if named := NAMED_SEPARATOR.match(text):
        separator, text = named["separator"], text[named.end() :]
    else:
        header_line = FILLED.search(text)
        if header_line and separator not in header_line[0]:
            separator = next((other for other in SEPARATORS if other in header_line[0]), separator)
    header, cells, lines = _read_at_once(text, separator) or _read_by_row(text, name, separator)
    columns = dict(zip(header, cells, strict=True))
    if "'" in text:
        columns = {column: unguarded(series) for column, series in columns.items()}
    if QUOTE in text:
        columns = {column: without_empty(series) for column, series in columns.items()}
    if columns and all(series.null_count() for series in columns.values()):
        is_filled = pl.select(pl.any_horizontal(series.is_not_null() for series in columns.values())).to_series()
        columns, lines = {column: each.filter(is_filled) for column, each in columns.items()}, lines.filter(is_filled)
    return Raw(name, columns, lines, has_decimal_commas=separator == ";")


Read: TypeAlias = tuple[list[str], list[pl.Series], pl.Series]
"""The header, its columns, and the line on which each row begins."""


def _read_at_once(text: str, separator: str) -> Read | None:
    """Parse with polars; None where anything about the text is unusual.

    A text without quotes is understood if no line end and no separator is left over.  With quotes, if polars writes
    back the same text.
    """
    end = "\r\n" if text[: text.find("\n")].endswith("\r") else "\n"
    text = text if text.endswith("\n") else text + end
    try:
        frame = pl.read_csv(text.encode(), separator=separator, has_header=False, infer_schema=False)
    except pl.exceptions.PolarsError:
        return None
    n_ends = text.count("\n")
    if QUOTE in text:
        is_same = frame.write_csv(separator=separator, include_header=False, line_terminator=end) == text
    else:
        # A row that lacks cells ends with nulls, as one whose last cells are empty does.
        is_whole = not any(column.null_count() for column in frame.get_columns())
        is_split = is_whole or text.count(separator) == len(frame) * (frame.width - 1)
        is_same = n_ends == len(frame) and is_split and ("\r" not in text or text.count("\r") == text.count("\r\n"))
    header = _header([cell or "" for cell in frame.row(0)]) if is_same else []
    if not any(header) or len(set(header)) < len(header):
        return None
    if n_ends == len(frame):
        lines = pl.int_range(2, len(frame) + 1, dtype=pl.Int64, eager=True)
    else:
        n_inside = frame.select(pl.sum_horizontal(pl.all().str.count_matches("\n", literal=True).fill_null(0)))
        lines = (n_inside.to_series().cast(pl.Int64) + 1).cum_sum().head(-1) + 1
    columns = [series.alias(column) for column, series in zip(header, frame.slice(1).get_columns(), strict=True)]
    return header, columns, lines


def _read_by_row(text: str, name: str, separator: str) -> Read:
    """Parse row by row and name the line of every defect."""
    # The module's limit on the size of a cell is global; it is only ever raised, to what this text needs.
    csv.field_size_limit(max(csv.field_size_limit(), len(text)))
    rows = _rows(text, name, separator)
    header = _header(next(rows, (0, []))[1])
    if not header:
        raise BadInput(Problem(name, "expected a line that names the columns, found an empty file"))
    if repeated := sorted({column for column in header if header.count(column) > 1}):
        names = ", ".join(repr(column) for column in repeated)
        raise BadInput(Problem(name, f"expected every column once, found {names} more than once in the header", 1))
    problems = Problems(name)
    kept: list[list[str | None]] = []
    lines: list[int] = []
    for line, row in rows:
        n_missing = len(header) - len(row)
        if n_missing and not (header[-2:] == LEFT_OUT and n_missing == len(LEFT_OUT)):
            problems.add(f"expected {len(header)} cells as in the header, found {len(row)}", line=line)
        kept.append([*(cell or None for cell in row), *[None] * n_missing])
        lines.append(line)
    problems.done()
    cells = zip(*kept, strict=True) if kept else [()] * len(header)
    columns = [pl.Series(column, values, dtype=pl.String) for column, values in zip(header, cells, strict=True)]
    return header, columns, pl.Series("number", lines, dtype=pl.Int64)


def _header(cells: list[str]) -> list[str]:
    return unguarded(pl.Series([cell.strip() for cell in cells], dtype=pl.String)).to_list()


def _rows(text: str, name: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Every row that is not blank, with its first line."""
    if QUOTE not in text:
        lines = enumerate((line.removesuffix("\r") for line in text.split("\n")), 1)
        yield from ((number, line.split(separator)) for number, line in lines if line)
        return
    reader = csv.reader((f"{line}\n" for line in text.split("\n")), delimiter=separator, strict=True)
    begin = 1
    try:
        for row in reader:
            if row:
                yield begin, row
            begin = reader.line_num + 1
    except csv.Error as error:
        message = f"expected quotes in pairs, found {error}; a cell with quotes is quoted and doubles them inside"
        raise BadInput(Problem(name, message, begin)) from error


def read_jsonl(text: str, *, name: str) -> Raw:
    """Parse JSON lines, one row a line."""
    if not text.strip():
        raise BadInput(Problem(name, "expected a JSON object a line, found an empty file"))
    problems = Problems(name)
    lines: list[int] = []
    columns: dict[str, list[object]] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if not line or line.isspace():
            continue
        row, found = None, ""
        try:
            row = json.loads(line)
            if "\\u" in line:  # half a surrogate pair can be written in JSON and nowhere else
                json.dumps(row, ensure_ascii=False).encode()
        except (ValueError, RecursionError) as error:
            row, found = None, f": {error}"
        if not isinstance(row, dict):
            shown = line.strip() if len(line.strip()) <= 40 else f"{line.strip()[:40]}..."
            problems.add(f"expected a JSON object, found {shown!r}{found}", line=number)
            continue
        for key in row:
            if key not in columns:
                columns[key] = [None] * len(lines)
        for key, cells in columns.items():
            cells.append(row.get(key))
        lines.append(number)
    problems.done()
    return Raw(name, {key: series_of(key, cells) for key, cells in columns.items()}, pl.Series(lines, dtype=pl.Int64))


REFUSALS = (ValueError, TypeError, NotImplementedError, ImportError, KeyError)
"""The errors of frames and their libraries for a column without an Arrow type, beside that of polars."""

CONVERTERS = ("to_arrow", "to_pandas", "toPandas")
"""Methods by which tables of other libraries (datasets, Spark, Ibis) become frames."""


def read_frame(frame: object, *, name: str) -> Raw:
    """A raw table from a data frame of any library."""
    if isinstance(frame, pl.LazyFrame):
        try:
            frame = frame.collect()
        except (pl.exceptions.PolarsError, OSError) as error:
            raise BadInput(Problem(name, f"cannot be computed: {_first_line(error)}")) from error
    if isinstance(frame, pl.DataFrame):
        return Raw(name, {series.name: series for series in frame.get_columns()})
    if not (hasattr(frame, "__arrow_c_stream__") or hasattr(frame, "__dataframe__")):
        for method in CONVERTERS:
            if callable(convert := getattr(frame, method, None)):
                return read_frame(convert(), name=name)
        raise UsageError(f"expected a path or a pandas, polars or Arrow frame, found {type(frame).__name__}")
    try:
        return read_frame(pl.DataFrame(cast(Any, frame)), name=name)
    except (*REFUSALS, pl.exceptions.PolarsError) as error:
        return _column_by_column(frame, name, str(error))


def _column_by_column(frame: object, name: str, refusal: str) -> Raw:
    """Uses the two things that every data frame has: `columns`, and a column by its name."""
    try:
        columns = list(frame.columns)  # type: ignore[attr-defined]
        if len(set(names := list(map(str, columns)))) < len(names):
            raise BadInput(Problem(name, f"expected every column once, found {', '.join(names)}"))
        values = {str(column): frame[column].tolist() for column in columns}  # type: ignore[index]
    except (AttributeError, *REFUSALS, pl.exceptions.PolarsError) as error:
        raise BadInput(Problem(name, f"cannot be read as a table: {refusal}")) from error
    return Raw(name, {key: series_of(key, [plain(value) for value in cells]) for key, cells in values.items()})


def read_parquet(source: list[FilePath] | BytesIO, *, name: str) -> Raw:
    """A raw table from one or several parquet files."""
    try:
        return read_frame(pl.read_parquet(source, glob=False, hive_partitioning=False), name=name)
    # Damaged files can make the decoder panic, which polars does not raise as an Exception.
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise BadInput(Problem(name, f"cannot be read as parquet: {_first_line(error)}")) from error


def _first_line(error: BaseException) -> str:
    return reason(error).strip().partition("\n")[0]


Source: TypeAlias = Any
"""A path, `-` for standard input, or a frame of polars, pandas, Arrow or any library that speaks their protocols."""


def load(source: Source, *, name: str) -> Raw:
    """The table as its source gives it; `name` is for a frame, a file is called by its path."""
    if isinstance(source, Raw):
        return source
    path = as_path(source)
    if path is None:
        return read_frame(source, name=name)
    if is_stdin(path):
        return _load_stdin(_stdin_content(sys.stdin))
    if extension(path) == WORKBOOK and not is_packed(path):
        return read_xlsx(_bytes_of(path), name=str(path))
    file = "parquet" if is_in_parts(path) else file_type(path)
    if file == "parquet":
        return read_parquet(parts(path), name=str(path))
    return _load_text(read_text(path), file, name=str(path))


def _load_text(text: str, file: FileType, *, name: str) -> Raw:
    if file == "jsonl":
        return read_jsonl(text, name=name)
    return read_delimited(text, name=name, separator="\t" if file == "tsv" else ",")


@cache
def _stdin_content(stdin: TextIO | None) -> bytes:
    """Read once, so that a command may read it again."""
    if stdin is None:
        raise UsageError("standard input is closed; name a file, or pipe one in")
    return stdin.buffer.read()


def _load_stdin(content: bytes) -> Raw:
    """A table without a file name: its first characters show its type."""
    if content.startswith(PARQUET_MAGIC):
        return read_parquet(BytesIO(content), name=STDIN)
    if content.startswith(GZIP_MAGIC):
        content = gzip.decompress(content)
    text = _decoded(content, STDIN)
    header = text.lstrip().partition("\n")[0]
    file: FileType = "jsonl" if header.startswith("{") else "tsv" if "\t" in header else "csv"
    return _load_text(text, file, name=STDIN)
