"""Workbooks as a table needs them: ours, and as other programs write them."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from xml.etree import ElementTree
from xml.sax.saxutils import escape
from zipfile import ZipFile

import pytest

from grater.errors import BadInput
from grater.tables import read_judgments
from grater.tables.xlsx import MAIN, PACKAGE, RELATIONS, Page, letters, read_xlsx, workbook

ROWS = [("a1", "=1+1", " x "), ("a2", "Zoë & <b>", ""), ("a3", "two\nlines", "0")]


def test_a_workbook_comes_back_cell_by_cell() -> None:
    page = Page(name="judge", columns=("item", "text", "more"), rows=ROWS, choices={"more": ["0", "x"]})
    raw = read_xlsx(workbook([page]), name="w.xlsx")
    assert {name: cells.to_list() for name, cells in raw.columns.items()} == {
        "item": ["a1", "a2", "a3"],
        "text": ["=1+1", "Zoë & <b>", "two\nlines"],
        "more": [" x ", None, "0"],
    }
    assert raw.lines is not None
    assert raw.lines.to_list() == [2, 3, 4]
    assert workbook([page]) == workbook([page])


def test_styles_are_those_that_other_programs_open() -> None:
    # openpyxl, and pandas with it, refuse a fill without a pattern: ECMA-376, 18.8.20 wants one of two kinds
    with ZipFile(BytesIO(workbook([Page(name="judge", columns=("item",), rows=[("a",)])]))) as archive:
        styles = ElementTree.fromstring(archive.read("xl/styles.xml"))
    fills = styles.findall(f"{{{MAIN}}}fills/{{{MAIN}}}fill")
    assert [[kind.tag for kind in fill] for fill in fills] == [[f"{{{MAIN}}}patternFill"]] * 2
    assert styles.find(f"{{{MAIN}}}cellStyles/{{{MAIN}}}cellStyle") is not None


def test_answers_are_offered_as_a_list() -> None:
    content = workbook(
        [Page(name="judge", columns=("item", "label"), rows=[("a", "")], choices={"label": ["error", "ok"]})]
    )
    with ZipFile(BytesIO(content)) as archive:
        sheet = archive.read("xl/worksheets/sheet1.xml").decode()
    assert 'sqref="B2:B2"><formula1>"error,ok"</formula1>' in sheet


@pytest.mark.parametrize(("place", "name"), [(0, "A"), (25, "Z"), (26, "AA"), (701, "ZZ"), (702, "AAA")])
def test_columns_have_letters(place: int, name: str) -> None:
    assert letters(place) == name


def as_others_write(sheet: str, *, strings: tuple[str, ...] = (), tab: str = "Sheet1") -> bytes:
    """A workbook with shared strings, the sheet behind another one, as LibreOffice and Excel save it."""
    shared = "".join(text if text.startswith("<") else f"<si><t>{escape(text)}</t></si>" for text in strings)
    rels = "".join(
        f'<Relationship Id="rId{n}" Type="{RELATIONS}/worksheet" Target="/xl/worksheets/sheet{n}.xml"/>'
        for n in (1, 2)
    )
    sheets = "".join(f'<sheet name="{name}" sheetId="{n}" r:id="rId{n}"/>' for n, name in ((1, "notes"), (2, tab)))
    stream = BytesIO()
    with ZipFile(stream, "w") as archive:
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


def test_what_is_no_workbook_or_would_expand_is_one_line() -> None:
    bomb = as_others_write("").replace(b"<sst", b"<!DOCTYPE x [<!ENTITY a 'b'>]><sst")
    for content in (b"PK", b"", b"item,label", bomb):
        with pytest.raises(BadInput, match=r"w\.xlsx: cannot be read as a workbook .*save the sheet as \.csv first"):
            read_xlsx(content, name="w.xlsx")
    with pytest.raises(BadInput, match="found an empty sheet"):
        read_xlsx(as_others_write(""), name="w.xlsx")
