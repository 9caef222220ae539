"""The words of a Word document (.docx): its paragraphs, one per line, in the order in which they stand.

A .docx file is a zip archive with the text in `word/document.xml` (ECMA-376, part 1, 17.3).  Runs of text, tabs and
line breaks are read; insertions that were tracked are part of the text, deletions are not.  Headers, footnotes and
comments are left out, and so is the second copy of a text box that older programs need (`mc:Fallback`).

A document comes from a stranger: at most `most_bytes` are unpacked, counted as they come out, and XML that declares
a document type is refused, so that no entity can grow.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from typing import BinaryIO
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


def read_docx(stream: BinaryIO, *, name: str, most_bytes: int) -> str:
    """The text of a document; one that cannot be read is refused by its name."""
    try:
        with zipfile.ZipFile(stream) as archive:
            data = _main_part(archive, name, most_bytes)
        if DOCTYPE in data.upper():
            raise _refusal(name, "declares a document type, which Word does not write; save it again in Word")
        root = ElementTree.fromstring(data)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, zlib.error, ElementTree.ParseError) as error:
        raise _refusal(name, f"cannot be read as a Word document: {error}") from error
    return "".join(_text(root, name, depth=0)).strip("\n") + "\n"


def _main_part(archive: zipfile.ZipFile, name: str, most_bytes: int) -> bytes:
    if MAIN not in archive.namelist():
        raise _refusal(name, f"expected a Word document, found an archive without {MAIN}")
    with archive.open(MAIN) as part:
        data = part.read(most_bytes + 1)
    if len(data) > most_bytes:
        raise _refusal(name, f"unpacks to more than {most_bytes:,} bytes; save its text as .txt")
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _refusal(name, "expected UTF-8 inside; save it again in Word") from error
    return data


def _text(node: ElementTree.Element, name: str, *, depth: int) -> Iterator[str]:
    if depth > DEEPEST:
        raise _refusal(name, f"expected at most {DEEPEST} elements inside each other")
    if node.tag in NOT_SHOWN:
        return
    if node.tag == TEXT:
        yield node.text or ""
    yield CHARACTERS.get(node.tag, "")
    for part in node:
        yield from _text(part, name, depth=depth + 1)
    if node.tag == PARAGRAPH:
        yield "\n"


def _refusal(name: str, words: str) -> BadInput:
    return BadInput(Problem(name, words))
