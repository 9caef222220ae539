"""Files and texts come into a study whole or not at all, and once; every problem is named first."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from grater.annotate import content, gold, jobs, judgments, leases, people, units
from grater.annotate.importing import import_files, pasted_essays
from grater.annotate.plans import NewJob, add_job
from grater.annotate.status import status
from grater.annotate.store import Store, checks
from grater.errors import BadInput, NotFound, UsageError
from grater.model import Decision, Edit, Span
from tests.annotate.store.worlds import read, write
from tests.annotate.study.files import ESSAYS, import_all, write_essays, write_items, write_text
from tests.corpora.test_table import document


def test_what_comes_in_keeps_all_that_it_had_and_comes_in_once(store: Store, tmp_path: Path) -> None:
    import_all(store, tmp_path)
    before, found = read(store, status), read(store, content.all_essays)
    assert tuple(essay.text for essay in found) == ESSAYS, "every code point"
    assert found[0].edits == (Edit(Span(10, 12), ("at",), "Prep", "A1"),)
    assert [essay.annotators for essay in found] == [("A1",)] * 3
    with store.read() as tx:  # tables find their items by the names that they used
        ids = content.items_by_name(tx, ["one", "two", "elsewhere"])
        by_item = {each.item_id: each.suggestion for each in content.all_decisions(tx, system="S")}
        assert checks.violations(tx) == []
        rows = judgments.table(tx, jobs.named(tx, "before").job_id, judgments.ALL, names=True)
    assert by_item == {ids["one"]: "at", ids["two"]: "in"}
    assert ids["elsewhere"] == "elsewhere"
    zoe = next(row for row in rows if row["rater"] == "Zoe" and row["label"] == "error")
    stored = (zoe["status"], zoe["seconds"], zoe["at"], zoe["flags"])
    assert stored == ("valid", 4.5, "2026-01-02T03:04:05.000Z", ["spelling"])
    statuses = [("Xia", "untrusted"), ("Yan", "valid"), ("Zoe", "valid"), ("Zoe", "valid")]
    assert sorted((str(row["rater"]), str(row["status"])) for row in rows) == statuses
    import_all(store, tmp_path)
    assert read(store, status) == before


def test_decisions_of_new_systems_and_of_known_ones_come_in_together(store: Store, tmp_path: Path) -> None:
    import_files(store, corpora=[write_essays(tmp_path)], items=[write_items(tmp_path)])
    first = ("item,system,flagged,score,type,suggestion", "one,S,1,0.5,choice,at", "two,T,0,,,")
    second = ("item,system,flagged", "two,S,0", "one,U,1", "two,T,0")
    for n_known, lines in enumerate((first, second)):
        file = write_text(tmp_path / f"{n_known}.csv", *lines)
        (done,) = import_files(store, decisions=[file])
        assert (done.new, done.known) == (2, n_known)
    with store.read() as tx:
        names = {item_id: name for name, item_id in content.items_by_name(tx, ["one", "two"]).items()}
        found = {replace(each, item_id=names[each.item_id]) for each in content.all_decisions(tx)}
    rest = {Decision("two", "T", False), Decision("two", "S", False), Decision("one", "U", True)}
    assert found == {Decision("one", "S", True, 0.5, "choice", "at"), *rest}


def test_an_item_must_stand_where_it_says_else_all_stays_out_and_an_essay_keeps_its_text(
    store: Store, tmp_path: Path
) -> None:
    rows = ("one,e0,10,12,prep,in", "two,e9,1,2,prep,x", "three,e0,5,9999,prep,x")
    table = write_text(tmp_path / "items.csv", "item,essay,start,end,kind,target", *rows)
    with pytest.raises(BadInput, match=r"(?s)expected 'in' at 10-12, found 'on'.*import its corpus first") as caught:
        import_files(store, corpora=[write_essays(tmp_path)], items=[table])
    assert [problem.line for problem in caught.value.problems] == [2, 3, 4]
    assert essays(store) == {}
    import_files(store, corpora=[write_essays(tmp_path)])
    other = tmp_path / "other.jsonl"
    other.write_text((tmp_path / "essays.jsonl").read_text("utf-8").replace("bus stop", "bus step"), "utf-8")
    with pytest.raises(BadInput, match=r"essay e0.*another text"):
        import_files(store, corpora=[other])


def test_gold_needs_a_job_and_becomes_units_without_slots(store: Store, tmp_path: Path) -> None:
    import_all(store, tmp_path)
    table = write_text(tmp_path / "gold.csv", "item,label,reason", "one,error|ok,We wait at a stop.")
    with pytest.raises(UsageError, match="gold belongs to a job"):
        import_files(store, gold=[table])
    with pytest.raises(NotFound, match="unknown job"):
        import_files(store, gold=[table], job="nothing")
    job_id = add_job(store, NewJob(name="errors", task="error")).job_id
    import_files(store, gold=[table], job="errors")
    (unit_id,) = read(store, units.ids_of_job, job_id, role="gold")
    (known,) = read(store, gold.of_unit, unit_id)
    assert (known.accepted, known.reason) == (frozenset({"error", "ok"}), "We wait at a stop.")
    assert read(store, units.get, unit_id).wanted == 0
    assert read(store, people.by_name, "Zoe") is not None
    assert len(read(store, units.ids_of_job, job_id)) == 11  # gold instead of work, not beside it
    assert read(store, checks.violations) == []


def test_practice_comes_first_and_is_no_work_any_more(store: Store, tmp_path: Path) -> None:
    import_all(store, tmp_path)
    table = write_text(tmp_path / "practice.csv", "item,label,reason", "one,error,We wait at a stop.", "two,ok,")
    job_id = add_job(store, NewJob(name="errors", task="error", item_ids=("one",))).job_id
    (done,) = import_files(store, practice=[table], job="errors")
    assert (done.kind, done.new, done.known) == ("practice", 2, 0)
    assert read(store, units.ids_of_job, job_id, role="work") == []
    person_id = write(store, people.add, name="Ann", role="worker").person_id
    lease = write(store, leases.take, job_id=job_id, person_id=person_id)
    assert read(store, units.get, lease.unit_id).role == "practice"
    assert read(store, checks.violations) == []


def test_a_line_of_hyphens_stands_between_two_essays_and_a_heading_is_a_title() -> None:
    pasted = "# My town\r\nIn my town - I think -\r\nwe live.\r\n\r\n---\r\nLast summer we went by boat.\r\n-----\r\n"
    assert pasted_essays(pasted) == [
        ("My town", "In my town - I think -\nwe live.\n"),
        ("2 Last summer we went", "Last summer we went by boat.\n"),
    ]
    assert [title for title, _ in pasted_essays("# A\none\n---\n# A\ntwo")] == ["A", "A (2)"]
    assert pasted_essays(" \n---\n \n") == []


def write_file(path: Path, content: bytes | str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def essays(store: Store) -> dict[str, str]:
    return {essay.essay_id: essay.text for essay in read(store, content.all_essays)}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A class: two good texts, a document, one in another encoding, an empty one, a copy, two of one name."""
    for name, data in (
        ("anna.txt", "I am Anna."),
        ("ben.docx", document("<w:p><w:r><w:t>I am Ben.</w:t></w:r></w:p>").read()),
        ("cleo.txt", "We went to the café.".encode("cp1252")),
        ("dora.txt", " \n"),
        ("emil.txt", "I am Anna."),
        ("1a/last.txt", "In my school."),
        ("1b/last.txt", "In your school."),
    ):
        write_file(tmp_path / "class" / name, data)
    return tmp_path / "class"


