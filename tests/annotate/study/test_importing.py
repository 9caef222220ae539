"""Files come into a study whole or not at all, and once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from grater.annotate import content, gold, jobs, judgments, leases, people, units
from grater.annotate.importing import import_files, name_of, pasted_essays
from grater.annotate.plans import NewJob, add_job
from grater.annotate.status import status
from grater.annotate.store import Store, checks
from grater.errors import BadInput, NotFound, UsageError
from grater.model import Decision, Edit, Span
from tests.annotate.study.files import ESSAYS, write_decisions, write_essays, write_items, write_judgments, write_text


def everything(store: Store, folder: Path) -> None:
    import_files(
        store,
        corpora=[write_essays(folder)],
        items=[write_items(folder)],
        decisions=[write_decisions(folder)],
        judgments=[write_judgments(folder)],
        job="before",
    )


def test_what_comes_in_keeps_all_that_it_had_and_comes_in_once(store: Store, tmp_path: Path) -> None:
    everything(store, tmp_path)
    with store.read() as tx:
        before, found = status(tx), list(content.all_essays(tx))
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
    told = (zoe["status"], zoe["seconds"], zoe["at"], zoe["flags"])
    assert told == ("valid", 4.5, "2026-01-02T03:04:05.000Z", ["spelling"])
    statuses = [("Xia", "untrusted"), ("Yan", "valid"), ("Zoe", "valid"), ("Zoe", "valid")]
    assert sorted((str(row["rater"]), str(row["status"])) for row in rows) == statuses
    everything(store, tmp_path)
    with store.read() as tx:
        assert status(tx) == before


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


def test_one_bad_file_keeps_all_of_them_out(store: Store, tmp_path: Path) -> None:
    bad = write_text(tmp_path / "bad.csv", "item,essay,start,end,kind", "x,e0,5,9999,prep", "y,nowhere,0,1,prep")
    with pytest.raises(BadInput) as caught:
        import_files(store, corpora=[write_essays(tmp_path)], items=[bad])
    assert [problem.line for problem in caught.value.problems] == [2, 3]
    with store.read() as tx:
        assert content.n_essays(tx) == 0


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("one,e0,10,12,prep,in", "expected 'in' at 10-12, found 'on'"),
        ("one,e9,1,2,prep,x", "import its corpus first"),
    ],
)
def test_an_item_must_stand_where_it_says(store: Store, tmp_path: Path, row: str, message: str) -> None:
    table = write_text(tmp_path / "items.csv", "item,essay,start,end,kind,target", row)
    with pytest.raises(BadInput, match=message):
        import_files(store, corpora=[write_essays(tmp_path)], items=[table])


def test_an_essay_with_another_text_is_refused(store: Store, tmp_path: Path) -> None:
    import_files(store, corpora=[write_essays(tmp_path)])
    other = tmp_path / "other.jsonl"
    other.write_text((tmp_path / "essays.jsonl").read_text("utf-8").replace("bus stop", "bus step"), "utf-8")
    with pytest.raises(BadInput, match=r"essay e0.*another text"):
        import_files(store, corpora=[other])


def test_gold_needs_a_job_and_becomes_units_without_slots(store: Store, tmp_path: Path) -> None:
    everything(store, tmp_path)
    table = write_text(tmp_path / "gold.csv", "item,label,reason", "one,error|ok,We wait at a stop.")
    with pytest.raises(UsageError, match="gold belongs to a job"):
        import_files(store, gold=[table])
    with pytest.raises(NotFound, match="unknown job"):
        import_files(store, gold=[table], job="nothing")
    job = add_job(store, NewJob(name="errors", task="error"))
    import_files(store, gold=[table], job="errors")
    with store.read() as tx:
        (unit_id,) = units.ids_of_job(tx, job.job_id, role="gold")
        (known,) = gold.of_unit(tx, unit_id)
        assert (known.accepted, known.reason) == (frozenset({"error", "ok"}), "We wait at a stop.")
        assert units.get(tx, unit_id).wanted == 0
        assert people.by_name(tx, "Zoe") is not None
        assert len(units.ids_of_job(tx, job.job_id)) == 11  # gold instead of work, not beside it
        assert checks.violations(tx) == []


def test_practice_comes_first_and_is_no_work_any_more(store: Store, tmp_path: Path) -> None:
    everything(store, tmp_path)
    table = write_text(tmp_path / "practice.csv", "item,label,reason", "one,error,We wait at a stop.", "two,ok,")
    job = add_job(store, NewJob(name="errors", task="error", item_ids=("one",)))
    (done,) = import_files(store, practice=[table], job="errors")
    assert (done.kind, done.new, done.known) == ("practice", 2, 0)
    with store.write() as tx:
        assert units.ids_of_job(tx, job.job_id, role="work") == []
        person_id = people.add(tx, name="Ann", role="worker").person_id
        lease = leases.take(tx, job_id=job.job_id, person_id=person_id)
        assert lease is not None
        assert units.get(tx, lease.unit_id).role == "practice"
        assert checks.violations(tx) == []


def test_a_line_of_hyphens_stands_between_two_essays_and_a_heading_is_a_title() -> None:
    pasted = "# My town\r\nIn my town - I think -\r\nwe live.\r\n\r\n---\r\nLast summer we went by boat.\r\n-----\r\n"
    assert pasted_essays(pasted) == [
        ("My town", "In my town - I think -\nwe live.\n"),
        ("2 Last summer we went", "Last summer we went by boat.\n"),
    ]


def test_two_essays_of_one_title_are_both_kept_and_an_empty_paste_is_none() -> None:
    assert [title for title, _ in pasted_essays("# A\none\n---\n# A\ntwo")] == ["A", "A (2)"]
    assert pasted_essays(" \n---\n \n") == []


def test_a_text_file_keeps_its_name(store: Store, tmp_path: Path) -> None:
    folder = tmp_path / "class"
    folder.mkdir()
    for name in ("anna", "ben"):
        (folder / f"{name}.txt").write_text(f"I am {name}.", encoding="utf-8")
    import_files(store, corpora=[folder])
    with store.read() as tx:
        assert [name_of(essay) for essay in content.all_essays(tx)] == ["anna", "ben"]
