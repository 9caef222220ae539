"""Word documents: the words that a reader sees, and nothing that grows without end."""

from __future__ import annotations

import io
import tracemalloc
import zipfile

import pytest

from grater.corpora.docx import read_docx
from grater.errors import BadInput

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


def text_of(body: str, *, head: str = "", most_bytes: int = 10_000) -> str:
    return read_docx(document(body, head=head), name="essay.docx", most_bytes=most_bytes)


def test_the_words_that_a_reader_sees_are_the_text() -> None:
    body = (
        "<w:p><w:r><w:t>We arrive </w:t></w:r><w:r><w:t>to the café.</w:t></w:r></w:p>"
        "<w:p><w:r><w:t>One</w:t><w:tab/><w:t>two</w:t><w:br/><w:t>three</w:t></w:r></w:p>"
    )
    assert text_of(body) == "We arrive to the café.\nOne\ttwo\nthree\n"
    body = (
        "<w:p><w:ins><w:r><w:t>new </w:t></w:r></w:ins><w:del><w:r><w:delText>old </w:delText></w:r></w:del>"
        "<w:r><w:t>word</w:t></w:r></w:p>"
        "<mc:AlternateContent><mc:Choice><w:p><w:r><w:t>box</w:t></w:r></w:p></mc:Choice>"
        "<mc:Fallback><w:p><w:r><w:t>box</w:t></w:r></w:p></mc:Fallback></mc:AlternateContent>"
    )
    assert text_of(body) == "new word\nbox\n"


@pytest.mark.parametrize(
    ("body", "head", "words"),
    [
        ("<w:p><w:r><w:t>" + "a" * 20_000 + "</w:t></w:r></w:p>", "", "unpacks to more than 10,000 bytes"),
        ("<w:p/>", '<!DOCTYPE d [<!ENTITY a "aaaa">]>', "declares a document type"),
        ("<w:p>" * 300 + "</w:p>" * 300, "", "elements inside each other"),
        ("<w:p>", "", "cannot be read as a Word document"),
    ],
)
def test_what_is_hostile_or_broken_is_refused_by_its_name(body: str, head: str, words: str) -> None:
    with pytest.raises(BadInput, match=f"essay.docx: .*{words}"):
        text_of(body, head=head)


def test_a_hundred_thousand_elements_take_no_more_memory_than_their_text() -> None:
    packed = document("<a/>" * 100_000 + "<w:p><w:r><w:t>Dear Ann,</w:t></w:r></w:p>")
    tracemalloc.start()
    try:
        assert read_docx(packed, name="essay.docx", most_bytes=1_000_000) == "Dear Ann,\n"
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 4_000_000  # a tree takes 9 MB


def test_empty_paragraphs_without_end_are_refused_while_they_are_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grater.corpora.docx.MOST_PARTS", 20_000)
    packed = document("<w:p/>" * 1_000_000)
    tracemalloc.start()
    try:
        with pytest.raises(BadInput, match="at most 20,000 paragraphs"):
            read_docx(packed, name="essay.docx", most_bytes=100_000_000)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 2_000_000  # of 6 MB that would come out


def test_another_archive_is_refused() -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("other.xml", "<a/>")
    with pytest.raises(BadInput, match="Word document"):
        read_docx(packed, name="essay.docx", most_bytes=1000)
