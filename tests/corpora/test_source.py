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

from grater.corpora.source import open_source, replacing, replacing_folder
from grater.errors import BadInput, GraterError


def lines_of(path: Path) -> list[str]:
    return list(open_source(path).lines())


def test_what_cannot_be_read_is_an_error_of_ours(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"fine\ncaf\xe9\n")
    with pytest.raises(BadInput, match=r"a\.txt:2: expected UTF-8, found byte 0xe9 at byte 8"):
        lines_of(path)
    (tmp_path / "a.gz").write_bytes(gzip.compress(b"packed\n" * 100)[:-10])
    with pytest.raises(BadInput, match="cannot be read"):
        lines_of(tmp_path / "a.gz")
    with pytest.raises(BadInput, match="No such file"):
        lines_of(tmp_path / "absent.txt")
    packed = bytearray(gzip.compress(bytes(range(97, 123)) * 40, mtime=0))
    packed[10] = 0b111  # a last block of the kind that DEFLATE does not have
    (tmp_path / "a.gz").write_bytes(packed)
    with pytest.raises(BadInput, match="cannot be read"):
        lines_of(tmp_path / "a.gz")


@pytest.mark.parametrize("name", ["a.gz", "a.xz", "a.bz2"])
def test_a_damaged_packed_file_is_an_error_of_ours(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"not packed at all")
    with pytest.raises(BadInput, match="cannot be read"):
        lines_of(tmp_path / name)


def test_pipes_and_standard_input_are_read_twice_and_progress_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
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


def test_a_file_or_a_folder_appears_only_when_it_is_whole(tmp_path: Path) -> None:
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


def test_a_folder_in_use_is_never_written_over(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("precious")
    with pytest.raises(GraterError, match="new or empty folder"), replacing_folder(tmp_path):
        pass
    assert (tmp_path / "mine.txt").read_text() == "precious"


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
