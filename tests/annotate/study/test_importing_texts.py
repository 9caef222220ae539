"""Texts as users have them come into a study under their names, and every problem of theirs is named first."""

from __future__ import annotations

from pathlib import Path

import pytest

from grater.annotate import content
from grater.annotate.importing import Imported, import_files
from grater.annotate.store import Store
from grater.errors import BadInput
from tests.corpora.test_docx import document


def write(path: Path, content: bytes | str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def essays(store: Store) -> dict[str, str]:
    with store.read() as tx:
        return {essay.essay_id: essay.text for essay in content.all_essays(tx)}


def one(done: list[Imported]) -> Imported:
    (only,) = done
    return only


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A class: two good texts, a document, one in another encoding, an empty one, a copy, two of one name."""
    folder = tmp_path / "class"
    write(folder / "anna.txt", "I am Anna.")
    write(folder / "ben.docx", document("<w:p><w:r><w:t>I am Ben.</w:t></w:r></w:p>").read())
    write(folder / "cleo.txt", "We went to the café.".encode("cp1252"))
    write(folder / "dora.txt", " \n")
    write(folder / "emil.txt", "I am Anna.")
    write(folder / "1a" / "last.txt", "In my school.")
    write(folder / "1b" / "last.txt", "In your school.")
    return folder


def test_texts_are_called_after_their_files_and_what_is_odd_about_them_is_said(store: Store, folder: Path) -> None:
    done = one(import_files(store, corpora=[folder]))
    assert essays(store) == {
        "1a/last": "In my school.",
        "1b/last": "In your school.",
        "anna": "I am Anna.",
        "ben": "I am Ben.\n",
        "cleo": "We went to the café.",
    }
    assert (done.new, done.known) == (5, 0)
    said = " ".join(done.warnings)
    for words in ("1 empty text: dora", "emil (the same as anna)", "cleo.txt (cp1252)", "1a/last, 1b/last"):
        assert words in said


def test_a_text_that_is_there_is_known_a_copy_is_left_out_or_kept_and_another_text_of_its_name_refused(
    store: Store, folder: Path
) -> None:
    import_files(store, corpora=[folder])
    more = write(folder / "frida.txt", "I am Frida.")
    assert (one(import_files(store, corpora=[folder])).new, essays(store)["frida"]) == (1, "I am Frida.")
    copy = write(folder.parent / "copy.txt", "I am Frida.")
    assert one(import_files(store, corpora=[copy])).new == 0
    assert one(import_files(store, corpora=[copy], keep_duplicates=True)).new == 1
    write(more, "I am not Frida.")
    with pytest.raises(BadInput, match=r"found 'frida' with another text already; rename"):
        import_files(store, corpora=[more])


def test_every_unreadable_file_is_named_and_nothing_is_stored_or_only_the_good_ones(
    store: Store, folder: Path
) -> None:
    write(folder / "mixed.txt", "café ".encode() + b"caf\xe9")
    write(folder / "broken.docx", b"PK no archive")
    write(folder / "noise.txt", b"\x00\x01\x02\x03\x00")
    write(folder / "marked.txt", "S He go .\nA 1 2|||SVA|||goes|||REQUIRED|||-NONE-|||0\n")
    with pytest.raises(BadInput) as caught:
        import_files(store, corpora=[folder])
    bad = {Path(problem.name).name for problem in caught.value.problems}
    assert bad == {"mixed.txt", "broken.docx", "noise.txt", "marked.txt"}
    assert essays(store) == {}
    done = one(import_files(store, corpora=[folder], skip_unreadable=True))
    assert done.new == 5
    assert "left out 4 texts that cannot be read" in done.warnings[0]


def test_problems_of_several_paths_are_named_together(store: Store, tmp_path: Path) -> None:
    paths = [
        write(tmp_path / "empty.txt", ""),
        write(tmp_path / "huge.txt", "word " * 500_000),
        tmp_path / "nowhere.txt",
        write(tmp_path / "table.csv", "item,rater,label\n1,a,ok\n"),
        write(tmp_path / "notes.odt", "PK"),
    ]
    with pytest.raises(BadInput) as caught:
        import_files(store, corpora=paths)
    assert [Path(problem.name).name for problem in caught.value.problems] == [path.name for path in paths]


def test_a_preview_says_what_an_import_would_do_and_stores_nothing(store: Store, folder: Path) -> None:
    seen = import_files(store, corpora=[folder], preview=True)
    assert essays(store) == {}
    assert import_files(store, corpora=[folder]) == seen


def test_rows_of_a_table_keep_their_ids_and_columns(store: Store, tmp_path: Path) -> None:
    table = write(tmp_path / "class.csv", "student;answer;l1\nann;At the café.;fr\nben;;de\n".encode("cp1252"))
    done = one(import_files(store, corpora=[table], columns={"id": "student", "text": "answer", "item": "x"}))
    assert (done.new, len(done.warnings)) == (1, 2)
    with store.read() as tx:
        (essay,) = content.all_essays(tx)
    assert (essay.essay_id, essay.text, essay.metadata) == ("ann", "At the café.", {"l1": "fr"})


def test_a_corpus_is_read_in_the_encoding_that_is_named(store: Store, tmp_path: Path) -> None:
    file = write(tmp_path / "old.m2", "S Au café .\n\n".encode("latin-1"))
    with pytest.raises(BadInput, match="name its `encoding`"):
        import_files(store, corpora=[file])
    import_files(store, corpora=[file], encoding="latin-1")
    assert list(essays(store).values()) == ["Au café ."]
