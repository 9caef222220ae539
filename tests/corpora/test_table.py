"""Texts as users have them: plain files, Word documents, tables, other encodings, files of one name."""

from __future__ import annotations

import io
import tracemalloc
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from openpyxl import Workbook

from grater.corpora import read_corpus
from grater.corpora.docx import read_docx
from grater.corpora.plain import FORMAT, read_text
from grater.corpora.source import guessed_encoding
from grater.corpora.table import read_table_of_texts
from grater.errors import BadInput, UsageError
from grater.model import Essay
from tests.corpora.sources import TextSource

NAMES = (
    'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
)


def document(body: str, *, head: str = "") -> io.BytesIO:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", f"{head}<w:document {NAMES}><w:body>{body}</w:body></w:document>")
    packed.seek(0)
    return packed


def paragraph(text: str) -> str:
    return f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>"


def text_of(body: str, *, head: str = "", most_bytes: int = 10_000) -> str:
    return read_docx(document(body, head=head), name="essay.docx", most_bytes=most_bytes)


def test_the_words_that_a_reader_sees_are_the_text() -> None:
    body = (
        "<w:p><w:r><w:t>We arrive </w:t></w:r><w:r><w:t>to the café.</w:t></w:r></w:p>"
        "<w:p><w:r><w:t>One</w:t><w:tab/><w:t>two</w:t><w:br/><w:t>three</w:t></w:r></w:p>"
    )
    assert text_of(body) == "We arrive to the café.\nOne\ttwo\nthree\n"
    box = paragraph("box")
    body = (
        "<w:p><w:ins><w:r><w:t>new </w:t></w:r></w:ins><w:del><w:r><w:delText>old </w:delText></w:r></w:del>"
        "<w:r><w:t>word</w:t></w:r></w:p>"
        f"<mc:AlternateContent><mc:Choice>{box}</mc:Choice><mc:Fallback>{box}</mc:Fallback></mc:AlternateContent>"
    )
    assert text_of(body) == "new word\nbox\n"


@pytest.mark.parametrize(
    ("body", "head", "words"),
    [
        (paragraph("a" * 20_000), "", "unpacks to more than 10,000 bytes"),
        ("<w:p/>", '<!DOCTYPE d [<!ENTITY a "aaaa">]>', "declares a document type"),
        ("<w:p>" * 300 + "</w:p>" * 300, "", "elements inside each other"),
        ("<w:p>", "", "cannot be read as a Word document"),
    ],
)
def test_what_is_hostile_or_broken_is_refused_by_its_name(body: str, head: str, words: str) -> None:
    with pytest.raises(BadInput, match=f"essay.docx: .*{words}"):
        text_of(body, head=head)


def test_another_archive_is_refused() -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("other.xml", "<a/>")
    with pytest.raises(BadInput, match="Word document"):
        read_docx(packed, name="essay.docx", most_bytes=1000)


@contextmanager
def in_at_most(n_bytes: int) -> Iterator[None]:
    tracemalloc.start()
    try:
        yield
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < n_bytes


def test_many_elements_take_no_more_memory_than_their_text_and_endless_paragraphs_are_refused_while_unpacked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    packed = document("<a/>" * 100_000 + paragraph("Dear Ann,"))
    with in_at_most(4_000_000):  # a tree takes 9 MB
        assert read_docx(packed, name="essay.docx", most_bytes=1_000_000) == "Dear Ann,\n"
    monkeypatch.setattr("grater.corpora.docx.MOST_PARTS", 20_000)
    packed = document("<w:p/>" * 1_000_000)
    with in_at_most(2_000_000), pytest.raises(BadInput, match="at most 20,000 paragraphs"):  # 6 MB would come out
        read_docx(packed, name="essay.docx", most_bytes=100_000_000)


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


def test_files_of_one_name_are_distinguished_by_their_folders_and_a_word_document_is_a_text(tmp_path: Path) -> None:
    for name in ("a/1.txt", "b/1.txt", "a/2.txt", "c/3.txt"):
        write(tmp_path / name, f"Text of {name}.")
    write(tmp_path / "c" / "3.docx", document(paragraph("Dear Ann,")).read())
    found = {essay.essay_id: essay.text for essay in read_corpus(tmp_path)}
    assert found.keys() == {"a/1", "b/1", "2", "3.txt", "3.docx"}
    assert (found["2"], found["3.docx"]) == ("Text of a/2.txt.", "Dear Ann,\n")


def paragraphs(text: str) -> list[Essay]:
    return list(read_text(TextSource(text).lines(), name="test", one_per_line=True))


def test_a_paragraph_a_line_gives_an_essay_for_each_line_with_words() -> None:
    essays = paragraphs("First one.\n\n \t\nSecond one.\r\nFirst one.")
    assert [essay.text for essay in essays] == ["First one.", "Second one.", "First one."]
    assert [essay.line for essay in essays] == [1, 4, 5]
    assert essays[2].essay_id == f"{essays[0].essay_id}#2"


def test_a_nul_character_is_refused_as_the_wrong_encoding() -> None:
    utf16 = "He go.\nShe go.\n".encode("utf-16-le").decode("utf-8")
    with pytest.raises(BadInput) as caught:
        list(FORMAT.read(TextSource(utf16)))
    assert [problem.line for problem in caught.value.problems] == [1, 2, 3]
    assert "test:1: expected text, found a NUL character; is it UTF-16?" in str(caught.value)
    with pytest.raises(BadInput):
        paragraphs(utf16)
