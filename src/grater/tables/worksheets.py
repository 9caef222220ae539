"""Filled worksheets as judgments: sheets of items that a person judged in a spreadsheet, without a server.

A worksheet (`grater.annotate.tasks.worksheet` writes them) is known by its columns `item`, `sentence` and `answers`;
the last lists the answers that `label` may have in each row, so a sheet needs no other file.  People sort it,
add rows and columns, leave answers blank; spreadsheets trim, quote, add a byte-order mark, write semicolons for
commas and capitals where a word was typed.  All that is taken as it is meant:

- rows that begin with `#` (instructions) or have neither item nor answer are not judgments;
- a row without an answer was not judged, and is counted;
- an answer is compared without blanks and capitals; another one is an error that names its row and its cell;
- the rater is the column `rater`; where it is empty all through, the name of the file.

Workbooks go through openpyxl, behind limits of our own: a file with too many members, one that unpacks to more than
`MOST_BYTES` and one that declares entities are refused before openpyxl sees it.  Written: text cells only, so that
nothing is ever a formula or turned into a date, with a bold header that stays in view, wrapped lines, and lists of
answers to choose from.  Read: the first sheet that has a header with `item`, else the first sheet; the last value of
a formula; a whole number as the text without a decimal point.  Rows keep their numbers, so that a message can name a
cell.
"""

from __future__ import annotations

import re
import warnings
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any
from xml.etree.ElementTree import ParseError
from zipfile import BadZipFile, ZipFile

import polars as pl

from grater.errors import BadInput, Problem, Problems
from grater.tables.schema import Raw, plain, text_of

ANSWERS, LABEL, RATER, ITEM = "answers", "label", "rater", "item"
MARKS = (ITEM, "sentence", ANSWERS, LABEL)
INSTRUCTION = "#"
SEPARATOR = "|"


