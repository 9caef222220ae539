"""P8: an export is complete, the same bytes on repeat, and makes the study again, by a zip or from old versions."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import polars as pl
import pytest

from grater.annotate import adjudication, archive, content, jobs, people, samples, units
from grater.annotate.archive import export, import_archive, unpacked
from grater.annotate.importing import import_files
from grater.annotate.plans import NewJob, add_job
from grater.annotate.store import Store, checks
from grater.annotate.submissions import hand_in, take_desk
from grater.annotate.tables import study_tables
from grater.annotate.tasks.task import Answer
from grater.corpora import read_corpus
from grater.errors import BadInput, UsageError
from grater.measure.evaluation.evaluation import evaluate
from grater.tables import read_judgments
from tests.annotate.store.postgres import new_database
from tests.annotate.store.races import interrupted, writing
from tests.annotate.store.worlds import read, write
from tests.annotate.study.conftest import ON_BOTH
from tests.annotate.study.files import contents, import_all, write_essays

EDITS = '[{"start": 0, "end": 2, "quote": "We", "tag": "Pform", "replacements": ["They"], "comment": "=SUM(A1)"}]'


@pytest.fixture
def worked(store: Store, tmp_path: Path) -> Store:
    """A study with imported judgments, two raters' answers, a marked essay and an adjudication."""
    import_all(store, tmp_path)
    add_job(store, NewJob(name="errors", task="error", judgments=2))
    add_job(store, NewJob(name="marks", task="marking", essay_ids=("e0",)))
    ann, bob = (write(store, people.add, name=name, role="annotator").person_id for name in ("Ann", "Bob"))
    for person_id in (ann, bob):
        for name in ("errors", "marks"):
            while work(store, name, person_id):
                pass
    with store.write() as tx:
        unit = units.get(tx, units.ids_of_job(tx, jobs.named(tx, "errors").job_id)[0]).unit
        decided = [Answer(unit.items[0].item.item_id, "error")]
        adjudication.save(tx, unit_id=unit.unit_id, person_id=ann, answers=decided)
    return store


def work(store: Store, job: str, person_id: str, *, edits: str = EDITS) -> bool:
    desk = take_desk(store, job_id=read(store, jobs.named, job).job_id, person_id=person_id)
    if desk is not None:
        form = {"edits": [edits]} if job == "marks" else {"label": ["error"]}
        hand_in(store, desk, form, seconds=2)
    return desk is not None


@ON_BOTH
@pytest.mark.parametrize("table", ["submissions", "events"])
def test_exports_are_the_same_bytes_whatever_is_written_meanwhile(worked: Store, tmp_path: Path, table: str) -> None:
    export(worked, tmp_path / "before")
    new = writing(worked, lambda tx: people.add(tx, name="Cem", role="worker"))
    interrupted(worked, lambda: export(worked, tmp_path / "meanwhile"), new, before=f"SELECT {table}")
    export(worked, tmp_path / "after")
    assert contents(tmp_path / "before") == contents(tmp_path / "meanwhile") != contents(tmp_path / "after")


