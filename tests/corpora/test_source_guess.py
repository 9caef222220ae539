from __future__ import annotations

from pathlib import Path

import pytest

from grater.corpora.formats import FORMATS, FolderFormat
from grater.corpora.source import files_of, guess_format, left_out
from grater.errors import BadInput, UsageError


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.m2", "m2"),
        ("a.M2", "m2"),
        ("a.m2.gz", "m2"),
        ("a.sgml", "nucle"),
        ("a.xml", "fce"),
        ("a.json", "bea"),
        ("a.jsonl.xz", "jsonl"),
        ("a.b.txt", "text"),
        ("a.DOCX", "text"),
        ("a.xlsx", "table"),
    ],
)
def test_a_suffix_tells_the_format(tmp_path: Path, name: str, expected: str) -> None:
    (tmp_path / name).touch()
    assert guess_format(tmp_path / name, exists=True).name == expected


@pytest.mark.parametrize("name", FORMATS.names())
def test_no_two_file_formats_claim_one_suffix(name: str) -> None:
    own = FORMATS[name]
    others = [FORMATS[other] for other in FORMATS if other != name and not isinstance(FORMATS[other], FolderFormat)]
    assert [other.name for other in others if set(other.suffixes) & set(own.suffixes)] == []


def test_a_folder_with_ann_files_is_brat_and_one_of_scripts_gives_them_in_order(tmp_path: Path) -> None:
    for name in ("a.txt", "a.ann"):
        (tmp_path / name).touch()
    chosen = guess_format(tmp_path, exists=True)
    assert chosen.name == "brat"
    assert [file.name for file in files_of(tmp_path, chosen)] == ["a.ann", "a.txt"]
    for name in ("a.txt", "b.odt", "c.pdf", ".hidden"):
        (tmp_path / name).touch()
    assert [file.name for file in left_out(tmp_path, FORMATS["text"])] == ["b.odt", "c.pdf"]
    assert left_out(tmp_path / "a.txt", FORMATS["text"]) == []


def test_a_folder_of_exam_scripts_gives_them_in_order_of_name(tmp_path: Path) -> None:
    for name in ("b.xml", "a.xml", ".hidden.xml", "readme.md"):
        (tmp_path / name).touch()
    chosen = guess_format(tmp_path, exists=True)
    assert [file.name for file in files_of(tmp_path, chosen)] == ["a.xml", "b.xml"]


def test_a_readme_does_not_make_a_folder_text(tmp_path: Path) -> None:
    for name in ("readme.txt", "a.m2"):
        (tmp_path / name).touch()
    assert guess_format(tmp_path, exists=True).name == "m2"


def test_a_list_of_the_texts_does_not_make_their_folder_a_table(tmp_path: Path) -> None:
    for name in ("list.csv", "a.txt"):
        (tmp_path / name).touch()
    assert guess_format(tmp_path, exists=True).name == "text"
    with pytest.raises(UsageError, match=r"write \.txt or \.csv"):
        guess_format(tmp_path / "new.docx", exists=False)


def test_a_folder_with_two_formats_is_refused_and_both_are_named(tmp_path: Path) -> None:
    for name in ("a.sgml", "a.m2"):
        (tmp_path / name).touch()
    with pytest.raises(UsageError, match="expected files of one format in this folder, found m2, nucle"):
        guess_format(tmp_path, exists=True)


def test_what_is_no_corpus_is_refused_with_what_was_expected(tmp_path: Path) -> None:
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
    with pytest.raises(BadInput, match=r"expected files that end in \.m2"):
        files_of(tmp_path, FORMATS["m2"])