@dataclass(frozen=True, slots=True)
class Worksheet:
    """Columns and rows of a sheet to fill, its instructions, and the answers that columns offer."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    instructions: tuple[str, ...]
    choices: Mapping[str, Sequence[str]]

    def __len__(self) -> int:
        return len(self.rows)


def answers_in(raw: Raw) -> int:
    """The number of items with something in the column for answers; 0 where this is not a worksheet."""
    if not set(MARKS) <= set(raw.columns):
        return 0
    pairs = zip(raw.columns[ITEM].to_list(), raw.columns[LABEL].to_list(), strict=True)
    return sum(bool(_text(label)) and not _text(item).startswith(INSTRUCTION) for item, label in pairs)


def answered(raw: Raw) -> tuple[Raw, int]:
    """The judgments of a worksheet, and how many items have no answer yet."""
    cells = {name: [_text(value) for value in series.to_list()] for name, series in raw.columns.items()}
    lines = raw.lines.to_list() if raw.lines is not None else list(range(2, raw.n_rows + 2))
    problems, kept, n_open = Problems(raw.name), [], 0
    labels: dict[int, str] = {}
    for row, (item, label) in enumerate(zip(cells[ITEM], cells[LABEL], strict=True)):
        if item.startswith(INSTRUCTION) or not (item or label):
            continue
        if not label:
            n_open += 1
            continue
        allowed = [answer.strip() for answer in cells[ANSWERS][row].split(SEPARATOR) if answer.strip()]
        by_form = {answer.casefold(): answer for answer in allowed}
        labels[row] = by_form.get(label.casefold(), "") if allowed else label  # any is meant where none are named
        if not item:
            cell = _address(raw, lines[row])
            problems.add(f"expected the item of the answer in cell {cell}, found an empty cell", line=lines[row])
        elif not labels[row]:
            wanted, cell = ", ".join(allowed), _address(raw, lines[row])
            problems.add(f"expected one of {wanted} in cell {cell}, found {label[:40]!r}", line=lines[row])
        kept.append(row)
    problems.done()
    if not kept:
        raise BadInput(Problem(raw.name, f"expected answers in the column {LABEL}, found none on {n_open} items"))
    columns = {
        name: pl.Series(name, [values[row] or None for row in kept], dtype=pl.String)
        for name, values in cells.items()
        if name != ANSWERS
    }
    columns[LABEL] = pl.Series(LABEL, [labels[row] for row in kept], dtype=pl.String)
    columns[RATER] = pl.Series(RATER, list(_raters(cells.get(RATER, []), kept, raw.name)), dtype=pl.String)
    return Raw(raw.name, columns, pl.Series("number", [lines[row] for row in kept], dtype=pl.Int64)), n_open


def _address(raw: Raw, line: int) -> str:
    from openpyxl.utils import get_column_letter

    return f"{get_column_letter(list(raw.columns).index(LABEL) + 1)}{line}"


def _raters(names: list[str], kept: list[int], name: str) -> Iterator[str]:
    """The rater of each row; one name typed once, or none at all, holds for the whole sheet."""
    typed = {each for each in names if each}
    file = re.split(r"[/\\]", name)[-1]
    only = typed.pop() if len(typed) == 1 else "" if typed else file.partition(".")[0] or file
    for row in kept:
        yield (names[row] if names else "") or only


def _text(value: object) -> str:
    return (text_of(plain(value)) or "").strip()


# Workbooks

MOST_BYTES = 256 * 1024 * 1024
MOST_MEMBERS = 10_000
MOST_ROWS, MOST_CELLS = 1 << 20, 1 << 26
"""The most rows or cells of a sheet: a cell may have any address, and empty ones before it count."""
LONGEST_CELL = 32_767
"""The most characters in a cell."""
LONGEST_LIST = 250
"""The most characters in a list of answers."""
NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
WIDTHS = {"item": 18, "before": 40, "sentence": 70, "question": 40, "answers": 24, "comment": 30}
UNREADABLE = (
    BadZipFile, ParseError, zlib.error, AttributeError, EOFError, IndexError, KeyError, NotImplementedError, OSError,
    TypeError, ValueError,
)  # fmt: skip
"""The errors of openpyxl and zipfile for a damaged file."""


def workbook(sheet: Worksheet) -> bytes:
    """The file of a worksheet, its instructions on a separate page."""
    from openpyxl import Workbook
    from openpyxl.worksheet.datavalidation import DataValidation

    book = Workbook()
    judge = book.active
    judge.title = "judge"
    _fill(judge, sheet.columns, sheet.rows, WIDTHS)
    for name, choices in sheet.choices.items():
        listed = ",".join(choices)
        if name in sheet.columns and len(listed) < LONGEST_LIST and '"' not in listed:
            # Other text is warned of and not refused, for the reader names what it cannot take.
            rule = DataValidation(
                type="list", formula1=f'"{listed}"', allow_blank=True, errorStyle="warning", showErrorMessage=True
            )
            column = judge.cell(1, sheet.columns.index(name) + 1).column_letter
            rule.add(f"{column}2:{column}{len(sheet.rows) + 1}")
            judge.add_data_validation(rule)
    guide = book.create_sheet("instructions")
    _fill(guide, ("How to judge",), [(line,) for line in sheet.instructions], {"How to judge": 110})
    stream = BytesIO()
    book.save(stream)
    return stream.getvalue()


def _fill(page: Any, columns: Sequence[str], rows: Sequence[Sequence[str]], widths: Mapping[str, int]) -> None:
    from openpyxl.styles import Alignment, Font

    wrapped, bold = Alignment(vertical="top", wrap_text=True), Font(bold=True)
    for number, row in enumerate([columns, *rows], 1):
        for place, text in enumerate(row, 1):
            cell = page.cell(number, place)
            cell.number_format = "@"
            if text:
                cell.value = NOT_XML.sub(" ", text)[:LONGEST_CELL]
                cell.data_type = "s"
            if number == 1:
                cell.font = bold
            else:
                cell.alignment = wrapped
    for name, cell in zip(columns, page[1], strict=True):
        page.column_dimensions[cell.column_letter].width = widths.get(name, 14)
    page.freeze_panes = "A2"


def read_xlsx(content: bytes, *, name: str) -> Raw:
    """The table of a workbook, every cell text; lines are the rows of its sheet."""
    try:
        with ZipFile(BytesIO(content)) as archive:
            members = archive.infolist()
            if len(members) > MOST_MEMBERS or sum(info.file_size for info in members) > MOST_BYTES:
                raise BadInput(Problem(name, "expected a workbook of moderate size, found one that unpacks to more"))
            for info in members:
                # Zeros are those of UTF-16, in which a declaration could hide.
                text = archive.read(info).replace(b"\0", b"") if info.filename.endswith((".xml", ".rels")) else b""
                if b"<!DOCTYPE" in text or b"<!ENTITY" in text:
                    raise ValueError("it declares entities, which are not read")
        rows = _rows(content)
    except UNREADABLE as error:
        message = f"cannot be read as a workbook ({str(error)[:80]}); save the sheet as .csv first"
        raise BadInput(Problem(name, message)) from error
    if not rows:
        raise BadInput(Problem(name, "expected a row that names the columns, found an empty sheet"))
    first, *rest = rows
    header = {place: text.strip() for place, text in enumerate(rows[first]) if text.strip()}
    if len(set(header.values())) < len(header):
        raise BadInput(Problem(name, f"expected every column once, found {', '.join(header.values())}", first))
    columns = {
        column: pl.Series(
            column, [rows[number][place] or None if place < len(rows[number]) else None for number in rest], pl.String
        )
        for place, column in header.items()
    }
    return Raw(name, columns, pl.Series("number", rest, dtype=pl.Int64))


def _rows(content: bytes) -> dict[int, list[str]]:
    """The rows with text, by number, of the sheet whose first row names an item, else of the first sheet."""
    from openpyxl import load_workbook

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what openpyxl does not know and we do not need
        book = load_workbook(BytesIO(content), read_only=True, data_only=True)
        pages: list[dict[int, list[str]]] = []
        n_cells = 0
        for page in book.worksheets:
            page.reset_dimensions()  # other programs write wrong ones
            rows: dict[int, list[str]] = {}
            for number, cells in enumerate(page.iter_rows(max_row=MOST_ROWS, values_only=True), 1):
                n_cells += len(cells)
                if n_cells > MOST_CELLS:
                    raise ValueError("it has too many cells")
                texts = [text_of(plain(cell)) or "" for cell in cells]
                if any(text.strip() for text in texts):
                    rows[number] = texts
            if any(text.strip().lower() in ("item", "task") for text in next(iter(rows.values()), [])):
                return rows
            pages.append(rows)
    return pages[0] if pages else {}
