"""Any source of a table (a path, standard input, a frame) as a raw table; `grater.files` writes files.

*Files.*  The extension says the type: `.csv`, `.tsv`, `.jsonl` (or `.ndjson`), each also packed as `.gz`; `.parquet`.
Text is UTF-8 with or without a byte-order mark; a byte that is not UTF-8 is an error that names its position.
Standard input has no extension and is known by its first characters.  Workbooks (`.xlsx`) are read, not written.

*Comma- and tab-separated text* (RFC 4180).  The first line names the columns.  A cell may be quoted; inside quotes a
quote is doubled, and line ends are part of the cell.  Blank lines and rows of empty cells are skipped, lines may end
in CRLF, an empty cell is missing, and every row must have as many cells as the header.  Departures: batch files of
Mechanical Turk name the columns `Approve` and `Reject` and leave them out of every row; Excel may name its separator
in a line before the header (`sep=;`), and where semicolons separate, numbers may have a decimal comma.  A text
without any quote is split by polars; one with quotes by Python's csv module, four or five times slower and exact.

*Formulas.*  A text that starts with one of `= + - @`, their full-width forms, a tab or a line end is taken for a
formula by spreadsheets.  Such a cell is written with an apostrophe before it; one that has apostrophes before such a
sign already gets one more, so that reading, which takes one away, gives back what was there.  Numbers (`-1`) and
`-NONE-` run nothing and stay as they are.

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
import os
import re
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cache
from io import BytesIO
from itertools import chain, islice
from pathlib import Path
from tempfile import TemporaryFile
from threading import Lock
from typing import Any, Literal, TextIO, TypeAlias, cast

import polars as pl

from grater.errors import BadInput, Problem, Problems, UsageError
from grater.files import reason
from grater.model import DELETE
from grater.tables.raw import Raw, joined, plain, series_of
from grater.tables.worksheets import is_worksheet_header
from grater.tables.xlsx import read_xlsx

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
SPREADSHEETS = (".ods", ".xls", WORKBOOK)
STDIN = "standard input"
PARQUET_MAGIC, GZIP_MAGIC = b"PAR1", b"\x1f\x8b"
BOM = b"\xef\xbb\xbf"
UTF16 = (b"\xff\xfe", b"\xfe\xff")


def as_path(source: object) -> Path | None:
    """The path that a source is, or None where it is something else."""
    return Path(source) if isinstance(source, str | Path) else None


def file_type(path: Path) -> FileType:
    """What the extension says; `.gz` behind it does not count, except that parquet is packed inside."""
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
    """The last extension but `.gz`, in lower case."""
    return (path.with_suffix("") if is_packed(path) else path).suffix.lower()


def is_packed(path: Path) -> bool:
    return path.suffix.lower() == PACKED


def beside(path: Path, suffix: str) -> Path:
    """The file that goes with a table: `draws/first.meta.json` with `draws/first.csv.gz`."""
    return (path.with_suffix("") if is_packed(path) else path).with_suffix(suffix)


MANIFEST, UNFINISHED = "manifest.json", "unfinished.json"
PARTS_FORMAT = "grater-parts"
"""A folder of results that `grater.scale` wrote: its manifest names the parts, and comes last."""


def parts(path: Path) -> list[Path]:
    """The parquet files of a table: itself, those that the manifest of a folder names, or all, as Spark writes it."""
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
    """The whole file as text, its byte-order mark gone."""
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
    """The cells as they may be shown to a spreadsheet."""
    is_risky = cells.str.contains(RISKY) & ~cells.str.contains(HARMLESS)
    return _chosen(is_risky, "'" + cells, cells)


def guarded_frame(frame: pl.DataFrame) -> pl.DataFrame:
    """A whole table, its header too; only text can be a formula."""
    cells = [guarded(series) if series.dtype == pl.String else series for series in frame.get_columns()]
    names = guarded(pl.Series(frame.columns, dtype=pl.String))
    return pl.DataFrame(dict(zip(names, cells, strict=True)))


def unguarded(cells: pl.Series) -> pl.Series:
    """The cells as they were before they were guarded."""
    is_guarded = cells.str.contains(GUARDED)
    return _chosen(is_guarded, cells.str.slice(1), cells)


def _chosen(mask: pl.Series, changed: pl.Series, cells: pl.Series) -> pl.Series:
    if not mask.any():
        return cells
    return pl.select(pl.when(mask).then(changed).otherwise(cells).alias(cells.name)).to_series()


QUOTE = '"'
SEPARATORS = (";", "\t", ",")
NAMED_SEPARATOR = re.compile(r'("?)sep=(?P<separator>[;,\t|])\1(?=\r?\n)', re.IGNORECASE)
HEADER_WITHIN = 20
"""Lines among which the header is looked for; those before it are blank."""
N_ROWS_TOGETHER = 20_000
LEFT_OUT = ["Approve", "Reject"]


def read_delimited(text: str, *, name: str, separator: str) -> Raw:
    """The table that the text holds; every cell is text.

    A header without the separator that the file's name speaks of, but with another, has that one: spreadsheets of
    many countries write `.csv` with semicolons.
    """
    if "\r" in text and "\n" not in text:
        text = text.replace("\r", "\n")
    named = NAMED_SEPARATOR.match(text)
    separator = named["separator"] if named else _separator_of(text, separator)
    text = text[named.end() :] if named else text
    raw = (_read_quoted if QUOTE in text else _read_plain)(text, name, separator)
    return replace(raw, has_decimal_commas=separator == ";")


def _read_plain(text: str, name: str, separator: str) -> Raw:
    lines = pl.Series("line", text.split("\n"), dtype=pl.String).str.strip_suffix("\r")
    frame = pl.DataFrame([lines, pl.int_range(1, len(lines) + 1, eager=True).alias("number")])
    frame = frame.filter(pl.col("line") != "")
    names = [cell for line in frame["line"].head(1) for cell in line.split(separator)]
    header = _checked_header(names, name)
    cells, numbers = frame["line"].slice(1), frame["number"].slice(1)
    n_cells = cells.str.count_matches(separator, literal=True) + 1
    _check_widths(n_cells, numbers, header, name)
    if len(header) == 1:
        return _raw(name, header, pl.DataFrame([cells]), numbers)
    return _raw(name, header, cells.str.split_exact(separator, len(header) - 1).struct.unnest(), numbers)


def _checked_header(header: list[str], name: str) -> list[str]:
    if not header:
        raise BadInput(Problem(name, "expected a line that names the columns, found an empty file"))
    header = unguarded(pl.Series([cell.strip() for cell in header], dtype=pl.String)).to_list()
    repeated = sorted({column for column in header if header.count(column) > 1})
    if repeated:
        names = ", ".join(repr(column) for column in repeated)
        raise BadInput(Problem(name, f"expected every column once, found {names} more than once in the header", 1))
    return header


def _separator_of(text: str, expected: str) -> str:
    header = next((line for line in text.split("\n", HEADER_WITHIN) if line.strip()), "")
    others = (other for other in SEPARATORS if other in header)
    return expected if expected in header else next(others, expected)


def _check_widths(n_cells: pl.Series, numbers: pl.Series, header: list[str], name: str) -> None:
    problems = Problems(name)
    is_bad = n_cells != len(header)
    if header[-2:] == LEFT_OUT:
        is_bad &= n_cells != len(header) - len(LEFT_OUT)
    for n_found, line in zip(n_cells.filter(is_bad), numbers.filter(is_bad), strict=True):
        problems.add(f"expected {len(header)} cells as in the header, found {n_found}", line=line)
    problems.done()


def _read_quoted(text: str, name: str, separator: str) -> Raw:
    # The module's limit on the size of a cell is global; it is only ever raised, to what this text needs.
    csv.field_size_limit(max(csv.field_size_limit(), len(text)))
    rows = _rows(text, name, separator)
    header = _checked_header(next(rows, (0, []))[1], name)
    parts = [_part(together, header, name) for together in _batches(rows)]
    numbers = pl.Series("number", [line for _, lines in parts for line in lines], dtype=pl.Int64)
    frames = [frame for frame, _ in parts] or [pl.DataFrame(schema=dict.fromkeys(header, pl.String))]
    return _raw(name, header, pl.concat(frames), numbers)


def _rows(text: str, name: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Every row that is not blank, with the line where it begins."""
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


