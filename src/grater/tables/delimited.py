"""Comma- and tab-separated tables (RFC 4180), with the line of every row.

The first line names the columns.  A cell may be quoted; inside quotes a quote is doubled, and line ends are part of
the cell.  Blank lines are skipped, lines may end in CRLF, an empty cell is missing, and every row must have as many
cells as the header. Departure: batch files of Mechanical Turk name the columns `Approve` and `Reject` and leave
them out of every row.

A text without any quote is split by polars; one with quotes by Python's csv module, slower by four or five and exact.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from itertools import islice

import polars as pl

from grater.errors import BadInput, Problem, Problems
from grater.tables.formulas import unguarded
from grater.tables.raw import Raw

QUOTE = '"'
N_TOGETHER = 20_000
LEFT_OUT = ["Approve", "Reject"]


def read_delimited(text: str, *, name: str, separator: str) -> Raw:
    """The table that the text holds; every cell is text."""
    if "\r" in text and "\n" not in text:
        text = text.replace("\r", "\n")
    if QUOTE in text:
        return _read_quoted(text, name, separator)
    return _read_plain(text, name, separator)


def _read_plain(text: str, name: str, separator: str) -> Raw:
    lines = pl.Series("line", text.split("\n"), dtype=pl.String).str.strip_suffix("\r")
    frame = pl.DataFrame([lines, pl.int_range(1, len(lines) + 1, eager=True).alias("number")])
    frame = frame.filter(pl.col("line") != "")
    names = [cell for line in frame["line"].head(1) for cell in line.split(separator)]
    header = _checked_header(names, name, separator)
    cells, numbers = frame["line"].slice(1), frame["number"].slice(1)
    n_cells = cells.str.count_matches(separator, literal=True) + 1
    _check_widths(n_cells, numbers, header, name)
    if len(header) == 1:
        return _raw(name, header, pl.DataFrame([cells]), numbers)
    return _raw(name, header, cells.str.split_exact(separator, len(header) - 1).struct.unnest(), numbers)


def _checked_header(header: list[str], name: str, separator: str) -> list[str]:
    if not header:
        raise BadInput(Problem(name, "expected a line that names the columns, found an empty file"))
    header = unguarded(pl.Series([cell.strip() for cell in header], dtype=pl.String)).to_list()
    if len(header) == 1:
        _refuse_other_separators(header[0], name, separator)
    repeated = sorted({column for column in header if header.count(column) > 1})
    if repeated:
        names = ", ".join(repr(column) for column in repeated)
        raise BadInput(Problem(name, f"expected every column once, found {names} more than once in the header", 1))
    return header


def _refuse_other_separators(only: str, name: str, separator: str) -> None:
    for other, words in ((";", "semicolons"), ("\t", "tabs"), (",", "commas")):
        if other in only and other != separator:
            expected = "commas" if separator == "," else "tabs"
            wish = (
                "name it .tsv" if other == "\t" else "name it .csv" if other == "," else "save it with commas as .csv"
            )
            raise BadInput(Problem(name, f"expected cells separated by {expected}, found {words}; {wish}", 1))


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
    header = _checked_header(next(rows, (0, []))[1], name, separator)
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
    while together := list(islice(rows, N_TOGETHER)):
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
        column: unguarded(series.alias(column)).replace("", None)
        for column, series in zip(header, frame.get_columns(), strict=True)
    }
    return Raw(name, columns, numbers)
