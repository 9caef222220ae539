"""Where corpora are read from and written to, and which format a path speaks of."""

from __future__ import annotations

import gzip
import io
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from grater.corpora.formats import FORMATS, FolderFormat
from grater.corpora.source import files_of, guess_format, left_out, open_source, replacing, replacing_folder
from grater.errors import BadInput, GraterError, UsageError


def lines_of(path: Path) -> list[str]:
    return list(open_source(path).lines())


def test_what_cannot_be_read_is_an_error_of_ours(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"fine\ncaf\xe9\n")
    with pytest.raises(BadInput, match=r"a\.txt:2: expected UTF-8, found byte 0xe9 at byte 8"):
        lines_of(path)
    with pytest.raises(BadInput, match="No such file"):
        lines_of(tmp_path / "absent.txt")
    packed = bytearray(gzip.compress(bytes(range(97, 123)) * 40, mtime=0))
    packed[10] = 0b111  # a last block of the kind that DEFLATE does not have
    cut = gzip.compress(b"packed\n" * 100)[:-10]
    others = [(name, b"not packed at all") for name in ("a.gz", "a.xz", "a.bz2")]
    for name, content in [("a.gz", cut), ("a.gz", packed), *others]:
        (tmp_path / name).write_bytes(content)
        with pytest.raises(BadInput, match="cannot be read"):
            lines_of(tmp_path / name)


def test_pipes_are_read_twice_and_progress_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("né\n".encode())))
    source = open_source(Path("-"))
    assert list(source.lines()) == list(source.lines()) == ["né\n"]
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(b"one\n",))
    writer.start()
    source = open_source(pipe)
    writer.join()
    assert list(source.lines()) == list(source.lines()) == ["one\n"]
    path = tmp_path / "a.txt"
    path.write_bytes(b"x" * 999 + b"\n" + b"y" * 600_000 + b"\n")
    heard: list[int] = []
    list(open_source(path, advance=heard.append).lines())
    assert sum(heard) == 601_001
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(GraterError, match="standard input is closed"):
        open_source(Path("-"))


def _breaking_off() -> Iterator[str]:
    yield "new"
    raise GraterError("broke off")