def _batches(rows: Iterator[tuple[int, list[str]]]) -> Iterator[list[tuple[int, list[str]]]]:
    while together := list(islice(rows, N_ROWS_TOGETHER)):
        yield together


def _part(together: list[tuple[int, list[str]]], header: list[str], name: str) -> tuple[pl.DataFrame, list[int]]:
    lines = [line for line, _ in together]
    n_cells = pl.Series([len(row) for _, row in together], dtype=pl.Int64)
    _check_widths(n_cells, pl.Series(lines, dtype=pl.Int64), header, name)
    padded = (row if len(row) == len(header) else [*row, *("" for _ in LEFT_OUT)] for _, row in together)
    columns = [
        pl.Series(column, cells, dtype=pl.String)
        for column, cells in zip(header, zip(*padded, strict=True), strict=True)
    ]
    return pl.DataFrame(columns), lines


def _raw(name: str, header: list[str], frame: pl.DataFrame, numbers: pl.Series) -> Raw:
    columns = {
        column: unguarded(series.alias("cells")).replace("", None).alias(column)  # polars reads "^$" as a pattern
        for column, series in zip(header, frame.get_columns(), strict=True)
    }
    if columns and all(cells.null_count() for cells in columns.values()):
        is_filled = pl.DataFrame(columns).select(pl.any_horizontal(pl.all().is_not_null())).to_series()
        columns = {column: cells.filter(is_filled) for column, cells in columns.items()}
        numbers = numbers.filter(is_filled)
    return Raw(name, columns, numbers)