def test_texts_are_called_after_their_files_and_oddities_are_reported(store: Store, folder: Path) -> None:
    seen = import_files(store, corpora=[folder], preview=True)
    assert essays(store) == {}, "a preview stores nothing"
    done = import_files(store, corpora=[folder])
    assert done == seen
    assert essays(store) == {
        "1a/last": "In my school.",
        "1b/last": "In your school.",
        "anna": "I am Anna.",
        "ben": "I am Ben.\n",
        "cleo": "We went to the café.",
    }
    [folder_done] = done
    assert (folder_done.new, folder_done.known) == (5, 0)
    said = " ".join(folder_done.warnings)
    for words in ("1 empty text: dora", "emil (the same as anna)", "cleo.txt (cp1252)", "1a/last, 1b/last"):
        assert words in said


def test_a_text_that_is_there_is_known_and_another_text_of_its_name_is_refused(store: Store, folder: Path) -> None:
    import_files(store, corpora=[folder])
    more = write_file(folder / "frida.txt", "I am Frida.")
    [done] = import_files(store, corpora=[folder])
    assert (done.new, essays(store)["frida"]) == (1, "I am Frida.")
    copy = write_file(folder.parent / "copy.txt", "I am Frida.")
    assert import_files(store, corpora=[copy])[0].new == 0
    write_file(more, "I am not Frida.")
    with pytest.raises(BadInput, match=r"found 'frida' with another text already; rename"):
        import_files(store, corpora=[more])