def test_a_file_or_a_folder_appears_only_when_it_is_whole_and_is_never_written_over(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    with pytest.raises(GraterError, match="broke off"), replacing_folder(tmp_path / "out") as write_file:
        write_file("a.txt", "".join(_breaking_off()))
    with pytest.raises(GraterError, match=r"cannot be written: U\+D800"), replacing(path) as stream:
        stream.write("\ud800")
    assert list(tmp_path.iterdir()) == []
    path.write_text("old")
    with pytest.raises(GraterError, match="broke off"), replacing(path) as stream:
        stream.writelines(_breaking_off())
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(GraterError, match="new or empty folder"), replacing_folder(tmp_path):
        pass
    assert path.read_text() == "old"


@pytest.mark.parametrize("name", ["a.txt.gz", "a.txt.bz2", "a.txt.xz", "a.txt"])
def test_what_is_written_under_a_name_is_read_under_it(tmp_path: Path, name: str) -> None:
    with replacing(tmp_path / name) as stream:
        stream.write("né\n" * 1000)
    assert lines_of(tmp_path / name) == ["né\n"] * 1000
    assert ((tmp_path / name).stat().st_size < 1000) == (name != "a.txt")


def test_standard_output_gets_all_or_nothing(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    with pytest.raises(GraterError, match="broke off"), replacing(Path("-")) as stream:
        stream.writelines(_breaking_off())
    with replacing(Path("-")) as stream:
        stream.write("né\n")
    sys.stdout.flush()
    assert capfdbinary.readouterr().out == "né\n".encode()


@pytest.mark.parametrize("write", [replacing, replacing_folder])
def test_a_place_that_cannot_be_written_to_is_one_line(
    tmp_path: Path, write: Callable[[Path], AbstractContextManager[object]]
) -> None:
    (tmp_path / "file").touch()
    with (
        pytest.raises(GraterError, match=r"there is no folder .*absent; make it first"),
        write(tmp_path / "absent" / "a"),
    ):
        pass
    with pytest.raises(GraterError, match="cannot be written: Not a directory"), write(tmp_path / "file" / "a"):
        pass


FORMAT_OF = {
    "a.m2": "m2",
    "a.M2": "m2",
    "a.m2.gz": "m2",
    "a.sgml": "nucle",
    "a.xml": "fce",
    "a.json": "bea",
    "a.jsonl.xz": "jsonl",
    "a.b.txt": "text",
    "a.DOCX": "text",
    "a.xlsx": "table",
}


def test_a_suffix_tells_the_format(tmp_path: Path) -> None:
    for name in FORMAT_OF:
        (tmp_path / name).touch()
    assert {name: guess_format(tmp_path / name, exists=True).name for name in FORMAT_OF} == FORMAT_OF


@pytest.mark.parametrize("name", FORMATS.names())
def test_no_two_file_formats_claim_one_suffix(name: str) -> None:
    own = FORMATS[name]
    others = [FORMATS[other] for other in FORMATS if other != name and not isinstance(FORMATS[other], FolderFormat)]
    assert [other.name for other in others if set(other.suffixes) & set(own.suffixes)] == []


def test_a_folder_with_ann_files_is_brat_and_files_that_nobody_reads_are_named(tmp_path: Path) -> None:
    for name in ("a.txt", "a.ann"):
        (tmp_path / name).touch()
    chosen = guess_format(tmp_path, exists=True)
    assert chosen.name == "brat"
    assert [file.name for file in files_of(tmp_path, chosen)] == ["a.ann", "a.txt"]
    for name in ("a.txt", "b.odt", "c.pdf", ".hidden"):
        (tmp_path / name).touch()
    assert [file.name for file in left_out(tmp_path, FORMATS["text"])] == ["a.ann", "b.odt", "c.pdf"]
    assert left_out(tmp_path / "a.txt", FORMATS["text"]) == []


@pytest.mark.parametrize(
    ("names", "expected", "read"),
    [
        ("b.xml a.xml .hidden.xml readme.md", "fce", ["a.xml", "b.xml"]),
        ("readme.txt a.m2", "m2", ["a.m2"]),
        ("list.csv a.txt", "text", ["a.txt"]),
    ],
)
def test_a_folder_is_of_annotated_formats_or_texts(
    tmp_path: Path, names: str, expected: str, read: list[str]
) -> None:
    for name in names.split():
        (tmp_path / name).touch()
    chosen = guess_format(tmp_path, exists=True)
    assert (chosen.name, [file.name for file in files_of(tmp_path, chosen)]) == (expected, read)


def test_what_is_no_corpus_is_refused_with_what_was_expected(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"write \.txt or \.csv"):
        guess_format(tmp_path / "new.docx", exists=False)
    (tmp_path / "two").mkdir()
    for name in ("a.sgml", "a.m2"):
        (tmp_path / "two" / name).touch()
    with pytest.raises(UsageError, match="expected files of one format in this folder, found m2, nucle"):
        guess_format(tmp_path / "two", exists=True)
    (tmp_path / "a.txt").touch()
    with pytest.raises(BadInput, match="expected a folder"):
        files_of(tmp_path / "a.txt", FORMATS["brat"])
    (tmp_path / "a.xyz").touch()
    with pytest.raises(
        UsageError, match=r"does not show which format it is; name the format, one of: bea \(\.json\)"
    ):
        guess_format(tmp_path / "a.xyz", exists=True)
    (tmp_path / "a.ODT").touch()
    with pytest.raises(UsageError, match=r"found a \.ODT document; save it as \.docx or text"):
        guess_format(tmp_path / "a.ODT", exists=True)
    with pytest.raises(BadInput, match="no such file or folder"):
        guess_format(tmp_path / "a.m2", exists=True)
    with pytest.raises(BadInput, match=r"expected files that end in \.json"):
        files_of(tmp_path, FORMATS["bea"])
