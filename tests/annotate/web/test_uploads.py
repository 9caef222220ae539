"""Files from a browser: archives that lie, entities, encodings, names that lead elsewhere."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zipfile
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import BinaryIO, cast

import pytest
from openpyxl import Workbook

from grater.annotate import content
from grater.annotate.importing import all_imports
from grater.annotate.web.uploads import safe_name, unpack
from grater.corpora.formats import FORMATS
from grater.corpora.source import CONVERTED
from grater.errors import BadInput
from tests.annotate.web.studies import Study

MOST = 1_000_000


def zipped(*members: tuple[str, bytes], link: str = "") -> BinaryIO:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members:
            archive.writestr(name, data)
        if link:
            info = zipfile.ZipInfo(link)
            info.external_attr = 0o120777 << 16
            archive.writestr(info, "/etc/passwd")
    stream.seek(0)
    return stream


def files_in(folder: Path) -> list[str]:
    return sorted(file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file())


PLAIN = {
    "a.txt": "a.txt",
    "../../etc/a.txt": "a.txt",
    "C:\\Users\\me\\a.txt": "a.txt",
    "a<b>.txt": "a_b_.txt",
    "ünï.txt": "ünï.txt",
}


def test_names_lose_their_folders_and_odd_characters_and_one_that_is_none_is_refused() -> None:
    assert {sent: safe_name(sent) for sent in PLAIN} == PLAIN
    for name in ("", "..", ".", "/", "...", "x/.."):
        with pytest.raises(BadInput, match="with a name"):
            safe_name(name)


def zip_of(*names: str, data: bytes = b"x") -> BinaryIO:
    return zipped(*((name, data) for name in names))


def lying_zip() -> BinaryIO:
    """It says that it unpacks to ten bytes."""
    data = bytearray(zip_of("a.txt", data=b"x" * (3 * MOST)).read())
    place = data.rindex(b"PK\x01\x02")
    data[place + 24 : place + 28] = (10).to_bytes(4, "little")
    return io.BytesIO(bytes(data))


OUTSIDE, ODD_NAMES = "a path outside the archive", "two with the same name|name too long"
ARCHIVES: list[tuple[BinaryIO, str]] = [
    *((zip_of(name), OUTSIDE) for name in ("../evil.txt", "/evil.txt", "a/../../evil.txt", "a\\..\\evil.txt")),
    (zip_of("c:/evil.txt"), OUTSIDE),
    (zip_of("a.txt", "a.txt/b.txt"), ODD_NAMES),
    (zip_of("a.txt/b.txt", "a.txt"), ODD_NAMES),
    (zip_of(f"{'d' * 300}/a.txt"), ODD_NAMES),
    (zip_of("a.txt", data=b"x" * (3 * MOST)), "unpacks to more than 1,000,000 bytes"),
    (lying_zip(), "cannot be unpacked|unpacks to more"),
    (zipped(link="passwd.txt"), "a link"),
    (zip_of("b.zip", data=zip_of("a.txt").read()), "inside an archive"),
    (zip_of(*(f"{number}.txt" for number in range(2001)), data=b""), "at most 2000 files"),
]


@pytest.mark.parametrize(("archive", "words"), ARCHIVES)
def test_an_archive_that_cannot_be_trusted_is_refused(tmp_path: Path, archive: BinaryIO, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        unpack([("a.zip", archive)], tmp_path / "in", most_bytes=MOST)
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert written == [] or (words != OUTSIDE and all(path.is_relative_to(tmp_path / "in") for path in written))
    assert sum(path.stat().st_size for path in written) <= MOST


@pytest.mark.parametrize(("suffix", "pack"), [(".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress)])
def test_packed_files_are_unpacked_within_the_limit(tmp_path: Path, suffix: str, pack) -> None:  # type: ignore[no-untyped-def]
    with SpooledTemporaryFile() as sent:  # as the server hands it on; it says that it is open for writing
        sent.write(pack(b"hello"))
        sent.seek(0)
        (path,) = unpack([(f"a.txt{suffix}", cast(BinaryIO, sent))], tmp_path, most_bytes=MOST)
    assert path.read_bytes() == b"hello"
    with pytest.raises(BadInput, match="unpacks to more"):
        unpack([(f"b.txt{suffix}", io.BytesIO(pack(b"x" * (2 * MOST))))], tmp_path, most_bytes=MOST)


def test_files_of_every_corpus_format_are_let_in_and_clutter_of_some_systems_is_left_out(tmp_path: Path) -> None:
    suffixes = {suffix for format_name in FORMATS for suffix in FORMATS[format_name].suffixes}
    names = [f"a{suffix}" for suffix in suffixes - set(CONVERTED)]
    archive = ("b.zip", zipped(("x/a.txt", b"1"), ("__MACOSX/x/._a.txt", b"\0")))
    unpack([archive, *((name, io.BytesIO(b"x")) for name in names)], tmp_path, most_bytes=MOST)
    assert files_in(tmp_path) == sorted([*names, "b/x/a.txt"])


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("a.exe", b"x", "known kind"),
        ("a.parquet", b"PAR1", "known kind"),
        ("a.zip", b"not a zip", "cannot be unpacked"),
        ("a.txt.gz", b"not packed", "cannot be unpacked"),
        ("a.xlsx", b"no workbook", "cannot be read as a workbook"),
        ("a.m2", b"a\0b", "NUL"),
        ("a.xml", b'<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><x>&b;</x>', "declares entities"),
        ("a.xml", b'<!doctype x [<!entity a SYSTEM "file:///etc/passwd">]><x>&a;</x>', "declares entities"),
        ("a.sgml", b'<!ENTITY a "b">', "declares entities"),
    ],
)
def test_what_cannot_be_trusted_is_refused_by_name(tmp_path: Path, name: str, data: bytes, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        unpack([(name, io.BytesIO(data))], tmp_path, most_bytes=MOST)


def test_every_bad_file_is_named_and_two_of_one_name_are_refused(tmp_path: Path) -> None:
    sent = [(name, io.BytesIO(b"x")) for name in ("a.exe", "b.txt", "c.docx")]
    with pytest.raises(BadInput) as caught:
        unpack(sent, tmp_path, most_bytes=MOST)
    assert [problem.name for problem in caught.value.problems] == ["a.exe", "c.docx"]
    with pytest.raises(BadInput, match="two with the same name"):
        unpack([("a.txt", io.BytesIO(b"1")), ("b/a.txt", io.BytesIO(b"2"))], tmp_path, most_bytes=MOST)


def bring(study: Study, kind: str, *files: tuple[str, bytes], **form: str):  # type: ignore[no-untyped-def]
    sent = [("files", (name, data)) for name, data in files]
    return study.browser("manager").post("/manage/import", {"kind": kind, **form}, files=sent)


def test_an_archive_of_essays_comes_in_as_a_folder(bare: Study) -> None:
    data = zipped(("one.txt", b"First essay."), ("two.txt", b"Second essay.")).read()
    reply = bring(bare, "corpus", ("essays.zip", data), format="text")
    assert reply.status_code == 200, reply.text
    assert bare.read(content.n_essays) == 5


def test_texts_are_previewed_and_then_come_in_with_what_is_odd_about_them(bare: Study) -> None:
    book = io.BytesIO()
    made = Workbook()
    for row in (["id", "text"], ["cleo", "In the library."], ["dora", None]):
        made.active.append(row)
    made.save(book)
    files = (("anna.txt", "In the café.".encode("cp1252")), ("class.xlsx", book.getvalue()))
    for form, n_essays in (({"preview": "true"}, 3), ({}, 5)):
        reply = bring(bare, "corpus", *files, **form)
        assert reply.status_code == 200, reply.text
        for words in ("anna.txt (cp1252)", "1 empty text: dora"):
            assert words in reply.text
        assert ("nothing was stored" in reply.text) == bool(form)
        assert bare.read(content.n_essays) == n_essays


def test_one_bad_file_keeps_them_all_out_and_an_unknown_kind_and_no_file_are_reported(bare: Study) -> None:
    good, bad = ("a.m2", b"S A good one .\n"), ("b.m2", b"X is not a line of M2\n")
    reply = bring(bare, "corpus", good, bad)
    assert (reply.status_code, "b.m2:1: expected" in reply.text, "/tmp" in reply.text) == (422, True, False)
    assert [bring(bare, kind, ("a.txt", b"x")).status_code for kind in ("", "secrets")] == [422, 422]
    reply = bare.browser("manager").post("/manage/import", {"kind": "corpus"})
    assert (reply.status_code, "expected a file, found none" in reply.text) == (422, True)
    assert (bare.read(content.n_essays), bare.read(all_imports)) == (3, [])