def test_every_unreadable_file_is_named_and_nothing_or_only_the_good_is_stored(store: Store, folder: Path) -> None:
    bad = {
        "mixed.txt": "café ".encode() + b"caf\xe9",
        "broken.docx": b"PK no archive",
        "noise.txt": b"\x00\x01\x02\x03\x00",
        "marked.txt": "S He go .\nA 1 2|||SVA|||goes|||REQUIRED|||-NONE-|||0\n",
    }
    for name, data in bad.items():
        write_file(folder / name, data)
    with pytest.raises(BadInput) as caught:
        import_files(store, corpora=[folder])
    assert {Path(problem.name).name for problem in caught.value.problems} == bad.keys()
    assert essays(store) == {}
    [done] = import_files(store, corpora=[folder], skip_unreadable=True)
    assert done.new == 5
    assert "left out 4 texts that cannot be read" in done.warnings[0]


def test_problems_of_several_paths_are_named_together(store: Store, tmp_path: Path) -> None:
    paths = [
        write_file(tmp_path / "empty.txt", ""),
        write_file(tmp_path / "huge.txt", "word " * 500_000),
        tmp_path / "nowhere.txt",
        write_file(tmp_path / "table.csv", "item,rater,label\n1,a,ok\n"),
        write_file(tmp_path / "notes.odt", "PK"),
    ]
    with pytest.raises(BadInput) as caught:
        import_files(store, corpora=paths)
    assert [Path(problem.name).name for problem in caught.value.problems] == [path.name for path in paths]


def test_rows_of_a_table_keep_their_ids_and_columns(store: Store, tmp_path: Path) -> None:
    table = write_file(tmp_path / "class.csv", "student;answer;l1\nann;At the café.;fr\nben;;de\n".encode("cp1252"))
    [done] = import_files(store, corpora=[table], columns={"id": "student", "text": "answer", "item": "x"})
    assert (done.new, len(done.warnings)) == (1, 2)
    (essay,) = read(store, content.all_essays)
    assert (essay.essay_id, essay.text, essay.metadata) == ("ann", "At the café.", {"l1": "fr"})


def test_a_corpus_is_read_in_the_encoding_that_is_named(store: Store, tmp_path: Path) -> None:
    file = write_file(tmp_path / "old.m2", "S Au café .\n\n".encode("latin-1"))
    with pytest.raises(BadInput, match="convert the file to UTF-8"):
        import_files(store, corpora=[file])
    import_files(store, corpora=[file], encoding="latin-1")
    assert list(essays(store).values()) == ["Au café ."]
