"""Archives of every version so far can still be imported, and say what they said.

An archive comes back from a zip, and a zip that is none harms nothing.
"""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from grater.annotate import archive, content, jobs, samples
from grater.annotate.archive import export, import_archive, unpacked
from grater.annotate.importing import import_files
from grater.annotate.store import Store, checks
from grater.annotate.tables import study_tables
from grater.errors import BadInput
from grater.measure.evaluation.evaluation import evaluate
from tests.annotate.study.files import write_essays
from tests.annotate.study.test_export import contents

ARCHIVES = sorted(
    path for path in (Path(__file__).parent / "archives").iterdir() if (path / "manifest.json").exists()
)


def test_there_is_an_archive_to_import() -> None:
    assert ARCHIVES


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
    assert tables.judgments is not None
    assert tables.experts is not None
    assert tables.decisions is not None
    assert (len(tables.judgments), len(tables.experts)) == (33, 22)
    # of eleven prepositions, in the order of their ids, every third is an error: four
    [careful, _] = evaluate(tables.decisions, tables.judgments).whole.standard
    assert careful.counts.hit + careful.counts.miss == 4


def zip_of(folder: Path, archive: Path, *, under: str = "") -> Path:
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, data in contents(folder).items():
            packed.writestr(f"{under}{name}", data)
    return archive


@pytest.mark.parametrize("under", ["", "results/"])
def test_a_zip_of_an_export_makes_the_study_again(store: Store, tmp_path: Path, under: str) -> None:
    import_files(store, corpora=[write_essays(tmp_path)])
    export(store, tmp_path / "out")
    packed = zip_of(tmp_path / "out", tmp_path / "out.zip", under=under)
    with import_archive(packed, tmp_path / "copy.db") as copy:
        export(copy, tmp_path / "again")
    assert contents(tmp_path / "again") == contents(tmp_path / "out")


@pytest.mark.parametrize("name", ["../outside.txt", "/outside.txt", "a\\outside.txt", "c:outside.txt"])
def test_a_member_that_leads_outside_is_refused(tmp_path: Path, name: str) -> None:
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as packed:
        packed.writestr(zipfile.ZipInfo(name), "x")
    with pytest.raises(BadInput, match="path outside the archive"), unpacked(tmp_path / "x.zip"):
        pass
    assert not (tmp_path / "outside.txt").exists()


def test_a_zip_that_grows_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "SMALL", 1000)
    with zipfile.ZipFile(tmp_path / "x.zip", "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("zeros.txt", bytes(1_000_000))  # a thousand times its packed size
    with pytest.raises(BadInput, match="grows to more than 100 times"), unpacked(tmp_path / "x.zip"):
        pass


@pytest.mark.parametrize("data", [b"", b"no zip", b"PK\x03\x04 cut"])
def test_what_is_no_zip_is_reported(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "x.zip").write_bytes(data)
    with pytest.raises(BadInput, match="cannot be unpacked"), unpacked(tmp_path / "x.zip"):
        pass
