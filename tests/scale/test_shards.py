from __future__ import annotations

import json
import lzma
from pathlib import Path

import polars as pl
import pytest

from grater.corpora import read_corpus, write_corpus
from grater.corpora.formats import ignore_loss
from grater.errors import BadInput, UsageError
from grater.model import Essay
from grater.scale.shards import corpus_of, cut, is_cut, read_shards
from tests.cli.running import grater

M2 = """S The girl waited on the bus .
A 3 4|||Prep|||for|||REQUIRED|||-NONE-|||0

S The boy listened the music .
A 3 3|||Prep|||to|||REQUIRED|||-NONE-|||1

S The girl waited on the bus .
A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||0
"""

HOSTILE = "\ufeffA bare \r stays.\nSo does \u2028 this one.\nA repeat.\nTab\tand \u0085 next line.\r\nA repeat.\n"
"""A byte-order mark, a bare carriage return, line separators that end no line, a repeated line."""


def essays_of(folder: Path) -> list[Essay]:
    return [each.essay for shard in read_shards(folder) for each in shard.read()]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "essays.m2"
    path.write_text(M2, encoding="utf-8")
    return path


@pytest.mark.parametrize("size", [1, 40, 10_000])
def test_shards_hold_the_essays_of_the_corpus_with_their_lines(tmp_path: Path, corpus: Path, size: int) -> None:
    shards = cut(corpus_of([corpus]), tmp_path / "cut", size=size)
    essays, expected = essays_of(tmp_path / "cut"), list(read_corpus(corpus))
    assert essays == expected
    assert [essay.line for essay in essays] == [essay.line for essay in expected]
    assert [edit.line for essay in essays for edit in essay.edits] == [2, 5]
    assert len(shards.shards) == {1: 3, 40: 2, 10_000: 1}[size]
    assert shards.sha256 == cut(corpus_of([corpus]), tmp_path / "other", size=7).sha256


def test_a_packed_corpus_with_hostile_characters_keeps_every_one_of_them(tmp_path: Path) -> None:
    (tmp_path / "a.txt.xz").write_bytes(lzma.compress(HOSTILE.encode()))
    cut(corpus_of([tmp_path / "a.txt.xz"], lines=True), tmp_path / "cut", size=20)
    rows = [each for shard in read_shards(tmp_path / "cut") for each in shard.read()]
    texts = [each.essay.text for each in rows]
    assert texts == HOSTILE.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")[:-1]
    assert [each.is_repeat for each in rows] == [False, False, False, False, True]
    assert rows[4].essay.essay_id == rows[2].essay.essay_id + "#2"


def test_ids_that_two_corpora_share_are_distinguished_across_shards(tmp_path: Path, corpus: Path) -> None:
    other = tmp_path / "other.jsonl"
    write_corpus([Essay("a", "One."), Essay("b", "Two.")], other, ignore_loss)
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes(other.read_bytes())
    cut(corpus_of([other, corpus, copy]), tmp_path / "cut", size=1)
    ids = [essay.essay_id for essay in essays_of(tmp_path / "cut")]
    assert ids[:2] + ids[-2:] == ["a", "b", "a#2", "b#2"]
    assert len(set(ids)) == len(ids) == 7


def test_documents_are_named_when_a_corpus_is_cut_also_across_shards(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.m2").write_text("S I came .\n\nS I saw .\n\nS I left .\n\n", encoding="utf-8")
    documents, folder = tmp_path / "a.jsonl", tmp_path / "cut"
    write_corpus([Essay("d1", "I came. I saw."), Essay("d2", "I left.")], documents, ignore_loss)
    given = ("lab", "shard", tmp_path / "a.m2", "--documents", documents)
    ran = grater(capsys, *given, "--out", folder, "--shard-size", 1, "--json")
    assert json.loads(ran.out)["shards"] == 3
    assert [essay.metadata["document"] for essay in essays_of(folder)] == ["d1", "d1", "d2"]


def test_a_bad_byte_leaves_no_corpus_behind(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "bad.txt").write_bytes(b"Good.\nBad \xff byte.\n")
    ran = grater(capsys, "lab", "shard", tmp_path / "bad.txt", "--lines", "--out", tmp_path / "cut")
    assert ran.status == 2
    assert "bad.txt:2: expected UTF-8, found byte 0xff at byte 10" in ran.err
    assert not is_cut(tmp_path / "cut")
    with pytest.raises(BadInput, match="expected the manifest of a cut corpus"):
        read_shards(tmp_path / "cut")


def test_only_what_the_manifest_names_is_read(tmp_path: Path, corpus: Path) -> None:
    folder = tmp_path / "cut"
    path = cut(corpus_of([corpus]), folder, size=1).shards[1].path
    pl.DataFrame({"essay": ["stranger"]}).write_parquet(folder / "shard-000009.parquet")
    assert len(essays_of(folder)) == 3
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(BadInput, match="is not as it was cut"):
        essays_of(folder)


def test_a_folder_with_other_things_in_it_is_left_alone_and_a_corpus_cut_anew(tmp_path: Path, corpus: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("Dear all", encoding="utf-8")
    with pytest.raises(UsageError, match=r"found letter\.txt in it"):
        cut(corpus_of([corpus]), tmp_path / "mine")
    assert (tmp_path / "mine" / "letter.txt").exists()
    cut(corpus_of([corpus]), tmp_path / "cut", size=1)
    cut(corpus_of([corpus]), tmp_path / "cut", size=10_000)
    assert sorted(file.name for file in (tmp_path / "cut").iterdir()) == ["manifest.json", "shard-000000.parquet"]
