"""Texts as users have them: Word documents, tables, other encodings, files of one name in several folders."""

from __future__ import annotations

from pathlib import Path

import pytest
from openpyxl import Workbook

from grater.corpora import read_corpus
from grater.corpora.source import guessed_encoding
from grater.corpora.table import read_table_of_texts
from grater.errors import BadInput, UsageError
from grater.model import Essay
from tests.corpora.sources import TextSource
from tests.corpora.test_docx import document

TABLE = 'id,text,l1\nann,"I am Ann,\nand you?",fr\nben,I am Ben.,\n'
ESSAYS = [("ann", "I am Ann,\nand you?", {"l1": "fr"}), ("ben", "I am Ben.", {})]


def plain(essays: list[Essay]) -> list[tuple[str, str, object]]:
    return [(essay.essay_id, essay.text, essay.metadata) for essay in essays]


def write(path: Path, content: bytes | str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_a_row_is_an_essay_and_further_columns_are_its_metadata(tmp_path: Path) -> None:
    csv = write(tmp_path / "class.csv", TABLE)
    excel = write(tmp_path / "excel.csv", b"\xef\xbb\xbf" + TABLE.replace(",", ";").replace("Ann;", "Ann,").encode())
    book = Workbook()
    for row in (["ID", "Text", "l1"], ["ann", "I am Ann,\nand you?", "fr"], ["ben", "I am Ben.", None]):
        book.active.append(row)
    book.save(tmp_path / "class.xlsx")
    for path in (csv, excel, tmp_path / "class.xlsx"):
        assert plain(list(read_corpus(path))) == ESSAYS


def test_columns_of_another_name_are_named_by_the_caller_and_bad_rows_by_their_lines() -> None:
    source = TextSource("student,answer\nann,Hello.\n", "class.csv")
    assert plain(list(read_table_of_texts(source, {"id": "student", "text": "answer"}))) == [("ann", "Hello.", {})]
    with pytest.raises(BadInput, match="expected columns 'id' and 'text'"):
        list(read_table_of_texts(source))
    with pytest.raises(BadInput) as caught:
        list(read_table_of_texts(TextSource("id,text\na,One.\n,Two.\na,Three.\n", "class.csv")))
    assert [problem.line for problem in caught.value.problems] == [3, 4]


def test_a_word_document_is_a_text_of_its_name(tmp_path: Path) -> None:
    file = write(tmp_path / "anna.docx", document("<w:p><w:r><w:t>Dear Ann,</w:t></w:r></w:p>").read())
    assert plain(list(read_corpus(file))) == [("anna", "Dear Ann,\n", {})]


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16", "utf-16-le", "utf-16-be"])
def test_another_encoding_is_guessed_or_named(tmp_path: Path, encoding: str) -> None:
    text = "At the café we ate a crêpe – “good” it was.\n" * 3
    file = write(tmp_path / "a.txt", text.encode(encoding))
    assert guessed_encoding(file) == encoding
    assert [essay.text for essay in read_corpus(file, encoding=encoding)] == [text]
    assert [essay.text for essay in read_corpus(file)] == [text]


def test_what_is_in_no_single_encoding_is_not_guessed_and_an_unknown_one_is_refused(tmp_path: Path) -> None:
    mixed = write(tmp_path / "a.txt", "café ".encode() + "café".encode("latin-1"))
    assert guessed_encoding(mixed) == ""
    assert guessed_encoding(write(tmp_path / "b.txt", "café")) == ""
    with pytest.raises(UsageError, match="unknown encoding 'latin-eins'"):
        list(read_corpus(mixed, encoding="latin-eins"))
    with pytest.raises(BadInput, match="expected ascii, found byte 0xc3 at byte 3"):
        list(read_corpus(mixed, encoding="ascii"))


def test_files_of_one_name_are_distinguished_by_their_folders(tmp_path: Path) -> None:
    for place, name in enumerate(("a/1.txt", "b/1.txt", "a/2.txt", "c/3.txt", "c/3.docx")):
        words = f"Text {place}."
        write(
            tmp_path / name, document(f"<w:p><w:r><w:t>{words}</w:t></w:r></w:p>").read() if "docx" in name else words
        )
    assert {essay.essay_id for essay in read_corpus(tmp_path)} == {"a/1", "b/1", "2", "3.txt", "3.docx"}