N_LINES_TOGETHER = 10_000


def read_jsonl(text: str, *, name: str) -> Raw:
    """The table that the lines hold."""
    if not text.strip():
        raise BadInput(Problem(name, "expected a JSON object a line, found an empty file"))
    problems = Problems(name)
    lines: list[int] = []
    parts: dict[str, list[pl.Series]] = {}
    filled = ((number, line) for number, line in enumerate(text.split("\n"), 1) if line and not line.isspace())
    while together := list(islice(filled, N_LINES_TOGETHER)):
        rows = _decoded_at_once(together) or list(_each_decoded(together, problems))
        _add(parts, [row for _, row in rows], n_before=len(lines))
        lines += [number for number, _ in rows]
    problems.done()
    columns = {key: joined(key, series) for key, series in parts.items()}
    return Raw(name, columns, pl.Series("number", lines, dtype=pl.Int64))


def _add(parts: dict[str, list[pl.Series]], rows: list[dict[str, object]], *, n_before: int) -> None:
    """Puts rows under their columns; a column that they are the first to have was empty before."""
    for key in dict.fromkeys(chain.from_iterable(rows)):
        if key not in parts:
            parts[key] = [pl.repeat(None, n_before, dtype=pl.Null, eager=True)]
    for key, series in parts.items():
        series.append(series_of(key, [row.get(key) for row in rows]))


def _decoded_at_once(together: list[tuple[int, str]]) -> list[tuple[int, dict[str, object]]] | None:
    """The lines as one JSON list, which takes half the time; None where anything about them is odd."""
    text = ",".join(line for _, line in together)
    if "\\u" in text:
        return None
    try:
        rows = json.loads(f"[{text}]")
    except (ValueError, RecursionError):
        return None
    if len(rows) != len(together) or set(map(type, rows)) != {dict}:
        return None
    return [(number, row) for (number, _), row in zip(together, rows, strict=True)]


def _each_decoded(together: list[tuple[int, str]], problems: Problems) -> Iterator[tuple[int, dict[str, object]]]:
    for number, line in together:
        try:
            row = json.loads(line)
            # Half a surrogate pair can be written in JSON and nowhere else.
            json.dumps(row, ensure_ascii=False).encode()
        except (ValueError, RecursionError) as error:
            problems.add(f"expected a JSON object, found {_shown(line)}: {error}", line=number)
            continue
        if isinstance(row, dict):
            yield number, row
        else:
            problems.add(f"expected a JSON object, found {_shown(line)}", line=number)


def _shown(line: str) -> str:
    line = line.strip()
    return repr(line if len(line) <= 40 else f"{line[:40]}...")


REFUSALS = (ValueError, TypeError, NotImplementedError, ImportError, KeyError)
"""How frames and their libraries say that a column has no Arrow type; polars has an error of its own for it."""

CONVERTERS = ("to_arrow", "to_pandas", "toPandas")
"""Methods by which tables of other libraries (datasets, Spark, Ibis) become frames."""