@ON_BOTH
def test_an_archive_makes_the_study_again(worked: Store, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """Exporting what was imported gives the same bytes, also on the other engine."""
    export(worked, tmp_path / "one", names=True)
    places = {"file": str(tmp_path / "copy.db"), "server": new_database(request.getfixturevalue("cluster"))}
    for name, place in places.items():
        with import_archive(tmp_path / "one", place) as restored:
            export(restored, tmp_path / name, names=True)
            assert read(restored, checks.violations) == []
            write(restored, people.add, name="new here", role="worker")  # numbers of events go on where they were
        assert contents(tmp_path / "one") == contents(tmp_path / name)


def test_an_export_has_all_judgments_hashes_costs_and_everybodys_marks(worked: Store, tmp_path: Path) -> None:
    out, raw = tmp_path / "out", tmp_path / "raw"
    export(worked, out)
    export(worked, raw, names=True, raw=True)
    table = pl.read_csv(out / "judgments.csv", infer_schema=False)
    # 4 imported, 11 prepositions by two raters, one essay by the first of them
    assert table["job"].value_counts(sort=True).rows() == [("errors", 22), ("before", 4), ("marks", 1)]
    assert table["status"].value_counts(sort=True).rows() == [("valid", 26), ("untrusted", 1)]
    labels, ratings = (
        pl.read_csv(out / "jobs" / "02" / f"{name}.csv", infer_schema=False) for name in ("labels", "ratings")
    )
    assert (len(read_judgments(labels).frame), ratings.shape) == (22, (11, 3))
    manifest, agreement, costs = (
        json.loads((out / f"{name}.json").read_text()) for name in ("manifest", "agreement", "costs")
    )
    assert set(manifest["files"]) == set(contents(out)) - {"manifest.json"}
    assert manifest["counts"]["submissions"] == 27
    assert agreement["errors"]["observed"] == 1.0
    assert (costs["errors"]["judgments"], costs["errors"]["valid"]) == (22, 22)
    # a cell that a spreadsheet would run is guarded, unless raw
    for folder, cell in ((out, ",'=1+1,"), (raw, ",=1+1,")):
        assert cell in (folder / "judgments.csv").read_text("utf-8")
    essay = next(iter(read_corpus(raw / "essays" / "essays.jsonl")))
    assert essay.annotators == ("A1", "Ann")
    made = [(edit.rater, edit.tag, edit.replacements) for edit in essay.edits]
    assert made == [("A1", "Prep", ("at",)), ("Ann", "Pform", ("They",))]
    assert {"essays.m2", "essays.sgml", "brat"} <= {each.name for each in (raw / "essays").iterdir()}


def test_nobody_is_named_unless_asked_and_no_secret_leaves_the_study(worked: Store, tmp_path: Path) -> None:
    with worked.write() as tx:
        people.add(tx, name="Eve", role="owner", password_hash="$argon2id$secret")
        key = tx.key
    for name, is_named in (("out", False), ("named", True)):
        export(worked, tmp_path / name, names=is_named)
        files = contents(tmp_path / name)
        assert (b"Ann" in files["raters.csv"]) == is_named
        for secret in (b"argon2id", key.encode(), *([] if is_named else [b'"Ann"'])):
            assert not any(secret in file for file in files.values())


@pytest.mark.parametrize("harm", ["changed", "missing", "outside", "no manifest"])
def test_an_archive_that_was_harmed_is_refused(worked: Store, tmp_path: Path, harm: str) -> None:
    folder = tmp_path / "out"
    export(worked, folder)
    manifest, table = folder / "manifest.json", folder / "tables" / "people.jsonl"
    if harm == "changed":
        table.write_text("{}\n")
    elif harm == "outside":
        manifest.write_text(manifest.read_text().replace('"costs.json"', '"../essays.jsonl"'))
    else:
        (table if harm == "missing" else manifest).unlink()
    with pytest.raises(BadInput):
        import_archive(folder, tmp_path / "copy.db")
    assert not (tmp_path / "copy.db").exists()


def test_a_folder_in_use_is_left_alone(worked: Store, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("mine")
    with pytest.raises(UsageError, match="in use"):
        export(worked, tmp_path / "out")
    assert contents(tmp_path / "out") == {"mine.txt": b"mine"}


ARCHIVES = sorted(manifest.parent for manifest in (Path(__file__).parent / "archives").glob("*/manifest.json"))


@pytest.mark.parametrize("folder", ARCHIVES, ids=lambda folder: folder.name)
def test_an_archive_of_an_earlier_version_is_a_study_of_this_one(folder: Path, tmp_path: Path) -> None:
    counts = json.loads((folder / "manifest.json").read_text("utf-8"))["counts"]
    with import_archive(folder, tmp_path / "study.db") as store, store.read() as tx:
        assert checks.violations(tx) == []
        assert content.n_essays(tx) == counts["essays"] == 3
        assert content.system_names(tx) == ["careful", "eager"]
        assert [job.name for job in jobs.all(tx)] == ["crowd", "expert", "marking"]
        assert len(samples.named(tx, "sample")) == 8
        tables = study_tables(tx, "study")
    assert (len(tables.judgments), len(tables.experts)) == (33, 22)
    # of eleven prepositions, in the order of their ids, every third is an error: four
    [careful, _] = evaluate(tables.decisions, tables.judgments).whole.standard
    assert careful.counts.hit + careful.counts.miss == 4


@pytest.mark.parametrize("under", ["", "results/"])
def test_a_zip_of_an_export_makes_the_study_again(store: Store, tmp_path: Path, under: str) -> None:
    import_files(store, corpora=[write_essays(tmp_path)])
    export(store, tmp_path / "out")
    with zipfile.ZipFile(tmp_path / "out.zip", "w", zipfile.ZIP_DEFLATED) as packed:
        for name, data in contents(tmp_path / "out").items():
            packed.writestr(f"{under}{name}", data)
    with import_archive(tmp_path / "out.zip", tmp_path / "copy.db") as copy:
        export(copy, tmp_path / "again")
    assert contents(tmp_path / "again") == contents(tmp_path / "out")


OUTSIDE = ("../outside.txt", "/outside.txt", "a\\outside.txt", "c:outside.txt")
BAD_ZIPS = {
    **dict.fromkeys(OUTSIDE, "path outside the archive"),
    "zeros.txt": "grows to more than 100 times",
    **dict.fromkeys(("", "no zip", "PK\x03\x04 cut"), "cannot be unpacked"),
}


@pytest.mark.parametrize("name", BAD_ZIPS)
def test_a_zip_that_cannot_be_trusted_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(archive, "SMALL", 1000)
    if name.endswith(".txt"):
        with zipfile.ZipFile(tmp_path / "x.zip", "w", zipfile.ZIP_DEFLATED) as packed:
            packed.writestr(name, bytes(1_000_000))  # a thousand times its packed size
    else:
        (tmp_path / "x.zip").write_bytes(name.encode())
    with pytest.raises(BadInput, match=BAD_ZIPS[name]), unpacked(tmp_path / "x.zip"):
        pass
    assert not (tmp_path / "outside.txt").exists()
