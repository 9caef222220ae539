"""Spreadsheets (Office Open XML, ECMA-376, part 1, chapter 18) as far as a table needs them.

A workbook is a zip of XML files.  Written: text cells only, so that nothing is ever a formula or turned into a date,
with a bold header that stays in view, wrapped lines, and lists of answers to choose from (data validation).  Read:
the first sheet that has a header with `item`, else the first sheet; shared, inline and formatted text, numbers,
booleans and the last value of a formula, as Excel, LibreOffice and Google Sheets write them.  A whole number is the
text without a decimal point.  Rows keep their numbers, so that a message can name a cell.

What is not read: dates (a table of judgments has none), styles, merged cells, passwords.  Declarations of entities
are refused, and so is a file that unpacks to more than `MOST_BYTES`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from io import BytesIO
from xml.etree import ElementTree
from zipfile import BadZipFile, ZipFile, ZipInfo

import polars as pl

from grater.errors import BadInput, Problem
from grater.tables.raw import Raw, text_of

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
MOST_BYTES = 256 * 1024 * 1024
LONGEST_CELL = 32_767
"""Characters that a cell may have."""
NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
CELL = re.compile(r"([A-Z]{1,3})(\d+)")


@dataclass(frozen=True, slots=True)
class Page:
    """One sheet of a workbook; `choices` are the answers that a column offers, `widths` its width in characters."""

    name: str
    columns: tuple[str, ...]
    rows: Sequence[Sequence[str]]
    choices: Mapping[str, Sequence[str]] = field(default_factory=dict)
    widths: Mapping[str, int] = field(default_factory=dict)


# Writing


def workbook(pages: Sequence[Page]) -> bytes:
    """The file of a workbook; the same pages give the same bytes."""
    files = {
        "[Content_Types].xml": _content_types(len(pages)),
        "_rels/.rels": _relations([("officeDocument", "xl/workbook.xml")]),
        "xl/workbook.xml": _book(pages),
        "xl/_rels/workbook.xml.rels": _relations(
            [*(("worksheet", f"worksheets/sheet{n}.xml") for n in range(1, len(pages) + 1)), ("styles", "styles.xml")]
        ),
        "xl/styles.xml": STYLES,
        **{f"xl/worksheets/sheet{n}.xml": _sheet(page) for n, page in enumerate(pages, 1)},
    }
    stream = BytesIO()
    with ZipFile(stream, "w") as archive:
        for name, text in files.items():
            info = ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            info.compress_type = 8
            archive.writestr(info, HEAD + text)
    return stream.getvalue()


HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
STYLES = (
    f'<styleSheet xmlns="{MAIN}"><fonts count="2"><font/><font><b/></font></fonts>'
    '<fills count="2"><fill><patternFill patternType="none"/></fill>'
    '<fill><patternFill patternType="gray125"/></fill></fills>'
    '<borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="2">'
    '<xf numFmtId="49" applyAlignment="1"><alignment vertical="top" wrapText="1"/></xf>'
    '<xf numFmtId="49" fontId="1" applyFont="1"/></cellXfs>'
    '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>'
)


def _content_types(n_pages: int) -> str:
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    parts = [("/xl/workbook.xml", "sheet.main"), ("/xl/styles.xml", "styles")]
    parts += [(f"/xl/worksheets/sheet{n}.xml", "worksheet") for n in range(1, n_pages + 1)]
    overrides = "".join(f'<Override PartName="{path}" ContentType="{kind}.{name}+xml"/>' for path, name in parts)
    rels = '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    return f'<Types xmlns="{PACKAGE}/content-types">{rels}{overrides}</Types>'


def _relations(targets: Sequence[tuple[str, str]]) -> str:
    rows = (
        f'<Relationship Id="r{n}" Type="{RELATIONS}/{kind}" Target="{target}"/>'
        for n, (kind, target) in enumerate(targets, 1)
    )
    return f'<Relationships xmlns="{PACKAGE}/relationships">{"".join(rows)}</Relationships>'


def _book(pages: Sequence[Page]) -> str:
    sheets = (
        f'<sheet name="{escape(page.name[:31])}" sheetId="{n}" r:id="r{n}"/>' for n, page in enumerate(pages, 1)
    )
    return f'<workbook xmlns="{MAIN}" xmlns:r="{RELATIONS}"><sheets>{"".join(sheets)}</sheets></workbook>'


def _sheet(page: Page) -> str:
    view = '<sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" state="frozen"/>'
    widths = "".join(
        f'<col min="{n}" max="{n}" width="{page.widths.get(name, 14)}" customWidth="1"/>'
        for n, name in enumerate(page.columns, 1)
    )
    rows = "".join(
        _row(number, row, 1 if number == 1 else 0) for number, row in enumerate([page.columns, *page.rows], 1)
    )
    return (
        f'<worksheet xmlns="{MAIN}">{view}</sheetView></sheetViews><cols>{widths}</cols>'
        f"<sheetData>{rows}</sheetData>{_validation(page)}</worksheet>"
    )


def _row(number: int, cells: Sequence[str], style: int) -> str:
    written = "".join(
        f'<c r="{letters(place)}{number}" s="{style}" t="inlineStr"><is><t xml:space="preserve">'
        f"{escape(NOT_XML.sub(' ', text)[:LONGEST_CELL], quote=False)}</t></is></c>"
        if text
        else f'<c r="{letters(place)}{number}" s="{style}"/>'
        for place, text in enumerate(cells)
    )
    return f'<row r="{number}">{written}</row>'


def _validation(page: Page) -> str:
    """Answers to pick from; other text is warned of and not refused, for the reader names what it cannot take."""
    rules = []
    for name, choices in page.choices.items():
        listed = ",".join(choices)
        if name in page.columns and len(listed) < 250 and '"' not in listed:
            column = letters(page.columns.index(name))
            rules.append(
                '<dataValidation type="list" allowBlank="1" errorStyle="warning" showErrorMessage="1" '
                f'sqref="{column}2:{column}{len(page.rows) + 1}"><formula1>"{escape(listed, quote=False)}"</formula1>'
                "</dataValidation>"
            )
    return f'<dataValidations count="{len(rules)}">{"".join(rules)}</dataValidations>' if rules else ""


def letters(place: int) -> str:
    """The name of a column by its place: A, B, ... Z, AA."""
    name = ""
    place += 1
    while place:
        place, rest = divmod(place - 1, 26)
        name = chr(ord("A") + rest) + name
    return name


# Reading


def read_xlsx(content: bytes, *, name: str) -> Raw:
    """The table of a workbook, every cell text; lines are the rows of its sheet."""
    try:
        with ZipFile(BytesIO(content)) as archive:
            if sum(info.file_size for info in archive.infolist()) > MOST_BYTES:
                raise BadInput(Problem(name, "expected a workbook of moderate size, found one that unpacks to more"))
            return _table(archive, name)
    except (BadZipFile, KeyError, ValueError, OSError, ElementTree.ParseError, NotImplementedError) as error:
        message = f"cannot be read as a workbook ({str(error)[:80]}); save the sheet as .csv first"
        raise BadInput(Problem(name, message)) from error


def _table(archive: ZipFile, name: str) -> Raw:
    strings = _shared(archive)
    pages = [_cells(archive, path, strings) for path in _sheet_paths(archive)]
    rows = next((page for page in pages if _has_item(page)), pages[0] if pages else {})
    filled = {number: row for number, row in sorted(rows.items()) if any(text.strip() for text in row.values())}
    if not filled:
        raise BadInput(Problem(name, "expected a row that names the columns, found an empty sheet"))
    first, *rest = filled
    header = {place: text.strip() for place, text in filled[first].items() if text.strip()}
    if len(set(header.values())) < len(header):
        raise BadInput(Problem(name, f"expected every column once, found {', '.join(header.values())}", first))
    columns = {
        column: pl.Series(column, [filled[number].get(place) or None for number in rest], dtype=pl.String)
        for place, column in header.items()
    }
    return Raw(name, columns, pl.Series("number", rest, dtype=pl.Int64))


def _has_item(rows: Mapping[int, Mapping[int, str]]) -> bool:
    first = next((row for _, row in sorted(rows.items()) if row), {})
    return any(text.strip().lower() in ("item", "task") for text in first.values())


def _tree(archive: ZipFile, path: str) -> ElementTree.Element:
    content = archive.read(path)
    if b"<!DOCTYPE" in content or b"<!ENTITY" in content:
        raise ValueError("it declares entities, which are not read")
    return ElementTree.fromstring(content)


def _sheet_paths(archive: ZipFile) -> list[str]:
    """The files of the sheets in the order of their tabs."""
    targets = {
        element.get("Id"): str(element.get("Target")).removeprefix("/xl/")
        for element in _tree(archive, "xl/_rels/workbook.xml.rels")
    }
    sheets = _tree(archive, "xl/workbook.xml").iter(f"{{{MAIN}}}sheet")
    return [f"xl/{targets[sheet.get(f'{{{RELATIONS}}}id')]}" for sheet in sheets]


def _shared(archive: ZipFile) -> list[str]:
    path = "xl/sharedStrings.xml"
    if path not in archive.namelist():
        return []
    return [_text(element) for element in _tree(archive, path).iter(f"{{{MAIN}}}si")]


def _text(element: ElementTree.Element) -> str:
    """The text of a cell, its formatted parts joined; phonetic readings (`rPh`) are no part of it."""
    runs = [part for part in element if part.tag != f"{{{MAIN}}}rPh"]
    return "".join(piece.text or "" for run in runs for piece in run.iter(f"{{{MAIN}}}t"))


def _cells(archive: ZipFile, path: str, strings: Sequence[str]) -> dict[int, dict[int, str]]:
    """By row and by column what stands in each cell; a row or a cell without an address follows the one before."""
    rows: dict[int, dict[int, str]] = {}
    number = 0
    for row in _tree(archive, path).iter(f"{{{MAIN}}}row"):
        number = int(row.get("r") or number + 1)
        rows[number] = dict(_row_cells(row, strings))
    return rows


def _row_cells(row: ElementTree.Element, strings: Sequence[str]) -> Iterator[tuple[int, str]]:
    place = -1
    for cell in row.iter(f"{{{MAIN}}}c"):
        address = CELL.fullmatch(cell.get("r") or "")
        place = _place(address[1]) if address else place + 1
        yield place, _value(cell, strings)


def _place(name: str) -> int:
    place = 0
    for letter in name:
        place = place * 26 + ord(letter) - ord("A") + 1
    return place - 1


def _value(cell: ElementTree.Element, strings: Sequence[str]) -> str:
    kind, inline = cell.get("t", "n"), cell.find(f"{{{MAIN}}}is")
    if inline is not None:
        return _text(inline)
    text = cell.findtext(f"{{{MAIN}}}v") or ""
    if kind == "s":
        return strings[int(text)] if text else ""
    if kind == "n" and text:
        return text_of(float(text)) or text
    return {"1": "true", "0": "false"}.get(text, text) if kind == "b" else text