def read_frame(frame: object, *, name: str) -> Raw:
    """The table that a frame holds."""
    if isinstance(frame, pl.LazyFrame):
        return _collected(frame, name)
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


def _collected(frame: pl.LazyFrame, name: str) -> Raw:
    try:
        return read_frame(frame.collect(), name=name)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise BadInput(Problem(name, f"cannot be computed: {_first_line(error)}")) from error


def _column_by_column(frame: object, name: str, refusal: str) -> Raw:
    """Uses the two things that every data frame has: `columns`, and a column by its name."""
    try:
        columns = list(frame.columns)  # type: ignore[attr-defined]
        _refuse_repeats([str(column) for column in columns], name)
        values = {str(column): frame[column].tolist() for column in columns}  # type: ignore[index]
    except (AttributeError, *REFUSALS, pl.exceptions.PolarsError) as error:
        raise BadInput(Problem(name, f"cannot be read as a table: {refusal}")) from error
    return Raw(name, {key: series_of(key, [plain(value) for value in cells]) for key, cells in values.items()})


def _refuse_repeats(names: list[str], name: str) -> None:
    if len(set(names)) < len(names):
        raise BadInput(Problem(name, f"expected every column once, found {', '.join(names)}"))


def read_parquet(source: list[FilePath] | BytesIO, *, name: str) -> Raw:
    """The table of one parquet file or several."""
    try:
        with _panics_unprinted():
            frame = pl.read_parquet(source, glob=False, hive_partitioning=False)
        return read_frame(frame, name=name)
    # Damaged files can make the decoder panic, which polars does not raise as an Exception.
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise BadInput(Problem(name, f"cannot be read as parquet: {_first_line(error)}")) from error


ERRORS_OUT = 2
"""The number of standard error in every process."""

_ONE_AT_A_TIME = Lock()


@contextmanager
def _panics_unprinted() -> Iterator[None]:
    """Whatever is written to standard error in here is passed on at the end, but for the decoder's own panics.

    They are printed below Python, so the file itself has to be exchanged for a while.
    """
    with _ONE_AT_A_TIME, TemporaryFile() as words:
        try:
            before = os.dup(ERRORS_OUT)
        except OSError:  # closed: nothing can be printed
            yield
            return
        os.dup2(words.fileno(), ERRORS_OUT)
        try:
            yield
        except pl.exceptions.PanicException:
            words.truncate(0)
            raise
        finally:
            os.dup2(before, ERRORS_OUT)
            os.close(before)
            words.seek(0)
            with suppress(OSError):
                os.write(ERRORS_OUT, words.read())


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
    if is_in_parts(path):
        return read_parquet(parts(path), name=str(path))
    file = file_type(path)
    if file == "parquet":
        return read_parquet(parts(path), name=str(path))
    return _load_text(read_text(path), file, name=str(path))


def read_content(content: bytes, path: Path) -> Raw:
    """The table that bytes hold which stand in such a file of text."""
    return _load_text(_decoded(content, str(path)), file_type(path), name=str(path))


def _load_text(text: str, file: FileType, *, name: str) -> Raw:
    if file == "jsonl":
        return read_jsonl(text, name=name)
    return read_delimited(text, name=name, separator="\t" if file == "tsv" else _separator(text))


def _separator(text: str) -> str:
    """A comma, unless a worksheet came back from a spreadsheet that writes semicolons."""
    header = text.lstrip().partition("\n")[0]
    return ";" if is_worksheet_header(header.split(";")) else ","


@cache
def _stdin_content(stdin: TextIO | None) -> bytes:
    """Read once, so that a command may come back to it."""
    if stdin is None:
        raise UsageError("standard input is closed; name a file, or pipe one in")
    return stdin.buffer.read()


def _load_stdin(content: bytes) -> Raw:
    """A table without a file name: its first characters say of which type it is."""
    if content.startswith(PARQUET_MAGIC):
        return read_parquet(BytesIO(content), name=STDIN)
    if content.startswith(GZIP_MAGIC):
        content = gzip.decompress(content)
    text = _decoded(content, STDIN)
    header = text.lstrip().partition("\n")[0]
    if header.startswith("{"):
        return read_jsonl(text, name=STDIN)
    return _load_text(text, "tsv" if "\t" in header else "csv", name=STDIN)
