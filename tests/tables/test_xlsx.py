"""Workbooks as a table needs them: ours, and as other programs write them."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from xml.sax.saxutils import escape
from zipfile import ZipFile

import pytest
from openpyxl import load_workbook

from grater.errors import BadInput
from grater.tables import read_judgments, worksheets, write_worksheet
from grater.tables.files import load
from grater.tables.worksheets import Worksheet, read_xlsx

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
ROWS = (("a1", "=1+1", " x "), ("a2", "Zoë & <b>", ""), ("a3", "two\nlines", "0"), ("a4", "#N/A\x07", "01"))


def test_a_workbook_comes_back_as_text_with_answers_to_choose_from_and_its_instructions(tmp_path: Path) -> None:
    path = tmp_path / "w.xlsx"
    write_worksheet(Worksheet(("item", "sentence", "more"), ROWS, ("How.",), {"more": ["0", "x"]}), path)
    raw = load(path, name="")
    assert {name: cells.to_list() for name, cells in raw.columns.items()} == {
        "item": ["a1", "a2", "a3", "a4"],
        "sentence": ["=1+1", "Zoë & <b>", "two\nlines", "#N/A "],
        "more": [" x ", None, "0", "01"],
    }
    assert raw.lines is not None
    assert raw.lines.to_list() == [2, 3, 4, 5]
    write_worksheet(Worksheet(("item", "label"), (("=a", ""),), ("One.", "Two."), {"label": ["error", "ok"]}), path)
    book = load_workbook(path)
    judge, guide = book.worksheets
    (rule,) = judge.data_validations.dataValidation
    assert (str(rule.sqref), rule.formula1, rule.errorStyle) == ("B2", '"error,ok"', "warning")
    assert (judge["A2"].value, judge["A2"].data_type, judge["A2"].number_format) == ("=a", "s", "@")
    assert judge["A1"].font.bold
    assert judge.freeze_panes == "A2"
    assert [cell.value for cell in guide["A"]] == ["How to judge", "One.", "Two."]


def as_others_write(sheet: str, *, strings: tuple[str, ...] = (), tab: str = "Sheet1") -> bytes:
    """A workbook with shared strings, the sheet behind another one, as LibreOffice and Excel save it."""
    shared = "".join(text if text.startswith("<") else f"<si><t>{escape(text)}</t></si>" for text in strings)
    rels = "".join(
        f'<Relationship Id="rId{n}" Type="{RELATIONS}/worksheet" Target="/xl/worksheets/sheet{n}.xml"/>'
        for n in (1, 2)
    )
    sheets = "".join(f'<sheet name="{name}" sheetId="{n}" r:id="rId{n}"/>' for n, name in ((1, "notes"), (2, tab)))
    parts = [("workbook", "sheet.main"), ("sharedStrings", "sharedStrings")]
    parts += [(f"worksheets/sheet{n}", "worksheet") for n in (1, 2)]
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    types = "".join(f'<Override PartName="/xl/{path}.xml" ContentType="{kind}.{name}+xml"/>' for path, name in parts)
    book = f'<Relationship Id="rId1" Type="{RELATIONS}/officeDocument" Target="xl/workbook.xml"/>'
    rels += f'<Relationship Id="rId3" Type="{RELATIONS}/sharedStrings" Target="sharedStrings.xml"/>'
    stream = BytesIO()
    with ZipFile(stream, "w") as archive:
        archive.writestr("[Content_Types].xml", f'<Types xmlns="{PACKAGE}/content-types">{types}</Types>')
        archive.writestr("_rels/.rels", f'<Relationships xmlns="{PACKAGE}/relationships">{book}</Relationships>')
        archive.writestr(
            "xl/workbook.xml", f'<workbook xmlns="{MAIN}" xmlns:r="{RELATIONS}"><sheets>{sheets}</sheets></workbook>'
        )
        archive.writestr(
            "xl/_rels/workbook.xml.rels", f'<Relationships xmlns="{PACKAGE}/relationships">{rels}</Relationships>'
        )
        archive.writestr("xl/sharedStrings.xml", f'<sst xmlns="{MAIN}">{shared}</sst>')
        archive.writestr("xl/worksheets/sheet1.xml", f'<worksheet xmlns="{MAIN}"><sheetData/></worksheet>')
        archive.writestr(
            "xl/worksheets/sheet2.xml", f'<worksheet xmlns="{MAIN}"><sheetData>{sheet}</sheetData></worksheet>'
        )
    return stream.getvalue()


def test_other_programs_write_shared_text_numbers_formulas_and_gaps(tmp_path: Path) -> None:
    strings = ("item", "rater", "label", "<si><r><t>er</t></r><r><t>ror</t></r></si>", "n1")
    sheet = (
        '<row r="2"><c r="A2" t="s"><v>0</v></c><c r="B2" t="s"><v>1</v></c><c r="D2" t="s"><v>2</v></c></row>'
        '<row r="5"><c r="A5" t="s"><v>4</v></c><c r="B5"><v>7</v></c><c r="D5" t="s"><v>3</v></c></row>'
        '<row r="6"><c r="A6" t="str"><f>A5</f><v>n2</v></c><c r="B6"><v>7.0</v></c>'
        '<c r="D6" t="inlineStr"><is><t>ok</t></is></c></row>'
        '<row r="900"><c r="A900"/></row>'
    )
    path = tmp_path / "j.xlsx"
    path.write_bytes(as_others_write(sheet, strings=strings))
    assert read_judgments(path).frame.select("item", "rater", "label").rows() == [
        ("n1", "7", "error"),
        ("n2", "7", "ok"),
    ]


def refused(content: bytes, message: str) -> None:
    with pytest.raises(BadInput, match=rf"^w\.xlsx: {message}"):
        read_xlsx(content, name="w.xlsx")


def test_what_is_no_workbook_or_would_expand_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    unreadable = r"cannot be read as a workbook .*save the sheet as \.csv first"
    bomb = as_others_write("").replace(b"<sst", b"<!DOCTYPE x [<!ENTITY a 'b'>]><sst")
    for content in (b"PK", b"", b"item,label", bomb):
        refused(content, unreadable)
    refused(as_others_write(""), "expected a row that names the columns, found an empty sheet")
    hidden = as_others_write(row("a"), strings=("<si><t>&a;</t></si>",))
    with ZipFile(BytesIO(hidden)) as archive:
        members = {name: archive.read(name).decode() for name in archive.namelist()}
    stream = BytesIO()
    with ZipFile(stream, "w") as archive:
        for name, text in members.items():
            archive.writestr(name, f"<!DOCTYPE x [<!ENTITY a 'b'>]>{text}".encode("utf-16"))
    refused(stream.getvalue(), r"cannot be read as a workbook \(it declares entities")
    monkeypatch.setattr("openpyxl.load_workbook", lambda *_, **__: pytest.fail("openpyxl has seen it"))
    for name in ("MOST_BYTES", "MOST_MEMBERS"):
        with monkeypatch.context() as patch:
            patch.setattr(worksheets, name, 5)
            refused(as_others_write(row("a")), "expected a workbook of moderate size, found one that unpacks to more")


def row(text: str, number: int = 1, column: str = "A") -> str:
    return f'<row r="{number}"><c r="{column}{number}" t="inlineStr"><is><t>{text}</t></is></c></row>'


def test_a_cell_at_a_far_address_costs_no_more_than_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    far = as_others_write(row("item") + row("a", 2) + row("b", 10**12))
    assert read_xlsx(far, name="w.xlsx").columns["item"].to_list() == ["a"]
    monkeypatch.setattr(worksheets, "MOST_CELLS", 10_000)
    refused(
        as_others_write(row("item") + row("a", 2, "ZZZ")), r"cannot be read as a workbook \(it has too many cells"
    )
