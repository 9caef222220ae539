"""The words of a Word document (.docx): its paragraphs, one per line, in order.

A .docx file is a zip archive with the text in `word/document.xml` (ECMA-376, part 1, 17.3).  Runs of text, tabs and
line breaks are read; insertions that were tracked are part of the text, deletions are not.  Headers, footnotes and
comments are left out, and so is the second copy of a text box that older programs need (`mc:Fallback`).

Documents are untrusted: at most `most_bytes` are unpacked, XML that declares a document type is refused, which
prevents entity expansion, and it is parsed as a stream, without a tree. The number of paragraphs and breaks is
limited, since empty ones compress to almost nothing.
"""

from __future__ import annotations

import zipfile
import zlib
from codecs import getincrementaldecoder
from typing import IO, BinaryIO
from xml.etree import ElementTree

from grater.errors import BadInput, Problem

MAIN = "word/document.xml"
WORDS = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
OLD_COPY = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
PARAGRAPH, TEXT = f"{WORDS}p", f"{WORDS}t"
CHARACTERS = {f"{WORDS}tab": "\t", f"{WORDS}br": "\n", f"{WORDS}cr": "\n", f"{WORDS}noBreakHyphen": "-"}
NOT_SHOWN = (OLD_COPY, f"{WORDS}del", f"{WORDS}moveFrom", f"{WORDS}pPr", f"{WORDS}rPr")
DOCTYPE = b"<!DOCTYPE"
DEEPEST = 200
MOST_PARTS = 500_000
CHUNK = 1 << 16


def read_docx(stream: BinaryIO, *, name: str, most_bytes: int) -> str:
    """The text of a document; an unreadable one is refused by name."""
    try:
        with zipfile.ZipFile(stream) as archive:
            if MAIN not in archive.namelist():
                raise _refusal(name, f"expected a Word document, found an archive without {MAIN}")
            with archive.open(MAIN) as part:
                text = _parsed(part, name, most_bytes)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, zlib.error, ElementTree.ParseError) as error:
        raise _refusal(name, f"cannot be read as a Word document: {error}; save it again in Word") from error
    return text.strip("\n") + "\n"


def _parsed(part: IO[bytes], name: str, most_bytes: int) -> str:
    parser = ElementTree.XMLParser(target=ShownText(name))
    decoder, n_bytes, end = getincrementaldecoder("utf-8")(), 0, b""
    while chunk := part.read(CHUNK):
        n_bytes += len(chunk)
        if n_bytes > most_bytes:
            raise _refusal(name, f"unpacks to more than {most_bytes:,} bytes; save its text as .txt")
        if DOCTYPE in (end + chunk).upper():
            raise _refusal(name, "declares a document type, which Word does not write; save it again in Word")
        end = chunk[-len(DOCTYPE) :]
        try:
            decoder.decode(chunk)
        except UnicodeDecodeError as error:
            raise _refusal(name, "expected UTF-8 inside; save it again in Word") from error
        parser.feed(chunk)
    text: str = parser.close()  # type: ignore[assignment]
    return text


class ShownText:
    """Collects the text while a document is parsed; `close` returns it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.parts: list[str] = []
        self.open: list[str] = []
        self.n_hidden = 0

    def start(self, tag: str, _attributes: dict[str, str]) -> None:
        self.open.append(tag)
        if len(self.open) > DEEPEST:
            raise _refusal(self.name, f"expected at most {DEEPEST} elements inside each other")
        if len(self.parts) > MOST_PARTS:
            raise _refusal(self.name, f"expected at most {MOST_PARTS:,} paragraphs, breaks and runs of text")
        self.n_hidden += tag in NOT_SHOWN
        if not self.n_hidden and tag in CHARACTERS:
            self.parts.append(CHARACTERS[tag])

    def data(self, text: str) -> None:
        if not self.n_hidden and self.open[-1:] == [TEXT]:
            self.parts.append(text)

    def end(self, tag: str) -> None:
        self.open.pop()
        if not self.n_hidden and tag == PARAGRAPH:
            self.parts.append("\n")
        self.n_hidden -= tag in NOT_SHOWN

    def close(self) -> str:
        return "".join(self.parts)


def _refusal(name: str, words: str) -> BadInput:
    return BadInput(Problem(name, words))
